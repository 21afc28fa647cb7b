/* Reads a machine between steps: states, times, memory and probes. */
#include "exec/backend/poison.h"
#include "exec/copy/reach.h"
#include "exec/host/host.h"
#include "exec/machine/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void pp_machine_on_gradients(struct pp_machine *m, pp_gradient_hook hook, void *closure)
{
    m->hook = hook;
    m->wants_gradients = hook != NULL;
    m->hook_closure = closure;
}

/* Checks the host's memory for states of other processes, if it has not been checked before. */
static enum pp_status check_room(const struct pp_machine *m, struct pp_error *err)
{
    const double mib = 1024.0 * 1024.0, free_bytes = (double)pp_host_available_bytes();
    double bytes = 0;

    for (int k = 0; k < m->worker_count && !m->options.reads_states; k++)
        if (pp_is_elsewhere(m, &m->workers[k]))
            bytes += (double)m->workers[k].staging.bytes;
    return bytes <= free_bytes
               ? PP_OK
               : pp_error_set(
                     err, PP_EFAIL,
                     "states of all ranks need %.0f MiB on this host, which has %.0f MiB free",
                     bytes / mib, free_bytes / mib);
}

/* During a step the gradients are already here: they have come with the last barrier. */
enum pp_status pp_machine_fetch(const struct pp_machine *m, struct pp_error *err)
{
    if (!(m->remote || m->backend->is_apart || m->layout[0].is_scattered) ||
        m->read->fetched_at == m->steps_done || atomic_load(&m->running) != 0)
        return PP_OK;
    if (m->has_failed)
        return pp_error_set(err, m->error.status, "%s", m->error.message);
    PP_TRY(check_room(m, err));
    if (m->steps_done == 0)
        PP_TRY(pp_states_draw_others(m, err));
    else if (m->remote)
        PP_TRY(m->remote->fetch(m, true, err));
    PP_TRY(pp_states_fetch(m, err));
    m->read->fetched_at = m->steps_done;
    return PP_OK;
}

enum pp_status pp_machine_changed(const struct pp_machine *m, struct pp_error *err)
{
    m->read->is_changed = m->remote != NULL;
    return pp_states_push(m, err);
}

enum pp_status pp_machine_state_of(const struct pp_machine *m, int replica, int tp_index, int pipe,
                                   int stage, struct pp_state *state, struct pp_error *err)
{
    const int rank = pp_program_rank_of(m->p, pipe, stage);

    PP_TRY(pp_machine_fetch(m, err));
    const struct pp_worker *w = pp_worker_at(m, rank, replica, tp_index);
    *state = w->chunks[pipe * m->stages + stage].staged;
    return PP_OK;
}

enum pp_status pp_machine_state(const struct pp_machine *m, int replica, int pipe, int stage,
                                struct pp_state *state, struct pp_error *err)
{
    return pp_machine_state_of(m, replica, 0, pipe, stage, state, err);
}

/* Bytes of a staged state, from where its classes live; bytes that go there. */
static enum pp_status read_state(const void *worker, const void *from, void *to, size_t bytes,
                                 struct pp_error *err)
{
    const struct pp_worker *w = worker;

    return pp_reach_read(w, (size_t)((const char *)from - w->staging.on_host), bytes, to, err);
}

static enum pp_status write_state(const void *worker, const void *from, void *to, size_t bytes,
                                  struct pp_error *err)
{
    const struct pp_worker *w = worker;

    return pp_reach_write(w, (size_t)((char *)to - w->staging.on_host), bytes, from, err);
}

bool pp_machine_state_here(const struct pp_machine *m, int replica, int tp_index, int pipe,
                           int stage, struct pp_state *state, struct pp_state_reach *reach)
{
    const struct pp_worker *w =
        pp_worker_at(m, pp_program_rank_of(m->p, pipe, stage), replica, tp_index);
    const struct pp_state *own = &w->chunks[pipe * m->stages + stage].staged;
    const bool is_here = !pp_is_elsewhere(m, w), is_apart = pp_has_copies_of_states(w);

    *state = is_here ? *own
                     : (struct pp_state){.share = own->share,
                                         .held = own->held,
                                         .summed = own->summed,
                                         .experts = own->experts};
    *reach = is_here && is_apart ? (struct pp_state_reach){w, read_state, write_state}
                                 : (struct pp_state_reach){NULL, NULL, NULL};
    return is_here;
}

