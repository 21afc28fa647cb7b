/* sim/serving/serving.h — the search for a layout and a batch that serve (plan --mode infer). */
#pragma once

#include "sim/cli/wish.h"
#include "sim/config/config.h"

#include <stdio.h>

enum pp_serving_objective { PP_SERVE_THROUGHPUT, PP_SERVE_LATENCY, PP_SERVE_FIRST_TOKEN };
extern const char *const pp_serving_objective_names[];

/* A layout with a batch, and its figures. */
struct pp_serving_point {
    struct pp_layout layout;
    int most_replicas; /* from layout.dp to these, all have the figures of one */
    int batch, groups;
    double first_token_s, token_s, tokens_per_s, tokens_per_s_per_gpu, peak_bytes;
    bool fits, meets; /* meets: it is within the limits */
};

struct pp_serving {
    enum pp_serving_objective objective;
    double max_token_s, max_first_token_s; /* 0 = none */
    struct pp_config first;                /* one of the layouts, for names */
    struct pp_serving_point *points;       /* best first */
    int count, capacity, refused;
    bool has_gpus; /* their number is given */
};

/* Reads --objective and the limits, and simulates all layouts. PP_EINVAL: no layout is legal. */
enum pp_status pp_serving_run(struct pp_arena *arena, const struct pp_wish *wish,
                              struct pp_serving *serving, struct pp_error *err);
/* Returns the best point with the fewest devices that is within the limits; NULL if none is, or if
 * their number is given. */
const struct pp_serving_point *pp_serving_fewest(const struct pp_serving *serving);
/* Returns the replicas of a point, "2" or "1-8". */
const char *pp_serving_replicas(struct pp_arena *arena, const struct pp_serving_point *point);
void pp_serving_print(struct pp_arena *arena, const struct pp_serving *serving, int rows,
                      FILE *out);
void pp_serving_json(const struct pp_serving *serving, FILE *out);
void pp_serving_csv(const struct pp_serving *serving, FILE *out);
/* PP_EFIT if no point is within the limits, or with `needs_fit` none fits; says the best found. */
enum pp_status pp_serving_check(const struct pp_serving *serving, bool needs_fit,
                                struct pp_error *err);
