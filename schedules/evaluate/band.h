/* schedules/evaluate/band.h — the expected range of a step: quantiles of its makespan over random
 * draws of all durations. Ranks wait for the latest, so the median exceeds that of medians. */
#pragma once

#include "schedules/evaluate/evaluate.h"

enum { PP_BAND_DRAWS = 200 };
struct pp_band {
    double low_s, mid_s, high_s; /* 5 %, 50 %, 95 % of the draws lie below */
};

struct pp_draws {
    int replicas;
    /* Fills compute_ps[instruction * replicas + replica] of all compute ops, of a fused pair at its
     * first. Each call fills in the next draw. */
    void (*draw)(void *closure, int64_t *compute_ps);
    void *closure;
};
/* Reads only wires and sums of `costs`. Errors: those of pp_eval_create(). */
enum pp_status pp_band_find(const struct pp_program *program, const struct pp_costs *costs,
                            const struct pp_draws *draws, struct pp_band *band,
                            struct pp_error *err);
