/* schedules/program/shape.h — the sizes and options that an order may depend on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PP_SHAPE_OPTIONS = 4 };
struct pp_shape {
    int ranks;         /* D, pipeline ranks */
    int chunks;        /* V, chunks per rank and pipeline */
    int micro_batches; /* N of one replica, over all pipelines */
    int splits;        /* q, sequence splits per micro-batch, >= 1 */
    int granules;      /* granules per micro-batch, 1 except for backward halving */
    int pipelines;     /* 2f for two-way placements, else 1 */
    int steps;         /* steps of a continuous schedule in the lists, without a flush between them;
                        * micro_batches counts those of all. 0 = 1 */
    int least; /* micro-batches that suffice for lists, if the others only repeat; 0 = all */
    int option[PP_SHAPE_OPTIONS]; /* the schedule's options, in the order of its table; 0 = not
                                   * given */
    const char *ranks_option;     /* option that gave `ranks`, for messages; NULL = "--pp" */
};
static inline const char *pp_shape_ranks_option(const struct pp_shape *shape)
{
    return shape->ranks_option ? shape->ranks_option : "--pp";
}
static inline int pp_shape_stages(const struct pp_shape *shape)
{
    return shape->ranks * shape->chunks;
}
