/* Times and memory of given lists. */
#include "schedules/search/vmem.h"

#include <string.h>

/* The op that waits for an op of a kind on a rank. */
struct hop {
    int64_t *ready; /* [mb] of the target; NULL for the last of the chain */
    int64_t wire;
    int rank;
};

struct run {
    const struct pp_vmem *vmem;
    const struct pp_vmem_lists *lists;
    const struct pp_vmem_fill *fill;
    struct pp_vmem_lists *out;
    int64_t *ready;  /* [(kind * ranks + rank) * micro_batches + mb], -1 = not yet known */
    struct hop *hop; /* [kind * ranks + rank] */
    int64_t *clock, *first;
    int *at, *owed, *held, *peak; /* owed: position of the next I whose W has not run */
    int *stack, depth;
    int64_t *idle, *most_idle; /* [rank] */
    bool *is_waiting, is_stuck, is_worse;
};

static void account(struct run *r, int rank, int32_t op)
{
    const int kind = op % 8;

    r->held[rank] += pp_vmem_held(r->vmem->rule, kind);
    r->peak[rank] = r->held[rank] > r->peak[rank] ? r->held[rank] : r->peak[rank];
    r->clock[rank] += r->vmem->costs.op[kind * r->lists->ranks + rank];
    if (r->out)
        pp_vmem_row(r->out, rank)[r->out->count[rank]++] = op;
}

/* Returns the W of the oldest I before position `at` without one; -1 if all have run. */
static int32_t owed_w(struct run *r, int rank)
{
    return pp_vmem_owed(r->vmem, pp_vmem_row(r->lists, rank), &r->owed[rank], r->at[rank]);
}

/* Runs W before an op that can start at `ready`, if the gap or the memory requires it. */
static void fill_w(struct run *r, int rank, int32_t next, int64_t ready)
{
    const int ranks = r->lists->ranks;

    for (int32_t w; r->fill && (w = owed_w(r, rank)) >= 0; r->owed[rank]++) {
        const int64_t gap = ready - r->clock[rank],
                      length = r->vmem->costs.op[w % 8 * ranks + rank];
        const bool is_full = next % 8 <= PP_VMEM_F1 && r->held[rank] >= r->fill->cap;
        const bool is_worth = gap > 0 && gap >= length / 4 * r->fill->quarter;
        if (!is_full && !is_worth && !r->fill->is_eager)
            break;
        account(r, rank, w);
    }
}

static void wake(struct run *r, int rank)
{
    if (r->is_waiting[rank])
        return;
    r->is_waiting[rank] = true;
    r->stack[r->depth++] = rank;
}

/* Tells the op that waits for the result of `op` when its data is there. */
static void tell(struct run *r, int rank, int32_t op)
{
    const struct hop *hop = &r->hop[op % 8 * r->lists->ranks + rank];

    if (op % 8 >= PP_VMEM_CHAIN || !hop->ready)
        return;
    hop->ready[op / 8] = r->clock[rank] + hop->wire;
    if (hop->rank != rank)
        wake(r, hop->rank);
}

/* Waits until an op is ready. */
static void start(struct run *r, int rank, int64_t ready)
{
    if (ready > r->clock[rank]) {
        r->idle[rank] += ready - r->clock[rank];
        r->clock[rank] = ready;
        r->is_worse |= r->idle[rank] > r->most_idle[rank];
    }
    if (r->first[rank] < 0)
        r->first[rank] = r->clock[rank];
}

static void advance(struct run *r, int rank)
{
    const int ranks = r->lists->ranks, n = r->lists->micro_batches;
    const int32_t *ops = pp_vmem_row(r->lists, rank);

    for (; r->at[rank] < r->lists->count[rank]; r->at[rank]++) {
        const int32_t op = ops[r->at[rank]];
        const int64_t ready =
            op % 8 < PP_VMEM_CHAIN
                ? r->ready[(size_t)(op % 8 * ranks + rank) * (size_t)n + (size_t)(op / 8)]
                : 0;
        if (ready < 0)
            return;
        fill_w(r, rank, op, ready);
        if (r->fill && op % 8 <= PP_VMEM_F1 && r->held[rank] >= r->fill->cap) {
            r->is_stuck = true;
            return;
        }
        start(r, rank, ready);
        account(r, rank, op);
        tell(r, rank, op);
    }
    for (int32_t w; r->fill && (w = owed_w(r, rank)) >= 0; r->owed[rank]++)
        account(r, rank, w);
}

