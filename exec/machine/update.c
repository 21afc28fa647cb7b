/* The end of a step. All ranks meet at the last BAR, where the gradients are complete. The
 * conductor checks loss and norm while they wait. Then the U of every chunk updates it. */
#include "exec/machine/parts.h"
#include "exec/nodes/loss.h"

#include <math.h>
#include <string.h>

/* ---- work of the last BAR -------------------------------------------------------------------- */

void pp_squares_run(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_worker *w = argument;
    struct pp_machine *m = w->machine;

    for (int t = 0; t < m->tied_count; t++)
        if (m->tied[t].owner[0] == w->index)
            pp_sum_run(k, stream, &m->tied[t]);
    for (int place = 0; place < m->places; place++) {
        const struct pp_chunk *chunk = &w->chunks[place];
        if (m->wholes->last_part[place] >= 0) /* its last part has summed them up */
            continue;
        for (int part = 0; part < PP_STATE_PARTS; part++)
            if (chunk->owns_squares[part])
                pp_state_squares_of(k, stream, chunk->stage, &chunk->state,
                                    (enum pp_state_part)part, w->squares,
                                    pp_squares_at(w, place, (enum pp_state_part)part));
    }
}

static const char *const STATUS_TEXT[] = {
    [PP_FIXED_NOT_FINITE] = "a gradient that is not finite",
    [PP_FIXED_OVERFLOW] =
        "a gradient beyond the range of fixed point (2^63 / 2^44); lower --lr, or "
        "leave out --exact-grad",
};

static enum pp_status check_gradients(const struct pp_machine *m, struct pp_error *err)
{
    int status = PP_FIXED_OK;

    for (int k = 0; k < m->worker_count; k++) {
        if (*m->workers[k].status != PP_FIXED_OK)
            return pp_error_set(err, PP_EFAIL, "step %d, rank %d: %s", m->step + 1,
                                m->workers[k].rank, STATUS_TEXT[*m->workers[k].status]);
        status = status ? status : m->workers[k].sum_status;
    }
    status = status ? status : pp_sums_status(m);
    if (status != PP_FIXED_OK)
        return pp_error_set(err, PP_EFAIL, "step %d, sum over replicas: %s", m->step + 1,
                            STATUS_TEXT[status]);
    return PP_OK;
}

/* Adds a worker's losses, and the tokens of its set of experts. The first device of a group has the
 * losses, and the first that shares a set has these tokens. */
static void add_figures(struct pp_machine *m, const struct pp_worker *w, struct pp_loss_sum *sum)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    const double *losses = (const double *)(const void *)w->figures.on_host;
    const size_t count = layout->loss_bytes / sizeof(double),
                 experts = layout->expert_bytes / sizeof(double);

    if (w->tp_index == 0)
        pp_loss_add(sum, losses, (int64_t)count);
    for (size_t i = 0; i < experts; i++)
        m->expert_tokens[i] += losses[count + i];
}

static enum pp_status check_loss(struct pp_machine *m, struct pp_error *err)
{
    const struct pp_net *net = m->options.stages[0]->net;
    const int etp = pp_share_experts(&m->options.stages[0]->shape, net->experts).etp;
    struct pp_loss_sum sum = {.is_finite = true};

    memset(m->expert_tokens, 0, sizeof(double) * pp_net_expert_tokens(net));
    for (int k = 0; k < m->worker_count; k++) {
        if (m->workers[k].tp_index % etp > 0) /* it has the figures of another one */
            continue;
        PP_TRY(pp_staging_fetch(&m->workers[k].figures, err));
        add_figures(m, &m->workers[k], &sum);
    }
    m->loss = pp_loss_mean(&sum, pp_targets_of_step(m->options.batch, net));
    if (!sum.is_finite)
        return pp_error_set(err, PP_EFAIL,
                            "step %d: the loss is not a finite number; lower --lr %g", m->step + 1,
                            m->options.recipe->rate);
    return PP_OK;
}

static double norm_of(const struct pp_machine *m)
{
    const int layers = m->options.stages[0]->net->layers;

    memset(m->layer_squares, 0, sizeof(double) * (size_t)(layers + 2));
    for (int stage = 0; stage < m->stages; stage++)
        for (int t = 0; t < m->tp; t++) {
            for (int e = 0; e < m->ep; e++) {
                const int k = (t * m->ep + e) * m->stages + stage;
                m->square_parts[e] =
                    (struct pp_squares_part){m->options.stages[k], m->squares + m->squares_of[k]};
            }
            pp_squares_add(m->square_parts, m->ep, m->layer_squares);
        }
    return pp_squares_norm(m->layer_squares, layers);
}

