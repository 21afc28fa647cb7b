/* sim/plan/layer_table.h — costs summed over layers, for bounds. Private to sim/plan. */
#pragma once

#include "sim/plan/search.h"

/* Terms of sums over the first layers of a model on one device: the cost of a stage is a difference
 * of two sums. Embedding and head count with the first and the last layer. */
enum pp_layer_term {
    PP_TERM_FORWARD,
    PP_TERM_INPUT,
    PP_TERM_WEIGHT,
    PP_TERM_AGAIN,
    PP_TERM_HIDDEN_FORWARD, /* without the exchange of experts */
    PP_TERM_HIDDEN_INPUT,
    PP_TERM_HIDDEN_WEIGHT,
    PP_TERM_PARAMS, /* bytes of state, unsharded */
    PP_TERM_GRADS,
    PP_TERM_OPTIMIZER,
    PP_TERM_KEPT, /* bytes of a micro-batch */
    PP_TERM_WEIGHTS,
    PP_TERMS
};
struct pp_layer_table {
    int layers;
    double *sum[PP_TERMS];  /* [layers + 1]: seconds or bytes, lower bounds */
    double whole[PP_TERMS]; /* of the model as one stage */
    double other_bytes;
};

/* Fills the table from costs of a run with a layer per stage. PP_EINVAL for impossible degrees. */
enum pp_status pp_layer_table_make(struct pp_arena *arena, const struct pp_search_space *space,
                                   const struct pp_search_frame *frame,
                                   struct pp_search_again again, struct pp_layer_table *table,
                                   struct pp_error *err);

/* Terms of all stages as flat arrays, for bounds. */
struct pp_stage_sums {
    double *term[PP_TERMS]; /* [stage] */
    double *state_bytes;    /* [stage], sharded */
};
struct pp_stage_sums pp_stage_sums_make(struct pp_arena *arena, int stages);
/* Fills the terms of stages: layer first[s] begins stage s, and first[stages] ends the last. */
void pp_stage_sums_fill(struct pp_stage_sums *sums, const struct pp_layer_table *table,
                        const int *first, int stages);
/* Fills the terms for an unknown division: equal parts of time and state, and no activations. */
void pp_stage_sums_spread(struct pp_stage_sums *sums, const struct pp_layer_table *table,
                          int stages);
