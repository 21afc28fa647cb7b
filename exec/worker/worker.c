/* Helpers of all files of a machine, none of which they call: clocks, launches. */
#include "exec/worker/worker.h"
#include "exec/host/host.h"
#include "schedules/evaluate/op_cost.h"
#include "schedules/evaluate/weight_stream.h"

#include <time.h>

/* ---- processes ------------------------------------------------------------------------------- */

int pp_machine_process(const struct pp_machine *m)
{
    return m->remote ? m->remote->process(m) : 0;
}

bool pp_machine_is_member(const struct pp_machine *m)
{
    return pp_machine_process(m) > 0;
}

int64_t pp_machine_passed(struct pp_machine *m)
{
    return m->backend->passed ? m->backend->passed(m->device) : 0;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* Counts from the first call, as 63 bits of picoseconds hold 106 days of a host's uptime. */
int64_t pp_wall_ps(void)
{
    static atomic_llong first_s = -1;
    long long unset = -1;
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    atomic_compare_exchange_strong(&first_s, &unset, (long long)t.tv_sec);
    return ((int64_t)(t.tv_sec - atomic_load(&first_s)) * 1000000000 + t.tv_nsec) * 1000;
}

/* The wall clock takes one system call less. */
int64_t pp_machine_now_ns(const struct pp_machine *m)
{
    return m->backend->is_immediate ? pp_host_thread_ns() : pp_wall_ps() / 1000;
}

int64_t pp_given_ps(const struct pp_machine *m, int i)
{
    return pp_program_ps(m->p, m->options.costs, i, m->p->aux[i] == PP_FUSED_FIRST);
}

/* ---- streams --------------------------------------------------------------------------------- */

static pp_stream_id stream_at(const struct pp_worker *w, bool on_weights)
{
    return w->index + (on_weights ? w->machine->weights : 0);
}

pp_stream_id pp_stream_of(const struct pp_worker *w, int i)
{
    return stream_at(w, pp_weight_stream_has(w->machine->p, i));
}

/* Forwards alone have their gathers and loads: one for a backward may serve a forward, too. */
bool pp_worker_has(const struct pp_worker *w, int i)
{
    static const bool IS_FORWARD[PP_OP_KINDS] = {
        [PP_F] = true, [PP_SEND_F] = true, [PP_RECV_F] = true, [PP_BAR] = true, [PP_DROP] = true};
    const struct pp_program *p = w->machine->p;
    const int target = p->kind[i] == PP_WAIT ? p->begin[w->rank] + p->arg[i] : i;

    return !w->machine->is_forward || IS_FORWARD[p->kind[target]] ||
           w->machine->wholes->has_forward[target];
}

/* The other stream has waited for the scatter that freed the buffer of W. */
static bool await_buffer(struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const int32_t scatter = pp_weight_stream_has(m->p, i) ? m->wholes->after[i] : -1;

    return scatter < 0 || m->backend->wait(m->device, pp_stream_of(w, i),
                                           m->collectives[pp_collective_of(w, scatter)].done);
}

bool pp_worker_order(struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const int after = pp_weight_stream_after(m->p, i);

    if (!await_buffer(w, i))
        return false;
    return after < 0 || !pp_worker_has(w, after) ||
           m->backend->wait(m->device, pp_stream_of(w, i), pp_row(w, after));
}

/* Records an event if the other compute stream waits for the op. */
static void record_op(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;

    if (m->p->weight_stream && m->p->weight_stream->is_awaited[i])
        m->backend->record(m->device, pp_stream_of(w, i), pp_row(w, i));
}

pp_stream_id pp_sum_stream(const struct pp_machine *m, int32_t collective)
{
    return m->worker_count + m->p->channel_count * m->replicas * m->tp +
           m->collectives[collective].stream_of;
}

int pp_sums_status(const struct pp_machine *m)
{
    int status = PP_FIXED_OK;

    for (int c = 0; c < m->collective_count; c++)
        status = status ? status : *m->collectives[c].sum.status;
    for (int k = 0; k < m->tied_count; k++)
        status = status ? status : *m->tied[k].status;
    for (int k = 0; k < m->worker_count; k++)
        status = status ? status : *m->workers[k].sum_on_host_status;
    return status;
}

/* ---- addresses ---------------------------------------------------------------------------- */

void *pp_worker_buffer(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;

    return w->block + m->layout[w->rank].offset[m->class_of[i]][m->p->slot[i]];
}

void *pp_worker_whole(const struct pp_worker *w, enum pp_whole_class what, int i)
{
    const struct pp_machine *m = w->machine;
    const int32_t buffer = m->wholes->of[what][i];

    return buffer < 0 ? NULL : w->block + m->layout[w->rank].whole_offset[what][buffer];
}

void *pp_complete_gradients(const struct pp_chunk *chunk)
{
    const struct pp_worker *w = chunk->worker;
    const int32_t last = w->machine->wholes->last_part[chunk - w->chunks];

    return last >= 0            ? pp_worker_whole(w, PP_WHOLE_GRADS, last)
           : chunk->state.fixed ? (void *)chunk->state.fixed
                                : chunk->state.sum;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Index of an instruction in its list, and its graph id: see graphs.c. */
int pp_place_of(const struct pp_worker *w, int i)
{
    return i - w->machine->p->begin[w->rank];
}

int pp_list_length(const struct pp_worker *w)
{
    const struct pp_program *p = w->machine->p;

    return p->begin[w->rank + 1] - p->begin[w->rank];
}

int pp_bar_graph_id(const struct pp_worker *w)
{
    return 2 * pp_list_length(w);
}

int pp_graph_id(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const int32_t row = pp_row(w, i);

    return m->has_probes && m->calls[row].count > 0 ? pp_list_length(w) + pp_place_of(w, i)
                                                    : m->same_as[row];
}

void pp_probe_add(struct pp_bound_call *call, int work)
{
    const struct pp_probe *probe = call->works[work].probe;

    for (int part = 0; probe && probe->now_s && part < PP_PARTS; part++)
        for (int kind = 0; kind < 3; kind++)
            call->probe.s[kind][part] =
                (work > 0 ? call->probe.s[kind][part] : 0) + probe->s[kind][part];
}

void pp_call_begin(const struct pp_kernels *k, void *stream, struct pp_bound_call *call)
{
    for (size_t i = 0; i < PP_COUNT(call->cleared); i++)
        if (call->cleared[i].memory)
            k->zero(stream, call->cleared[i].bytes, call->cleared[i].memory);
    if (call->before)
        call->before(k, stream, call->fed);
    call->part.timing_count = 0;
}

static void run_call(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_bound_call *call = argument;

    pp_call_begin(k, stream, call);
    for (int g = 0; g < call->count; g++) {
        call->run(k, stream, &call->works[g]);
        pp_probe_add(call, g);
        if (call->after)
            call->after(k, stream, &call->made[g]);
    }
}

struct pp_worker_launch pp_launch_of(const struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    const struct pp_program *p = m->p;

    if (p->kind[i] == PP_U)
        return (struct pp_worker_launch){pp_update_run, &w->chunks[pp_chunk_of(m, i)]};
    return (struct pp_worker_launch){run_call, &m->calls[pp_row(w, i)]};
}

int pp_worker_launch(struct pp_worker *w, bool on_weights, int id, struct pp_worker_launch launch)
{
    const struct pp_machine *m = w->machine;
    const pp_stream_id stream = stream_at(w, on_weights);

    if (m->backend->launch_graph)
        m->backend->launch_graph(m->device, stream, id, launch.work, launch.argument);
    else
        m->backend->launch(m->device, stream, launch.work, launch.argument);
    return w->launches[on_weights]++;
}

void pp_worker_issue(struct pp_worker *w, int i)
{
    w->machine->launch_of[pp_row(w, i)] = pp_worker_launch(
        w, pp_weight_stream_has(w->machine->p, i), pp_graph_id(w, i), pp_launch_of(w, i));
    record_op(w, i);
}

/* ---- times of launches ----------------------------------------------------------------------- */

struct pp_span pp_span_of(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const int kind = m->p->kind[i];

    if (pp_op_is_compute(kind)) {
        const int first = m->launch_of[pp_row(w, i)], more = m->calls[pp_row(w, i)].launches_more;
        const struct pp_span begin = m->backend->span(m->device, pp_stream_of(w, i), first),
                             end = m->backend->span(m->device, pp_stream_of(w, i), first + more);
        return (struct pp_span){begin.start_s, end.end_s};
    }
    if (pp_op_is_move(kind))
        return m->backend->span(m->device, pp_copy_stream_of(w, pp_move_stream(m->p->purpose[i])),
                                m->copies[pp_row(w, i)]->launch);
    if (pp_op_is_collective(kind))
        return m->backend->span(m->device, pp_sum_stream(m, pp_collective_of(w, i)),
                                m->collectives[pp_collective_of(w, i)].launch);
    const struct pp_machine_message *message = pp_message_at(w, i);
    return m->backend->span(m->device, m->worker_count + message->channel, message->launch);
}
