/* What a frame does where it arrives. The thread that reads it acts for the worker that sent it:
 * posts its posts, adds its sums, comes to its barriers. */
#include "exec/futex.h"
#include "exec/tcp.h"

#include <stdlib.h>
#include <string.h>

static struct pp_worker *worker_of(const struct pp_tcp *t, const struct pp_frame *frame)
{
    return &t->m->workers[frame->worker];
}

static void fail(struct pp_machine *m, const char *text)
{
    struct pp_error err = {0};

    pp_error_set(&err, PP_EFAIL, "%s", text);
    pp_machine_fail(m, &err);
}

/* ---- a step ---------------------------------------------------------------------------------*/

static size_t tokens_bytes(const struct pp_machine *m)
{
    return sizeof(int32_t) * (size_t)pp_batch_samples(m->options.batch) *
           (size_t)m->options.stages[0]->net->seq;
}

/* flags: 1 = durations of parts are wanted, 2 = gradients are. */
static void take_step(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    const struct pp_frame ready = {.kind = PP_FRAME_READY};
    struct pp_machine *m = t->m;

    memcpy(m->ids, payload, tokens_bytes(m));
    memcpy(m->targets, payload + tokens_bytes(m), tokens_bytes(m));
    pp_machine_probes(m, frame->flags & 1);
    t->wants_gradients = frame->flags & 2;
    memset(t->posted, 0, sizeof(int) * (size_t)m->worker_count);
    pp_step_begin(m, frame->id, frame->ps);
    pp_tcp_send(t, node, &ready, NULL, NULL, NULL);
}

static void take_ready(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    (void)node;
    (void)frame;
    (void)payload;
    atomic_fetch_add(&t->ready, 1);
    pp_tcp_changed(t);
}

static void take_go(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    (void)node;
    (void)payload;
    atomic_store(&t->step_under_way, 1 + frame->id);
    pp_tcp_changed(t);
}

/* ---- messages -------------------------------------------------------------------------------*/

static void take_post(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    struct pp_worker *w = worker_of(t, frame);

    (void)node;
    (void)payload;
    atomic_store_explicit(&w->at, frame->id, memory_order_relaxed);
    pp_message_post_of(w, frame->id, &frame->header, frame->ps);
}

static void take_data(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    (void)node;
    (void)payload;
    pp_message_landed(t->m, &t->m->messages[frame->id]);
}

/* ---- sums -----------------------------------------------------------------------------------*/

static size_t piece_bytes(const struct pp_machine *m, const struct pp_sum *sum, int piece)
{
    return (size_t)sum->count[piece] *
           (sum->is_exact ? sizeof(int64_t) : m->options.kernels->element_bytes);
}

static char *piece_at(const struct pp_machine *m, const struct pp_sum *sum, int copy, int piece)
{
    return sum->at[copy] + (size_t)sum->offset[piece] *
                               (sum->is_exact ? sizeof(int64_t) : m->options.kernels->element_bytes);
}

static size_t copy_bytes(const struct pp_machine *m, const struct pp_sum *sum)
{
    size_t bytes = 0;

    for (int piece = 0; piece < sum->pieces; piece++)
        bytes += piece_bytes(m, sum, piece);
    return bytes;
}

/* Copies of a worker (-1 = of nobody but the first) into or out of a payload. */
static char *move_copies(const struct pp_machine *m, const struct pp_sum *sum, int worker,
                         char *payload, bool is_out, bool is_each)
{
    for (int copy = 0; copy < sum->copies; copy++) {
        char *at = payload;

        if (sum->owner[copy] != worker)
            continue;
        for (int piece = 0; piece < sum->pieces; at += piece_bytes(m, sum, piece++))
            if (is_out)
                memcpy(at, piece_at(m, sum, copy, piece), piece_bytes(m, sum, piece));
            else
                memcpy(piece_at(m, sum, copy, piece), at, piece_bytes(m, sum, piece));
        payload += is_each ? copy_bytes(m, sum) : 0;
    }
    return payload;
}

static int copies_of(const struct pp_sum *sum, int worker)
{
    int copies = 0;

    for (int copy = 0; copy < sum->copies; copy++)
        copies += sum->owner[copy] == worker;
    return copies;
}

static int owner_node(const struct pp_tcp *t, const struct pp_machine_collective *c)
{
    return pp_tcp_owner(t, c->members[0]);
}

/* Caller holds the mutex of collectives. */
static void finish_sum(struct pp_tcp *t, int id, int64_t start_ps)
{
    struct pp_machine *m = t->m;
    struct pp_machine_collective *c = &m->collectives[id];
    const int64_t end_ps = pp_is_virtual(m) ? start_ps + c->ps : pp_now_ps(m);

    for (int k = 0; k < c->row_count; k++) {
        struct pp_worker *w = &m->workers[c->members[k]];

        if (!pp_tcp_is_here(t, w->index))
            continue;
        m->start_ps[pp_cell(m, (size_t)c->rows[k])] = start_ps;
        m->end_ps[pp_cell(m, (size_t)c->rows[k])] = end_ps > start_ps ? end_ps : start_ps;
        w->reduce_ps = end_ps > start_ps ? end_ps : start_ps;
        w->turn++;
    }
    m->backend->record(m->device, m->conductor, c->done);
}

