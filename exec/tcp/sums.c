/* Gradient sums. Members send parts to the first one, which adds them and sends back the sum. */
#include "exec/tcp/tcp.h"

#include <stdlib.h>
#include <string.h>

static size_t move_range(const struct pp_sum *sum, int copy, struct pp_range range, bool is_out,
                         char *at)
{
    const size_t bytes = (size_t)(range.until - range.from) * sum->element_bytes;
    char *elements = pp_sum_at(sum, copy, range.from);

    if (at && is_out)
        memcpy(at, elements, bytes);
    else if (at)
        memcpy(elements, at, bytes);
    return bytes;
}

static size_t move_sum(const struct pp_sum *sum, const struct pp_frame *f, bool is_out,
                       char *payload)
{
    struct pp_range ranges[PP_SUM_RANGES];
    size_t bytes = 0;

    for (int copy = 0; copy < sum->copies; copy++) {
        if (sum->owner[copy] != f->worker)
            continue;
        const int count = f->kind == PP_FRAME_PART ? sum->rule->given(sum, copy, ranges)
                                                   : sum->rule->got(sum, copy, ranges);
        for (int r = 0; r < count; r++)
            bytes += move_range(sum, copy, ranges[r], is_out, payload ? payload + bytes : NULL);
    }
    return bytes;
}

/* Bytes of the payload of a PART or SUM; moved between it (if not NULL) and the worker's copies. */
static size_t move_copies(const struct pp_tcp *t, const struct pp_frame *f, bool is_out,
                          char *payload)
{
    size_t bytes = 0;

    for (const struct pp_sum *sum = &t->m->collectives[f->id].sum; sum != NULL; sum = sum->next)
        bytes += move_sum(sum, f, is_out, payload ? payload + bytes : NULL);
    return bytes;
}

static int owner_process(const struct pp_tcp *t, int id)
{
    return pp_tcp_owner(t, t->m->collectives[id].members[0]);
}

uint64_t pp_tcp_sum_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    return move_copies(t, f, true, NULL);
}

static void send_copies(struct pp_tcp *t, int process, struct pp_frame frame)
{
    frame.bytes = move_copies(t, &frame, true, NULL);
    char *copy = malloc(frame.bytes + 1);
    if (copy)
        move_copies(t, &frame, true, copy);
    pp_tcp_send_owned(t, process, &frame, copy);
}

/* Runs a step of a worker's copies, which are here. */
static void run_copies(const struct pp_machine *m, const struct pp_worker *w,
                       const struct pp_sum *sum, pp_sum_step step)
{
    for (; sum != NULL; sum = sum->next)
        for (int copy = 0; copy < sum->copies; copy++)
            if (sum->owner[copy] == w->index)
                step(m->options.kernels, NULL, sum, copy);
}

/* The caller holds collectives_mutex. */
static void finish_sum(struct pp_tcp *t, int id, int64_t start_ps)
{
    struct pp_machine *m = t->m;
    struct pp_machine_collective *c = &m->collectives[id];
    const int64_t end_ps =
        pp_is_virtual(m) ? start_ps + c->ps : pp_later_ps(start_ps, pp_now_ps(m));

    for (int k = 0; k < c->row_count; k++) {
        struct pp_worker *w = &m->workers[c->members[k]];

        if (!pp_tcp_is_here(t, w->index))
            continue;
        run_copies(m, w, &c->sum, pp_sum_end);
        m->start_ps[pp_cell(m, c->rows[k])] = start_ps;
        m->end_ps[pp_cell(m, c->rows[k])] = end_ps;
        w->reduce_ps = end_ps;
        w->turn = pp_collective_turn(w, w->turn + 1);
    }
    m->backend->record(m->device, m->conductor, c->done);
}

