/* schedules/search/vmem.h — common parts of the V schedules with controllable memory (Qi et al.,
 * "Pipeline Parallelism with Controllable Memory", NeurIPS'24, sections 3 and 4).
 *
 * Two chunks per rank in a V. All micro-batches repeat one building block with a period of six
 * ticks (one for each F and I, two for the W). The slopes of the block determine how long a rank
 * holds an activation. Then ops move earlier if that adds no memory. Internal to schedules/. */
#pragma once

#include "schedules/order/schedule.h"

/* Ops of a rank for one micro-batch, in the order of its life. Chunk 1 has stages D..2D-1. With
 * whole backwards the two I are full backwards and there is no W. */
enum pp_vmem_kind {
    PP_VMEM_F0,
    PP_VMEM_F1,
    PP_VMEM_I1,
    PP_VMEM_I0,
    PP_VMEM_W1,
    PP_VMEM_W0,
    PP_VMEM_KINDS,
    PP_VMEM_CHAIN = PP_VMEM_W1, /* kinds that other ranks wait for */
};
enum { PP_VMEM_PERIOD = 6 };

/* A schedule: ticks of micro-batch 0 on a rank, and whether backwards are split. `cap`: chunk
 * activations that a rank may hold, if these are more than in the published order. */
struct pp_vmem_rule {
    void (*block)(int ranks, int rank, int64_t tick[PP_VMEM_CHAIN]);
    bool is_split;
    int cap;
};

/* Ops of a rank as mb * 8 + kind. Lists of few micro-batches can stand for lists of all, if their
 * steady state repeats. Copies of the period before op `at` of each rank are then left out there.
 */
struct pp_vmem_lists {
    int ranks, micro_batches, capacity; /* capacity: ops of a rank, W included */
    int32_t *ops;                       /* [rank * capacity + position] */
    int *count, *at;                    /* [rank] */
    int period;                         /* micro-batches of a period, 0 = not known */
    int reach; /* most micro-batches by which ops before the places are ahead of others */
};
static inline int32_t pp_vmem_op(int kind, int mb)
{
    return mb * 8 + kind;
}
static inline int32_t *pp_vmem_row(const struct pp_vmem_lists *lists, int rank)
{
    return lists->ops + (size_t)rank * (size_t)lists->capacity;
}

static inline int pp_vmem_kinds(const struct pp_vmem_rule *rule)
{
    return rule->is_split ? (int)PP_VMEM_KINDS : (int)PP_VMEM_CHAIN;
}

/* Returns the chunk activations that an op of this kind adds to its rank. */
static inline int pp_vmem_held(const struct pp_vmem_rule *rule, int kind)
{
    return (kind <= PP_VMEM_F1) - (kind >= (rule->is_split ? PP_VMEM_CHAIN : PP_VMEM_I1));
}
/* Is true if the chain ascends the ranks in ops of this kind. */
static inline bool pp_vmem_is_up(int kind)
{
    return kind == PP_VMEM_F0 || kind == PP_VMEM_I1;
}

/* Finds the op whose result `kind` on `rank` needs; false for the first of the chain. */
static inline bool pp_vmem_source(int ranks, int kind, int rank, int *from_kind, int *from_rank)
{
    const bool is_up = pp_vmem_is_up(kind);
    const bool is_turn = is_up ? rank == 0 : rank == ranks - 1;

    *from_kind = is_turn ? kind - 1 : kind;
    *from_rank = is_turn ? rank : is_up ? rank - 1 : rank + 1;
    return *from_kind >= 0;
}

/* Finds the op that needs the result of `kind` on `rank`; false for the last of the chain. */
static inline bool pp_vmem_target(int ranks, int kind, int rank, int *to_kind, int *to_rank)
{
    const bool is_up = pp_vmem_is_up(kind);
    const bool is_turn = rank == (is_up ? ranks - 1 : 0);

    *to_kind = is_turn ? kind + 1 : kind;
    *to_rank = is_turn ? rank : is_up ? rank + 1 : rank - 1;
    return *to_kind < PP_VMEM_CHAIN;
}

/* Durations, [kind * ranks + rank]. `wire`: from the op's rank to the next of its chain. */
struct pp_vmem_costs {
    int64_t *op, *wire;
};

struct pp_vmem_score {
    int64_t makespan, span; /* INT64_MAX: the order does not run within the memory */
    int peak;               /* chunk activations of the worst rank */
    int wanted; /* 0, or lists of few micro-batches do not tell the time of all: as many may do */
    int period; /* micro-batches after which all times repeat; 0: all micro-batches were run */
};

/* Rule for placing the W that are not in the list. */
struct pp_vmem_fill {
    int cap;       /* chunk activations of a rank */
    int quarter;   /* a W fills a gap of at least this many quarters of its length */
    bool is_eager; /* each W directly follows its I */
};

struct pp_vmem {
    const struct pp_shape *shape;
    const struct pp_vmem_rule *rule;
    int few; /* micro-batches of the lists that are tried first, at most all */
    struct pp_vmem_costs costs;
    int64_t *block; /* ticks of micro-batch 0, [kind * ranks + rank]: of the rule, or another */
    int64_t *start, period; /* a block for the durations, with W, and the time between its copies */
    struct pp_vmem_lists best;
    struct pp_vmem_score score;
};

/* Write a published order; vmem_ticks.c is for split backwards. False if the shape is too large for
 * its ticks; then `lists` is untouched. */
bool pp_vmem_ticks(struct pp_arena *arena, const struct pp_vmem *vmem, struct pp_vmem_lists *lists);
bool pp_vmem_squeeze(struct pp_arena *arena, const struct pp_vmem *vmem,
                     struct pp_vmem_lists *lists);
