/* A step from samples to result. Workers sleep between steps, then walk their lists, while the
 * caller conducts the step. On a deferred backend the caller issues all work, worker by worker. */
#include "exec/copy/copy.h"
#include "exec/host/futex.h"
#include "exec/machine/generate.h"
#include "exec/machine/parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LOOK_NS = 100 * 1000 * 1000 }; /* between looks for dead workers */

/* ---- workers --------------------------------------------------------------------------------- */

void pp_worker_serve(struct pp_worker *w)
{
    struct pp_machine *m = w->machine;

    pp_reducer_start(w);
    pp_copiers_start(w);
    for (unsigned round = 0;;) {
        const unsigned now = atomic_load(&m->round);

        if (now == round) {
            pp_futex_wait(&m->round, round, -1);
            continue;
        }
        round = now;
        if (m->is_over)
            break;
        pp_worker_run(w);
        if (atomic_fetch_sub(&m->running, 1) == 1)
            pp_futex_wake(&m->running);
    }
    pp_copiers_stop(w);
    pp_reducer_stop(w);
}

enum pp_status pp_workers_start(struct pp_machine *m, struct pp_error *err)
{
    if (m->backend->is_deferred)
        return PP_OK;
    PP_TRY(m->transport->start(m, err));
    return pp_watchdog_start(m, err);
}

static void run_workers(struct pp_machine *m)
{
    struct pp_error err = {0};

    if (m->backend->is_deferred) {
        for (int k = 0; k < m->worker_count; k++)
            pp_worker_run(&m->workers[k]);
        pp_barriers_conduct(m);
        return;
    }
    atomic_store(&m->running, (unsigned)m->worker_count);
    if (m->remote && !pp_machine_try(m, m->remote->begin(m, &err), &err)) {
        atomic_store(&m->running, 0);
        return;
    }
    pp_futex_change(&m->round);
    pp_barriers_conduct(m);
    pp_tokens_conduct(m);
    for (unsigned left; (left = atomic_load(&m->running)) > 0 && !m->are_gone;)
        pp_futex_wait(&m->running, left, LOOK_NS);
    atomic_store(&m->running, 0);
}

enum pp_status pp_machine_serve(struct pp_machine *m, struct pp_error *err)
{
    return m->remote->serve(m, err);
}

enum pp_status pp_machine_clock(struct pp_machine *m, struct pp_machine_clock *clock,
                                struct pp_error *err)
{
    if (m->remote)
        PP_TRY(m->remote->align(m, true, err));
    *clock = pp_is_virtual(m) ? (struct pp_machine_clock){0} : m->clock;
    return PP_OK;
}

