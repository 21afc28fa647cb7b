/* Every rank plays its list up to the first WAIT for something that is not over. The end of an
 * instruction wakes the ranks that wait for it. The rules are those of graph.c; each instruction is
 * looked at once.
 */
#include "schedules/evaluate/beside.h"
#include "schedules/evaluate/eval.h"
#include "schedules/evaluate/makespan_play.h"

#include <string.h>

/* ---- streams ----------------------------------------------------------------------------------*/

/* ---- messages -------------------------------------------------------------------------------- */

/* When a transfer can start; PP_PLAY_UNKNOWN if that is not known yet. */
static int64_t start_of(const struct pp_play *play, const struct pp_play_line *line, int32_t first)
{
    const struct pp_eval_options *o = play->options;
    const struct pp_play_transfer *t = &play->transfers[line->next];
    int64_t start = play->costs->is_unit ? 0 : line->busy_until;

    if (t->sent < 0 || (!o->is_buffered && t->received < 0))
        return PP_PLAY_UNKNOWN;
    start = pp_play_later(start, t->sent);
    if (!o->is_buffered)
        return pp_play_later(start, t->received);
    if (o->buffered > 0 && line->next - first >= o->buffered) {
        const struct pp_play_transfer *before = t - o->buffered;
        if (before->received < 0)
            return PP_PLAY_UNKNOWN;
        start = pp_play_later(start, pp_play_later(before->end, before->received));
    }
    return start;
}

/* Both sides post the messages of a channel in one order, so they end in it. */
static void advance(struct pp_play *play, int32_t number)
{
    struct pp_play_line *line = &play->lines[number];
    const struct pp_channel *channel = &play->p->channels[number];

    while (line->next < line->end) {
        const int64_t start = start_of(play, line, channel->first);
        if (start < 0)
            return;
        struct pp_play_transfer *t = &play->transfers[line->next++];
        t->end = line->busy_until = pp_play_after(play, start, t->ps);
        pp_play_wake(play, channel->source, &t->end);
        pp_play_wake(play, channel->dest, &t->end);
    }
}

