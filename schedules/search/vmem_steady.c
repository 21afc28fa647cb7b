/* Orders of few micro-batches that stand for orders of all.
 *
 * Around a place, all ops may be those of the period before, with the next micro-batches. Then the
 * rules that made the order would make more such periods there. If the ops are also the same time
 * later, so is every period, and all that follows. For a period depends only on what is around the
 * place, and the window is longer than any dependency that crosses it. */
#include "schedules/search/vmem.h"

#include <stdlib.h>

/* Finds the same forward on each rank, between warm-up and cool-down; false if a list lacks it. */
static bool find_places(struct pp_vmem_lists *lists)
{
    const int32_t op = pp_vmem_op(PP_VMEM_F0, lists->micro_batches / 8 * 5);

    for (int rank = 0; rank < lists->ranks; rank++) {
        const int32_t *ops = pp_vmem_row(lists, rank);
        int at = 0;
        while (at < lists->count[rank] && ops[at] != op)
            at++;
        if (at == lists->count[rank])
            return false;
        lists->at[rank] = at;
    }
    return true;
}

/* Returns by how many micro-batches the ops before the places differ from those that they need. */
static int reach_of(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const int ranks = lists->ranks;
    int *before = PP_ARRAY(scratch, int, PP_VMEM_KINDS *ranks), reach = 0;

    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < lists->at[rank]; i++)
            before[pp_vmem_row(lists, rank)[i] % 8 * ranks + rank]++;
    for (int kind = 0; kind < pp_vmem_kinds(vmem->rule); kind++)
        for (int rank = 0; rank < ranks; rank++) {
            int source = kind - PP_VMEM_W1 + PP_VMEM_I1, from = rank;
            if (kind < PP_VMEM_CHAIN && !pp_vmem_source(ranks, kind, rank, &source, &from))
                continue;
            const int apart = abs(before[kind * ranks + rank] - before[source * ranks + from]);
            reach = apart > reach ? apart : reach;
        }
    return reach;
}

/* Ops before and after each place that must repeat: longer than any dependency that crosses it. */
static int window_of(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists, int period)
{
    return (lists->reach / period + 2) * period * pp_vmem_kinds(vmem->rule);
}

/* Is true if each op around the places is that of the period before. */
static bool repeats(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists, int period)
{
    const int length = period * pp_vmem_kinds(vmem->rule), window = window_of(vmem, lists, period);

    for (int rank = 0; rank < lists->ranks; rank++) {
        const int32_t *ops = pp_vmem_row(lists, rank);
        const int at = lists->at[rank];
        if (at - window - length < 0 || at + window > lists->count[rank])
            return false;
        for (int i = at - window; i < at + window; i++)
            if (ops[i] != ops[i - length] + pp_vmem_op(0, period))
                return false;
    }
    return true;
}

void pp_vmem_find_period(const struct pp_vmem *vmem, struct pp_vmem_lists *lists)
{
    lists->period = 0;
    if (!find_places(lists))
        return;
    lists->reach = reach_of(vmem, lists);
    for (int period = 1; period <= lists->micro_batches / 6 && !lists->period; period++)
        if (repeats(vmem, lists, period))
            lists->period = period;
}

int pp_vmem_wanted(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists, int period)
{
    const int all = vmem->shape->micro_batches, left_out = all - lists->micro_batches;

    if (left_out == 0)
        return 0;
    return !period ? all : left_out % period ? lists->micro_batches + left_out % period : 0;
}

/* Returns how much later than a period before the ops around the places are; -1 if they are not all
 * the same time later. The first op of all is ready at once. */
static int64_t span_of(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists, int period,
                       const int64_t *ready)
{
    const int length = period * pp_vmem_kinds(vmem->rule), window = window_of(vmem, lists, period);
    int64_t span = -1;

    for (int rank = 0; rank < lists->ranks; rank++) {
        const int32_t *ops = pp_vmem_row(lists, rank);
        const int at = lists->at[rank];
        if (at - window - length < 0 || at + window > lists->count[rank])
            return -1;
        for (int i = at - window; i < at + window; i++) {
            const int kind = ops[i] % 8, mb = ops[i] / 8;
            if (kind >= PP_VMEM_CHAIN || (kind == PP_VMEM_F0 && rank == 0))
                continue;
            const int64_t *when =
                ready + (kind * lists->ranks + rank) * (int64_t)lists->micro_batches;
            const int64_t later = when[mb] - when[mb - period];
            if (ops[i] != ops[i - length] + pp_vmem_op(0, period) || (span >= 0 && span != later))
                return -1;
            span = later;
        }
    }
    return span;
}

void pp_vmem_lengthen(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists,
                      const int64_t *ready, struct pp_vmem_score *score)
{
    const int left_out = vmem->shape->micro_batches - lists->micro_batches, step = lists->period;
    int period = 0;
    int64_t span = 0;

    for (int n = step; left_out > 0 && step > 0 && n <= lists->micro_batches / 6 && !period;
         n += step) {
        span = span_of(vmem, lists, n, ready);
        period = span >= 0 ? n : 0;
    }
    score->wanted = pp_vmem_wanted(vmem, lists, period);
    if (left_out == 0 || score->wanted)
        return;
    score->period = period;
    score->makespan += left_out / period * span;
    score->span += left_out / period * span;
}

int64_t *pp_vmem_most_idle(struct pp_arena *arena, const struct pp_vmem *vmem)
{
    const int ranks = vmem->shape->ranks;
    int64_t *most = PP_ARRAY(arena, int64_t, ranks);

    for (int rank = 0; rank < ranks; rank++) {
        int64_t work = 0;
        for (int kind = 0; kind < pp_vmem_kinds(vmem->rule); kind++)
            work += vmem->costs.op[kind * ranks + rank];
        most[rank] = vmem->score.makespan - work * vmem->shape->micro_batches;
    }
    return most;
}
