#include "tests/property/judge_parts.h"

#include <stdlib.h>

const char *const judgement_names[] = {"legal", "illegal", "deadlock"};

static int wait(struct machine *m, int rank, const struct pp_op *op)
{
    struct post *p = NULL;

    for (int k = 0; k < m->post_count && !p; k++) {
        struct post *q = &m->posts[k];
        if (q->rank == rank && q->op.kind == op->aux && !q->is_waited &&
            judge_is_same_post(&q->op, op) &&
            judge_is_tied(&q->op) == (op->aux == PP_AR && op->peer != 0))
            p = q;
    }
    if (!p)
        return judge_complain(m, op, rank, "nothing to wait for");
    if (!p->is_over)
        return 0;
    p->is_waited = true;
    if (judge_is_fetch(m, op)) {
        if (m->shards[rank][judge_weights_of(m, op)].is_present)
            return judge_complain(m, op, rank, "the parameters are there");
        m->shards[rank][judge_weights_of(m, op)].is_present = true;
        m->shards[rank][judge_weights_of(m, op)].layer = -1;
    }
    judge_gradients_arrive(m, rank, op);
    if (op->aux == PP_COPY && op->purpose == PP_FOR_DOWN)
        judge_leave_saved(m, rank, op);
    if (op->aux == PP_COPY || op->aux == PP_MOVE || judge_purpose_of(op))
        return 1;
    for (int g = 0; g < op->granules; g++) {
        if (op->aux == PP_RECV_F)
            judge_put(m, 'A', rank, op->stage - 1, op->mb + g, op->split);
        if (op->aux == PP_RECV_B)
            judge_put(m, 'G', rank, op->stage + 1, op->mb + g, op->split);
        if (pp_op_is_send(op->aux))
            judge_leave(m, rank, op->aux, op->stage, op->mb + g, op->split);
    }
    if ((op->aux == PP_AG || op->aux == PP_BC) && judge_has_not_gone(m, rank, op) < 0)
        return -1;
    if (op->aux == PP_AR || op->aux == PP_RS)
        judge_put(m, judge_is_tied(&p->op) ? 'T' : 'Y', rank, op->stage,
                  judge_is_tied(&p->op) ? 0 : op->pipe, p->op.split);
    return 1;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static int check_place(struct machine *m, int rank, const struct pp_op *op)
{
    const struct pp_program_head *h = m->head;
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind;

    if (op->kind == PP_BAR)
        return 1;
    if (op->stage >= h->stages || op->pipe >= h->pipelines)
        return judge_complain(m, op, rank, "no such stage");
    if (pp_op_kinds[kind].has_mb) {
        if (op->mb < 0 || op->mb + op->granules > h->micro_batches * h->granules ||
            op->split >= h->splits)
            return judge_complain(m, op, rank, "no such micro-batch");
        for (int g = 0; g < op->granules; g++)
            if (judge_pipe_of(m, op->mb + g) != op->pipe)
                return judge_complain(m, op, rank, "another pipeline's micro-batch");
    }
    if (op->kind == PP_WAIT || judge_is_tied(op))
        return judge_is_tied(op) && !judge_is_member(m, rank, op)
                   ? judge_complain(m, op, rank, "no member")
                   : 1;
    if (judge_home(m, op->pipe, op->stage) != rank)
        return judge_complain(m, op, rank, "not on this rank");
    if (pp_op_kinds[kind].stream == PP_STREAM_CHANNEL) {
        const int other = judge_partner_stage(op);
        if (other < 0 || other >= h->stages || judge_home(m, op->pipe, other) == rank)
            return judge_complain(m, op, rank, "no partner");
    }
    return judge_is_lowered(m) || pp_op_is_compute(op->kind)
               ? 1
               : judge_complain(m, op, rank, "no compute op");
}

static int run_compute(struct machine *m, int rank, const struct pp_op *op, int count)
{
    const bool is_pass = op->kind != PP_Q && op->kind != PP_DQ;
    int result;

    if (op->aux != 0 && (count == 1 || op->aux != PP_FUSED_FIRST))
        return judge_complain(m, op, rank, "half a pair");
    result = judge_compute(m, rank, op, count);
    for (int k = 0; k < count && result > 0; k++)
        result = judge_use_saved(m, rank, &op[k]);
    for (int k = 0; k < count && result > 0; k++)
        result = judge_use_cache(m, rank, &op[k]);
    for (int k = 0; k < count && result > 0 && is_pass; k++)
        result = judge_use_state(m, rank, &op[k]);
    for (int k = 0; k < count && result > 0; k++)
        result = judge_make_gradients(m, rank, &op[k]);
    return result > 0 && is_pass ? judge_use_shards(m, rank, op, count) : result;
}

static int step(struct machine *m, int rank)
{
    const int i = m->at[rank];
    const struct pp_op *op = &m->lists->ops[rank][i];
    int result = 1, count = 1;

    if (op->kind == PP_BAR) {
        for (int r = 0; r < m->lists->ranks; r++) {
            const bool is_here =
                m->at[r] < m->lists->count[r] && m->lists->ops[r][m->at[r]].kind == PP_BAR;
            if (m->bars[r] < m->bars[rank] || (m->bars[r] == m->bars[rank] && !is_here))
                return 0;
        }
        m->bars[rank]++;
    } else if (op->kind == PP_U) {
        result = judge_update(m, rank, op);
    } else if (op->kind == PP_DROP) {
        result = judge_drop_shards(m, rank, op);
    } else if (op->kind == PP_WAIT) {
        result = wait(m, rank, op);
    } else if (pp_op_is_compute(op->kind)) {
        count = judge_is_pair(m, rank, i) ? 2 : 1;
        result = run_compute(m, rank, op, count);
    } else if (pp_op_is_collective(op->kind)) {
        result = op->kind == PP_AG && judge_purpose_of(op) == 0 ? judge_use_state(m, rank, op) : 1;
        result = result > 0 ? judge_collective(m, rank, op) : result;
    } else if (pp_op_is_send(op->kind)) {
        result = judge_send(m, rank, op);
    } else if (pp_op_is_recv(op->kind)) {
        result = judge_take(m, rank, op->kind, op) < 0 ? -1 : 1;
    } else if (op->kind == PP_COPY || op->kind == PP_MOVE) {
        result = judge_post_copy(m, rank, op);
    }
    if (result == 1 && pp_op_is_posted(op->kind)) /* a copy needs no other rank */
        m->posts[m->post_count++] = (struct post){
            .op = *op, .rank = rank, .is_over = op->kind == PP_COPY || op->kind == PP_MOVE};
    if (result == 1)
        m->at[rank] += count;
    return result;
}

static enum judgement run(struct machine *m)
{
    int total = 0, done = 0;

    for (bool is_moving = true; is_moving;) {
        is_moving = false;
        for (int rank = 0; rank < m->lists->ranks; rank++) {
            int result = m->at[rank] < m->lists->count[rank] ? step(m, rank) : 0;
            const int messages = judge_move_messages(m);
            if (result < 0 || messages < 0)
                return JUDGED_ILLEGAL;
            is_moving |= result > 0 || messages > 0 || judge_move_collectives(m) > 0;
        }
    }
    for (int rank = 0; rank < m->lists->ranks; rank++)
        done += m->at[rank], total += m->lists->count[rank];
    if (done < total) {
        snprintf(m->why, WHY_BYTES, "stuck after %d of %d", done, total);
        return JUDGED_DEADLOCK;
    }
    if (judge_are_moves_left(m) || judge_is_cache_left(m)) {
        snprintf(m->why, WHY_BYTES, "copies are left");
        return JUDGED_ILLEGAL;
    }
    if (judge_are_gradients_left(m)) {
        snprintf(m->why, WHY_BYTES, "gradients are left on a device");
        return JUDGED_ILLEGAL;
    }
    if (judge_are_shards_left(m)) {
        snprintf(m->why, WHY_BYTES, "shards are left");
        return JUDGED_ILLEGAL;
    }
    for (int p = 0; p < m->head->pipelines; p++)
        for (int s = 0; s < m->head->stages; s++)
            if (judge_count_chunk(m, PP_AG, p, s) && judge_count_chunk(m, PP_U, p, s) &&
                !judge_count_chunk(m, PP_DROP, p, s) &&
                !judge_has(m, 'N', judge_home(m, p, s), s, p, 0)) {
                snprintf(m->why, WHY_BYTES, "stage %d: only old weights are gathered", s);
                return JUDGED_ILLEGAL;
            }
    for (int k = 0; k < m->post_count; k++)
        if (!m->posts[k].is_over) {
            judge_complain(m, &m->posts[k].op, m->posts[k].rank, "never met a partner");
            return JUDGED_ILLEGAL;
        } else if (pp_op_is_collective(m->posts[k].op.kind) && !m->posts[k].is_waited) {
            judge_complain(m, &m->posts[k].op, m->posts[k].rank, "nothing waits for it");
            return JUDGED_ILLEGAL;
        }
    return JUDGED_LEGAL;
}

enum judgement judge(const struct pp_program_head *head, const struct pp_orders *lists, char *why)
{
    struct machine *m = calloc(1, sizeof(*m));
    enum judgement verdict = JUDGED_ILLEGAL;
    bool is_placed = true;

    *m = (struct machine){.head = head, .lists = lists, .why = why};
    snprintf(why, WHY_BYTES, "incomplete");
    for (int rank = 0; rank < lists->ranks && is_placed; rank++)
        for (int i = 0; i < lists->count[rank] && is_placed; i++)
            is_placed = check_place(m, rank, &lists->ops[rank][i]) > 0;
    if (is_placed && judge_is_complete(m))
        verdict = run(m);
    free(m);
    return verdict;
}
