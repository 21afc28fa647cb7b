/* Times of a step on an asynchronous backend. On the virtual clock they follow from measured
 * durations; on the wall clock from the spans of launches. Each process reads those of its own
 * workers. The first process combines them. */
#include "exec/machine/parts.h"
#include "schedules/evaluate/perturb.h"
#include "schedules/evaluate/weight_stream.h"

#include <math.h>

static int64_t ps_of(double s)
{
    return isnan(s) ? 0 : (int64_t)(s * 1e12);
}

/* ---- virtual clock --------------------------------------------------------------------------- */

/* Seconds of an op, or of both ops of a fused pair. */
static double seconds_of(const struct pp_worker *w, int i)
{
    const struct pp_span span = pp_span_of(w, i);
    const double s = pp_group_size(w->machine) > 1 ? 1e-12 * (double)pp_group_ps(w, i)
                                                   : span.end_s - span.start_s;

    return w->machine->p->aux[i] == PP_FUSED_FIRST ? s + seconds_of(w, i + 1) : s;
}

static void note_durations(struct pp_machine *m, const struct pp_worker *w)
{
    const double speed = pp_speed(m, w->rank, w->replica);

    for (int i = m->p->begin[w->rank]; i < m->p->begin[w->rank + 1]; i++) {
        const size_t at = pp_cell_at(w, i);
        const bool is_run = pp_op_is_compute(m->p->kind[i]) && m->p->aux[i] != PP_FUSED_SECOND;

        m->nominal_ps[at] = !is_run ? 0
                            : m->options.has_durations
                                ? pp_given_ps(m, i)
                                : pp_update_ps(w, i, ps_of(seconds_of(w, i)));
        m->duration_ps[at] = pp_slowed_ps(m->nominal_ps[at], speed);
    }
}

static enum pp_status play(struct pp_machine *m, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const size_t rows = (size_t)m->size * (size_t)m->replicas, first = pp_cell(m, 0);
    const struct pp_eval_options options = {0};
    const struct pp_perturbation perturbation = {.compute_ps = m->duration_ps + first};
    struct pp_eval *eval;

    PP_TRY(pp_eval_create(scratch, m->p, m->options.costs, &options, &eval, err));
    const struct pp_times *times =
        pp_eval_run(scratch, eval, m->replicas, &perturbation, PP_TIMES_ALL);
    for (size_t row = 0; row < rows; row++) {
        m->start_ps[first + row] = m->begin_ps + times->start_ps[row];
        m->end_ps[first + row] = m->begin_ps + times->end_ps[row];
        m->posted_ps[first + row] = m->begin_ps + times->posted_ps[row];
        m->matched_ps[first + row] = m->begin_ps + times->matched_ps[row];
    }
    m->last_end_ps = m->begin_ps + times->makespan_ps;
    return PP_OK;
}

/* ---- wall clock ------------------------------------------------------------------------------ */

static void stamp(struct pp_machine *m, const struct pp_worker *w, int i)
{
    const struct pp_span span = pp_span_of(w, i);
    const size_t at = pp_cell_at(w, i);

    m->start_ps[at] = m->device_begin_ps + ps_of(span.start_s);
    m->end_ps[at] = m->device_begin_ps + ps_of(span.end_s);
}

static void stamp_compute(struct pp_machine *m, const struct pp_worker *w, int i)
{
    const size_t at = pp_cell_at(w, i);

    if (m->p->aux[i] == PP_FUSED_SECOND) {
        const size_t first = pp_cell_at(w, i - 1);
        m->start_ps[at] = m->start_ps[first];
        m->end_ps[at] = m->end_ps[first];
        return;
    }
    stamp(m, w, i);
    if (m->p->aux[i] == PP_FUSED_FIRST)
        m->end_ps[at] = m->device_begin_ps + ps_of(pp_span_of(w, i + 1).end_s);
    m->nominal_ps[at] = m->duration_ps[at] = m->end_ps[at] - m->start_ps[at];
    for (int among = 0; among < PP_AMONG && m->exchanged_ps[among]; among++)
        m->exchanged_ps[among][at] =
            pp_group_exchanged_ps(w, i, among) +
            (m->p->aux[i] == PP_FUSED_FIRST ? pp_group_exchanged_ps(w, i + 1, among) : 0);
}

/* Waiting costs only time. A post is at the end of the op before; a WAIT ends with its target. */
static void stamp_list(struct pp_machine *m, struct pp_worker *w)
{
    const struct pp_program *p = m->p;
    int64_t clocks_ps[2] = {m->begin_ps, m->begin_ps}; /* of its two compute streams */

    for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++) {
        const size_t at = pp_cell_at(w, i);
        const int after = pp_weight_stream_after(p, i);
        int64_t *clock_ps = &clocks_ps[pp_weight_stream_has(p, i)];

        if (after >= 0)
            *clock_ps = pp_later_ps(*clock_ps, m->end_ps[pp_cell_at(w, after)]);
        if (pp_op_is_compute(p->kind[i])) {
            stamp_compute(m, w, i);
            *clock_ps = pp_later_ps(*clock_ps, m->end_ps[at]);
        } else if (pp_op_kinds[p->kind[i]].stream == PP_STREAM_CONTROL) {
            const int target = p->begin[w->rank] + p->arg[i];
            m->start_ps[at] = *clock_ps;
            if (p->kind[i] == PP_WAIT)
                *clock_ps = pp_later_ps(*clock_ps, m->end_ps[pp_cell_at(w, target)]);
            m->end_ps[at] = *clock_ps;
        } else {
            m->posted_ps[at] = *clock_ps;
            stamp(m, w, i);
        }
    }
    w->clock_ps = pp_later_ps(clocks_ps[false], clocks_ps[true]);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The device that comes first is already in the NCCL operation while it waits for others. Bytes
 * move once all have come. Clocks agree only up to their error, so the start is at most the end. */
