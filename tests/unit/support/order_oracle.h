/* An independent judge of op orders. Every rank runs its list strictly in order, as soon as the
 * data is there. A message between ranks takes `wire`. Written without looking at the evaluator, so
 * that the two can disagree. */
#ifndef PP_TESTS_ORDER_ORACLE_H
#define PP_TESTS_ORDER_ORACLE_H

#include "schedules/order/schedule.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct oracle {
    const struct pp_shape *shape;
    const struct pp_orders *orders;
    const struct pp_order_maps *maps;
    int64_t cost[PP_OP_KINDS]; /* of one op on a whole micro-batch (a split is an op) */
    int64_t overlap;           /* of an OVERLAP_F_B pair; 0 = the sum of its ops */
    int64_t wire;              /* of one message to another rank */
    int64_t *end[3];           /* F, B or I, B or W: [(stage * granules + mb) * splits + split] */
    int64_t makespan;          /* -1 = deadlock */
    int64_t span;              /* longest from a rank's first start to its last end */
    int64_t busiest, busy;     /* compute time of the busiest rank, of all ranks */
    double peak[64];           /* of the first ranks, in chunk activations */
    const char *fault; /* an op twice, missing, or on another rank than its placement says */
};

static size_t oracle_index(const struct oracle *o, int stage, int mb, int split)
{
    return ((size_t)stage * (size_t)(o->shape->micro_batches * o->shape->granules) + (size_t)mb) *
               (size_t)o->shape->splits +
           (size_t)split;
}

static int oracle_rank(const struct oracle *o, int stage, int mb)
{
    return o->maps->rank_of[o->maps->pipe_of[mb] * pp_shape_stages(o->shape) + stage];
}

/* When the inputs of an op are there; -1 = not yet. */
static int64_t oracle_ready(const struct oracle *o, const struct pp_op *op)
{
    const int last = pp_shape_stages(o->shape) - 1, final_split = o->shape->splits - 1;
    int64_t ready = 0;

#define NEEDS(table, stage_, split_)                                                               \
    for (int granule_ = op->mb; granule_ < op->mb + op->granules; granule_++) {                    \
        const int64_t end_ = o->end[table][oracle_index(o, stage_, granule_, split_)];             \
        const bool moves_ = oracle_rank(o, stage_, granule_) != oracle_rank(o, op->stage, op->mb); \
        const int64_t there_ = end_ + (moves_ ? o->wire : 0);                                      \
        if (end_ < 0)                                                                              \
            return -1;                                                                             \
        ready = there_ > ready ? there_ : ready;                                                   \
    }
    if (op->kind == PP_F) {
        if (op->stage > 0)
            NEEDS(0, op->stage - 1, op->split);
        if (op->split > 0)
            NEEDS(0, op->stage, op->split - 1);
    } else if (op->kind == PP_W) {
        NEEDS(1, op->stage, op->split);
    } else {
        NEEDS(0, op->stage, op->split);
        if (op->stage < last)
            NEEDS(1, op->stage + 1, op->split);
        if (op->split < final_split)
            NEEDS(1, op->stage, op->split + 1);
    }
#undef NEEDS
    return ready;
}

static void oracle_finish_granule(struct oracle *o, const struct pp_op *op, int granule, int rank,
                                  int64_t end)
{
    const size_t i = oracle_index(o, op->stage, granule, op->split);
    const int pipe = o->maps->pipe_of[granule];

    if (op->pipe != pipe || oracle_rank(o, op->stage, granule) != rank)
        o->fault = "an op off its placement";
    for (int table = 0; table < 3; table++) {
        const bool writes = table == 0   ? op->kind == PP_F
                            : table == 1 ? op->kind == PP_B || op->kind == PP_I
                                         : op->kind == PP_B || op->kind == PP_W;
        if (writes && o->end[table][i] >= 0)
            o->fault = "an op twice";
        if (writes)
            o->end[table][i] = end;
    }
    o->makespan = end > o->makespan ? end : o->makespan;
}

