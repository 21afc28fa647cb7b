/* Clipping by the norm of all gradients: no rank may update a weight before every rank has all its
 * sums. From the first U of a list on, updates move to the end with the gathers and moves of what
 * they update, in their order. All ranks meet in a BAR before them. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

#include <string.h>

/* Is true for an op that belongs after the meeting of all ranks. */
static bool is_after_clip(const struct pp_op *op)
{
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind;

    return kind == PP_U || kind == PP_AG || kind == PP_BC ||
           (kind == PP_MOVE && pp_purposes[op->purpose].when >= PP_AS_UPDATE);
}

/* Is true if a BAR is after all sums and backwards of a list and before its first update. */
static bool is_clipped(const struct pp_orders *lists, int rank)
{
    const int update = pp_lists_next_update(lists, rank, 0);

    for (int i = update; i < lists->count[rank]; i++)
        if (!is_after_clip(&lists->ops[rank][i]))
            return false;
    for (int i = update - 1; i >= 0; i--) {
        const struct pp_op *op = &lists->ops[rank][i];
        if (op->kind == PP_BAR)
            return true;
        if (pp_op_is_compute(op->kind) || (op->kind == PP_WAIT && pp_op_is_collective(op->aux)))
            return false;
    }
    return false;
}

static bool are_all_clipped(const struct pp_orders *lists)
{
    for (int rank = 0; rank < lists->ranks; rank++)
        if (!is_clipped(lists, rank))
            return false;
    return true;
}

static void clip(struct pp_arena *arena, struct pp_orders *lists, int rank)
{
    const int update = pp_lists_next_update(lists, rank, 0), count = lists->count[rank];
    struct pp_op *ops = lists->ops[rank];
    struct pp_op *after = PP_ARRAY(arena, struct pp_op, count - update);
    int before_end = update, after_count = 0;
    struct pp_inserts meeting = {0};

    for (int i = update; i < count; i++)
        if (is_after_clip(&ops[i]))
            after[after_count++] = ops[i];
        else
            ops[before_end++] = ops[i];
    memcpy(ops + before_end, after, sizeof(*ops) * (size_t)after_count);
    pp_inserts_add(arena, &meeting, before_end, pp_stage_op(PP_BAR, 0, 0));
    pp_inserts_apply(arena, lists, rank, &meeting);
}

enum pp_status pp_lower_clip(const struct pp_lowering *l)
{
    if (!l->options->has_clip || !pp_lists_have(l->lists, PP_U) || are_all_clipped(l->lists))
        return PP_OK;
    for (int rank = 0; rank < l->lists->ranks; rank++)
        clip(l->arena, l->lists, rank);
    return PP_OK;
}
