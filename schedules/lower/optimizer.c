/* The optimizer: one U per chunk of a rank. It is after the WAITs for the sums of its gradients and
 * before the AG that returns its weights. Without sums it is at the end of the list. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

/* Is true for a WAIT for a sum that the weights of `stage` need. Scatters of visits are all waited
 * for before the sums of a step, or the end of the list. */
static bool is_sum_of(const struct pp_op *op, int stage)
{
    return op->purpose != PP_FOR_VISIT && op->purpose != PP_FOR_PART &&
           pp_lists_waits_for_sum(op, stage);
}

static int place_of(const struct pp_orders *lists, int rank, int stage)
{
    int place = lists->count[rank];

    for (int i = place - 1; i >= 0; i--) {
        if (is_sum_of(&lists->ops[rank][i], stage))
            return i + 1;
        if (pp_op_is_compute(lists->ops[rank][i].kind))
            break;
    }
    return place;
}

enum pp_status pp_lower_optimizer(const struct pp_lowering *l)
{
    const struct pp_program_head *head = l->head;

    if (!l->options->has_optimizer || head->mode == PP_MODE_INFER || pp_lists_have(l->lists, PP_U))
        return PP_OK;
    struct pp_inserts *inserts = PP_ARRAY(l->arena, struct pp_inserts, head->ranks);
    for (int pipe = 0; pipe < head->pipelines; pipe++)
        for (int stage = head->stages - 1; stage >= 0; stage--) {
            const int rank = head->rank_of[pipe * head->stages + stage];

            pp_inserts_add(l->arena, &inserts[rank], place_of(l->lists, rank, stage),
                           pp_stage_op(PP_U, stage, pipe));
        }
    for (int rank = 0; rank < head->ranks; rank++)
        pp_inserts_apply(l->arena, l->lists, rank, &inserts[rank]);
    return PP_OK;
}
