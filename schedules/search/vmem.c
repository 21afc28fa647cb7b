/* The best order of several passes for the V schedules with controllable memory. */
#include "schedules/search/vmem.h"

#include "schedules/order/closed_form.h"
#include "schedules/order/order.h"

#include <string.h>

enum { POLICIES = 12 };
static const int64_t EFFORT_MAX = 1000000;        /* ops scheduled by all policies together */
static const int64_t BLOCKS_EFFORT_MAX = 4000000; /* ops of all blocks tried */

static int stage_of(int ranks, int kind, int rank)
{
    const bool is_chunk_0 = kind == PP_VMEM_F0 || kind == PP_VMEM_I0 || kind == PP_VMEM_W0;

    return is_chunk_0 ? rank : 2 * ranks - 1 - rank;
}

static int op_kind(const struct pp_vmem_rule *rule, int kind)
{
    if (kind <= PP_VMEM_F1)
        return PP_F;
    return !rule->is_split ? PP_B : kind <= PP_VMEM_I0 ? PP_I : PP_W;
}

static struct pp_op op_of(const struct pp_vmem *vmem, int rank, int32_t op)
{
    const struct pp_slot slot = {.stage = (uint16_t)stage_of(vmem->shape->ranks, op % 8, rank)};

    return pp_compute_op(op_kind(vmem->rule, op % 8), slot, op / 8, 0);
}

/* ---- costs ----------------------------------------------------------------------------------- */

static int64_t unit_of(const struct pp_vmem_rule *rule, int kind)
{
    return !rule->is_split && kind >= PP_VMEM_I1 ? 2 : 1;
}

/* Returns the time on the wire from an op to the next of its chain on a neighbouring rank. */
static int64_t wire_of(const struct pp_vmem *vmem, const struct pp_costs *costs, int kind, int rank)
{
    const int peer = pp_vmem_is_up(kind) ? rank + 1 : rank - 1;
    struct pp_op send = op_of(vmem, rank, pp_vmem_op(kind, 0));

    if (peer < 0 || peer >= vmem->shape->ranks)
        return 0;
    send.kind = kind <= PP_VMEM_F1 ? PP_SEND_F : PP_SEND_B;
    send.peer = (uint16_t)peer;
    return pp_costs_p2p(costs, &send, rank).ps;
}

/* Scales times down if sums over all micro-batches could overflow; they are only compared. */
static void keep_small(const struct pp_vmem *vmem, struct pp_vmem_costs *c)
{
    const int ranks = vmem->shape->ranks;
    double total = 0;

    for (int i = 0; i < PP_VMEM_KINDS * ranks; i++)
        total += (double)c->op[i];
    for (int i = 0; i < PP_VMEM_CHAIN * ranks; i++)
        total += (double)c->wire[i];
    const double excess = total * (vmem->shape->micro_batches + 8.0 * ranks) / (double)(1LL << 55);
    if (excess <= 1)
        return;
    for (int i = 0; i < PP_VMEM_KINDS * ranks; i++)
        c->op[i] = (int64_t)((double)c->op[i] / excess);
    for (int i = 0; i < PP_VMEM_CHAIN * ranks; i++)
        c->wire[i] = (int64_t)((double)c->wire[i] / excess);
}

