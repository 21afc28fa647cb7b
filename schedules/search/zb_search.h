/* schedules/search/zb_search.h — list scheduling of split backwards on a linear pipeline under a
 * memory limit. Internal to schedules/. Deterministic; times are picoseconds.
 *
 * Every rank runs its forwards by ascending micro-batch, and likewise its input gradients and its
 * weight gradients. So an order is a word over F, I, W per rank. */
#pragma once

#include "schedules/order/schedule.h"

struct pp_zb {
    int ranks, micro_batches;
    int limit;               /* micro-batches held from the start of F to the end of W */
    bool is_serial;          /* messages of one channel follow one another */
    int64_t *f, *i, *w;      /* [rank] duration */
    int64_t *down, *up;      /* [rank] wire time of a message to the next, the previous rank */
    int64_t *f_in, *i_in;    /* [rank * micro_batches + mb] arrival of the input; scratch */
    struct pp_zb_rank *rank; /* scratch */
};

struct pp_zb_score {
    int64_t span;     /* longest first start to last end of a rank */
    int64_t makespan; /* latest end */
};

/* Returns the problem with durations of every rank; F = I = W = 1 and free messages if `costs` is
 * NULL. All durations are halved together until their sum cannot overflow. */
struct pp_zb *pp_zb_create(struct pp_arena *arena, const struct pp_shape *shape,
                           const struct pp_costs *costs);

/* Choices of a greedy pass if several ops could start, or none. */
struct pp_zb_policy {
    const int *warmup; /* [rank] most micro-batches between F and I; NULL = only the limit */
    const int *keep;   /* [rank] W comes first once more than this many are pending; NULL = never */
    bool forward_first;
    int fit_percent; /* a W may start if this share of it fits before the next known input */
};

/* Runs one pass in order of time, O(ops log ranks). `word` has 3 N cells per rank. */
struct pp_zb_score pp_zb_greedy(struct pp_zb *zb, const struct pp_zb_policy *policy, char *word);
/* Times `word`, each op as soon as possible; it must not deadlock. */
struct pp_zb_score pp_zb_evaluate(struct pp_zb *zb, const char *word);
/* Returns lower bounds on span and makespan of any order. */
struct pp_zb_score pp_zb_bound(const struct pp_zb *zb);
