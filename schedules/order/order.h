/* schedules/order/order.h — what the order rules share: which stages a rank holds and which
 * micro-batches a pipeline has. Internal to schedules/. */
#pragma once

#include "schedules/order/schedule.h"

struct pp_slot { /* one chunk of one pipeline on a rank */
    uint16_t pipe, stage;
};

struct pp_places {
    const struct pp_shape *shape;
    int *slot_begin;       /* [ranks + 1] into slots */
    struct pp_slot *slots; /* of a rank: by pipeline, then stage */
    int *mb_begin;         /* [pipelines + 1] into mbs */
    int *mbs;              /* granules of a pipeline, ascending */
};
struct pp_places pp_places_make(struct pp_arena *arena, const struct pp_shape *shape,
                                const struct pp_order_maps *maps);

/* A compute op with every field that order rules do not care about at its neutral value. */
struct pp_op pp_compute_op(int kind, struct pp_slot slot, int mb, int split);

/* Expand a .phases or a .key schedule into `orders`. Never fails. */
void pp_phases_expand(struct pp_arena *arena, const struct pp_schedule *schedule,
                      const struct pp_places *places, struct pp_orders *orders);
void pp_key_expand(struct pp_arena *arena, const struct pp_schedule *schedule,
                   const struct pp_places *places, struct pp_orders *orders);
