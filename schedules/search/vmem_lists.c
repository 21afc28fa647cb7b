/* Lists of V orders. */
#include "schedules/search/vmem.h"

#include <string.h>

struct pp_vmem_lists pp_vmem_lists_make(struct pp_arena *arena, const struct pp_vmem *vmem,
                                        int micro_batches)
{
    const int ranks = vmem->shape->ranks, capacity = micro_batches * pp_vmem_kinds(vmem->rule);

    return (struct pp_vmem_lists){
        .ranks = ranks,
        .micro_batches = micro_batches,
        .capacity = capacity,
        .ops = pp_arena_alloc_raw(arena, (size_t)ranks * (size_t)capacity * sizeof(int32_t)),
        .count = PP_ARRAY(arena, int, ranks),
        .at = PP_ARRAY(arena, int, ranks)};
}

void pp_vmem_lists_copy(struct pp_vmem_lists *to, const struct pp_vmem_lists *from)
{
    const size_t ranks = (size_t)from->ranks;

    *to = (struct pp_vmem_lists){
        .ranks = from->ranks,
        .micro_batches = from->micro_batches,
        .capacity = from->capacity,
        .ops = memcpy(to->ops, from->ops, sizeof(int32_t) * ranks * (size_t)from->capacity),
        .count = memcpy(to->count, from->count, sizeof(int) * ranks),
        .at = memcpy(to->at, from->at, sizeof(int) * ranks),
        .period = from->period,
        .reach = from->reach};
}

static void add_ops(struct pp_vmem_lists *to, int rank, const int32_t *ops, int count, int skipped)
{
    int32_t *out = pp_vmem_row(to, rank) + to->count[rank];

    for (int i = 0; i < count; i++)
        out[i] = ops[i] + pp_vmem_op(0, skipped);
    to->count[rank] += count;
}

struct pp_vmem_lists pp_vmem_expand(struct pp_arena *arena, const struct pp_vmem *vmem,
                                    const struct pp_vmem_lists *lists, int micro_batches)
{
    const int n = lists->micro_batches, period = lists->period,
              length = period * pp_vmem_kinds(vmem->rule), all = vmem->shape->micro_batches;
    const int added = (period && (micro_batches - n) % period ? all : micro_batches) - n;
    struct pp_vmem_lists out = pp_vmem_lists_make(arena, vmem, n + added);

    out.period = period, out.reach = lists->reach;
    for (int rank = 0; rank < lists->ranks; rank++) {
        const int32_t *ops = pp_vmem_row(lists, rank);
        const int at = lists->at[rank];
        add_ops(&out, rank, ops, at, 0);
        for (int before = 0; before < added; before += period)
            add_ops(&out, rank, ops + at - length, length, before + period);
        out.at[rank] = out.count[rank];
        add_ops(&out, rank, ops + at, lists->count[rank] - at, added);
    }
    return out;
}

int32_t pp_vmem_owed(const struct pp_vmem *vmem, const int32_t *ops, int *owed, int end)
{
    for (; vmem->rule->is_split && *owed < end; ++*owed)
        if (ops[*owed] % 8 == PP_VMEM_I1 || ops[*owed] % 8 == PP_VMEM_I0)
            return ops[*owed] + PP_VMEM_W1 - PP_VMEM_I1;
    return -1;
}
