/* sim/plan/layer_table.h — what the files of a layout search share. Private to sim/plan. */
#pragma once

#include "sim/plan/search.h"

/* Sums over the first layers of a model on one device, [layers + 1]: what a stage costs is a
 * difference. Embedding and head count with the first and the last layer. */
enum pp_layer_term {
    PP_TERM_FORWARD,
    PP_TERM_INPUT,
    PP_TERM_WEIGHT,
    PP_TERM_AGAIN,
    PP_TERM_HIDDEN_FORWARD, /* less what experts exchange */
    PP_TERM_HIDDEN_INPUT,
    PP_TERM_HIDDEN_WEIGHT,
    PP_TERM_PARAMS, /* bytes of state, whole */
    PP_TERM_GRADS,
    PP_TERM_OPTIMIZER,
    PP_TERM_KEPT, /* bytes of a micro-batch */
    PP_TERM_WEIGHTS,
    PP_TERMS
};
struct pp_layer_table {
    int layers;
    double *sum[PP_TERMS];  /* seconds, bytes; at most what they are */
    double whole[PP_TERMS]; /* of a model in one stage */
    double other_bytes;
};

/* From the costs of a run with a layer for each stage. PP_EINVAL: these degrees cannot be. */
enum pp_status pp_layer_table_make(struct pp_arena *arena, const struct pp_search_space *space,
                                   const struct pp_search_frame *frame,
                                   struct pp_search_again again, struct pp_layer_table *table,
                                   struct pp_error *err);

/* Stages as flat arrays, for bounds. */
struct pp_stage_sums {
    double *term[PP_TERMS]; /* [stage] */
    double *state_bytes;    /* [stage], as cut */
};
struct pp_stage_sums pp_stage_sums_make(struct pp_arena *arena, int stages);
/* The stages of a division: layer first[s] is the first of stage s, first[stages] is all. */
void pp_stage_sums_fill(struct pp_stage_sums *sums, const struct pp_layer_table *table,
                        const int *first, int stages);
/* The same without a known division of layers: every stage has an equal part. */
void pp_stage_sums_spread(struct pp_stage_sums *sums, const struct pp_layer_table *table,
                          int stages);