enum pp_status pp_machine_ask(struct pp_arena *arena, const struct pp_machine *m,
                              const struct pp_question *question, struct pp_answers *answers,
                              struct pp_error *err)
{
    if (m->remote)
        return m->remote->ask(arena, m, question, answers, err);
    *answers = (struct pp_answers){pp_arena_alloc(arena, question->answer_bytes + 1), 1};
    return m->options.answer(m->options.answer_closure, m, question, answers->at, err);
}

bool pp_machine_is_gone(const struct pp_machine *m, int process)
{
    return m->remote && m->remote->is_gone(m, process);
}

int pp_machine_kept(const struct pp_machine *m)
{
    return m->steps_done < m->kept ? m->steps_done : m->kept;
}

/* Slot of the k-th kept step, oldest first. */
static size_t slot_of(const struct pp_machine *m, int k)
{
    return (size_t)((m->steps_done - pp_machine_kept(m) + k) % m->kept);
}

/* Returns the kept steps of a column; NULL if there is none. */
static int64_t *gather(const struct pp_machine *m, const int64_t *column, int64_t origin_ps)
{
    if (column == NULL)
        return NULL;
    const size_t rows = (size_t)m->size * (size_t)m->replicas;
    const int steps = pp_machine_kept(m);
    int64_t *out = pp_arena_alloc_raw(m->arena, sizeof(int64_t) * (rows * (size_t)steps + 1));

    for (int k = 0; k < steps; k++)
        for (size_t row = 0; row < rows; row++)
            out[(size_t)k * rows + row] = column[slot_of(m, k) * pp_rows(m) + row] - origin_ps;
    return out;
}

static const struct pp_times *read_times(const struct pp_machine *m)
{
    const int steps = pp_machine_kept(m);
    struct pp_times *times = PP_NEW(m->arena, struct pp_times);
    const int64_t origin_ps = steps > 0 ? m->step_begin_ps[slot_of(m, 0)] : 0;

    times->replicas = m->replicas;
    times->steps = steps;
    times->start_ps = gather(m, m->start_ps, origin_ps);
    times->end_ps = gather(m, m->end_ps, origin_ps);
    times->posted_ps = gather(m, m->posted_ps, origin_ps);
    times->matched_ps = gather(m, m->matched_ps, origin_ps);
    times->tp_ps = gather(m, m->exchanged_ps[PP_AMONG_TP], 0);
    times->ep_ps = gather(m, m->exchanged_ps[PP_AMONG_EP], 0);
    times->step_end_ps = PP_ARRAY(m->arena, int64_t, steps + 1);
    for (int k = 0; k < steps; k++)
        times->step_end_ps[k] = m->step_end_ps[slot_of(m, k)] - origin_ps;
    times->makespan_ps = steps > 0 ? times->step_end_ps[steps - 1] : 0;
    return times;
}

/* Copies the columns at most once a step, as callers ask for every kept step. */
const struct pp_times *pp_machine_times(const struct pp_machine *m)
{
    if (!m->read->times || m->read->steps_done != m->steps_done)
        *m->read = (struct pp_machine_read){read_times(m), m->steps_done, m->read->fetched_at,
                                            m->read->is_changed};
    return m->read->times;
}

struct pp_step_times pp_machine_step_times(const struct pp_machine *m, int k)
{
    const size_t slot = slot_of(m, k), first = slot * pp_rows(m);

    return (struct pp_step_times){.replicas = m->replicas,
                                  .begin_ps = m->step_begin_ps[slot],
                                  .start_ps = m->start_ps + first,
                                  .end_ps = m->end_ps + first,
                                  .posted_ps = m->posted_ps + first,
                                  .matched_ps = m->matched_ps + first,
                                  .duration_ps = m->duration_ps + first,
                                  .nominal_ps = m->nominal_ps + first};
}

const struct pp_rank_layout *pp_machine_layout(const struct pp_machine *m)
{
    return m->layout;
}

/* Untouched bytes of a shared area, which counts whole: no step writes all of it. */
static size_t untouched(const char *block, size_t offset, size_t bytes)
{
    return bytes - pp_memory_touched(block + offset, bytes);
}

enum pp_status pp_machine_fetch_touched(const struct pp_machine *m, struct pp_error *err)
{
    return m->remote && m->steps_done > 0 ? m->remote->fetch(m, false, err) : PP_OK;
}

