/* Recomputation: R directly before the backward of every stage that keeps only a part of its
 * activations. This holds even if the backward directly follows its own forward: the cost table
 * gives the time of R. In a lowered list R is before the WAITs of the backward, so that it runs
 * while the gradient is sent. Before an overlapped pair it is outside the pair. Slots that a list
 * names are void then, since R needs one, and F keeps less: pp_lower_slots() assigns all anew. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

static bool is_recomputed(const struct pp_lower_options *options, const struct pp_op *op)
{
    return (op->kind == PP_B || op->kind == PP_I) && options->recompute_frac[op->stage] > 0;
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
            if (!is_recomputed(l->options, &ops[i]))
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