void pp_workers_end(struct pp_machine *m)
{
    pp_watchdog_stop(m);
    m->is_over = true;
    pp_futex_change(&m->round);
    m->transport->stop(m);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Current time, at least least_ps with an asynchronous backend. Its host learns late what a device
 * has begun, so the last stamp may be after this clock. An immediate backend stamps by this clock,
 * which may have been set back since the last step. */
static int64_t now_ps(const struct pp_machine *m, int64_t least_ps)
{
    if (pp_is_virtual(m))
        return least_ps;
    const int64_t now_ps = pp_now_ps(m);
    return m->backend->is_immediate ? now_ps : pp_later_ps(now_ps, least_ps);
}

static enum pp_status take_samples(struct pp_machine *m, const struct pp_text *text, int step,
                                   struct pp_error *err)
{
    const size_t seq = (size_t)m->options.stages[0]->net->seq;
    const int samples = pp_batch_samples(m->options.batch);

    assert(text->seq == (int)seq);
    for (int i = 0; i < samples; i++)
        PP_TRY(pp_text_sample(text, step, i, m->ids + (size_t)i * seq, m->targets + (size_t)i * seq,
                              err));
    return PP_OK;
}

static void begin_step(struct pp_machine *m, int step)
{
    m->slot = m->steps_done % m->kept;
    pp_step_begin(m, step, now_ps(m, m->last_end_ps));
}

void pp_step_begin(struct pp_machine *m, int step, int64_t begin_ps)
{
    m->step = step;
    if (!m->read->is_changed) /* else they go to other processes first */
        pp_states_close(m);
    if (!m->generating)
        pp_recipe_adamw_step(m->options.recipe, step, m->adamw);
    if (m->p->state.spec.has_early_update) /* before the norm is known */
        m->adamw->grad_scale = 1;
    m->begin_ps = begin_ps;
    memset(m->squares, 0, sizeof(double) * (size_t)m->square_count);
    for (int k = 0; k < m->worker_count; k++) /* the start of its list */
        atomic_store_explicit(&m->workers[k].at, m->p->begin[m->workers[k].rank],
                              memory_order_relaxed);
    pp_tokens_begin(m);
    pp_messages_begin(m);
    pp_sums_begin(m);
    pp_inbox_begin(m);
    struct pp_error err;
    pp_machine_try(m, pp_copies_begin(m, &err), &err);
    m->backend->begin(m->device);
    m->device_begin_ps = now_ps(m, begin_ps);
}

static void sum_up(const struct pp_machine *m, double wall_s, struct pp_step_result *result)
{
    *result = (struct pp_step_result){.loss = m->loss,
                                      .grad_norm = m->grad_norm,
                                      .step_s = 1e-12 * (double)(m->last_end_ps - m->begin_ps),
                                      .wall_s = wall_s,
                                      .instructions = (int64_t)m->size * m->replicas,
                                      .expert_tokens = m->expert_tokens};
    for (int k = 0; k < m->worker_count; k++) {
        if (!m->backend->is_immediate && !pp_is_elsewhere(m, &m->workers[k])) {
            result->issue_s += 1e-9 * (double)m->workers[k].inside_ns;
            result->issued += m->workers[k].launches[false] + m->workers[k].launches[true];
        }
        result->cpu_s += 1e-9 * (double)m->workers[k].cpu_ns;
        /* ops of deferred backends are issued in wall time, which a busy host makes longer */
        result->outside_s +=
            1e-9 * fmax(0, (double)(m->workers[k].cpu_ns - m->workers[k].inside_ns));
    }
}

/* The process that reported first may have been killed before it wrote its message. Then `gone`
 * holds the reason that the watchdog saw. Without workers the results are invalid. */
static bool has_failed(const struct pp_machine *m)
{
    return m->has_failed || m->are_gone;
}

static enum pp_status failure(const struct pp_machine *m, struct pp_error *err)
{
    const struct pp_error *first = m->has_failed ? &m->error : &m->gone;

    return pp_error_set(err, first->status, "%s", first->message);
}

/* With an asynchronous backend, the thread that conducts the step may wait in vain, too. If it
 * waits for tokens, it learns of a failure before the device has ended. */
static void run_all(struct pp_machine *m, struct pp_error *err)
{
    const int may_wait = !m->backend->is_immediate;

    atomic_fetch_add(&m->walking, may_wait);
    run_workers(m);
    const bool is_under_way = may_wait && m->generating && !m->are_gone;
    if ((!has_failed(m) || is_under_way) && m->backend->finish(m->device, err) != PP_OK) {
        pp_error_prefix(err, "step %d: ", m->step + 1);
        pp_machine_fail(m, err); /* no effect after an earlier error */
    }
    atomic_fetch_sub(&m->walking, may_wait);
}

/* Runs a step whose samples are there. */
static enum pp_status run_step(struct pp_machine *m, int step, int64_t before_ps,
                               struct pp_step_result *result, struct pp_error *err)
{
    begin_step(m, step);
    run_all(m, err);
    if (has_failed(m))
        return failure(m, err);
    if (!m->backend->is_immediate)
        pp_step_time_here(m);
    PP_TRY(pp_step_time_all(m, err));
    m->step_end_ps[m->slot] = m->last_end_ps;
    m->step_begin_ps[m->slot] = m->begin_ps;
    m->steps_done++;
    sum_up(m, 1e-12 * (double)(pp_wall_ps() - before_ps), result);
    return PP_OK;
}

/* Once a run has failed, no other one begins. */
static enum pp_status align(struct pp_machine *m, struct pp_error *err)
{
    if (has_failed(m))
        return failure(m, err);
    return m->remote ? m->remote->align(m, false, err) : PP_OK;
}

enum pp_status pp_machine_step(struct pp_machine *m, const struct pp_text *text, int step,
                               struct pp_step_result *result, struct pp_error *err)
{
    const int64_t before_ps = pp_wall_ps();

    PP_TRY(align(m, err));
    if (take_samples(m, text, step, err) == PP_OK)
        return run_step(m, step, before_ps, result, err);
    pp_error_prefix(err, "step %d: ", step + 1);
    pp_machine_fail(m, err);
    return failure(m, err);
}

enum pp_status pp_machine_generate(struct pp_machine *m, const int32_t *prompts,
                                   struct pp_generated *generated, struct pp_error *err)
{
    const struct pp_generation *of = &m->options.generation->of;
    const int64_t before_ps = pp_wall_ps();
    const int sequences = m->replicas * of->batch;
    struct pp_step_result step;

    PP_TRY(align(m, err));
    memcpy(m->ids, prompts, sizeof(*prompts) * (size_t)(sequences * of->prompt_tokens));
    PP_TRY(run_step(m, m->steps_done, before_ps, &step, err));
    if (m->backend->is_deferred)
        pp_tokens_conduct(m);
    *generated =
        (struct pp_generated){.sequences = sequences,
                              .passes = of->passes,
                              .tokens = m->generating->tokens,
                              .logits = m->generating->hashes,
                              .step = step,
                              .machinery_frac = step.cpu_s > 0 ? step.outside_s / step.cpu_s : 0};
    return PP_OK;
}

enum pp_status pp_machine_forward(struct pp_machine *m, const struct pp_text *text, int pass,
                                  double *loss, struct pp_error *err)
{
    PP_TRY(align(m, err));
    m->is_forward = true;
    if (take_samples(m, text, pass, err) == PP_OK) {
        m->slot = m->kept; /* its times are not kept */
        pp_step_begin(m, m->step, now_ps(m, m->last_end_ps));
        run_all(m, err);
    } else {
        pp_error_prefix(err, "validation after step %d: ", m->step + 1);
        pp_machine_fail(m, err);
    }
    m->is_forward = false;
    m->read->fetched_at = -1; /* copies of states were closed */
    if (has_failed(m))
        return failure(m, err);
    *loss = m->loss;
    return PP_OK;
}
