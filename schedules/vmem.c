#include "schedules/vmem.h"

#include "schedules/closed_form.h"
#include "schedules/order.h"

#include <string.h>

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

/* Time on the wire from an op to the next of its chain on a neighbouring rank. */
static int64_t wire_of(const struct pp_vmem *vmem, const struct pp_costs *costs, int kind, int rank)
{
    const bool is_up = kind == PP_VMEM_F0 || kind == PP_VMEM_I1;
    const int peer = is_up ? rank + 1 : rank - 1;
    struct pp_op send = op_of(vmem, rank, pp_vmem_op(kind, 0));

    if (peer < 0 || peer >= vmem->shape->ranks)
        return 0;
    send.kind = kind <= PP_VMEM_F1 ? PP_SEND_F : PP_SEND_B;
    send.peer = (uint16_t)peer;
    return pp_costs_p2p(costs, &send, rank).ps;
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
    return c;
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* The blocks in order of their ticks, without W. */
static void merge_blocks(const struct pp_vmem *vmem, struct pp_vmem_lists *lists)
{
    const int n = vmem->shape->micro_batches;

    for (int rank = 0; rank < lists->ranks; rank++) {
        int32_t *out = lists->ops + (size_t)rank * (size_t)lists->capacity;
        int64_t tick[PP_VMEM_CHAIN];
        int mb[PP_VMEM_CHAIN] = {0};
        vmem->rule->block(lists->ranks, rank, tick);
        lists->count[rank] = PP_VMEM_CHAIN * n;
        for (int i = 0; i < PP_VMEM_CHAIN * n; i++) {
            int best = -1;
            for (int kind = 0; kind < PP_VMEM_CHAIN; kind++)
                if (mb[kind] < n && (best < 0 || tick[kind] < tick[best]))
                    best = kind;
            out[i] = pp_vmem_op(best, mb[best]++);
            tick[best] += PP_VMEM_PERIOD;
        }
    }
}

static bool is_better(const struct pp_vmem_score *a, const struct pp_vmem_score *b)
{
    return a->peak <= b->peak && a->span <= b->span && a->makespan < b->makespan;
}

static void consider(struct pp_arena *arena, struct pp_vmem *vmem,
                     const struct pp_vmem_lists *chain, int quarter)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    const struct pp_vmem_fill fill = {.cap = vmem->score.peak, .quarter = quarter};
    struct pp_vmem_lists out = pp_vmem_lists_make(arena, vmem);
    const struct pp_vmem_score score = pp_vmem_run(arena, vmem, chain, &fill, &out);

    if (is_better(&score, &vmem->score)) {
        vmem->score = score;
        memcpy(vmem->best.ops, out.ops, sizeof(int32_t) * (size_t)out.ranks * (size_t)out.capacity);
        memcpy(vmem->best.count, out.count, sizeof(int) * (size_t)out.ranks);
    }
    pp_arena_release(arena, mark);
}

static void search(struct pp_arena *arena, struct pp_vmem *vmem)
{
    struct pp_vmem_lists chain = pp_vmem_lists_make(arena, vmem);
    const bool has_ticks = vmem->rule->is_split ? pp_vmem_ticks(arena, vmem, &vmem->best)
                                                : pp_vmem_whole(arena, vmem, &vmem->best);

    merge_blocks(vmem, &chain);
    if (has_ticks) {
        vmem->score = pp_vmem_run(arena, vmem, &vmem->best, NULL, NULL);
    } else {
        /* Memory as the blocks have it when every W follows its I. */
        vmem->score =
            pp_vmem_run(arena, vmem, &chain, &(struct pp_vmem_fill){INT32_MAX, 0}, &vmem->best);
    }
    if (!vmem->rule->is_split)
        return;
    for (int rank = 0; has_ticks && rank < chain.ranks; rank++) {
        const size_t row = (size_t)rank * (size_t)chain.capacity;
        chain.count[rank] = 0;
        for (int i = 0; i < vmem->best.count[rank]; i++)
            if (vmem->best.ops[row + (size_t)i] % 8 < PP_VMEM_CHAIN)
                chain.ops[row + (size_t)chain.count[rank]++] = vmem->best.ops[row + (size_t)i];
    }
    for (int quarter = 4; quarter >= 0; quarter--)
        consider(arena, vmem, &chain, quarter);
}

enum pp_status pp_vmem_generate(struct pp_arena *arena, const struct pp_shape *shape,
                                const struct pp_costs *costs, const struct pp_vmem_rule *rule,
                                struct pp_orders *orders)
{
    struct pp_arena *scratch = pp_arena_create();
    struct pp_vmem vmem = {.shape = shape, .rule = rule};

    vmem.costs = costs_of(scratch, &vmem, costs);
    vmem.best = pp_vmem_lists_make(scratch, &vmem);
    search(scratch, &vmem);
    for (int rank = 0; rank < shape->ranks; rank++) {
        const int32_t *ops = vmem.best.ops + (size_t)rank * (size_t)vmem.best.capacity;
        pp_orders_reserve(arena, orders, rank, vmem.best.count[rank]);
        for (int i = 0; i < vmem.best.count[rank]; i++)
            pp_orders_add(arena, orders, rank, op_of(&vmem, rank, ops[i]));
    }
    pp_arena_destroy(scratch);
    return PP_OK;
}