static bool play_channel(struct pp_play *play, struct pp_seat *seat, int i)
{
    const struct pp_program *p = play->p;
    struct pp_play_transfer *t = &play->transfers[p->arg[i]];
    const int32_t number = play->line_of[p->arg[i]];
    struct pp_play_line *line = &play->lines[number];

    if (!pp_op_is_send(p->kind[i])) {
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
    return true;
}

/* ---- what stands on the reduce stream -------------------------------------------------------- */

static void meet(struct pp_play *play, const struct pp_collective *c, struct pp_play_meeting *m)
{
    const struct pp_program *p = play->p;
    const struct pp_group *group = &p->groups[c->group];
    const struct pp_op op = pp_collective_op(c);

    m->end = pp_play_after(play, m->latest, pp_costs_op(play->costs, &op, NULL).ps);
    for (int k = 0; k < group->count; k++) {
        struct pp_seat *member = &play->seats[p->members[group->first + k]];
        pp_play_wake(play, member->rank, &m->end);
        if (member->first && member->reduced == &m->end)
            pp_play_turn(play, member);
    }
}

/* Instruction i, before which all on the stream are over. */
static void take_turn(struct pp_play *play, struct pp_seat *seat, int64_t post, int32_t i)
{
    const struct pp_program *p = play->p;
    const int64_t ready = seat->reduced ? pp_play_later(post, *seat->reduced) : post;

    if (p->arg[i] < 0) { /* inside the rank: A2A */
        const struct pp_op op = pp_program_op(p, i);
        play->own[i] = pp_play_after(play, ready, pp_costs_op(play->costs, &op, NULL).ps);
        seat->reduced = &play->own[i];
        pp_play_wake(play, seat->rank, &play->own[i]);
        return;
    }
    struct pp_play_meeting *m = &play->meetings[p->arg[i]];
    seat->reduced = &m->end;
    m->latest = pp_play_later(m->latest, ready);
    if (--m->missing == 0)
        meet(play, &p->collectives[p->arg[i]], m);
}

/* Start what a reduce stream has queued after the op that is over now. */
static void play_turns(struct pp_play *play, struct pp_seat *seat)
{
    while (seat->first && *seat->reduced >= 0) {
        const struct pp_play_queued *q = seat->first;
        seat->first = q->next;
        if (!seat->first)
            seat->last = &seat->first;
        take_turn(play, seat, q->post, q->at);
    }
    seat->is_turning = false;
}

/* Instruction i of a seat that is a SEND, a RECV or on the reduce stream. True: nothing waits. */
static bool play_reduce(struct pp_play *play, struct pp_seat *seat, int i)
{
    int numerator, denominator;
    const bool is_inside = pp_program_posted_inside(play->p, i, &numerator, &denominator) >= 0;
    const int64_t post = is_inside
                             ? seat->begun + pp_costs_share_ps(seat->lasted, numerator, denominator)
                             : seat->clock;

    play->own[i] = PP_PLAY_UNKNOWN;
    if (!seat->first && (!seat->reduced || *seat->reduced >= 0)) {
        take_turn(play, seat, post, i);
        return true;
    }
    struct pp_play_queued *q = PP_NEW(play->arena, struct pp_play_queued);
    *q = (struct pp_play_queued){.post = post, .at = i};
    *seat->last = q;
    seat->last = &q->next;
    return true;
}

/* ---- the other streams ----------------------------------------------------------------------- */

static bool play_compute(struct pp_play *play, struct pp_seat *seat, int i)
{
    const struct pp_program *p = play->p;
    const bool is_fused = p->aux[i] != 0 && pp_graph_is_fused(p, i, seat->end);

    seat->next += is_fused;
    seat->begun = seat->clock;
    seat->lasted = pp_program_ps(p, play->costs, i, is_fused);
    seat->clock = pp_play_after(play, seat->clock, seat->lasted);
    return true;
}

static bool play_copy(struct pp_play *play, struct pp_seat *seat, int i)
{
    const struct pp_op op = pp_program_op(play->p, i);
    int64_t *last = &seat->copied[pp_move_is_up(op.purpose)];

    play->own[i] = *last = pp_play_after(play, pp_play_later(seat->clock, *last),
                                         pp_costs_op(play->costs, &op, NULL).ps);
    return true;
}

static const int64_t *end_of(const struct pp_play *play, int i)
{
    const int stream = pp_op_kinds[play->p->kind[i]].stream;
    const int32_t arg = play->p->arg[i];

    if (stream == PP_STREAM_CHANNEL)
        return &play->transfers[arg].end;
    return stream == PP_STREAM_REDUCE && arg >= 0 ? &play->meetings[arg].end : &play->own[i];
}

/* All ranks meet; one with more BARs than the first never goes on. */
static const int64_t *end_of_barrier(struct pp_play *play, struct pp_seat *seat)
{
    static const int64_t never = PP_PLAY_UNKNOWN;

    if (seat->passed == play->barrier_count)
        return &never;
    struct pp_play_meeting *m = &play->barriers[seat->passed++];
    m->latest = pp_play_later(m->latest, seat->clock);
    if (--m->missing == 0)
        m->end = m->latest;
    for (int r = 0; m->missing == 0 && r < play->p->ranks; r++)
        pp_play_wake(play, r, &m->end);
    return &m->end;
}

static bool play_control(struct pp_play *play, struct pp_seat *seat, int i)
{
    const struct pp_program *p = play->p;
    const int64_t *end = p->kind[i] == PP_BAR ? end_of_barrier(play, seat)
                         : p->kind[i] == PP_WAIT && p->arg[i] >= 0
                             ? end_of(play, p->begin[seat->rank] + p->arg[i])
                             : NULL;

    if (end && *end < 0) {
        seat->awaited = end;
        return false;
    }
    if (end)
        seat->clock = pp_play_later(seat->clock, *end);
    return true;
}

/* False: the rank waits. */
static bool (*const play_stream[])(struct pp_play *play, struct pp_seat *seat, int i) = {
    [PP_STREAM_COMPUTE] = play_compute, [PP_STREAM_CHANNEL] = play_channel,
    [PP_STREAM_REDUCE] = play_reduce,   [PP_STREAM_COPY] = play_copy,
    [PP_STREAM_CONTROL] = play_control,
};

static void play_rank(struct pp_play *play, struct pp_seat *seat)
{
    while (seat->next < seat->end) {
        const int i = seat->next++;
        if (!play_stream[pp_op_kinds[play->p->kind[i]].stream](play, seat, i))
            return;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct pp_play_meeting *make_meetings(struct pp_arena *arena, int count, int members)
{
    struct pp_play_meeting *meetings = PP_ARRAY(arena, struct pp_play_meeting, count);

    for (int k = 0; k < count; k++)
        meetings[k] = (struct pp_play_meeting){.end = PP_PLAY_UNKNOWN, .missing = members};
    return meetings;
}

static void make_lines(struct pp_play *play)
{
    const struct pp_program *p = play->p;
    const size_t messages = (size_t)p->message_count;

    play->transfers = pp_arena_alloc_raw(play->arena, sizeof(struct pp_play_transfer) * messages);
    memset(play->transfers, 0xff, sizeof(struct pp_play_transfer) * messages);
    play->line_of = pp_arena_alloc_raw(play->arena, sizeof(int32_t) * messages);
    play->lines = PP_ARRAY(play->arena, struct pp_play_line, p->channel_count);
    for (int c = 0; c < p->channel_count; c++) {
        const int32_t first = p->channels[c].first, end = first + p->channels[c].count;
        play->lines[c] = (struct pp_play_line){.next = first, .end = end, .stage = -1};
        for (int32_t m = first; m < end; m++)
            play->line_of[m] = c;
    }
}

static void make_seats(struct pp_play *play)
{
    const struct pp_program *p = play->p;

    play->seats = PP_ARRAY(play->arena, struct pp_seat, p->ranks);
    play->ready = PP_ARRAY(play->arena, uint16_t, p->ranks);
    play->turning = PP_ARRAY(play->arena, uint16_t, p->ranks);
    for (int r = 0; r < p->ranks; r++) {
        struct pp_seat *seat = &play->seats[r];
        *seat = (struct pp_seat){.rank = r, .next = p->begin[r], .end = p->begin[r + 1]};
        seat->last = &seat->first;
        play->ready[p->ranks - 1 - r] = (uint16_t)r;
    }
    play->ready_count = p->ranks;
    for (int i = p->begin[0]; i < p->begin[1]; i++)
        play->barrier_count += p->kind[i] == PP_BAR;
}

/* Latest end of all, once every rank has come to its own; PP_PLAY_UNKNOWN if one has not. */
static int64_t latest_end(const struct pp_play *play)
{
    const struct pp_program *p = play->p;
    int64_t latest = 0;

    for (int r = 0; r < p->ranks; r++) {
        const struct pp_seat *seat = &play->seats[r];
        if (seat->awaited || seat->first || seat->passed != play->barrier_count ||
            (seat->reduced && *seat->reduced < 0))
            return PP_PLAY_UNKNOWN;
        latest =
            pp_play_later(latest, pp_play_later(seat->clock, seat->reduced ? *seat->reduced : 0));
        for (int k = 0; k < PP_COPY_STREAMS; k++)
            latest = pp_play_later(latest, seat->copied[k]);
    }
    for (int c = 0; c < p->channel_count; c++)
        if (play->lines[c].next < play->lines[c].end)
            return PP_PLAY_UNKNOWN;
    for (int m = 0; m < p->message_count; m++)
        latest = pp_play_later(latest, play->transfers[m].end);
    return latest;
}

bool pp_makespan(const struct pp_program *program, const struct pp_costs *costs,
                 const struct pp_eval_options *options, int64_t *makespan_ps)
{
    if (program->level != PP_LEVEL_LOWERED || options->steps > 1 || options->nic_fifo ||
        options->ring_flows)
        return false;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_play play = {.arena = arena, .p = program, .costs = costs, .options = options};
    make_lines(&play);
    make_seats(&play);
    play.meetings = make_meetings(arena, program->collective_count, 0);
    for (int c = 0; c < program->collective_count; c++)
        play.meetings[c].missing = program->groups[program->collectives[c].group].count;
    play.barriers = make_meetings(arena, play.barrier_count, program->ranks);
    play.own = pp_arena_alloc_raw(arena, sizeof(int64_t) * (size_t)pp_program_size(program));
    while (play.ready_count + play.turning_count > 0)
        if (play.turning_count > 0)
            play_turns(&play, &play.seats[play.turning[--play.turning_count]]);
        else
            play_rank(&play, &play.seats[play.ready[--play.ready_count]]);
    *makespan_ps = latest_end(&play);
    return *makespan_ps >= 0 && play.sum_ps < (double)PP_PLAY_LIMIT_PS;
}
