/* schedules/search/greedy.h — list scheduling for .generate: plays the program once. A free rank
 * runs the ready F or B with the smallest key. The lists are in the order of that play, so that
 * they cannot deadlock. Private to schedules. */
#pragma once

#include "schedules/order/schedule.h"

struct pp_greedy {
    const struct pp_shape *shape; /* one pipeline, one split, whole micro-batches */
    const uint16_t *rank_of;      /* [stage] */
    const struct pp_costs *costs; /* durations and messages; NULL = F 1, B 2, messages free */
    int64_t (*key)(const struct pp_shape *shape, int kind, int stage, int mb); /* unique */
};

/* Adds the F and B of every stage and micro-batch to `out`. O(ops * log ops). */
void pp_greedy_play(struct pp_arena *arena, const struct pp_greedy *greedy, struct pp_orders *out);
