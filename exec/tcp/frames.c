/* Executes frames on arrival. The reading thread acts for the worker that sent a frame: it posts,
 * adds sums, comes to barriers. False = not now: the frame is repeated, early or invalid. */
#include "exec/copy/reach.h"
#include "exec/host/futex.h"
#include "exec/passes/passes.h"
#include "exec/tcp/tcp.h"

#include <string.h>

static struct pp_worker *worker_of(const struct pp_tcp *t, const struct pp_arrival *a)
{
    return &t->m->workers[a->frame->worker];
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* flags: 1 = durations of parts are wanted, 2 = gradients are, 4 = forwards alone. */
static bool take_step(struct pp_tcp *t, const struct pp_arrival *a)
{
    const struct pp_frame ready = {.kind = PP_FRAME_READY};
    struct pp_machine *m = t->m;

    if (!pp_tcp_take_samples(worker_of(t, a), a->payload, a->frame->bytes))
        return false;
    pp_machine_probes(m, a->frame->flags & 1);
    m->wants_gradients = a->frame->flags & 2;
    m->is_forward = a->frame->flags & 4;
    pp_tcp_step_begin(t);
    pp_step_begin(m, a->frame->id, a->frame->ps);
    pp_tcp_send(t, a->process, &ready, NULL, NULL, NULL);
    return true;
}

static bool take_go(struct pp_tcp *t, const struct pp_arrival *a)
{
    if (a->frame->id != t->m->step)
        return false;
    atomic_store(&t->step_under_way, 1 + a->frame->id);
    pp_futex_change(&t->changes);
    return true;
}

static bool take_answer(struct pp_tcp *t, const struct pp_arrival *a)
{
    if (!pp_tcp_is_answer(t, a))
        return false;
    pp_tcp_count_answer(t);
    return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Posts of a worker arrive in the order of its list. */
static bool take_post(struct pp_tcp *t, const struct pp_arrival *a)
{
    struct pp_worker *w = worker_of(t, a);

    if (a->frame->id <= t->last_post[w->index])
        return false;
    t->last_post[w->index] = a->frame->id;
    atomic_store_explicit(&w->at, a->frame->id, memory_order_relaxed);
    pp_message_post_of(w, a->frame->id, &a->frame->header, a->frame->ps);
    return true;
}

/* The bytes are in their place: see pp_tcp_place. */
static bool take_data(struct pp_tcp *t, const struct pp_arrival *a)
{
    pp_message_landed(t->m, &t->m->messages[a->frame->id]);
    return true;
}

/* ---- the end of a step ----------------------------------------------------------------------- */

static bool take_arrived(struct pp_tcp *t, const struct pp_arrival *a)
{
    struct pp_machine *m = t->m;
    struct pp_worker *w = worker_of(t, a);

    if (a->payload && !pp_tcp_take_figures(w, t->m->wants_gradients, a->payload))
        return false;
    m->arrived_ps[a->frame->id * m->worker_count + w->index] = a->frame->ps;
    m->backend->record(m->device, w->index, w->barrier_row[a->frame->id]);
    return true;
}

static bool take_release(struct pp_tcp *t, const struct pp_arrival *a)
{
    struct pp_machine *m = t->m;
    double verdict[PP_TCP_VERDICT];

    m->released_ps[a->frame->id] = a->frame->ps;
    if (a->payload) {
        memcpy(verdict, a->payload, sizeof(verdict));
        m->loss = verdict[0];
        m->grad_norm = verdict[1];
        if (!m->p->state.spec.has_early_update) /* else updates read it now */
            m->adamw->grad_scale = verdict[2];
    }
    m->backend->record(m->device, m->conductor, m->first_release + a->frame->id);
    return true;
}

/* Accepted once a step; counted while the step runs. */
static bool take_end(struct pp_tcp *t, const struct pp_arrival *a)
{
    struct pp_machine *m = t->m;
    struct pp_worker *w = worker_of(t, a);
    unsigned running = atomic_load(&m->running);

    if (atomic_load(&t->has_ended[w->index]) || !pp_tcp_take_times(w, a->payload))
        return false;
    atomic_store(&t->has_ended[w->index], true);
    if (!m->has_failed)
        atomic_store_explicit(&w->at, m->p->begin[w->rank + 1], memory_order_relaxed);
    while (running > 0 && !atomic_compare_exchange_weak(&m->running, &running, running - 1)) {
    }
    if (running == 1)
        pp_futex_wake(&m->running);
    return true;
}

static bool take_made(struct pp_tcp *t, const struct pp_arrival *a)
{
    const struct pp_worker *w = worker_of(t, a);

    return pp_tokens_take(t->m, &t->m->calls[pp_row(w, a->frame->id)].made[a->frame->flags],
                          a->payload);
}

/* The end of the step may have come first: it is another thread's. A step may begin meanwhile. */
static bool take_at(struct pp_tcp *t, const struct pp_arrival *a)
{
    struct pp_worker *w = worker_of(t, a);

    if (!atomic_load(&t->has_ended[w->index]))
        atomic_store_explicit(&w->at, a->frame->id, memory_order_relaxed);
    atomic_store_explicit(&w->is_meeting, a->frame->flags != 0, memory_order_relaxed);
    atomic_store_explicit(&w->passed, a->frame->ps, memory_order_relaxed);
    return true;
}

/* ---- state ----------------------------------------------------------------------------------- */

static bool take_fetch(struct pp_tcp *t, const struct pp_arrival *a)
{
    const struct pp_worker *w = &t->m->workers[t->process - t->first_owner];
    const bool has_states = a->frame->flags & PP_TCP_HAS_STATES;
    struct pp_frame state = {.worker = w->index, .flags = has_states ? PP_TCP_HAS_STATES : 0};
    struct pp_error err = {0};

    if (t->m->options.is_poisoned)
        state.ps = (int64_t)pp_machine_touched(t->m, w->rank, w->replica);
    state.header.bytes = pp_cache_touched(t->m, w);
    if (!has_states || pp_machine_try(t->m, pp_states_fetch(t->m, &err), &err))
        pp_tcp_send_state(t, a->process, state);
    return true;
}

/* Process 0 takes states only as answers. It sends changed ones unasked before a step. */
static bool take_state(struct pp_tcp *t, const struct pp_arrival *a)
{
    struct pp_worker *w = worker_of(t, a);
    struct pp_error err = {0};

    if (t->process == 0 && !pp_tcp_is_answer(t, a))
        return false;
    if (t->process > 0 && w->has_states)
        pp_machine_try(t->m, pp_reach_push(w, &err), &err);
    w->touched_bytes = (size_t)a->frame->ps;
    w->cache_touched_bytes = (size_t)a->frame->header.bytes;
    if (t->process == 0)
        pp_tcp_count_answer(t);
    return true;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static bool take_fail(struct pp_tcp *t, const struct pp_arrival *a)
{
    struct pp_error err = {0};

    a->payload[a->frame->bytes - 1] = '\0';
    pp_error_set(&err, PP_EFAIL, "%s", a->payload);
    pp_machine_fail(t->m, &err);
    pp_futex_change(&t->changes);
    return true;
}

/* Its bytes are its meaning: see watch_first() in link.c. */
static bool take_alive(struct pp_tcp *t, const struct pp_arrival *a)
{
    (void)t;
    (void)a;
    return true;
}

static bool take_leave(struct pp_tcp *t, const struct pp_arrival *a)
{
    const struct pp_frame left = {.kind = PP_FRAME_LEFT};
    struct pp_error err = {0};

    if (!t->m->transport->leave)
        return false;
    if (pp_machine_try(t->m, t->m->transport->leave(t->m, &err), &err))
        pp_tcp_send(t, a->process, &left, NULL, NULL, NULL);
    return true;
}

static bool take_quit(struct pp_tcp *t, const struct pp_arrival *a)
{
    (void)a;
    atomic_store(&t->is_quitting, true);
    pp_futex_change(&t->changes);
    return true;
}

static bool (*const TAKE[PP_FRAME_KINDS])(struct pp_tcp *, const struct pp_arrival *) = {
    [PP_FRAME_STEP] = take_step,
    [PP_FRAME_READY] = take_answer,
    [PP_FRAME_GO] = take_go,
    [PP_FRAME_POST] = take_post,
    [PP_FRAME_DATA] = take_data,
    [PP_FRAME_PART] = pp_tcp_take_sum,
    [PP_FRAME_SUM] = pp_tcp_take_sum,
    [PP_FRAME_ARRIVED] = take_arrived,
    [PP_FRAME_RELEASE] = take_release,
    [PP_FRAME_END] = take_end,
    [PP_FRAME_AT] = take_at,
    [PP_FRAME_FETCH] = take_fetch,
    [PP_FRAME_STATE] = take_state,
    [PP_FRAME_FAIL] = take_fail,
    [PP_FRAME_PING] = pp_tcp_take_ping,
    [PP_FRAME_OFFSET] = pp_tcp_take_offset,
    [PP_FRAME_LEAVE] = take_leave,
    [PP_FRAME_LEFT] = take_answer,
    [PP_FRAME_QUIT] = take_quit,
    [PP_FRAME_ALIVE] = take_alive,
    [PP_FRAME_ASK] = pp_tcp_take_ask,
    [PP_FRAME_ANSWER] = pp_tcp_take_answer,
    [PP_FRAME_MADE] = take_made,
    [PP_FRAME_GROUP] = pp_tcp_take_group,
};

char *pp_tcp_place(struct pp_tcp *t, const struct pp_frame *frame)
{
    const struct pp_worker *worker = &t->m->workers[frame->worker];

    return frame->kind == PP_FRAME_DATA    ? t->m->messages[frame->id].recv.buffer
           : frame->kind == PP_FRAME_GROUP ? pp_group_room(worker, frame->id)
           : frame->kind == PP_FRAME_STATE ? pp_tcp_state_place(t, frame)
                                           : NULL;
}

static bool is_new_data(struct pp_tcp *t, const struct pp_frame *frame)
{
    const bool is_new =
        !t->has_come[frame->id] && atomic_load(&t->m->messages[frame->id].posts) > 0;

    t->has_come[frame->id] = true;
    return is_new;
}

bool pp_tcp_is_new(struct pp_tcp *t, const struct pp_frame *frame)
{
    if (frame->kind == PP_FRAME_STATE && t->process == 0)
        return pp_tcp_is_expected(t, pp_tcp_owner(t, frame->worker), frame->kind);
    return frame->kind == PP_FRAME_DATA ? is_new_data(t, frame) : true;
}

bool pp_tcp_take(struct pp_tcp *t, const struct pp_arrival *arrival)
{
    return TAKE[arrival->frame->kind](t, arrival);
}
