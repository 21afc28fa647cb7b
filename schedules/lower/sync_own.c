/* Programs that bring their own gradient sums: which they have, and their WAITs. */
#include "schedules/lower/sync_own.h"

#include "schedules/lower/lists.h"

static bool is_sum(const struct pp_op *op)
{
    return (op->kind == PP_AR || op->kind == PP_RS) && op->purpose == PP_FOR_STEP;
}

static bool is_sum_of_stage(const struct pp_op *op)
{
    return is_sum(op) && !pp_op_is_tied(op);
}

enum pp_own_sums pp_own_sums(const struct pp_orders *lists)
{
    if (pp_lists_any(lists, is_sum_of_stage))
        return PP_OWN_STAGES;
    return pp_lists_any(lists, is_sum) ? PP_OWN_TIED : PP_OWN_NONE;
}

void pp_own_sums_wait(const struct pp_lowering *l)
{
    struct pp_orders *lists = l->lists;

    for (int rank = 0; rank < lists->ranks; rank++) {
        const struct pp_op *ops = lists->ops[rank];
        const int tail = pp_lists_tail(lists, rank);
        struct pp_inserts waits = {0};
        bool has_wait = false;

        for (int i = 0; i < lists->count[rank]; i++) {
            has_wait |= ops[i].kind == PP_WAIT && pp_op_is_collective(ops[i].aux);
            if (is_sum(&ops[i]))
                pp_inserts_add(l->arena, &waits, tail, pp_op_wait(ops[i]));
        }
        if (has_wait)
            continue;
        for (int i = 0; i < waits.count; i++) {
            struct pp_op *wait = &waits.data[i].op;
            const bool is_tied = pp_op_is_tied(wait);

            wait->last_stage = is_tied ? (uint16_t)(l->head->stages - 1) : 0;
            wait->arg = -1;
        }
        pp_inserts_apply(l->arena, lists, rank, &waits);
    }
}