static struct pp_vmem_costs costs_of(struct pp_arena *arena, const struct pp_vmem *vmem,
                                     const struct pp_costs *costs)
{
    const int ranks = vmem->shape->ranks;
    struct pp_vmem_costs c = {.op = PP_ARRAY(arena, int64_t, PP_VMEM_KINDS * ranks),
                              .wire = PP_ARRAY(arena, int64_t, PP_VMEM_CHAIN * ranks)};

    for (int kind = 0; kind < PP_VMEM_KINDS; kind++) {
        for (int rank = 0; rank < ranks; rank++) {
            const struct pp_op op = op_of(vmem, rank, pp_vmem_op(kind, 0));
            c.op[kind * ranks + rank] =
                costs ? pp_costs_op(costs, &op, NULL).ps : unit_of(vmem->rule, kind);
            if (costs && kind < PP_VMEM_CHAIN)
                c.wire[kind * ranks + rank] = wire_of(vmem, costs, kind, rank);
        }
    }
    keep_small(vmem, &c);
    return c;
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* Merges copies of a block, `period` apart, by their starts [kind * ranks + rank]. */
static void merge_blocks(const struct pp_vmem *vmem, int kinds, const int64_t *start,
                         int64_t period, struct pp_vmem_lists *lists)
{
    const int n = vmem->shape->micro_batches;

    for (int rank = 0; rank < lists->ranks; rank++) {
        int32_t *out = pp_vmem_row(lists, rank);
        int64_t next[PP_VMEM_KINDS];
        int mb[PP_VMEM_KINDS] = {0};
        for (int kind = 0; kind < kinds; kind++)
            next[kind] = start[kind * lists->ranks + rank];
        lists->count[rank] = kinds * n;
        for (int i = 0; i < kinds * n; i++) {
            int best = -1;
            for (int kind = 0; kind < kinds; kind++)
                if (mb[kind] < n && (best < 0 || next[kind] < next[best]))
                    best = kind;
            out[i] = pp_vmem_op(best, mb[best]++);
            next[best] += period;
        }
    }
}

static bool is_better(const struct pp_vmem_score *a, const struct pp_vmem_score *b)
{
    return a->peak <= b->peak && a->span <= b->span && a->makespan <= b->makespan &&
           (a->span < b->span || a->makespan < b->makespan);
}

static void copy_lists(struct pp_vmem_lists *to, const struct pp_vmem_lists *from)
{
    memcpy(to->ops, from->ops, sizeof(int32_t) * (size_t)from->ranks * (size_t)from->capacity);
    memcpy(to->count, from->count, sizeof(int) * (size_t)from->ranks);
}

static void keep_better(struct pp_vmem *vmem, const struct pp_vmem_lists *lists,
                        const struct pp_vmem_score *score)
{
    if (!is_better(score, &vmem->score))
        return;
    vmem->score = *score;
    vmem->score.peak = PP_MAX(score->peak, vmem->rule->cap);
    copy_lists(&vmem->best, lists);
}

/* Times the lists and keeps them if they are better. */
static void try_order(struct pp_arena *arena, struct pp_vmem *vmem,
                      const struct pp_vmem_lists *lists)
{
    const struct pp_vmem_score score = pp_vmem_run(arena, vmem, lists, NULL, NULL);

    keep_better(vmem, lists, &score);
}

/* Tries the order of F and I of `lists` with other places of the W. */
static void try_fills(struct pp_arena *arena, struct pp_vmem *vmem,
                      const struct pp_vmem_lists *lists)
{
    struct pp_vmem_lists chain = pp_vmem_lists_make(arena, vmem);
    struct pp_vmem_lists out = pp_vmem_lists_make(arena, vmem);

    for (int rank = 0; rank < lists->ranks; rank++) {
        const int32_t *ops = pp_vmem_row(lists, rank);
        for (int i = 0; i < lists->count[rank]; i++)
            if (ops[i] % 8 < PP_VMEM_CHAIN)
                pp_vmem_row(&chain, rank)[chain.count[rank]++] = ops[i];
    }
    for (int quarter = 4; quarter >= 0; quarter--) {
        const struct pp_vmem_fill fill = {.cap = vmem->score.peak, .quarter = quarter};
        const struct pp_vmem_score score = pp_vmem_run(arena, vmem, &chain, &fill, &out);
        keep_better(vmem, &out, &score);
    }
}

/* Sets keys of the list scheduling: the published blocks, or backwards first. */
static void keys_of(const struct pp_vmem *vmem, bool is_backward_first, int64_t *key)
{
    const int ranks = vmem->shape->ranks;

    for (int i = 0; i < PP_VMEM_CHAIN * ranks; i++)
        key[i] = is_backward_first ? -(i / ranks) * (INT64_C(1) << 40) : vmem->block[i];
}

/* Sets the most activations of chunk 0 on a rank in the published order. */
static void chunk_0_of(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists, int *limit)
{
    for (int rank = 0; rank < lists->ranks; rank++) {
        const int32_t *ops = pp_vmem_row(lists, rank);
        limit[rank] = 1;
        for (int i = 0, held = 0; i < lists->count[rank]; i++) {
            held += ops[i] % 8 == PP_VMEM_F0;
            held -= ops[i] % 8 == (vmem->rule->is_split ? PP_VMEM_W0 : PP_VMEM_I0);
            limit[rank] = PP_MAX(limit[rank], held);
        }
    }
}

static void try_lists(struct pp_arena *arena, struct pp_vmem *vmem)
{
    const int64_t ops = (int64_t)vmem->best.ranks * vmem->best.capacity;
    const int ranks = vmem->shape->ranks;
    struct pp_vmem_lists out = pp_vmem_lists_make(arena, vmem);
    int64_t *key = PP_ARRAY(arena, int64_t, PP_VMEM_CHAIN * ranks), effort = 0;
    int *limit = PP_ARRAY(arena, int, ranks);

    chunk_0_of(vmem, &vmem->best, limit);
    for (int i = 0; i < POLICIES && effort < EFFORT_MAX; i++, effort += ops) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        const struct pp_vmem_policy policy = {.cap = vmem->score.peak,
                                              .chunk_0 = i & 1 ? limit : NULL,
                                              .key = key,
                                              .period = PP_VMEM_PERIOD,
                                              .patience = i / 4 * 2};
        keys_of(vmem, i & 2, key);
        pp_vmem_list(arena, vmem, &policy, &out);
        try_order(arena, vmem, &out);
        pp_arena_release(arena, mark);
    }
}

