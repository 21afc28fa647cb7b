/* Programs that bring their own gradient sums: which they have, and their WAITs. */
#include "schedules/lower/sync_own.h"

enum pp_own_sums pp_own_sums(const struct pp_orders *lists)
{
    enum pp_own_sums own = PP_OWN_NONE;

    for (int rank = 0; rank < lists->ranks; rank++)
        for (int i = 0; i < lists->count[rank]; i++) {
            const struct pp_op *op = &lists->ops[rank][i];

            if ((op->kind != PP_RS && op->kind != PP_AR) || op->purpose != PP_FOR_STEP)
                continue;
            if (op->kind == PP_RS || (op->kind == PP_AR && op->aux != PP_TIED))
                return PP_OWN_STAGES;
            own = PP_OWN_TIED;
        }
    return own;
}

void pp_own_sums_wait(struct pp_arena *arena, const struct pp_program_head *head,
                      struct pp_orders *lists)
{
    for (int rank = 0; rank < head->ranks; rank++) {
        const struct pp_op *ops = lists->ops[rank];
        const int tail = pp_lists_tail(lists, rank);
        struct pp_inserts waits = {0};
        bool has_wait = false;

        for (int i = 0; i < lists->count[rank]; i++) {
            has_wait |= ops[i].kind == PP_WAIT && pp_op_is_collective(ops[i].aux);
            if ((ops[i].kind == PP_AR || ops[i].kind == PP_RS) && ops[i].purpose == PP_FOR_STEP)
                pp_inserts_add(arena, &waits, tail, pp_op_wait(ops[i]));
        }
        if (has_wait)
            continue;
        for (int i = 0; i < waits.count; i++) {
            struct pp_op *wait = &waits.data[i].op;
            const bool is_tied = pp_op_is_tied(wait);

            wait->last_stage = is_tied ? (uint16_t)(head->stages - 1) : 0;
            wait->arg = -1;
        }
        pp_inserts_apply(arena, lists, rank, &waits);
    }
}

void pp_own_sums_drop_tied(struct pp_orders *lists)
{
    for (int rank = 0; rank < lists->ranks; rank++) {
        int kept = 0;

        for (int i = 0; i < lists->count[rank]; i++)
            if (!pp_op_is_tied(&lists->ops[rank][i]))
                lists->ops[rank][kept++] = lists->ops[rank][i];
        lists->count[rank] = kept;
    }
}