static void oracle_finish(struct oracle *o, const struct pp_op *op, int rank, int64_t end)
{
    for (int granule = op->mb; granule < op->mb + op->granules; granule++)
        oracle_finish_granule(o, op, granule, rank, end);
}

static int64_t oracle_cost(const struct oracle *o, const struct pp_op *op)
{
    return o->cost[op->kind] * op->granules / o->shape->granules;
}

static int64_t oracle_pair(const struct oracle *o, const struct pp_op *op)
{
    return o->overlap ? o->overlap : oracle_cost(o, &op[0]) + oracle_cost(o, &op[1]);
}

/* Run what rank can run now; returns whether it did anything. */
static bool oracle_advance(struct oracle *o, int rank, int *at, int64_t *clock, int64_t *began)
{
    const struct pp_op *ops = o->orders->ops[rank];
    bool moved = false;

    while (at[rank] < o->orders->count[rank]) {
        const struct pp_op *op = &ops[at[rank]];
        const int fused = op->aux == PP_FUSED_FIRST;
        int64_t start = oracle_ready(o, op), cost = oracle_cost(o, op);
        if (start < 0)
            break;
        if (fused) {
            const int64_t other = oracle_ready(o, op + 1);
            if (other < 0)
                break;
            start = other > start ? other : start;
            cost = oracle_pair(o, op);
        }
        start = start > clock[rank] ? start : clock[rank];
        began[rank] = at[rank] == 0 ? start : began[rank];
        clock[rank] = start + cost;
        for (int i = 0; i <= fused; i++)
            oracle_finish(o, &op[i], rank, clock[rank]);
        at[rank] += 1 + fused;
        moved = true;
    }
    return moved;
}

static void oracle_peaks(struct oracle *o)
{
    for (int rank = 0; rank < o->orders->ranks; rank++) {
        double held = 0, peak = 0;
        int64_t busy = 0;
        for (int i = 0; i < o->orders->count[rank]; i++) {
            const struct pp_op *op = &o->orders->ops[rank][i];
            held += op->granules * ((op->kind == PP_F) - (op->kind == PP_B || op->kind == PP_W));
            peak = held > peak ? held : peak;
            busy += op->aux == PP_FUSED_FIRST    ? oracle_pair(o, op)
                    : op->aux == PP_FUSED_SECOND ? 0
                                                 : oracle_cost(o, op);
        }
        if (rank < 64)
            o->peak[rank] = peak / (o->shape->splits * o->shape->granules);
        o->busiest = busy > o->busiest ? busy : o->busiest;
        o->busy += busy;
    }
}

static void oracle_run(struct pp_arena *arena, struct oracle *o)
{
    const int ranks = o->orders->ranks;
    const size_t all = oracle_index(o, pp_shape_stages(o->shape), 0, 0);
    int *at = PP_ARRAY(arena, int, ranks);
    int64_t *clock = PP_ARRAY(arena, int64_t, ranks), *began = PP_ARRAY(arena, int64_t, ranks);
    bool moved = true;

    for (int table = 0; table < 3; table++) {
        o->end[table] = PP_ARRAY(arena, int64_t, all);
        memset(o->end[table], 0xff, all * sizeof(int64_t));
    }
    o->makespan = 0, o->span = 0, o->busiest = o->busy = 0, o->fault = NULL;
    while (moved) {
        moved = false;
        for (int rank = 0; rank < ranks; rank++)
            moved = oracle_advance(o, rank, at, clock, began) || moved;
    }
    for (int rank = 0; rank < ranks; rank++) {
        o->span = clock[rank] - began[rank] > o->span ? clock[rank] - began[rank] : o->span;
        if (at[rank] < o->orders->count[rank])
            o->makespan = -1;
    }
    for (int table = 0; o->makespan >= 0 && table < 3; table++)
        for (size_t i = 0; i < all; i++)
            if (o->end[table][i] < 0)
                o->fault = "an op is missing";
    oracle_peaks(o);
}

#endif