/* Tries blocks made for the current durations: as they are, and as keys of the list scheduling. */
static void try_modulo(struct pp_arena *arena, struct pp_vmem *vmem)
{
    const int ranks = vmem->shape->ranks;
    struct pp_vmem_lists out = pp_vmem_lists_make(arena, vmem);
    int64_t *start = PP_ARRAY(arena, int64_t, PP_VMEM_KINDS * ranks);
    const int64_t period = pp_vmem_modulo(arena, vmem, vmem->score.peak, start);

    if (period == 0)
        return;
    merge_blocks(vmem, vmem->rule->is_split ? PP_VMEM_KINDS : PP_VMEM_CHAIN, start, period, &out);
    try_order(arena, vmem, &out);
    if (vmem->rule->is_split)
        try_fills(arena, vmem, &out);
    for (int patience = 0; patience <= 4; patience += 2) {
        const struct pp_vmem_policy policy = {
            .cap = vmem->score.peak, .key = start, .period = period, .patience = patience};
        pp_vmem_list(arena, vmem, &policy, &out);
        try_order(arena, vmem, &out);
    }
}

/* Published orders; `best` begins as the first. */
struct published {
    struct pp_vmem_lists lists[2];
    int count;
};

/* Improves `best` under the current durations. */
static void improve(struct pp_arena *arena, struct pp_vmem *vmem, const struct published *published)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);

    vmem->score = pp_vmem_run(arena, vmem, &vmem->best, NULL, NULL);
    vmem->score.peak = PP_MAX(vmem->score.peak, vmem->rule->cap);
    if (vmem->rule->is_split)
        try_fills(arena, vmem, &vmem->best);
    for (int i = 0; vmem->rule->is_split && i < published->count; i++) {
        try_order(arena, vmem, &published->lists[i]);
        try_fills(arena, vmem, &published->lists[i]);
    }
    try_lists(arena, vmem);
    pp_arena_release(arena, mark);
}

