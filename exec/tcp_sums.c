/* Sums of gradients: members give their parts to the first of them, which adds them up as on one
 * machine and gives all of them the sum. */
#include "exec/tcp.h"

#include <stdlib.h>
#include <string.h>

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

static int owner_node(const struct pp_tcp *t, int id)
{
    return pp_tcp_owner(t, t->m->collectives[id].members[0]);
}

uint64_t pp_tcp_sum_bytes(const struct pp_tcp *t, int id)
{
    return copy_bytes(t->m, &t->m->collectives[id].sum);
}

uint64_t pp_tcp_part_bytes(const struct pp_tcp *t, int id, int worker)
{
    return pp_tcp_sum_bytes(t, id) * (uint64_t)copies_of(&t->m->collectives[id].sum, worker);
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
        if (pp_tcp_is_here(t, c->members[k]))
            continue;
        char *copy = malloc(frame.bytes + 1);
        if (copy)
            move_copies(m, &c->sum, c->sum.owner[0], copy, true, false);
        frame.worker = c->members[k];
        pp_tcp_send_owned(t, pp_tcp_owner(t, c->members[k]), &frame, copy);
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

        if (owner_node(t, id) == t->node) {
            take_part_locked(t, id, ready_ps);
            w->is_summing = w->turn == turn;
            continue;
        }
        struct pp_frame frame = {.kind = PP_FRAME_PART,
                                 .worker = w->index,
                                 .id = id,
                                 .ps = ready_ps,
                                 .bytes = pp_tcp_part_bytes(t, id, w->index)};
        char *copy = malloc(frame.bytes + 1);
        if (copy)
            move_copies(m, &c->sum, w->index, copy, true, true);
        w->is_summing = true;
        pp_tcp_send_owned(t, owner_node(t, id), &frame, copy);
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

static int collective_at(const struct pp_machine *m, const struct pp_worker *w, int turn)
{
    return m->p->arg[w->collective_row[turn] / m->replicas];
}

/* A worker's parts come in the order of its list; those for other owners are not seen here. */
static bool is_next_part(struct pp_tcp *t, const struct pp_frame *frame)
{
    const struct pp_worker *w = &t->m->workers[frame->worker];
    int turn = t->parts[w->index];

    while (turn < w->collective_count && owner_node(t, collective_at(t->m, w, turn)) != t->node)
        turn++;
    if (turn == w->collective_count || collective_at(t->m, w, turn) != frame->id)
        return false;
    t->parts[w->index] = turn + 1;
    return true;
}

bool pp_tcp_take_part(struct pp_tcp *t, const struct pp_frame *frame, char *payload)
{
    struct pp_machine *m = t->m;

    pthread_mutex_lock(&m->collectives_mutex);
    const bool is_next = is_next_part(t, frame);
    if (is_next) {
        move_copies(m, &m->collectives[frame->id].sum, frame->worker, payload, false, true);
        take_part_locked(t, frame->id, frame->ps);
        give_next(t, frame->id);
    }
    pthread_mutex_unlock(&m->collectives_mutex);
    return is_next;
}

/* The one that the worker waits for. */
static bool is_due(const struct pp_tcp *t, const struct pp_frame *frame)
{
    const struct pp_worker *w = &t->m->workers[frame->worker];

    return w->is_summing && w->turn < w->collective_count &&
           collective_at(t->m, w, w->turn) == frame->id;
}

bool pp_tcp_take_sum(struct pp_tcp *t, const struct pp_frame *frame, char *payload)
{
    struct pp_machine *m = t->m;

    pthread_mutex_lock(&m->collectives_mutex);
    const bool is_expected = is_due(t, frame);
    if (is_expected) {
        move_copies(m, &m->collectives[frame->id].sum, frame->worker, payload, false, false);
        finish_sum(t, frame->id, frame->ps);
        give_next(t, frame->id);
    }
    pthread_mutex_unlock(&m->collectives_mutex);
    return is_expected;
}

bool pp_tcp_is_part(const struct pp_tcp *t, int node, const struct pp_frame *f)
{
    return f->id >= 0 && f->id < t->m->p->collective_count && owner_node(t, f->id) == t->node &&
           pp_tcp_owner(t, f->worker) == node;
}

bool pp_tcp_is_sum(const struct pp_tcp *t, int node, const struct pp_frame *f)
{
    return f->id >= 0 && f->id < t->m->p->collective_count && owner_node(t, f->id) == node &&
           pp_tcp_is_here(t, f->worker);
}
