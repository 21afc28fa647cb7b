/* Gradients on another tier: where each backward's contribution is. Contributions are counted; none
 * may be lost, and a sum over copies takes those on the device. */
#include "tests/property/judge_parts.h"

static struct gradients *gradients_of(struct machine *m, int rank, int pipe, int stage)
{
    return &m->gradients[rank][pipe * m->head->stages + stage];
}

static int on_device(const struct gradients *g)
{
    return g->whole + g->pending + g->flying + g->here + g->coming;
}

static bool are_away(const struct machine *m)
{
    return pp_state_is_away(&m->head->state.spec, PP_STATE_GRADS) && m->head->mode == PP_MODE_TRAIN;
}

static bool has_parts(const struct machine *m)
{
    return pp_state_has_parts(&m->head->state.spec);
}

/* Posts of a purpose for a chunk that no WAIT has met. */
static int moving(const struct machine *m, int rank, const struct pp_op *op, int purpose)
{
    int count = 0;

    for (int k = 0; k < m->post_count; k++) {
        const struct post *p = &m->posts[k];
        count += p->rank == rank && p->op.kind == PP_MOVE && p->op.purpose == purpose &&
                 p->op.stage == op->stage && p->op.pipe == op->pipe && !p->is_waited;
    }
    return count;
}

/* Sums over the copies of a stage that no WAIT has met; the tied one is of both ends. */
static bool is_being_summed(const struct machine *m, int rank, int stage)
{
    for (int k = 0; k < m->post_count; k++) {
        const struct pp_op *op = &m->posts[k].op;
        const bool is_sum = (op->kind == PP_AR || op->kind == PP_RS) &&
                            judge_purpose_of(op) != PP_FOR_VISIT &&
                            judge_purpose_of(op) != PP_FOR_PART;
        const bool is_end = judge_is_tied(op) && (stage == 0 || stage == m->head->stages - 1);
        if (m->posts[k].rank == rank && is_sum && !m->posts[k].is_waited &&
            (is_end || (!judge_is_tied(op) && op->stage == stage)))
            return true;
    }
    return false;
}

int judge_make_gradients(struct machine *m, int rank, const struct pp_op *op)
{
    struct gradients *g = gradients_of(m, rank, op->pipe, op->stage);

    if (!are_away(m) || (op->kind != PP_B && op->kind != PP_W))
        return 1;
    if (g->coming > 0 || (m->head->state.spec.is_summed_on_device && g->below > 0))
        return judge_complain(m, op, rank, "adds to gradients that are elsewhere");
    if (pp_state_is_gathered(&m->head->state.spec))
        g->whole++;
    else if (has_parts(m))
        g->pending++;
    else
        g->here++;
    return 1;
}

static void take(int *to, int *from)
{
    *to += *from;
    *from = 0;
}

/* RS.visit or RS.part is posted. */
void judge_scatter_gradients(struct machine *m, int rank, const struct pp_op *op)
{
    struct gradients *g = gradients_of(m, rank, op->pipe, op->stage);

    if (judge_purpose_of(op) == PP_FOR_PART)
        take(&g->flying, &g->pending);
    else
        take(has_parts(m) ? &g->pending : &g->flying, &g->whole);
}

/* Nothing scatters or sums gradients of a stage any more. */
static bool is_scattered(const struct machine *m, int rank, int stage)
{
    return !is_being_summed(m, rank, stage) && !judge_unwaited(m, rank, stage, PP_FOR_PART) &&
           (has_parts(m) || !judge_unwaited(m, rank, stage, PP_FOR_VISIT));
}

static int move_down(struct machine *m, int rank, const struct pp_op *op)
{
    struct gradients *g = gradients_of(m, rank, op->pipe, op->stage);
    const bool is_open = !is_scattered(m, rank, op->stage);

    if (g->here == 0 || g->coming > 0 || is_open || moving(m, rank, op, PP_FOR_GRAD_DOWN))
        return judge_complain(m, op, rank, "moves gradients too early, or none");
    take(&g->below, &g->here);
    return 1;
}

static int move_up(struct machine *m, int rank, const struct pp_op *op)
{
    struct gradients *g = gradients_of(m, rank, op->pipe, op->stage);

    if (g->below == 0 || g->here > 0 || moving(m, rank, op, PP_FOR_GRAD_DOWN))
        return judge_complain(m, op, rank, "brings up what is not below");
    take(&g->coming, &g->below);
    return 1;
}

int judge_move_gradients(struct machine *m, int rank, const struct pp_op *op)
{
    if (!are_away(m))
        return judge_complain(m, op, rank, "gradients live here");
    return op->purpose == PP_FOR_GRAD_DOWN ? move_down(m, rank, op) : move_up(m, rank, op);
}

/* After a WAIT. */
void judge_gradients_arrive(struct machine *m, int rank, const struct pp_op *op)
{
    if (op->aux == PP_MOVE && op->purpose == PP_FOR_GRAD_UP) {
        struct gradients *g = gradients_of(m, rank, op->pipe, op->stage);
        take(&g->here, &g->coming);
    }
    for (int k = 0; k < m->head->pipelines * m->head->stages; k++) {
        struct gradients *g = &m->gradients[rank][k];
        if (g->flying > 0 && is_scattered(m, rank, k % m->head->stages))
            take(&g->here, &g->flying);
    }
}

/* A sum over copies is posted. */
int judge_sum_gradients(struct machine *m, int rank, const struct pp_op *op)
{
    const int other = judge_is_tied(op) ? m->head->stages - 1 : op->stage;
    const bool is_last_alone = op->kind == PP_RS && has_parts(m);

    for (int pipe = 0; pipe < m->head->pipelines && are_away(m); pipe++)
        for (int end = 0; end < 1 + judge_is_tied(op); end++) {
            const int stage = end ? other : op->stage;
            struct gradients *g = gradients_of(m, rank, pipe, stage);
            if (judge_home(m, pipe, stage) != rank)
                continue;
            if (g->coming > 0 || (g->below > 0 && !(is_last_alone && g->pending + g->whole > 0)))
                return judge_complain(m, op, rank, "sums gradients that are elsewhere");
            if (is_last_alone && judge_is_last_bucket(op))
                take(&g->flying, &g->pending);
        }
    return 1;
}

/* Before an update of the chunk, or of what it needs: all have arrived, or at least left. */
int judge_gradients_are_below(struct machine *m, int rank, const struct pp_op *op, bool all)
{
    const struct gradients *g = gradients_of(m, rank, op->pipe, op->stage);

    return !are_away(m) || (on_device(g) == 0 && !(all && moving(m, rank, op, PP_FOR_GRAD_DOWN)))
               ? 1
               : judge_complain(m, op, rank, "gradients have not left");
}

bool judge_are_gradients_left(const struct machine *m)
{
    for (int r = 0; r < m->lists->ranks; r++)
        for (int k = 0; k < m->head->pipelines * m->head->stages; k++)
            if (on_device(&m->gradients[r][k]) > 0)
                return are_away(m);
    return false;
}