static void publish(struct pp_arena *arena, struct pp_vmem *vmem, struct published *out)
{
    bool (*const orders[])(struct pp_arena *, const struct pp_vmem *,
                           struct pp_vmem_lists *) = {pp_vmem_ticks, pp_vmem_squeeze};

    for (int i = vmem->rule->is_split ? 0 : 1; i < 2; i++) {
        out->lists[out->count] = pp_vmem_lists_make(arena, vmem);
        out->count += orders[i](arena, vmem, &out->lists[out->count]);
    }
    if (out->count == 0) {
        const struct pp_vmem_fill fill = {.cap = INT32_MAX, .is_eager = true};
        struct pp_vmem_lists blocks = pp_vmem_lists_make(arena, vmem);
        int64_t *key = PP_ARRAY(arena, int64_t, PP_VMEM_CHAIN * vmem->shape->ranks);
        keys_of(vmem, false, key);
        merge_blocks(vmem, PP_VMEM_CHAIN, key, PP_VMEM_PERIOD, &blocks);
        pp_vmem_run(arena, vmem, &blocks, &fill, &out->lists[out->count++]);
    }
    copy_lists(&vmem->best, &out->lists[0]);
}

static void set_block(struct pp_vmem *vmem)
{
    const int ranks = vmem->shape->ranks;

    for (int rank = 0; rank < ranks; rank++) {
        int64_t tick[PP_VMEM_CHAIN];
        vmem->rule->block(ranks, rank, tick);
        for (int kind = 0; kind < PP_VMEM_CHAIN; kind++)
            vmem->block[kind * ranks + rank] = tick[kind];
    }
}

/* Tries blocks that use the given memory, or a little less. */
static void try_blocks(struct pp_arena *arena, struct pp_vmem *vmem)
{
    const int64_t ops = (int64_t)vmem->best.ranks * vmem->best.capacity;
    struct pp_vmem_lists out = pp_vmem_lists_make(arena, vmem);
    int64_t effort = ops > BLOCKS_EFFORT_MAX / 8 ? BLOCKS_EFFORT_MAX : 0;

    for (int spare = 0; spare < 2; spare++)
        for (int place = 0; effort < BLOCKS_EFFORT_MAX &&
                            pp_vmem_next_block(vmem, vmem->rule->cap - spare, &place);
             effort += ops) {
            const struct pp_arena_mark mark = pp_arena_mark(arena);
            if (pp_vmem_tighten(arena, vmem, &out)) {
                try_order(arena, vmem, &out);
                try_fills(arena, vmem, &out);
            }
            pp_arena_release(arena, mark);
        }
    set_block(vmem);
}

/* Searches with equal durations first: no result for others is worse than that order. */
static void search(struct pp_arena *arena, struct pp_vmem *vmem, const struct pp_costs *costs)
{
    struct published published = {.count = 0};

    vmem->costs = costs_of(arena, vmem, NULL);
    publish(arena, vmem, &published);
    improve(arena, vmem, &published);
    if (costs) {
        vmem->costs = costs_of(arena, vmem, costs);
        improve(arena, vmem, &published);
        try_modulo(arena, vmem);
    }
    if (vmem->rule->cap)
        try_blocks(arena, vmem);
}

enum pp_status pp_vmem_generate(struct pp_arena *arena, const struct pp_shape *shape,
                                const struct pp_costs *costs, const struct pp_vmem_rule *rule,
                                struct pp_orders *orders)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_vmem vmem = {.shape = shape, .rule = rule};

    vmem.best = pp_vmem_lists_make(scratch, &vmem);
    vmem.block = PP_ARRAY(scratch, int64_t, PP_VMEM_CHAIN * shape->ranks);
    set_block(&vmem);
    search(scratch, &vmem, costs);
    for (int rank = 0; rank < shape->ranks; rank++) {
        const int32_t *ops = pp_vmem_row(&vmem.best, rank);
        pp_orders_reserve(arena, orders, rank, vmem.best.count[rank]);
        for (int i = 0; i < vmem.best.count[rank]; i++)
            pp_orders_add(arena, orders, rank, op_of(&vmem, rank, ops[i]));
    }
    return PP_OK;
}