static enum pp_status judge_step(struct pp_machine *m, struct pp_error *err)
{
    m->grad_norm = norm_of(m);
    if (!m->p->state.spec.has_early_update) /* else updates read it now */
        m->adamw->grad_scale = pp_recipe_grad_scale(m->options.recipe, m->grad_norm);
    PP_TRY(check_loss(m, err));
    PP_TRY(check_gradients(m, err));
    if (!isfinite(m->grad_norm))
        return pp_error_set(err, PP_EFAIL, "step %d: the norm of the gradients is not finite",
                            m->step + 1);
    return m->hook ? pp_states_fetch_gradients(m, err) : PP_OK;
}

static void judge(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_machine *m = argument;
    struct pp_error err = {0};

    (void)k;
    (void)stream;
    if (pp_machine_try(m, (m->is_forward ? check_loss : judge_step)(m, &err), &err) && m->hook &&
        !m->is_forward) {
        m->read->fetched_at = m->steps_done; /* and no later */
        m->hook(m->hook_closure, m, m->step);
    }
}

/* ---- BAR ------------------------------------------------------------------------------------- */

static bool wait_for_all(struct pp_machine *m, int barrier)
{
    for (int k = 0; k < m->worker_count; k++)
        if (!m->backend->wait(m->device, m->conductor, m->workers[k].barrier_row[barrier]))
            return false;
    return true;
}

static int64_t latest_arrival_ps(const struct pp_machine *m, int barrier)
{
    const int64_t *arrived_ps = &m->arrived_ps[(size_t)barrier * (size_t)m->worker_count];
    int64_t latest_ps = m->begin_ps;

    for (int k = 0; k < m->worker_count; k++)
        latest_ps = pp_later_ps(latest_ps, arrived_ps[k]);
    return latest_ps;
}

void pp_barriers_conduct(struct pp_machine *m)
{
    for (int barrier = 0; barrier < m->barrier_count; barrier++) {
        if (!wait_for_all(m, barrier))
            return;
        m->released_ps[barrier] = latest_arrival_ps(m, barrier);
        if (barrier == m->barrier_count - 1)
            m->backend->host(m->device, m->conductor, judge, m);
        m->backend->record(m->device, m->conductor, m->first_release + barrier);
        if (m->remote && !m->has_failed)
            m->remote->released(m, barrier);
    }
}

static void tell_arrival(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_worker *w = argument;

    (void)k;
    (void)stream;
    w->machine->remote->arrived(w, w->barriers - 1);
}

/* A hook reads gradients at their home. */
static bool wait_for_parts(const struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;

    for (int place = 0; place < m->places && m->wants_gradients; place++) {
        const int32_t part = w->chunks[place].worker ? m->wholes->last_part[place] : -1;
        if (part >= 0 && !m->backend->wait(m->device, w->index, m->copies[pp_row(w, part)]->done))
            return false;
    }
    return true;
}

bool pp_barrier_meet(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    const struct pp_backend *backend = m->backend;
    const int barrier = w->barriers++;
    const size_t at = pp_cell_at(w, i);

    if (!pp_worker_order(w, i))
        return false;
    if (w->barriers == m->barrier_count && !m->is_forward) {
        if (!wait_for_parts(w))
            return false;
        pp_worker_launch(w, false, pp_bar_graph_id(w),
                         (struct pp_worker_launch){pp_squares_run, w});
    }
    m->start_ps[at] = w->clock_ps;
    m->arrived_ps[barrier * m->worker_count + w->index] = w->clock_ps;
    backend->record(m->device, w->index, pp_row(w, i));
    if (m->remote)
        backend->host(m->device, w->index, tell_arrival, w);
    if (!backend->wait(m->device, w->index, m->first_release + barrier))
        return false;
    w->clock_ps = pp_is_virtual(m) ? m->released_ps[barrier] : pp_now_ps(m);
    m->end_ps[at] = w->clock_ps;
    return backend->is_deferred || !m->has_failed;
}
