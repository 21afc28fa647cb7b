/* The sum of a tied embedding for programs that have other gradient sums of their own: a file does
 * not know the model. All ranks must post in one order. It comes first if every sum is whole and
 * after the compute ops, as in pp_lower_sync(), else after the rank's other sums. Its WAIT is
 * before the first update, or move of gradients, that needs it. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

static bool is_end(const struct pp_program_head *head, int stage)
{
    return stage == 0 || stage == head->stages - 1;
}

/* Is true if first and last stage are on different ranks in some pipeline. */
static bool is_apart(const struct pp_program_head *head)
{
    for (int pipe = 0; pipe < head->pipelines; pipe++)
        if (head->rank_of[pipe * head->stages] != head->rank_of[(pipe + 1) * head->stages - 1])
            return true;
    return false;
}

/* Returns the pipeline of the first or last stage on `rank`, or -1 if it holds neither. */
static int member_pipe(const struct pp_program_head *head, int rank)
{
    for (int pipe = 0; pipe < head->pipelines; pipe++)
        for (int stage = 0; stage<head->stages; stage += head->stages> 1 ? head->stages - 1 : 1)
            if (head->rank_of[pipe * head->stages + stage] == rank)
                return pipe;
    return -1;
}

static bool is_bucket(const struct pp_op *op)
{
    return pp_op_has_buckets(op->kind) && op->granules > 1;
}

/* Is true if a sum is posted between the compute ops of a rank. */
static bool is_eager(const struct pp_orders *lists)
{
    for (int rank = 0; rank < lists->ranks; rank++)
        for (int i = 0; i < pp_lists_compute_end(lists, rank); i++)
            if (lists->ops[rank][i].kind == PP_AR || lists->ops[rank][i].kind == PP_RS)
                return true;
    return false;
}

/* Is true if an op of the first or last stage needs sums of gradients. */
static bool needs_sum(const struct pp_program_head *head, const struct pp_op *op)
{
    const struct pp_purpose_row *row = &pp_purposes[op->purpose];

    return is_end(head, op->stage) &&
           (op->kind == PP_U ||
            (op->kind == PP_MOVE && (row->what == PP_STATE_GRADS || row->when == PP_AS_UPDATE)));
}

static void add_tied(const struct pp_lowering *l, bool is_last, int rank)
{
    const struct pp_program_head *head = l->head;
    struct pp_orders *lists = l->lists;
    const struct pp_op *ops = lists->ops[rank];
    struct pp_inserts inserts = {0};
    int post = pp_lists_compute_end(lists, rank), update = lists->count[rank];

    for (int i = lists->count[rank] - 1; i >= post; i--)
        if (needs_sum(head, &ops[i]) ||
            (!is_last && ops[i].kind == PP_WAIT && pp_op_is_collective(ops[i].aux)))
            update = i;
    for (int i = post; is_last && i < update; i++)
        if (ops[i].kind == PP_AR || ops[i].kind == PP_RS)
            post = i + 1;
    struct pp_op sum = pp_stage_op(PP_AR, 0, member_pipe(head, rank));
    sum.aux = PP_TIED;
    sum.last_stage = (uint16_t)(head->stages - 1);
    pp_inserts_add(l->arena, &inserts, post, sum);
    pp_inserts_add(l->arena, &inserts, update, pp_op_wait(sum));
    pp_inserts_apply(l->arena, lists, rank, &inserts);
}

enum pp_status pp_lower_tied(const struct pp_lowering *l)
{
    if (!l->options->has_tied || l->head->mode == PP_MODE_INFER ||
        pp_lists_any(l->lists, pp_op_is_tied) || !is_apart(l->head))
        return PP_OK;
    const bool is_last = is_eager(l->lists) || pp_lists_any(l->lists, is_bucket);
    for (int rank = 0; rank < l->head->ranks; rank++)
        if (member_pipe(l->head, rank) >= 0)
            add_tied(l, is_last, rank);
    return PP_OK;
}