/* The same with a tight end, for split backwards; false also if the memory is too small for it. */
bool pp_vmem_tighten(struct pp_arena *arena, const struct pp_vmem *vmem,
                     struct pp_vmem_lists *lists);

/* Returns the most idle time of each rank in an order that is no longer than the best. */
int64_t *pp_vmem_most_idle(struct pp_arena *arena, const struct pp_vmem *vmem);

/* Runs every rank's list in order, each op as soon as its data is there. With `fill`, `lists` has
 * no W; they are placed into `out`. Else `fill` and `out` are NULL. The score is that of all
 * micro-batches; of few, if their steady state repeats in time. INT64_MAX if it is longer than
 * vmem->score. */
struct pp_vmem_score pp_vmem_run(struct pp_arena *arena, const struct pp_vmem *vmem,
                                 const struct pp_vmem_lists *lists, const struct pp_vmem_fill *fill,
                                 struct pp_vmem_lists *out);

/* List scheduling. A free rank runs the ready op with the lowest key that fits into the memory. W
 * runs if nothing else can or the memory is full. Writes complete lists, and returns the score of
 * pp_vmem_run(). */
struct pp_vmem_policy {
    int cap;            /* chunk activations of a rank */
    const int *chunk_0; /* [rank] limit of chunk 0 among them; NULL = cap - 1 */
    const int64_t *key; /* [kind * ranks + rank] of micro-batch 0 */
    int64_t period;     /* added for every micro-batch */
    int patience;       /* quarters of a W for which a rank waits for an arriving op */
};
struct pp_vmem_score pp_vmem_list(struct pp_arena *arena, const struct pp_vmem *vmem,
                                  const struct pp_vmem_policy *policy, struct pp_vmem_lists *out);

/* Replaces the block by the next one from *place on. Its copies hold at most `peak` chunk
 * activations on a rank, and as many on some. False if there is none. *place begins as 0. */
bool pp_vmem_next_block(struct pp_vmem *vmem, int peak, int *place);

/* Finds starts of micro-batch 0, [kind * ranks + rank] with W, in a block whose copies stay within
 * `cap`. Returns the period, 0 if none is found. */
int64_t pp_vmem_modulo(struct pp_arena *arena, const struct pp_vmem *vmem, int cap, int64_t *start);

struct pp_vmem_lists pp_vmem_lists_make(struct pp_arena *arena, const struct pp_vmem *vmem,
                                        int micro_batches);

/* Finds the places and the period of the steady state of lists. */
void pp_vmem_find_period(const struct pp_vmem *vmem, struct pp_vmem_lists *lists);
/* Returns the lists of more micro-batches for which lists with a period stand; of all if the period
 * does not divide the difference. */
struct pp_vmem_lists pp_vmem_expand(struct pp_arena *arena, const struct pp_vmem *vmem,
                                    const struct pp_vmem_lists *lists, int micro_batches);
/* Returns how many micro-batches lists need to stand for lists of all; 0 for those that they have.
 * `period` 0: it is not known. */
int pp_vmem_wanted(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists, int period);
/* Adds the time of the micro-batches that lists lack to their score, or sets `wanted`. All ops
 * around the places must be the same time later than those some periods before. `ready`: when the
 * data of ops is there, [(kind * ranks + rank) * micro_batches + mb]. */
void pp_vmem_lengthen(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists,
                      const int64_t *ready, struct pp_vmem_score *score);

void pp_vmem_lists_copy(struct pp_vmem_lists *to, const struct pp_vmem_lists *from);

/* Lets the best order be expanded by the period for which its times repeat. Its ops may repeat
 * sooner. */
void pp_vmem_take_period(struct pp_vmem *vmem);
/* Times the lists. Those that do not tell the time of all become longer. */
struct pp_vmem_score pp_vmem_time(struct pp_arena *arena, const struct pp_vmem *vmem,
                                  struct pp_vmem_lists *lists);
/* Keep an order if it is better than the best: given lists, these with other places of the W, and
 * that of the list scheduling. */
void pp_vmem_try_order(struct pp_arena *arena, struct pp_vmem *vmem,
                       const struct pp_vmem_lists *lists);
void pp_vmem_try_fills(struct pp_arena *arena, struct pp_vmem *vmem,
                       const struct pp_vmem_lists *lists);
void pp_vmem_try_list(struct pp_arena *arena, struct pp_vmem *vmem,
                      const struct pp_vmem_policy *policy);

/* Returns the W of the first I in ops[*owed] .. ops[end - 1] and sets *owed to it; -1 if none. */
int32_t pp_vmem_owed(const struct pp_vmem *vmem, const int32_t *ops, int *owed, int end);

/* Returns the compute op of lists, and the durations of all. `costs` may be NULL: F = I = W = 1. */
struct pp_op pp_vmem_compute(const struct pp_vmem *vmem, int rank, int32_t op);
struct pp_vmem_costs pp_vmem_costs_of(struct pp_arena *arena, const struct pp_vmem *vmem,
                                      const struct pp_costs *costs);

/* .generate of a schedule. `costs` may be NULL. */
enum pp_status pp_vmem_generate(struct pp_arena *arena, const struct pp_shape *shape,
                                const struct pp_costs *costs, const struct pp_vmem_rule *rule,
                                struct pp_orders *orders);
/* The same, decided on the orders of `few` micro-batches where these tell the time of all. */
enum pp_status pp_vmem_decide(struct pp_arena *arena, const struct pp_shape *shape,
                              const struct pp_costs *costs, const struct pp_vmem_rule *rule,
                              int few, struct pp_orders *orders);
