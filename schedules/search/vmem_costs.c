/* Ops of V orders, and their durations. */
#include "schedules/search/vmem.h"

#include "schedules/order/order.h"

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

struct pp_op pp_vmem_compute(const struct pp_vmem *vmem, int rank, int32_t op)
{
    const struct pp_slot slot = {.stage = (uint16_t)stage_of(vmem->shape->ranks, op % 8, rank)};

    return pp_compute_op(op_kind(vmem->rule, op % 8), slot, op / 8, 0);
}

static int64_t unit_of(const struct pp_vmem_rule *rule, int kind)
{
    return !rule->is_split && kind >= PP_VMEM_I1 ? 2 : 1;
}

/* Returns the time on the wire from an op to the next of its chain on a neighbouring rank. */
static int64_t wire_of(const struct pp_vmem *vmem, const struct pp_costs *costs, int kind, int rank)
{
    const int peer = pp_vmem_is_up(kind) ? rank + 1 : rank - 1;
    struct pp_op send = pp_vmem_compute(vmem, rank, pp_vmem_op(kind, 0));

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

struct pp_vmem_costs pp_vmem_costs_of(struct pp_arena *arena, const struct pp_vmem *vmem,
                                      const struct pp_costs *costs)
{
    const int ranks = vmem->shape->ranks;
    struct pp_vmem_costs c = {.op = PP_ARRAY(arena, int64_t, PP_VMEM_KINDS * ranks),
                              .wire = PP_ARRAY(arena, int64_t, PP_VMEM_CHAIN * ranks)};

    for (int kind = 0; kind < PP_VMEM_KINDS; kind++) {
        for (int rank = 0; rank < ranks; rank++) {
            const struct pp_op op = pp_vmem_compute(vmem, rank, pp_vmem_op(kind, 0));
            c.op[kind * ranks + rank] =
                costs ? pp_costs_op(costs, &op, NULL).ps : unit_of(vmem->rule, kind);
            if (costs && kind < PP_VMEM_CHAIN)
                c.wire[kind * ranks + rank] = wire_of(vmem, costs, kind, rank);
        }
    }
    keep_small(vmem, &c);
    return c;
}
