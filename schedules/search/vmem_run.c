/* Times and memory of given lists, and functions of the lists. */
#include "schedules/search/vmem.h"

#include <string.h>

struct run {
    const struct pp_vmem *vmem;
    const struct pp_vmem_lists *lists;
    const struct pp_vmem_fill *fill;
    struct pp_vmem_lists *out;
    int64_t *end; /* [(kind * ranks + rank) * micro_batches + mb], -1 = has not run */
    int64_t *clock, *first;
    int *at, *owed, *held, *peak; /* owed: position of the next I whose W has not run */
    int *stack, depth;
    bool *is_waiting, is_stuck;
};

static int64_t *end_of(const struct run *r, int kind, int rank, int mb)
{
    return &r->end[((size_t)kind * (size_t)r->lists->ranks + (size_t)rank) *
                       (size_t)r->vmem->shape->micro_batches +
                   (size_t)mb];
}

static int64_t ready_at(const struct run *r, int rank, int32_t op)
{
    const int ranks = r->lists->ranks;
    int kind, from;

    if (op % 8 >= PP_VMEM_CHAIN || !pp_vmem_source(ranks, op % 8, rank, &kind, &from))
        return 0;
    const int64_t end = *end_of(r, kind, from, op / 8);
    return end < 0 || from == rank ? end : end + r->vmem->costs.wire[kind * ranks + from];
}

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
    if (rank < 0 || rank >= r->lists->ranks || r->is_waiting[rank])
        return;
    r->is_waiting[rank] = true;
    r->stack[r->depth++] = rank;
}

static void advance(struct run *r, int rank)
{
    const int32_t *ops = pp_vmem_row(r->lists, rank);

    for (; r->at[rank] < r->lists->count[rank]; r->at[rank]++) {
        const int32_t op = ops[r->at[rank]];
        const int64_t ready = ready_at(r, rank, op);
        if (ready < 0)
            return;
        fill_w(r, rank, op, ready);
        if (r->fill && op % 8 <= PP_VMEM_F1 && r->held[rank] >= r->fill->cap) {
            r->is_stuck = true;
            return;
        }
        r->clock[rank] = ready > r->clock[rank] ? ready : r->clock[rank];
        if (r->first[rank] < 0)
            r->first[rank] = r->clock[rank];
        account(r, rank, op);
        if (op % 8 < PP_VMEM_CHAIN) {
            *end_of(r, op % 8, rank, op / 8) = r->clock[rank];
            wake(r, rank - 1), wake(r, rank + 1);
        }
    }
    for (int32_t w; r->fill && (w = owed_w(r, rank)) >= 0; r->owed[rank]++)
        account(r, rank, w);
}

static struct run prepare(struct pp_arena *arena, const struct pp_vmem *vmem, int ranks)
{
    const size_t ends = (size_t)PP_VMEM_CHAIN * (size_t)ranks * (size_t)vmem->shape->micro_batches;
    struct run r = {.vmem = vmem,
                    .end = pp_arena_alloc_raw(arena, ends * sizeof(int64_t)),
                    .clock = PP_ARRAY(arena, int64_t, ranks),
                    .first = PP_ARRAY(arena, int64_t, ranks),
                    .at = PP_ARRAY(arena, int, ranks),
                    .owed = PP_ARRAY(arena, int, ranks),
                    .held = PP_ARRAY(arena, int, ranks),
                    .peak = PP_ARRAY(arena, int, ranks),
                    .stack = PP_ARRAY(arena, int, ranks),
                    .is_waiting = PP_ARRAY(arena, bool, ranks)};

    memset(r.end, 0xff, ends * sizeof(int64_t));
    memset(r.first, 0xff, (size_t)ranks * sizeof(int64_t));
    return r;
}

struct pp_vmem_score pp_vmem_run(struct pp_arena *arena, const struct pp_vmem *vmem,
                                 const struct pp_vmem_lists *lists, const struct pp_vmem_fill *fill,
                                 struct pp_vmem_lists *out)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_vmem_score score = {0};
    struct run r = prepare(arena, vmem, lists->ranks);

    r.lists = lists, r.fill = fill, r.out = out;
    for (int rank = lists->ranks - 1; rank >= 0; rank--) {
        if (out)
            out->count[rank] = 0;
        wake(&r, rank);
    }
    while (r.depth > 0) {
        const int rank = r.stack[--r.depth];
        r.is_waiting[rank] = false;
        advance(&r, rank);
    }
    for (int rank = 0; rank < lists->ranks; rank++) {
        const int64_t span = r.clock[rank] - r.first[rank];
        r.is_stuck |= r.at[rank] < lists->count[rank];
        score.makespan = r.clock[rank] > score.makespan ? r.clock[rank] : score.makespan;
        score.span = span > score.span ? span : score.span;
        score.peak = r.peak[rank] > score.peak ? r.peak[rank] : score.peak;
    }
    if (r.is_stuck)
        score.makespan = score.span = INT64_MAX;
    pp_arena_release(arena, mark);
    return score;
}

int32_t pp_vmem_owed(const struct pp_vmem *vmem, const int32_t *ops, int *owed, int end)
{
    for (; vmem->rule->is_split && *owed < end; ++*owed)
        if (ops[*owed] % 8 == PP_VMEM_I1 || ops[*owed] % 8 == PP_VMEM_I0)
            return ops[*owed] + PP_VMEM_W1 - PP_VMEM_I1;
    return -1;
}

struct pp_vmem_lists pp_vmem_lists_make(struct pp_arena *arena, const struct pp_vmem *vmem)
{
    const int ranks = vmem->shape->ranks;
    const int capacity = vmem->shape->micro_batches *
                         (vmem->rule->is_split ? (int)PP_VMEM_KINDS : (int)PP_VMEM_CHAIN);

    return (struct pp_vmem_lists){
        .ranks = ranks,
        .capacity = capacity,
        .ops = pp_arena_alloc_raw(arena, (size_t)ranks * (size_t)capacity * sizeof(int32_t)),
        .count = PP_ARRAY(arena, int, ranks)};
}