static void start_together(struct pp_machine *m, size_t at, int64_t all_ps)
{
    m->start_ps[at] = pp_later_ps(m->start_ps[at], earlier(all_ps, m->end_ps[at]));
}

static void match_side(struct pp_machine *m, size_t at, int64_t both_ps)
{
    m->matched_ps[at] = earlier(both_ps, m->end_ps[at]);
    start_together(m, at, both_ps);
}

static void match_messages(struct pp_machine *m)
{
    for (int k = 0; k < m->p->message_count * m->replicas * m->tp; k++) {
        const size_t send = pp_cell(m, m->messages[k].send.row),
                     recv = pp_cell(m, m->messages[k].recv.row);
        const int64_t both_ps = pp_later_ps(m->posted_ps[send], m->posted_ps[recv]);

        match_side(m, send, both_ps);
        match_side(m, recv, both_ps);
    }
}

static void match_sums(struct pp_machine *m)
{
    for (int k = 0; k < m->collective_count; k++) {
        const struct pp_machine_collective *c = &m->collectives[k];
        int64_t all_ps = m->begin_ps;

        for (int row = 0; row < c->row_count; row++)
            all_ps = pp_later_ps(all_ps, m->start_ps[pp_cell(m, c->rows[row])]);
        for (int row = 0; row < c->row_count; row++)
            start_together(m, pp_cell(m, c->rows[row]), all_ps);
    }
}

/* Start of the worker's next op after instruction i. */
static int64_t next_start_ps(const struct pp_machine *m, const struct pp_worker *w, int i)
{
    for (i++; i < m->p->begin[w->rank + 1]; i++)
        if (pp_op_is_compute(m->p->kind[i]))
            return m->start_ps[pp_cell_at(w, i)];
    return INT64_MAX;
}

/* Waits after a barrier begin when it has ended. */
static void leave(struct pp_machine *m, const struct pp_worker *w, int32_t row, int64_t end_ps)
{
    const int bar = pp_instruction_at(m, row);
    int64_t *own_ps = &m->end_ps[pp_cell(m, row)];

    *own_ps = pp_later_ps(*own_ps, earlier(end_ps, next_start_ps(m, w, bar)));
    for (int i = bar + 1; i < m->p->begin[w->rank + 1] && !pp_op_is_compute(m->p->kind[i]); i++) {
        const size_t at = pp_cell_at(w, i);

        if (pp_op_kinds[m->p->kind[i]].stream != PP_STREAM_CONTROL)
            continue;
        m->start_ps[at] = pp_later_ps(m->start_ps[at], *own_ps);
        m->end_ps[at] = pp_later_ps(m->end_ps[at], *own_ps);
    }
}

/* All workers leave a barrier with the last one. Clocks agree only up to their error, so the
 * barrier ends at the next op at the latest. */
static void close_barriers(struct pp_machine *m)
{
    for (int barrier = 0; barrier < m->barrier_count; barrier++) {
        int64_t end_ps = m->begin_ps;

        for (int k = 0; k < m->worker_count; k++)
            end_ps = pp_later_ps(end_ps, m->end_ps[pp_cell(m, m->workers[k].barrier_row[barrier])]);
        for (int k = 0; k < m->worker_count; k++)
            leave(m, &m->workers[k], m->workers[k].barrier_row[barrier], end_ps);
    }
}

/* ---- both clocks ----------------------------------------------------------------------------- */

/* The device of this process has done the work of all its workers. */
static void note_fallbacks(struct pp_machine *m)
{
    int first = 0;

    while (pp_is_elsewhere(m, &m->workers[first]))
        first++;
    if (m->backend->fallbacks)
        m->backend->fallbacks(m->device, &m->workers[first].fallbacks);
}

void pp_step_time_here(struct pp_machine *m)
{
    if (m->is_forward)
        return;
    pp_probes_read(m);
    m->has_run = true;
    for (int k = 0; k < m->worker_count; k++) {
        struct pp_worker *w = &m->workers[k];

        if (pp_is_elsewhere(m, w))
            continue;
        if (pp_is_virtual(m))
            note_durations(m, w);
        else
            stamp_list(m, w);
    }
    note_fallbacks(m);
    pp_machine_capture(m);
}

enum pp_status pp_step_time_all(struct pp_machine *m, struct pp_error *err)
{
    if (!m->backend->is_immediate)
        pp_groups_join_times(m);
    if (!m->backend->is_immediate && pp_is_virtual(m))
        return play(m, err);
    m->last_end_ps = m->begin_ps;
    for (int k = 0; k < m->worker_count; k++)
        m->last_end_ps = pp_later_ps(m->last_end_ps, m->workers[k].clock_ps);
    if (m->backend->is_immediate)
        return PP_OK;
    match_messages(m);
    match_sums(m);
    close_barriers(m);
    return PP_OK;
}
