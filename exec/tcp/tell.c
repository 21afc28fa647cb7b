/* Frames that report a step to others, and questions between steps. */
#include "exec/passes/passes.h"
#include "exec/tcp/tcp.h"

#include <string.h>

/* Sends all workers their states that the caller has changed here. */
static void push_states(struct pp_tcp *t)
{
    const struct pp_machine *m = t->m;

    for (int k = 0; k < m->worker_count; k++)
        if (!pp_tcp_is_here(t, k) && m->workers[k].has_states)
            pp_tcp_send_state(t, pp_tcp_owner(t, k),
                              (struct pp_frame){.worker = k, .flags = PP_TCP_HAS_STATES});
    m->read->is_changed = false;
}

static void tell_step(struct pp_tcp *t)
{
    const struct pp_machine *m = t->m;
    struct pp_frame frame = {.kind = PP_FRAME_STEP,
                             .id = m->step,
                             .flags = (m->has_probes ? 1 : 0) | (m->hook ? 2 : 0) |
                                      (m->is_forward ? 4 : 0),
                             .ps = m->begin_ps};

    for (frame.worker = 0; frame.worker < m->worker_count; frame.worker++)
        if (!pp_tcp_is_here(t, frame.worker))
            pp_tcp_send_worker(t, pp_tcp_owner(t, frame.worker), frame);
}

enum pp_status pp_tcp_begin(struct pp_machine *m, struct pp_error *err)
{
    const struct pp_frame go = {.kind = PP_FRAME_GO, .id = m->step};
    struct pp_tcp *t = pp_tcp_of(m);

    if (m->read->is_changed)
        push_states(t);
    pp_tcp_step_begin(t);
    pp_tcp_expect(t, PP_FRAME_READY, PP_TCP_ALL_NODES);
    tell_step(t);
    PP_TRY(pp_tcp_await(t, t->processes - 1, err));
    pp_tcp_tell_all(t, &go, NULL);
    return PP_OK;
}

void pp_tcp_posted(struct pp_worker *w, int i, const struct pp_header *header)
{
    const struct pp_machine *m = w->machine;
    const int peer = pp_worker_at(m, m->p->peer[i], w->replica, w->tp_index)->index;
    const struct pp_frame frame = {.kind = PP_FRAME_POST,
                                   .worker = w->index,
                                   .id = i,
                                   .ps = m->posted_ps[pp_cell_at(w, i)],
                                   .header = *header};

    pp_tcp_send(pp_tcp_of(m), pp_tcp_owner(pp_tcp_of(m), peer), &frame, NULL, NULL, NULL);
}

void pp_tcp_send_message(struct pp_machine *m, struct pp_machine_message *message)
{
    const struct pp_tcp_ends ends = pp_tcp_ends(m, message->channel);
    const struct pp_frame frame = {.kind = PP_FRAME_DATA,
                                   .worker = ends.source,
                                   .id = (int32_t)(message - m->messages),
                                   .bytes = message->bytes};

    if (pp_tcp_is_here(pp_tcp_of(m), ends.source))
        pp_tcp_send(pp_tcp_of(m), pp_tcp_owner(pp_tcp_of(m), ends.dest), &frame,
                    message->send.buffer, NULL, message);
}

void pp_tcp_made(struct pp_worker *w, const struct pp_made *made, const char *report)
{
    const struct pp_frame frame = {.kind = PP_FRAME_MADE,
                                   .worker = w->index,
                                   .id = made->instruction,
                                   .flags = made->number,
                                   .bytes = pp_tokens_bytes(w->machine, made)};

    pp_tcp_send_copy(pp_tcp_of(w->machine), 0, &frame, report);
}

void pp_tcp_arrived(struct pp_worker *w, int barrier)
{
    const struct pp_machine *m = w->machine;
    const struct pp_frame frame = {.kind = PP_FRAME_ARRIVED,
                                   .worker = w->index,
                                   .id = barrier,
                                   .ps = m->arrived_ps[barrier * m->worker_count + w->index]};

    if (pp_tcp_of(m)->process == 0)
        return;
    if (barrier < m->barrier_count - 1)
        pp_tcp_send(pp_tcp_of(m), 0, &frame, NULL, NULL, NULL);
    else
        pp_tcp_send_worker(pp_tcp_of(m), 0, frame);
}

void pp_tcp_released(struct pp_machine *m, int barrier)
{
    const double verdict[PP_TCP_VERDICT] = {m->loss, m->grad_norm, m->adamw->grad_scale};
    const bool is_last = barrier == m->barrier_count - 1;
    const struct pp_frame frame = {.kind = PP_FRAME_RELEASE,
                                   .id = barrier,
                                   .ps = m->released_ps[barrier],
                                   .bytes = is_last ? sizeof(verdict) : 0};

    pp_tcp_tell_all(pp_tcp_of(m), &frame, verdict);
}

void pp_tcp_failed(struct pp_machine *m)
{
    const char *text = m->error.message;
    struct pp_tcp *t = pp_tcp_of(m);
    const struct pp_frame frame = {.kind = PP_FRAME_FAIL, .bytes = strlen(text) + 1};

    if (!t)
        return;
    if (t->process == 0)
        pp_tcp_tell_all(t, &frame, text);
    else
        pp_tcp_send_copy(t, 0, &frame, text);
}

enum pp_status pp_tcp_fetch(const struct pp_machine *m, bool has_states, struct pp_error *err)
{
    const struct pp_frame frame = {.kind = PP_FRAME_FETCH,
                                   .flags = has_states ? PP_TCP_HAS_STATES : 0};
    struct pp_tcp *t = pp_tcp_of(m);

    if (t->process != 0)
        return PP_OK;
    pp_tcp_expect(t, PP_FRAME_STATE, PP_TCP_ALL_NODES);
    pp_tcp_tell_all(t, &frame, NULL);
    return pp_tcp_await(t, t->processes - 1, err);
}
