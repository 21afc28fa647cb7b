/* Recomputation: R directly before the backward of every stage that keeps only a part of its
 * activations. The cost table gives the time of R. In a lowered list R is before the WAITs of the
 * backward: it runs while the gradient is sent. `late` puts it after them. Before an overlapped
 * pair it is outside the pair. `skip` leaves R out where the backward directly follows its own
 * forward. Slots that a list names are void then, since R needs one, and F keeps less:
 * pp_lower_slots() assigns all anew. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

#include <string.h>

/* Is true if the compute op before `at` is the forward of the same cells. */
static bool follows_own_forward(const struct pp_op *ops, int at)
{
    const struct pp_op *backward = &ops[at];

    while (--at >= 0 && !pp_op_is_compute(ops[at].kind))
        ;
    return at >= 0 && ops[at].kind == PP_F && pp_op_has_same_cells(&ops[at], backward);
}

static bool is_recomputed(const struct pp_lower_options *options, const struct pp_op *ops, int at)
{
    return (ops[at].kind == PP_B || ops[at].kind == PP_I) &&
           options->recompute_frac[ops[at].stage] > 0 &&
           !(options->again.is_skipped && follows_own_forward(ops, at));
}

/* Returns the index of the R of the backward at `at`. */
static int place_of(const struct pp_op *ops, int at)
{
    if (ops[at].aux == PP_FUSED_SECOND && at > 0)
        at--;
    while (at > 0 && ops[at - 1].kind == PP_WAIT && pp_op_is_recv(ops[at - 1].aux))
        at--;
    return at;
}

enum pp_status pp_lower_recompute(const struct pp_lowering *l)
{
    struct pp_orders *lists = l->lists;

    if (!l->options->recompute_frac || l->head->mode == PP_MODE_INFER || pp_lists_have(lists, PP_R))
        return PP_OK;
    for (int rank = 0; rank < lists->ranks; rank++) {
        struct pp_op *ops = lists->ops[rank];
        struct pp_inserts inserts = {0};

        for (int i = 0; i < lists->count[rank]; i++) {
            ops[i].slot = -1;
            if (!is_recomputed(l->options, ops, i))
                continue;
            struct pp_op op = ops[i];
            op.kind = PP_R;
            op.aux = 0;
            op.arg = op.slot = -1;
            pp_inserts_add(l->arena, &inserts, place_of(ops, i), op);
        }
        pp_inserts_apply(l->arena, lists, rank, &inserts);
    }
    return PP_OK;
}

/* Is true for a SEND or RECV, or a WAIT for one. */
static bool is_of_message(const struct pp_op *op)
{
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind;

    return pp_op_is_send(kind) || pp_op_is_recv(kind);
}

/* Moves the messages between an R and its backward in front of the R. Gathers and loads stay after
 * it, as it holds their buffers. */
static void wait_first(struct pp_op *ops, int count, int again)
{
    int to = again;

    for (int i = again + 1; i < count && !pp_op_is_compute(ops[i].kind); i++) {
        const struct pp_op moved = ops[i];
        if (!is_of_message(&moved))
            continue;
        memmove(&ops[to + 1], &ops[to], sizeof(*ops) * (size_t)(i - to));
        ops[to++] = moved;
    }
}

enum pp_status pp_lower_late(const struct pp_lowering *l)
{
    struct pp_orders *lists = l->lists;

    for (int rank = 0; l->options->again.is_late && rank < lists->ranks; rank++)
        for (int i = lists->count[rank] - 1; i >= 0; i--)
            if (lists->ops[rank][i].kind == PP_R)
                wait_first(lists->ops[rank], lists->count[rank], i);
    return PP_OK;
}
