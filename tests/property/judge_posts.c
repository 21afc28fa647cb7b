/* Messages and collectives: who meets whom. */
#include "tests/property/judge_parts.h"

#include <string.h>

bool judge_is_same_post(const struct pp_op *a, const struct pp_op *b)
{
    return a->stage == b->stage && a->pipe == b->pipe && a->mb == b->mb && a->split == b->split &&
           a->granules == b->granules && judge_purpose_of(a) == judge_purpose_of(b);
}

int judge_partner_stage(const struct pp_op *op)
{
    return op->kind == PP_SEND_F || op->kind == PP_RECV_B ? op->stage + 1 : op->stage - 1;
}

int judge_send(struct machine *m, int rank, const struct pp_op *op)
{
    for (int g = 0; g < op->granules; g++)
        if (!judge_has(m, op->kind == PP_SEND_F ? 'A' : 'G', rank, op->stage, op->mb + g,
                       op->split))
            return judge_complain(m, op, rank, "sends what is not there");
    return 1;
}

static bool is_in_channel(const struct machine *m, const struct post *p, int source, int dest,
                          int pipe, int kind)
{
    const int other = judge_partner_stage(&p->op);

    if (p->op.kind != kind || p->op.pipe != pipe)
        return false;
    const int peer = judge_home(m, pipe, other);
    return pp_op_is_send(kind) ? p->rank == source && peer == dest
                               : p->rank == dest && peer == source;
}

static struct post *first_open(struct machine *m, int source, int dest, int pipe, int kind)
{
    for (int k = 0; k < m->post_count; k++)
        if (!m->posts[k].is_over && is_in_channel(m, &m->posts[k], source, dest, pipe, kind))
            return &m->posts[k];
    return NULL;
}

/* Transfer what can be transferred: the oldest SEND with the oldest RECV. */
int judge_move_messages(struct machine *m)
{
    int moved = 0;

    for (int k = 0; k < m->post_count; k++) {
        const struct pp_op op = m->posts[k].op;
        if (m->posts[k].is_over || !pp_op_is_send(op.kind))
            continue;
        const int dest = judge_home(m, op.pipe, judge_partner_stage(&op)),
                  source = m->posts[k].rank;
        struct post *s = first_open(m, source, dest, op.pipe, op.kind);
        struct post *r =
            first_open(m, source, dest, op.pipe, op.kind == PP_SEND_F ? PP_RECV_F : PP_RECV_B);
        if (!r)
            continue;
        struct pp_op expected = s->op;
        expected.stage = (uint16_t)judge_partner_stage(&s->op);
        if (!judge_is_same_post(&expected, &r->op))
            return judge_complain(m, &r->op, dest, "another message arrives");
        s->is_over = r->is_over = true;
        moved = 1;
    }
    return moved;
}

bool judge_is_tied(const struct pp_op *op)
{
    return op->kind == PP_AR && op->aux == PP_TIED;
}

bool judge_is_member(const struct machine *m, int rank, const struct pp_op *op)
{
    for (int p = 0; p < m->head->pipelines; p++)
        if (judge_home(m, p, op->stage) == rank ||
            (judge_is_tied(op) && judge_home(m, p, m->head->stages - 1) == rank))
            return true;
    return false;
}

/* The collective a rank's reduce stream works on: the first posted one that is not over. */
static struct post *reducing(struct machine *m, int rank)
{
    for (int k = 0; k < m->post_count; k++)
        if (m->posts[k].rank == rank && !m->posts[k].is_over &&
            pp_op_is_collective(m->posts[k].op.kind))
            return &m->posts[k];
    return NULL;
}

int judge_move_collectives(struct machine *m)
{
    int moved = 0;

    for (int rank = 0; rank < m->lists->ranks; rank++) {
        const struct post *mine = reducing(m, rank);
        bool is_met = mine != NULL;
        for (int r = 0; is_met && r < m->lists->ranks; r++) {
            const struct post *theirs = reducing(m, r);
            is_met =
                !judge_is_member(m, r, &mine->op) ||
                (theirs && theirs->op.kind == mine->op.kind && theirs->op.stage == mine->op.stage &&
                 theirs->op.split == mine->op.split && theirs->op.granules == mine->op.granules &&
                 judge_is_tied(&theirs->op) == judge_is_tied(&mine->op) &&
                 judge_purpose_of(&theirs->op) == judge_purpose_of(&mine->op));
        }
        if (!is_met)
            continue;
        const struct pp_op op = mine->op;
        for (int r = 0; r < m->lists->ranks; r++)
            if (judge_is_member(m, r, &op))
                reducing(m, r)->is_over = true;
        moved = 1;
    }
    return moved;
}

/* All gradients of a chunk are there. */
bool judge_has_gradient(const struct machine *m, int rank, int pipe, int stage)
{
    for (int g = 0; g < m->head->micro_batches * m->head->granules; g++)
        for (int q = 0; q < m->head->splits; q++)
            if (judge_pipe_of(m, g) == pipe && !judge_has(m, 'D', rank, stage, g, q))
                return false;
    return true;
}

bool judge_has_tied_gradients(const struct machine *m, int rank)
{
    for (int p = 0; p < m->head->pipelines; p++)
        if ((judge_home(m, p, 0) == rank && !judge_has_gradient(m, rank, p, 0)) ||
            (judge_home(m, p, m->head->stages - 1) == rank &&
             !judge_has_gradient(m, rank, p, m->head->stages - 1)))
            return false;
    return true;
}

bool judge_is_updated(const struct machine *m, int rank, int pipe, int stage)
{
    return judge_count_chunk(m, PP_U, pipe, stage) == 0 || judge_has(m, 'U', rank, stage, pipe, 0);
}