/* All parts are here: add them up as on one machine, and tell the members. */
static void add_up(struct pp_tcp *t, int id)
{
    struct pp_machine *m = t->m;
    struct pp_machine_collective *c = &m->collectives[id];
    struct pp_frame frame = {
        .kind = PP_FRAME_SUM, .id = id, .ps = t->sum_start_ps[id], .bytes = copy_bytes(m, &c->sum)};

    pp_sum_run(m->options.kernels, NULL, &c->sum);
    for (int k = 0; k < c->row_count; k++) {
        char *copy = malloc(frame.bytes + 1);

        if (pp_tcp_is_here(t, c->members[k]) || !copy) {
            free(copy);
            continue;
        }
        move_copies(m, &c->sum, c->sum.owner[0], copy, true, false);
        frame.worker = c->members[k];
        pp_tcp_send(t, pp_tcp_owner(t, c->members[k]), &frame, NULL, copy, NULL);
    }
    finish_sum(t, id, t->sum_start_ps[id]);
}

static void take_part_locked(struct pp_tcp *t, int id, int64_t ready_ps)
{
    struct pp_machine_collective *c = &t->m->collectives[id];

    if (c->posts == 0 || ready_ps > t->sum_start_ps[id])
        t->sum_start_ps[id] = ready_ps;
    if (++c->posts == c->row_count)
        add_up(t, id);
}

/* A worker's sums follow one another: the next is given away when the one before is over. */
static void give_part(struct pp_tcp *t, struct pp_worker *w)
{
    struct pp_machine *m = t->m;

    while (w->turn < t->posted[w->index] && !w->is_summing) {
        const int row = w->collective_row[w->turn], id = m->p->arg[row / m->replicas];
        struct pp_machine_collective *c = &m->collectives[id];
        const int64_t posted_ps = m->posted_ps[pp_cell(m, (size_t)row)];
        const int64_t ready_ps = posted_ps > w->reduce_ps ? posted_ps : w->reduce_ps;
        const int turn = w->turn;

        if (owner_node(t, c) == t->node) {
            take_part_locked(t, id, ready_ps);
            w->is_summing = w->turn == turn;
            continue;
        }
        struct pp_frame frame = {.kind = PP_FRAME_PART,
                                 .worker = w->index,
                                 .id = id,
                                 .ps = ready_ps,
                                 .bytes = copy_bytes(m, &c->sum) *
                                          (size_t)copies_of(&c->sum, w->index)};
        char *copy = malloc(frame.bytes + 1);
        if (!copy)
            return;
        move_copies(m, &c->sum, w->index, copy, true, true);
        w->is_summing = true;
        pp_tcp_send(t, owner_node(t, c), &frame, NULL, copy, NULL);
    }
}

void pp_tcp_sum_next(struct pp_tcp *t, struct pp_worker *w)
{
    pthread_mutex_lock(&t->m->collectives_mutex);
    t->posted[w->index]++;
    give_part(t, w);
    pthread_mutex_unlock(&t->m->collectives_mutex);
}

/* Whoever is here and has had its turn may have the next. */
static void give_next(struct pp_tcp *t, int id)
{
    struct pp_machine_collective *c = &t->m->collectives[id];

    for (int k = 0; k < c->row_count; k++) {
        struct pp_worker *w = &t->m->workers[c->members[k]];
        const bool is_over = pp_tcp_is_here(t, w->index) && w->turn > 0 &&
                             w->collective_row[w->turn - 1] == c->rows[k];

        if (!is_over || !w->is_summing)
            continue;
        w->is_summing = false;
        give_part(t, w);
    }
}

static void take_part(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    struct pp_machine *m = t->m;

    (void)node;
    pthread_mutex_lock(&m->collectives_mutex);
    move_copies(m, &m->collectives[frame->id].sum, frame->worker, payload, false, true);
    take_part_locked(t, frame->id, frame->ps);
    give_next(t, frame->id);
    pthread_mutex_unlock(&m->collectives_mutex);
}

static void take_sum(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    struct pp_machine *m = t->m;

    (void)node;
    pthread_mutex_lock(&m->collectives_mutex);
    move_copies(m, &m->collectives[frame->id].sum, frame->worker, payload, false, false);
    finish_sum(t, frame->id, frame->ps);
    give_next(t, frame->id);
    pthread_mutex_unlock(&m->collectives_mutex);
}

/* ---- the end of a step ----------------------------------------------------------------------*/