/* 0 if the device does not answer. */
size_t pp_machine_touched(const struct pp_machine *m, int rank, int replica)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_rank_layout *layout = &m->layout[rank];
    const struct pp_worker *w = pp_worker_at(m, rank, replica, 0);

    if (pp_is_elsewhere(m, w))
        return w->touched_bytes;
    const struct pp_staging all = pp_block_staging(m, scratch, w, 0, layout->block_bytes);
    const char *block = all.on_host;
    struct pp_error err;

    if (pp_staging_fetch(&all, &err) != PP_OK)
        return 0;
    return pp_memory_touched(block, layout->block_bytes) +
           untouched(block, layout->scratch_offset, layout->scratch_bytes) +
           untouched(block, layout->tensor_offset, layout->tensor_bytes) +
           untouched(block, layout->weights_offset, layout->weights_bytes);
}

void pp_machine_fallbacks(const struct pp_machine *m, struct pp_fallbacks *sum)
{
    *sum = m->workers[0].fallbacks;
    sum->attention[0] = '\0';
    for (int k = 1; k < m->worker_count; k++) {
        const struct pp_worker *w = &m->workers[k];
        const struct pp_fallbacks *f = &w->fallbacks;

        sum->gemms += f->gemms;
        sum->own += f->own;
        sum->finished += f->finished;
        sum->refused += f->refused;
        if (!sum->first[0])
            memcpy(sum->first, f->first, sizeof(sum->first));
        if (f->attention[0] && !sum->attention[0] &&
            strcmp(f->attention, m->workers[0].fallbacks.attention) != 0)
            snprintf(sum->attention, sizeof(sum->attention), "rank %d: %.140s", w->rank,
                     f->attention);
    }
}

/* ---- durations of the parts of an op --------------------------------------------------------- */

static void place_timings(struct pp_machine *m, struct pp_bound_call *call)
{
    int most = 0;

    for (int g = 0; g < call->count; g++)
        most += pp_stage_timings(call->works[g].stage);
    if (most > 0 && !call->part.timings)
        call->part.timings = PP_ARRAY(m->arena, uint8_t, most);
}

void pp_machine_probes(struct pp_machine *m, bool on)
{
    void (*const record_timing)(void *stream) = on ? m->backend->record_timing : NULL;

    m->has_probes = on;
    for (size_t row = 0; row < pp_rows(m); row++) {
        struct pp_bound_call *call = &m->calls[row];
        if (record_timing)
            place_timings(m, call);
        call->part.record_timing = record_timing;
        call->part.now_s = on && !record_timing ? pp_host_thread_s : NULL;
        for (int g = 0; g < call->count; g++)
            call->works[g].probe = on ? &call->part : NULL;
    }
    if (m->has_run)
        pp_machine_capture(m);
}

bool pp_machine_has_probes(const struct pp_machine *m)
{
    return m->has_probes;
}

/* Reads timings `from` .. `until` - 1 of a call, which a launch has recorded. */
static void read_launch(const struct pp_machine *m, struct pp_bound_call *call, pp_stream_id stream,
                        int launch, int from, int until)
{
    double last_s = NAN;

    for (int k = from; k < until; k++) {
        const int what = call->part.timings[k];
        const double at_s = m->backend->timing_s(m->device, stream, launch, k - from);

        if (what != PP_TIMING_BEGIN)
            call->probe.s[what / PP_PARTS][what % PP_PARTS] += at_s - last_s;
        last_s = at_s;
    }
}

static void read_timings(const struct pp_machine *m, const struct pp_worker *w, int i)
{
    const pp_stream_id stream = pp_stream_of(w, i);
    const int launch = m->launch_of[pp_row(w, i)];
    struct pp_bound_call *call = &m->calls[pp_row(w, i)];

    memset(call->probe.s, 0, sizeof(call->probe.s));
    if (call->segment_count == 0)
        read_launch(m, call, stream, launch, 0, call->part.timing_count);
    for (int k = 0, from = 0; k < call->segment_count; from = call->segments[k++].timings_end)
        read_launch(m, call, stream, call->segments[k].launch, from, call->segments[k].timings_end);
}

void pp_probes_read(struct pp_machine *m)
{
    for (int k = 0; k < m->worker_count && m->has_probes && m->backend->record_timing; k++) {
        const struct pp_worker *w = &m->workers[k];
        for (int i = m->p->begin[w->rank]; !pp_is_elsewhere(m, w) && i < m->p->begin[w->rank + 1];
             i++)
            if (m->calls[pp_row(w, i)].count > 0)
                read_timings(m, w, i);
    }
}

const struct pp_probe *pp_machine_probe(const struct pp_machine *m, int instruction, int replica)
{
    const struct pp_bound_call *call = &m->calls[instruction * m->replicas + replica];

    return m->has_probes && call->count > 0 ? &call->probe : NULL;
}
