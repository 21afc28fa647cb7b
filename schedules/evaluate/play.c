/* Every rank plays its list up to the first WAIT for an event that is not over. The end of an
 * instruction wakes the ranks that wait for it. The rules are those of graph.c. Linear. */
#include "schedules/evaluate/play.h"
#include "schedules/evaluate/eval.h"
#include "schedules/evaluate/op_cost.h"

#include <assert.h>
#include <string.h>

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
/* Returns `ps` after `start`; once the sum has passed the limit, an arbitrary unused value. */
static int64_t after(struct pp_play *play, int64_t start, int64_t ps)
{
    play->sum_ps += (double)ps;
    return play->sum_ps < (double)PP_PLAY_LIMIT_PS ? start + ps : start;
}
/* Notes that something of a step ends. */
static int64_t ends(struct pp_play *play, int step, int64_t end)
{
    play->step_end_ps[step] = later(play->step_end_ps[step], end);
    return end;
}
size_t pp_play_row(const struct pp_play *play, int step, int i)
{
    return (size_t)step * (size_t)pp_program_size(play->p) + (size_t)i;
}
/* Returns the step of instruction i. */
static int step_at(const struct pp_play *play, const struct pp_seat *seat, int i)
{
    return play->step_of ? play->step_of[i] : seat->step;
}
/* Notes where instruction i ends. */
static void note_end(const struct pp_play *play, const struct pp_seat *seat, int i)
{
    if (play->end)
        play->end[pp_play_row(play, seat->step, i)] = seat->clock;
}
static void note_start(const struct pp_play *play, int step, int i, int64_t start)
{
    if (play->start)
        play->start[pp_play_row(play, step, i)] = start;
}
static void note_post(const struct pp_play *play, int step, int i, int64_t post)
{
    if (play->posted)
        play->posted[pp_play_row(play, step, i)] = post;
}
/* Queues the end of what instruction i of a cut program posts, for its WAIT. */
static void enqueue(struct pp_play *play, int i, const int64_t *end)
{
    if (!play->queues)
        return;
    struct pp_play_queue *queue = &play->queues[play->p->cut->queue_of[i]];
    queue->ends[queue->posted++] = end;
}
/* Wakes the rank if it waits for `end`, which is known now. */
static void wake(struct pp_play *play, int rank, const int64_t *end)
{
    struct pp_seat *seat = &play->seats[rank];

    if (seat->awaited != end)
        return;
    seat->awaited = NULL;
    seat->clock = later(seat->clock, *end);
    note_end(play, seat, seat->next - 1);
    assert(play->ready_count < play->p->ranks);
    play->ready[play->ready_count++] = (uint16_t)rank;
}
/* Queues the rank: the last op on its reduce stream is over. */
static void turn(struct pp_play *play, struct pp_seat *seat)
{
    if (seat->is_turning)
        return;
    seat->is_turning = true;
    assert(play->turning_count < play->p->ranks);
    play->turning[play->turning_count++] = (uint16_t)seat->rank;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Returns the time at which a transfer can start; PP_PLAY_UNKNOWN if that is not known yet. */
static int64_t start_of(const struct pp_play *play, const struct pp_play_line *line)
{
    const struct pp_eval_options *o = play->options;
    const struct pp_play_transfer *t = &play->transfers[line->next];
    int64_t start = play->costs->is_unit ? 0 : line->busy_until;

    if (t->sent < 0 || (!o->is_buffered && t->received < 0))
        return PP_PLAY_UNKNOWN;
    start = later(start, t->sent);
    if (!o->is_buffered)
        return later(start, t->received);
    if (o->buffered > 0 && line->next - line->first >= o->buffered) {
        const struct pp_play_transfer *before = t - o->buffered;
        if (before->received < 0)
            return PP_PLAY_UNKNOWN;
        start = later(start, later(before->end, before->received));
    }
    return start;
}

/* Ends transfers of a channel in order: both sides post its messages in one order. */
static void advance(struct pp_play *play, int32_t number)
{
    struct pp_play_line *line = &play->lines[number];
    const struct pp_channel *channel = &play->p->channels[number];

    while (line->next < line->end) {
        const int64_t start = start_of(play, line);
        if (start < 0)
            return;
        const int step = (line->next - line->first) / line->count;
        struct pp_play_transfer *t = &play->transfers[line->next++];
        t->end = line->busy_until = ends(play, step, after(play, start, t->ps));
        wake(play, channel->source, &t->end);
        wake(play, channel->dest, &t->end);
    }
}

struct pp_play_transfer *pp_play_transfer_of(const struct pp_play *play, int32_t message, int step)
{
    const int32_t number = play->line_of[message];
    const struct pp_play_line *line = &play->lines[number];

    return &play->transfers[line->first + step * line->count + message -
                            play->p->channels[number].first];
}

static void play_channel(struct pp_play *play, struct pp_seat *seat, int i)
{
    const struct pp_program *p = play->p;
    const int32_t number = play->line_of[p->arg[i]];
    struct pp_play_line *line = &play->lines[number];
    const bool is_send = pp_op_is_send(p->kind[i]);
    struct pp_play_transfer *t =
        &play->transfers[line->first + (is_send ? line->sent++ : line->received++)];

    note_post(play, seat->step, i, seat->clock);
    enqueue(play, i, &t->end);
    if (!is_send) {
        t->received = seat->clock;
    } else {
        t->sent = seat->clock;
        if (line->stage != p->stage[i] || line->granules != p->granule_count[i]) {
            const struct pp_op op = pp_program_op(p, i);
            line->stage = op.stage;
            line->granules = op.granules;
            line->ps = pp_costs_p2p(play->costs, &op, seat->rank).ps;
        }
        t->ps = line->ps;
    }
    advance(play, number);
}

/* ---- the reduce stream ----------------------------------------------------------------------- */

static void meet(struct pp_play *play, const struct pp_collective *c, struct pp_play_meeting *m)
{
    const struct pp_program *p = play->p;
    const struct pp_group *group = &p->groups[c->group];
    const struct pp_op op = pp_collective_op(c);

    m->end = ends(play, m->step, after(play, m->latest, pp_costs_op(play->costs, &op, NULL).ps));
    for (int k = 0; k < group->count; k++) {
        struct pp_seat *member = &play->seats[p->members[group->first + k]];
        wake(play, member->rank, &m->end);
        if (member->first && member->reduced == &m->end)
            turn(play, member);
    }
}

/* Returns where the end of instruction i is kept, which is posted next. */
static int64_t *own_of(const struct pp_play *play, int step, int i)
{
    if (!play->queues)
        return &play->own[pp_play_row(play, step, i)];
    const struct pp_play_queue *queue = &play->queues[play->p->cut->queue_of[i]];
    return &play->own[&queue->ends[queue->posted] - play->queue_ends];
}

struct pp_play_meeting *pp_play_meeting_of(const struct pp_play *play, int step, int32_t collective)
{
    return &play->meetings[step * play->p->collective_count + collective];
}

/* Returns the collective that instruction i posts next. */
static struct pp_play_meeting *meeting_of(const struct pp_play *play, int step, int i)
{
    if (!play->queues)
        return pp_play_meeting_of(play, step, play->p->arg[i]);
    const int32_t q = play->p->cut->queue_of[i], set = play->p->cut->queues[q].set;
    return &play->meetings[play->set_first[set] + play->queues[q].posted];
}

/* Starts an instruction whose predecessors on the stream are over. */
static void take_turn(struct pp_play *play, struct pp_seat *seat, const struct pp_play_queued *q)
{
    const struct pp_program *p = play->p;
    const int64_t ready = seat->reduced ? later(q->post, *seat->reduced) : q->post;
    struct pp_play_meeting *m = q->meeting;

    if (!m) { /* A2A */
        const struct pp_op op = pp_program_op(p, q->at);
        note_start(play, q->step, q->at, ready);
        *q->own = ends(play, q->step, after(play, ready, pp_costs_op(play->costs, &op, NULL).ps));
        seat->reduced = q->own;
        wake(play, seat->rank, q->own);
        return;
    }
    seat->reduced = &m->end;
    m->step = play->step_of && q->step < m->step ? q->step : m->step;
    m->latest = later(m->latest, ready);
    if (--m->missing == 0)
        meet(play, &p->collectives[p->arg[q->at]], m);
}

/* Starts the queued instructions of a reduce stream whose predecessor is over. */
void pp_play_turns(struct pp_play *play, struct pp_seat *seat)
{
    while (seat->first && *seat->reduced >= 0) {
        const struct pp_play_queued *q = seat->first;
        seat->first = q->next;
        if (!seat->first)
            seat->last = &seat->first;
        take_turn(play, seat, q);
    }
    seat->is_turning = false;
}

static void play_reduce(struct pp_play *play, struct pp_seat *seat, int i)
{
    int numerator, denominator;
    const bool is_inside = pp_program_posted_inside(play->p, i, &numerator, &denominator) >= 0;
    const int64_t post = is_inside
                             ? seat->begun + pp_costs_share_ps(seat->lasted, numerator, denominator)
                             : seat->clock;

    const bool has_members = play->p->arg[i] >= 0;
    struct pp_play_queued q = {.post = post,
                               .at = i,
                               .step = step_at(play, seat, i),
                               .meeting = has_members ? meeting_of(play, seat->step, i) : NULL,
                               .own = own_of(play, seat->step, i)};

    note_post(play, seat->step, i, post);
    *q.own = PP_PLAY_UNKNOWN;
    enqueue(play, i, has_members ? &q.meeting->end : q.own);
    if (!seat->first && (!seat->reduced || *seat->reduced >= 0)) {
        take_turn(play, seat, &q);
        return;
    }
    *seat->last = PP_NEW(play->arena, struct pp_play_queued);
    **seat->last = q;
    seat->last = &(*seat->last)->next;
}

/* ---- the other streams ----------------------------------------------------------------------- */

static void play_compute(struct pp_play *play, struct pp_seat *seat, int i)
{
    const struct pp_program *p = play->p;
    const bool is_fused = p->aux[i] != 0 && pp_graph_is_fused(p, i, seat->end);

    seat->next += is_fused;
    seat->begun = seat->clock;
    seat->lasted = pp_program_ps(p, play->costs, i, is_fused);
    seat->clock = ends(play, step_at(play, seat, i), after(play, seat->clock, seat->lasted));
    for (int k = i; k < seat->next; k++) {
        note_start(play, seat->step, k, seat->begun);
        note_end(play, seat, k);
    }
}

static void play_copy(struct pp_play *play, struct pp_seat *seat, int i)
{
    const struct pp_op op = pp_program_op(play->p, i);
    int64_t *last = &seat->copied[pp_move_stream(op.purpose)], *own = own_of(play, seat->step, i);

    note_post(play, seat->step, i, seat->clock);
    *last = later(later(seat->clock, *last), seat->copied[pp_move_after(op.purpose)]);
    note_start(play, seat->step, i, *last);
    *last = after(play, *last, pp_costs_op(play->costs, &op, NULL).ps);
    *own = ends(play, step_at(play, seat, i), *last);
    enqueue(play, i, own);
}

/* Returns the end that WAIT i waits for. */
static const int64_t *end_of(const struct pp_play *play, const struct pp_seat *seat, int i)
{
    const struct pp_program *p = play->p;
    const int post = p->begin[seat->rank] + p->arg[i], stream = pp_op_kinds[p->kind[post]].stream;

    if (play->queues) {
        struct pp_play_queue *queue = &play->queues[p->cut->queue_of[i]];
        assert(queue->waited < queue->posted);
        return queue->ends[queue->waited++];
    }
    if (stream == PP_STREAM_CHANNEL)
        return &pp_play_transfer_of(play, p->arg[post], seat->step)->end;
    return stream == PP_STREAM_REDUCE && p->arg[post] >= 0
               ? &pp_play_meeting_of(play, seat->step, p->arg[post])->end
               : own_of(play, seat->step, post);
}

/* Returns the end of the rank's next barrier; never for a rank with more BARs than the first. */
static const int64_t *end_of_barrier(struct pp_play *play, struct pp_seat *seat)
{
    static const int64_t never = PP_PLAY_UNKNOWN;

    if (seat->passed == play->steps * play->barrier_count)
        return &never;
    struct pp_play_meeting *m = &play->barriers[seat->passed++];
    m->latest = later(m->latest, seat->clock);
    if (--m->missing == 0)
        m->end = ends(play, m->step, m->latest);
    for (int r = 0; m->missing == 0 && r < play->p->ranks; r++)
        wake(play, r, &m->end);
    return &m->end;
}

static void play_control(struct pp_play *play, struct pp_seat *seat, int i)
{
    const struct pp_program *p = play->p;
    const int64_t *end = p->kind[i] == PP_BAR                      ? end_of_barrier(play, seat)
                         : p->kind[i] == PP_WAIT && p->arg[i] >= 0 ? end_of(play, seat, i)
                                                                   : NULL;

    note_start(play, seat->step, i, seat->clock);
    if (end && *end < 0)
        seat->awaited = end;
    else if (end)
        seat->clock = later(seat->clock, *end);
    note_end(play, seat, i); /* again when it is awaited */
    if (play->step_of && p->kind[i] != PP_WAIT && !seat->awaited)
        ends(play, play->step_of[i], seat->clock);
}

static void (*const play_stream[])(struct pp_play *play, struct pp_seat *seat, int i) = {
    [PP_STREAM_COMPUTE] = play_compute, [PP_STREAM_CHANNEL] = play_channel,
    [PP_STREAM_REDUCE] = play_reduce,   [PP_STREAM_COPY] = play_copy,
    [PP_STREAM_CONTROL] = play_control,
};

void pp_play_rank(struct pp_play *play, struct pp_seat *seat)
{
    while (!seat->awaited) {
        if (seat->next == seat->end) {
            if (!pp_play_go_on(play, seat))
                return;
            continue;
        }
        const int i = seat->next++;
        play_stream[pp_op_kinds[play->p->kind[i]].stream](play, seat, i);
    }
}