/* Squares of layers that are not its own are 0. */
static void take_arrived(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    struct pp_machine *m = t->m;
    struct pp_worker *w = worker_of(t, frame);

    (void)node;
    m->arrived_ps[frame->id * m->worker_count + w->index] = frame->ps;
    if (payload)
        pp_tcp_take_figures(w, payload);
    m->backend->record(m->device, w->index, (pp_event_id)w->barrier_row[frame->id]);
}

static void take_release(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    struct pp_machine *m = t->m;
    double verdict[3];

    (void)node;
    m->released_ps[frame->id] = frame->ps;
    if (payload) {
        memcpy(verdict, payload, sizeof(verdict));
        m->loss = verdict[0];
        m->grad_norm = verdict[1];
        m->grad_scale = verdict[2];
    }
    m->backend->record(m->device, m->conductor, m->first_release + frame->id);
}

static void take_end(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    struct pp_machine *m = t->m;

    (void)node;
    pp_tcp_take_times(worker_of(t, frame), payload);
    if (atomic_fetch_sub(&m->running, 1) == 1)
        pp_futex_wake(&m->running);
}

static void take_at(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    (void)node;
    (void)payload;
    atomic_store_explicit(&worker_of(t, frame)->at, frame->id, memory_order_relaxed);
}

/* ---- state ----------------------------------------------------------------------------------*/

static void take_fetch(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    (void)payload;
    (void)frame;
    for (int k = 0; k < t->m->worker_count; k++) {
        struct pp_frame state = {.kind = PP_FRAME_STATE, .worker = k};

        if (!pp_tcp_is_here(t, k))
            continue;
        char *copy = pp_tcp_pack_state(&t->m->workers[k], &state.bytes);
        state.ps = (int64_t)pp_machine_touched(t->m, t->m->workers[k].rank,
                                               t->m->workers[k].replica);
        pp_tcp_send(t, node, &state, NULL, copy, NULL);
    }
}

static void take_state(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    struct pp_worker *w = worker_of(t, frame);

    (void)node;
    pp_tcp_unpack_state(w, payload);
    w->touched_bytes = (size_t)frame->ps;
    atomic_fetch_add(&t->states, 1);
    pp_tcp_changed(t);
}

/* ---- the rest -------------------------------------------------------------------------------*/

static void take_fail(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    (void)node;
    payload[frame->bytes - 1] = '\0';
    fail(t->m, payload);
    pp_tcp_changed(t);
}

/* There: the clock of this host. Back: half of the way is behind it, as far as anybody can tell. */
static void take_ping(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    const int64_t now_ps = pp_wall_ps(), round_ps = now_ps - frame->ps;
    struct pp_frame back = *frame;
    int64_t there_ps;

    if (t->node != 0) {
        char *copy = malloc(sizeof(now_ps));

        back.bytes = copy ? sizeof(now_ps) : 0;
        if (copy)
            memcpy(copy, &now_ps, sizeof(now_ps));
        pp_tcp_send(t, node, &back, NULL, copy, NULL);
        return;
    }
    memcpy(&there_ps, payload, sizeof(there_ps));
    if (round_ps / 2 < t->error_ps) {
        t->error_ps = round_ps / 2;
        t->offset_ps = frame->ps + round_ps / 2 - there_ps;
    }
    atomic_fetch_add(&t->pongs, 1);
    pp_tcp_changed(t);
}

static void take_offset(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    (void)node;
    (void)payload;
    t->m->clock_offset_ps = frame->ps;
}

static void take_quit(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    (void)node;
    (void)frame;
    (void)payload;
    atomic_store(&t->is_quitting, true);
    pp_tcp_changed(t);
}

static void (*const TAKE[PP_FRAME_KINDS])(struct pp_tcp *, int, const struct pp_frame *, char *) = {
    [PP_FRAME_STEP] = take_step,       [PP_FRAME_READY] = take_ready,
    [PP_FRAME_GO] = take_go,           [PP_FRAME_POST] = take_post,
    [PP_FRAME_DATA] = take_data,       [PP_FRAME_PART] = take_part,
    [PP_FRAME_SUM] = take_sum,         [PP_FRAME_ARRIVED] = take_arrived,
    [PP_FRAME_RELEASE] = take_release, [PP_FRAME_END] = take_end,
    [PP_FRAME_AT] = take_at,           [PP_FRAME_FETCH] = take_fetch,
    [PP_FRAME_STATE] = take_state,     [PP_FRAME_FAIL] = take_fail,
    [PP_FRAME_PING] = take_ping,       [PP_FRAME_OFFSET] = take_offset,
    [PP_FRAME_QUIT] = take_quit,
};

char *pp_tcp_place(struct pp_tcp *t, const struct pp_frame *frame)
{
    const struct pp_machine_message *message =
        frame->kind == PP_FRAME_DATA ? &t->m->messages[frame->id] : NULL;

    return message && message->bytes == frame->bytes ? message->recv.buffer : NULL;
}

void pp_tcp_take(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    TAKE[frame->kind](t, node, frame, payload);
}