static struct run prepare(struct pp_arena *arena, const struct pp_vmem *vmem,
                          const struct pp_vmem_lists *lists)
{
    const int ranks = lists->ranks;
    const size_t n = (size_t)lists->micro_batches, ops = (size_t)PP_VMEM_CHAIN * (size_t)ranks * n;
    struct run r = {.vmem = vmem,
                    .lists = lists,
                    .ready = pp_arena_alloc_raw(arena, ops * sizeof(int64_t)),
                    .hop = PP_ARRAY(arena, struct hop, PP_VMEM_CHAIN * ranks),
                    .clock = PP_ARRAY(arena, int64_t, ranks),
                    .first = PP_ARRAY(arena, int64_t, ranks),
                    .at = PP_ARRAY(arena, int, ranks),
                    .owed = PP_ARRAY(arena, int, ranks),
                    .held = PP_ARRAY(arena, int, ranks),
                    .peak = PP_ARRAY(arena, int, ranks),
                    .stack = PP_ARRAY(arena, int, ranks),
                    .idle = PP_ARRAY(arena, int64_t, ranks),
                    .most_idle = pp_vmem_most_idle(arena, vmem),
                    .is_waiting = PP_ARRAY(arena, bool, ranks)};

    memset(r.ready, 0xff, ops * sizeof(int64_t));
    memset(r.ready, 0, n * sizeof(int64_t)); /* F0 on rank 0 */
    memset(r.first, 0xff, (size_t)ranks * sizeof(int64_t));
    for (int i = 0; i < PP_VMEM_CHAIN * ranks; i++) {
        int kind, rank;
        if (!pp_vmem_target(ranks, i / ranks, i % ranks, &kind, &rank))
            continue;
        r.hop[i] = (struct hop){r.ready + (size_t)(kind * ranks + rank) * n,
                                rank == i % ranks ? 0 : vmem->costs.wire[i], rank};
    }
    return r;
}

/* Runs until each rank waits for ops that no list has, or is done. */
static void go(struct run *r)
{
    for (int rank = r->lists->ranks - 1; rank >= 0; rank--) {
        if (r->out)
            r->out->count[rank] = 0;
        wake(r, rank);
    }
    const bool is_few = r->lists->micro_batches < r->vmem->shape->micro_batches;
    while (r->depth > 0 && (is_few || !r->is_worse)) {
        const int rank = r->stack[--r->depth];
        r->is_waiting[rank] = false;
        advance(r, rank);
    }
}

struct pp_vmem_score pp_vmem_run(struct pp_arena *arena, const struct pp_vmem *vmem,
                                 const struct pp_vmem_lists *lists, const struct pp_vmem_fill *fill,
                                 struct pp_vmem_lists *out)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_vmem_score score = {0};
    struct run r = prepare(arena, vmem, lists);

    r.fill = fill, r.out = out;
    go(&r);
    for (int rank = 0; rank < lists->ranks; rank++) {
        const int64_t span = r.clock[rank] - r.first[rank];
        r.is_stuck |= r.at[rank] < lists->count[rank];
        score.makespan = r.clock[rank] > score.makespan ? r.clock[rank] : score.makespan;
        score.span = span > score.span ? span : score.span;
        score.peak = r.peak[rank] > score.peak ? r.peak[rank] : score.peak;
    }
    if (out && !r.is_stuck)
        pp_vmem_find_period(vmem, out);
    if (!r.is_stuck)
        pp_vmem_lengthen(vmem, out ? out : lists, r.ready, &score);
    else
        score = (struct pp_vmem_score){INT64_MAX, INT64_MAX, score.peak,
                                       pp_vmem_wanted(vmem, lists, 0)};
    pp_arena_release(arena, mark);
    return score;
}
