/* schedules/order/order.h — stages of a rank and micro-batches of a pipeline, as order rules need
 * them. Internal to schedules/. */
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

/* Returns a compute op; fields that order rules do not set are neutral. */
struct pp_op pp_compute_op(int kind, struct pp_slot slot, int mb, int split);

/* A schedule with .programs: checks and fills a shape; returns maps and lists of an accepted one.
 */
enum pp_status pp_source_check(const struct pp_schedule *schedule, struct pp_shape *shape,
                               struct pp_error *err);
uint16_t *pp_source_ranks(struct pp_arena *arena, const struct pp_schedule *schedule,
                          const struct pp_shape *shape);
uint16_t *pp_source_pipes(struct pp_arena *arena, const struct pp_schedule *schedule,
                          const struct pp_shape *shape); /* [granule] */
struct pp_orders *pp_source_lists(struct pp_arena *arena, const struct pp_schedule *schedule,
                                  const struct pp_shape *shape);

/* Returns how many micro-batches the lists of a .phases or a .key schedule may do without, if
 * `least` suffice. What the rule appends for them repeats what it appends for those before. Rules
 * count in ranks, pipelines, steps and options. */
int pp_order_left_out(const struct pp_schedule *schedule, const struct pp_shape *shape);

/* Appends the ops of a .phases or a .key schedule to `orders`. Never fails. */
void pp_phases_expand(struct pp_arena *arena, const struct pp_schedule *schedule,
                      const struct pp_places *places, struct pp_orders *orders);
void pp_key_expand(struct pp_arena *arena, const struct pp_schedule *schedule,
                   const struct pp_places *places, struct pp_orders *orders);
