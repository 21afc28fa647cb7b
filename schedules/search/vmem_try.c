/* Orders that are timed, and kept if they are better than the best. */
#include "schedules/search/vmem.h"

#include "schedules/order/closed_form.h"

static bool is_better(const struct pp_vmem_score *a, const struct pp_vmem_score *b)
{
    return a->peak <= b->peak && a->span <= b->span && a->makespan <= b->makespan &&
           (a->span < b->span || a->makespan < b->makespan);
}

void pp_vmem_take_period(struct pp_vmem *vmem)
{
    if (vmem->score.period > 0)
        vmem->best.period = vmem->score.period;
}

static void keep_better(struct pp_vmem *vmem, const struct pp_vmem_lists *lists,
                        const struct pp_vmem_score *score)
{
    if (!is_better(score, &vmem->score))
        return;
    vmem->score = *score;
    vmem->score.peak = PP_MAX(score->peak, vmem->rule->cap);
    pp_vmem_lists_copy(&vmem->best, lists);
    pp_vmem_take_period(vmem);
}

struct pp_vmem_score pp_vmem_time(struct pp_arena *arena, const struct pp_vmem *vmem,
                                  struct pp_vmem_lists *lists)
{
    struct pp_vmem_score score = pp_vmem_run(arena, vmem, lists, NULL, NULL);

    while (score.wanted) {
        *lists = pp_vmem_expand(arena, vmem, lists, score.wanted);
        score = pp_vmem_run(arena, vmem, lists, NULL, NULL);
    }
    return score;
}

void pp_vmem_try_order(struct pp_arena *arena, struct pp_vmem *vmem,
                       const struct pp_vmem_lists *lists)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_vmem_lists timed = *lists;
    const struct pp_vmem_score score = pp_vmem_time(arena, vmem, &timed);

    keep_better(vmem, &timed, &score);
    pp_arena_release(arena, mark);
}

/* Drops the W of lists. */
static void keep_chain(struct pp_vmem_lists *lists)
{
    for (int rank = 0; rank < lists->ranks; rank++) {
        int32_t *ops = pp_vmem_row(lists, rank);
        int count = 0;
        for (int i = 0; i < lists->count[rank]; i++)
            if (ops[i] % 8 < PP_VMEM_CHAIN)
                ops[count++] = ops[i];
        lists->count[rank] = count;
    }
}

void pp_vmem_try_fills(struct pp_arena *arena, struct pp_vmem *vmem,
                       const struct pp_vmem_lists *lists)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    const struct pp_vmem_lists own =
        pp_vmem_expand(arena, vmem, lists, lists->micro_batches); /* they may be the best */
    struct pp_vmem_lists chain = {.ops = NULL}, out = chain;

    for (int quarter = 4; quarter >= 0; quarter--) {
        const struct pp_vmem_fill fill = {.cap = vmem->score.peak, .quarter = quarter};
        struct pp_vmem_score score = {.wanted = own.micro_batches};
        while (score.wanted) {
            if (score.wanted != chain.micro_batches) {
                chain = pp_vmem_expand(arena, vmem, &own, score.wanted);
                keep_chain(&chain);
                out = pp_vmem_lists_make(arena, vmem, chain.micro_batches);
            }
            score = pp_vmem_run(arena, vmem, &chain, &fill, &out);
        }
        keep_better(vmem, &out, &score);
    }
    pp_arena_release(arena, mark);
}

void pp_vmem_try_list(struct pp_arena *arena, struct pp_vmem *vmem,
                      const struct pp_vmem_policy *policy)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_vmem_score score = {.wanted = vmem->few};
    struct pp_vmem_lists out;

    while (score.wanted) {
        out = pp_vmem_lists_make(arena, vmem, score.wanted);
        score = pp_vmem_list(arena, vmem, policy, &out);
    }
    keep_better(vmem, &out, &score);
    pp_arena_release(arena, mark);
}