/* Adds up all parts, which are here, as on one machine, and sends the sum to the members. */
static void add_up(struct pp_tcp *t, int id)
{
    struct pp_machine *m = t->m;
    struct pp_machine_collective *c = &m->collectives[id];

    for (const struct pp_sum *sum = &c->sum; sum != NULL; sum = sum->next)
        sum->rule->exchange(m->options.kernels, NULL, sum);
    for (int k = 0; k < c->row_count; k++) {
        if (pp_tcp_is_here(t, c->members[k]))
            continue;
        const struct pp_frame frame = {
            .kind = PP_FRAME_SUM, .worker = c->members[k], .id = id, .ps = t->sum_start_ps[id]};
        send_copies(t, pp_tcp_owner(t, frame.worker), frame);
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

static int collective_at(const struct pp_worker *w, int turn)
{
    return pp_collective_of(w, pp_instruction_at(w->machine, w->collective_row[turn]));
}

/* Gives the worker's parts in order: each one after the sum before it is over. */
static void give_part(struct pp_tcp *t, struct pp_worker *w)
{
    struct pp_machine *m = t->m;

    while (w->turn < t->posted[w->index] && !w->is_summing) {
        const int row = w->collective_row[w->turn], id = collective_at(w, w->turn);
        const int64_t ready_ps = pp_later_ps(m->posted_ps[pp_cell(m, row)], w->reduce_ps);
        const int turn = w->turn;

        run_copies(m, w, &m->collectives[id].sum, pp_sum_begin);
        if (owner_process(t, id) == t->process) {
            take_part_locked(t, id, ready_ps);
            w->is_summing = w->turn == turn;
            continue;
        }
        const struct pp_frame frame = {
            .kind = PP_FRAME_PART, .worker = w->index, .id = id, .ps = ready_ps};
        w->is_summing = true;
        send_copies(t, owner_process(t, id), frame);
    }
}

void pp_tcp_summed(struct pp_worker *w, int i)
{
    struct pp_tcp *t = pp_tcp_of(w->machine);

    (void)i; /* posts are in the order of the list */
    pthread_mutex_lock(&t->m->collectives_mutex);
    t->posted[w->index] = pp_collective_turn(w, t->posted[w->index]) + 1;
    give_part(t, w);
    pthread_mutex_unlock(&t->m->collectives_mutex);
}

/* Lets workers of this process that have finished this sum give their next part. */
static void give_next(struct pp_tcp *t, int id)
{
    struct pp_machine_collective *c = &t->m->collectives[id];

    for (int k = 0; k < c->row_count; k++) {
        struct pp_worker *w = &t->m->workers[c->members[k]];
        const bool is_over =
            pp_tcp_is_here(t, w->index) &&
            (w->turn == w->collective_count || w->collective_row[w->turn] > c->rows[k]);

        if (!is_over || !w->is_summing)
            continue;
        w->is_summing = false;
        give_part(t, w);
    }
}

/* Parts of a worker arrive in the order of its list; parts for other owners do not arrive here. */
static bool is_next_part(struct pp_tcp *t, const struct pp_frame *frame)
{
    const struct pp_worker *w = &t->m->workers[frame->worker];
    int turn = pp_collective_turn(w, t->parts[w->index]);

    while (turn < w->collective_count && owner_process(t, collective_at(w, turn)) != t->process)
        turn = pp_collective_turn(w, turn + 1);
    if (turn == w->collective_count || collective_at(w, turn) != frame->id)
        return false;
    t->parts[w->index] = turn + 1;
    return true;
}

/* True if the worker waits for this sum. */
static bool is_due(const struct pp_tcp *t, const struct pp_frame *frame)
{
    const struct pp_worker *w = &t->m->workers[frame->worker];

    return w->is_summing && w->turn < w->collective_count && collective_at(w, w->turn) == frame->id;
}

bool pp_tcp_take_sum(struct pp_tcp *t, const struct pp_arrival *a)
{
    const struct pp_frame *f = a->frame;
    const bool is_part = f->kind == PP_FRAME_PART;
    struct pp_error err = {0};

    if (!pp_machine_try(t->m, pp_states_open_parts(&t->m->workers[f->worker], &err), &err))
        return true;
    pthread_mutex_lock(&t->m->collectives_mutex);
    const bool is_expected = is_part ? is_next_part(t, f) : is_due(t, f);
    if (is_expected) {
        move_copies(t, f, false, a->payload);
        (is_part ? take_part_locked : finish_sum)(t, f->id, f->ps);
        give_next(t, f->id);
    }
    pthread_mutex_unlock(&t->m->collectives_mutex);
    return is_expected;
}

/* A part goes to the owner of the sum; the sum comes from the owner. */
bool pp_tcp_is_sum(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    const bool is_part = f->kind == PP_FRAME_PART;

    return f->id >= 0 && f->id < t->m->collective_count &&
           owner_process(t, f->id) == (is_part ? t->process : process) &&
           pp_tcp_owner(t, f->worker) == (is_part ? process : t->process);
}
