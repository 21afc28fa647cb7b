/* Sums of gradients and updates. */
#include "tests/property/judge_parts.h"

#include <string.h>

int judge_collective(struct machine *m, int rank, const struct pp_op *op)
{
    const int purpose = judge_purpose_of(op);

    if ((op->kind == PP_AR || op->kind == PP_RS) && purpose != PP_FOR_VISIT &&
        purpose != PP_FOR_PART && judge_sum_gradients(m, rank, op) < 0)
        return -1;
    if (purpose == PP_FOR_VISIT || purpose == PP_FOR_PART)
        judge_scatter_gradients(m, rank, op);
    if (purpose)
        return judge_post_of_shards(m, rank, op);
    if ((op->kind == PP_AR || op->kind == PP_RS) && !judge_is_tied(op)) {
        struct shards *s = &m->shards[rank][op->stage];
        if (judge_is_too_early(m, rank, op))
            return judge_complain(m, op, rank, "gradients are not scattered");
        s->is_whole &= !judge_is_last_bucket(op);
    }
    for (int p = 0; p < m->head->pipelines && op->kind == PP_AG; p++)
        if (judge_home(m, p, op->stage) == rank && !judge_count_chunk(m, PP_DROP, p, op->stage) &&
            !judge_is_updated(m, rank, p, op->stage))
            return judge_complain(m, op, rank, "old weights are gathered");
    if (op->kind == PP_AG && op->split == 0 && judge_is_updated(m, rank, op->pipe, op->stage))
        judge_put(m, 'N', rank, op->stage, op->pipe, 0);
    if (judge_is_tied(op) && !judge_has_tied_gradients(m, rank))
        return judge_complain(m, op, rank, "a gradient is not complete");
    for (int p = 0; p < m->head->pipelines && !judge_is_tied(op); p++)
        if ((op->kind == PP_AR || op->kind == PP_RS) &&
            judge_home(m, p, op->stage) == judge_home(m, op->pipe, op->stage) &&
            !judge_has_gradient(m, rank, p, op->stage))
            return judge_complain(m, op, rank, "the gradient is not complete");
    if (judge_is_tied(op))
        for (int k = 0; k < m->post_count; k++)
            if (m->posts[k].rank == rank && judge_is_tied(&m->posts[k].op))
                return judge_complain(m, op, rank, "twice");
    return 1;
}

bool judge_posts_tied(const struct machine *m, int rank)
{
    for (int i = 0; i < m->lists->count[rank]; i++)
        if (judge_is_tied(&m->lists->ops[rank][i]))
            return true;
    return false;
}

static bool is_bucket_summed(const struct machine *m, int rank, int stage, int bucket)
{
    for (int p = 0; p < m->head->pipelines; p++)
        if (judge_home(m, p, stage) == rank && judge_has(m, 'Y', rank, stage, p, bucket))
            return true;
    return false;
}

bool judge_is_summed(const struct machine *m, int rank, const struct pp_op *op)
{
    for (int i = 0; i < m->lists->count[rank]; i++) {
        const struct pp_op *sum = &m->lists->ops[rank][i];
        if ((sum->kind == PP_AR || sum->kind == PP_RS) && !judge_is_tied(sum) &&
            sum->stage == op->stage && judge_purpose_of(sum) == 0 &&
            !is_bucket_summed(m, rank, op->stage, sum->split))
            return false;
    }
    return true;
}

bool judge_is_ready(struct machine *m, int rank, const struct pp_op *op)
{
    const bool is_edge = op->stage == 0 || op->stage == m->head->stages - 1;

    if (!judge_has_gradient(m, rank, op->pipe, op->stage))
        return judge_complain(m, op, rank, "the gradient is not complete") > 0;
    if (m->shards[rank][op->stage].is_dirty ||
        (pp_state_has_parts(&m->head->state.spec) && m->shards[rank][op->stage].is_whole) ||
        judge_unwaited(m, rank, op->stage, PP_FOR_VISIT) ||
        judge_unwaited(m, rank, op->stage, PP_FOR_PART) ||
        judge_unwaited(m, rank, op->stage, PP_FOR_REST))
        return judge_complain(m, op, rank, "the shard is not complete") > 0;
    if (judge_count_sums(m, op->pipe, op->stage) > 0 && !judge_is_summed(m, rank, op))
        return judge_complain(m, op, rank, "the gradient is not summed") > 0;
    if (is_edge && judge_posts_tied(m, rank) && !judge_has(m, 'T', rank, 0, 0, 0))
        return judge_complain(m, op, rank, "the tied gradient is not summed") > 0;
    return true;
}

int judge_update(struct machine *m, int rank, const struct pp_op *op)
{
    if (!judge_is_ready(m, rank, op) || judge_update_has_moved(m, rank, op) < 0 ||
        judge_gradients_are_below(m, rank, op, true) < 0)
        return -1;
    judge_put(m, 'U', rank, op->stage, op->pipe, 0);
    return 1;
}
