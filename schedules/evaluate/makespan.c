/* Every rank plays its list up to the first WAIT for an event that is not over. The end of an
 * instruction wakes the ranks that wait for it. The rules are those of graph.c. Linear. */
#include "schedules/evaluate/makespan.h"
#include "schedules/evaluate/eval.h"
#include "schedules/evaluate/op_cost.h"

#include <assert.h>
#include <string.h>

enum { UNKNOWN = -1 };
static const int64_t LIMIT_PS = INT64_MAX / 2;

struct transfer {
    int64_t sent, received, end; /* posts of both sides; UNKNOWN at first */
    int64_t ps;
};
struct line {            /* a channel */
    int32_t next, end;   /* half-open range of messages that are not over */
    int64_t busy_until;  /* end of the previous message */
    int stage, granules; /* of the last SEND, whose cost is `ps` */
    int64_t ps;
};
/* A collective, or a BAR of all ranks. */
struct meeting {
    int64_t latest, end; /* latest member that is ready; end, UNKNOWN at first */
    int32_t missing, step;
};
/* Instruction queued on a reduce stream until the one before it is over. */
struct queued {
    struct queued *next;
    int64_t post;
    int32_t at, step;
};
struct seat {               /* a rank */
    int32_t next, end;      /* instructions */
    int rank, step, passed; /* BARs passed, of all steps */
    int64_t clock;
    int64_t begun, lasted; /* start and duration of its last compute op */
    int64_t copied[PP_COPY_STREAMS];
    const int64_t *reduced; /* end of the last one on its reduce stream that is not queued */
    struct queued *first, **last;
    bool is_turning;        /* is in play->turning, or its queue is being played */
    const int64_t *awaited; /* NULL: nothing */
};

struct play {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct pp_eval_options *options;
    int steps;
    int64_t *step_end_ps;       /* [step]: the latest end so far */
    struct transfer *transfers; /* by channel, step and message */
    int32_t *line_of;           /* [message] */
    struct line *lines;
    struct meeting *meetings, *barriers; /* [step][collective or BAR] */
    int barrier_count;                   /* of a step */
    struct seat *seats;
    int64_t *own; /* [step][instruction]: end of a rank's own work, concurrent with its compute */
    int64_t *start, *end; /* [step][instruction]: spans, `end` is `own`; NULL if not wanted */
    /* Ranks that can continue, and ranks whose reduce stream can. Each has a rank at most once. */
    uint16_t *ready, *turning;
    int ready_count, turning_count;
    double sum_ps; /* of all durations so far: no clock is beyond */
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
/* Returns `ps` after `start`; once the sum has passed the limit, an arbitrary unused value. */
static int64_t after(struct play *play, int64_t start, int64_t ps)
{
    play->sum_ps += (double)ps;
    return play->sum_ps < (double)LIMIT_PS ? start + ps : start;
}
/* Notes that something of a step ends. */
static int64_t ends(struct play *play, int step, int64_t end)
{
    play->step_end_ps[step] = later(play->step_end_ps[step], end);
    return end;
}
static size_t row_of(const struct play *play, int step, int i)
{
    return (size_t)step * (size_t)pp_program_size(play->p) + (size_t)i;
}
/* Notes where instruction i ends. */
static void note_end(const struct play *play, const struct seat *seat, int i)
{
    if (play->end)
        play->end[row_of(play, seat->step, i)] = seat->clock;
}
static void note_start(const struct play *play, int step, int i, int64_t start)
{
    if (play->start)
        play->start[row_of(play, step, i)] = start;
}
/* Wakes the rank if it waits for `end`, which is known now. */
static void wake(struct play *play, int rank, const int64_t *end)
{
    struct seat *seat = &play->seats[rank];

    if (seat->awaited != end)
        return;
    seat->awaited = NULL;
    seat->clock = later(seat->clock, *end);
    note_end(play, seat, seat->next - 1);
    assert(play->ready_count < play->p->ranks);
    play->ready[play->ready_count++] = (uint16_t)rank;
}
/* Queues the rank: the last op on its reduce stream is over. */
static void turn(struct play *play, struct seat *seat)
{
    if (seat->is_turning)
        return;
    seat->is_turning = true;
    assert(play->turning_count < play->p->ranks);
    play->turning[play->turning_count++] = (uint16_t)seat->rank;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Returns the place of the first transfer of a channel in a step. */
static int32_t place_of(const struct play *play, const struct pp_channel *channel, int step)
{
    return play->steps * channel->first + step * channel->count;
}

/* Returns the time at which a transfer can start; UNKNOWN if that is not known yet. */
static int64_t start_of(const struct play *play, const struct line *line, int32_t first)
{
    const struct pp_eval_options *o = play->options;
    const struct transfer *t = &play->transfers[line->next];
    int64_t start = play->costs->is_unit ? 0 : line->busy_until;

    if (t->sent < 0 || (!o->is_buffered && t->received < 0))
        return UNKNOWN;
    start = later(start, t->sent);
    if (!o->is_buffered)
        return later(start, t->received);
    if (o->buffered > 0 && line->next - first >= o->buffered) {
        const struct transfer *before = t - o->buffered;
        if (before->received < 0)
            return UNKNOWN;
        start = later(start, later(before->end, before->received));
    }
    return start;
}

/* Ends transfers of a channel in order: both sides post its messages in one order. */
static void advance(struct play *play, int32_t number)
{
    struct line *line = &play->lines[number];
    const struct pp_channel *channel = &play->p->channels[number];
    const int32_t first = place_of(play, channel, 0);

    while (line->next < line->end) {
        const int64_t start = start_of(play, line, first);
        if (start < 0)
            return;
        const int step = (line->next - first) / channel->count;
        struct transfer *t = &play->transfers[line->next++];
        t->end = line->busy_until = ends(play, step, after(play, start, t->ps));
        wake(play, channel->source, &t->end);
        wake(play, channel->dest, &t->end);
    }
}

static struct transfer *transfer_of(const struct play *play, int32_t message, int step)
{
    const struct pp_channel *channel = &play->p->channels[play->line_of[message]];

    return &play->transfers[place_of(play, channel, step) + message - channel->first];
}

static void play_channel(struct play *play, struct seat *seat, int i)
{
    const struct pp_program *p = play->p;
    struct transfer *t = transfer_of(play, p->arg[i], seat->step);
    const int32_t number = play->line_of[p->arg[i]];
    struct line *line = &play->lines[number];

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
}

/* ---- the reduce stream ----------------------------------------------------------------------- */

static void meet(struct play *play, const struct pp_collective *c, struct meeting *m)
{
    const struct pp_program *p = play->p;
    const struct pp_group *group = &p->groups[c->group];
    const struct pp_op op = pp_collective_op(c);

    m->end = ends(play, m->step, after(play, m->latest, pp_costs_op(play->costs, &op, NULL).ps));
    for (int k = 0; k < group->count; k++) {
        struct seat *member = &play->seats[p->members[group->first + k]];
        wake(play, member->rank, &m->end);
        if (member->first && member->reduced == &m->end)
            turn(play, member);
    }
}

static int64_t *own_of(const struct play *play, int step, int i)
{
    return &play->own[row_of(play, step, i)];
}

static struct meeting *meeting_of(const struct play *play, int step, int32_t collective)
{
    return &play->meetings[step * play->p->collective_count + collective];
}

/* Starts instruction i of a step, whose predecessors on the stream are over. */
static void take_turn(struct play *play, struct seat *seat, int64_t post, int step, int32_t i)
{
    const struct pp_program *p = play->p;
    const int64_t ready = seat->reduced ? later(post, *seat->reduced) : post;

    if (p->arg[i] < 0) { /* inside the rank: A2A */
        const struct pp_op op = pp_program_op(p, i);
        int64_t *own = own_of(play, step, i);
        note_start(play, step, i, ready);
        *own = ends(play, step, after(play, ready, pp_costs_op(play->costs, &op, NULL).ps));
        seat->reduced = own;
        wake(play, seat->rank, own);
        return;
    }
    struct meeting *m = meeting_of(play, step, p->arg[i]);
    seat->reduced = &m->end;
    m->latest = later(m->latest, ready);
    if (--m->missing == 0)
        meet(play, &p->collectives[p->arg[i]], m);
}

/* Starts the queued instructions of a reduce stream whose predecessor is over. */
static void play_turns(struct play *play, struct seat *seat)
{
    while (seat->first && *seat->reduced >= 0) {
        const struct queued *q = seat->first;
        seat->first = q->next;
        if (!seat->first)
            seat->last = &seat->first;
        take_turn(play, seat, q->post, q->step, q->at);
    }
    seat->is_turning = false;
}

static void play_reduce(struct play *play, struct seat *seat, int i)
{
    int numerator, denominator;
    const bool is_inside = pp_program_posted_inside(play->p, i, &numerator, &denominator) >= 0;
    const int64_t post = is_inside
                             ? seat->begun + pp_costs_share_ps(seat->lasted, numerator, denominator)
                             : seat->clock;

    *own_of(play, seat->step, i) = UNKNOWN;
    if (!seat->first && (!seat->reduced || *seat->reduced >= 0)) {
        take_turn(play, seat, post, seat->step, i);
        return;
    }
    struct queued *q = PP_NEW(play->arena, struct queued);
    *q = (struct queued){.post = post, .at = i, .step = seat->step};
    *seat->last = q;
    seat->last = &q->next;
}

/* ---- the other streams ----------------------------------------------------------------------- */

static void play_compute(struct play *play, struct seat *seat, int i)
{
    const struct pp_program *p = play->p;
    const bool is_fused = p->aux[i] != 0 && pp_graph_is_fused(p, i, seat->end);

    seat->next += is_fused;
    seat->begun = seat->clock;
    seat->lasted = pp_program_ps(p, play->costs, i, is_fused);
    seat->clock = ends(play, seat->step, after(play, seat->clock, seat->lasted));
    for (int k = i; k < seat->next; k++) {
        note_start(play, seat->step, k, seat->begun);
        note_end(play, seat, k);
    }
}

static void play_copy(struct play *play, struct seat *seat, int i)
{
    const struct pp_op op = pp_program_op(play->p, i);
    int64_t *last = &seat->copied[pp_move_is_up(op.purpose)];

    *last = later(seat->clock, *last);
    note_start(play, seat->step, i, *last);
    *last = after(play, *last, pp_costs_op(play->costs, &op, NULL).ps);
    *own_of(play, seat->step, i) = ends(play, seat->step, *last);
}

static const int64_t *end_of(const struct play *play, int step, int i)
{
    const int stream = pp_op_kinds[play->p->kind[i]].stream;
    const int32_t arg = play->p->arg[i];

    if (stream == PP_STREAM_CHANNEL)
        return &transfer_of(play, arg, step)->end;
    return stream == PP_STREAM_REDUCE && arg >= 0 ? &meeting_of(play, step, arg)->end
                                                  : own_of(play, step, i);
}

/* Returns the end of the rank's next barrier; never for a rank with more BARs than the first. */
static const int64_t *end_of_barrier(struct play *play, struct seat *seat)
{
    static const int64_t never = UNKNOWN;

    if (seat->passed == play->steps * play->barrier_count)
        return &never;
    struct meeting *m = &play->barriers[seat->passed++];
    m->latest = later(m->latest, seat->clock);
    if (--m->missing == 0)
        m->end = ends(play, m->step, m->latest);
    for (int r = 0; m->missing == 0 && r < play->p->ranks; r++)
        wake(play, r, &m->end);
    return &m->end;
}

static void play_control(struct play *play, struct seat *seat, int i)
{
    const struct pp_program *p = play->p;
    const int64_t *end = p->kind[i] == PP_BAR ? end_of_barrier(play, seat)
                         : p->kind[i] == PP_WAIT && p->arg[i] >= 0
                             ? end_of(play, seat->step, p->begin[seat->rank] + p->arg[i])
                             : NULL;

    note_start(play, seat->step, i, seat->clock);
    if (end && *end < 0)
        seat->awaited = end;
    else if (end)
        seat->clock = later(seat->clock, *end);
    note_end(play, seat, i); /* again when it is awaited */
}

static void (*const play_stream[])(struct play *play, struct seat *seat, int i) = {
    [PP_STREAM_COMPUTE] = play_compute, [PP_STREAM_CHANNEL] = play_channel,
    [PP_STREAM_REDUCE] = play_reduce,   [PP_STREAM_COPY] = play_copy,
    [PP_STREAM_CONTROL] = play_control,
};

/* A rank continues with the next step once nothing holds it in this one. */
static void play_rank(struct play *play, struct seat *seat)
{
    while (!seat->awaited) {
        if (seat->next == seat->end) {
            if (seat->step + 1 == play->steps)
                return;
            seat->step++;
            seat->next = play->p->begin[seat->rank];
            continue;
        }
        const int i = seat->next++;
        play_stream[pp_op_kinds[play->p->kind[i]].stream](play, seat, i);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct meeting *make_meetings(const struct play *play, int count)
{
    struct meeting *meetings = PP_ARRAY(play->arena, struct meeting, (size_t)play->steps * count);

    for (int k = 0; k < play->steps * count; k++)
        meetings[k] =
            (struct meeting){.end = UNKNOWN, .missing = play->p->ranks, .step = k / count};
    return meetings;
}

static void make_collectives(struct play *play)
{
    const struct pp_program *p = play->p;

    play->meetings = make_meetings(play, p->collective_count);
    for (int k = 0; k < play->steps * p->collective_count; k++)
        play->meetings[k].missing = p->groups[p->collectives[k % p->collective_count].group].count;
}

static void make_lines(struct play *play)
{
    const struct pp_program *p = play->p;
    const size_t messages = (size_t)p->message_count,
                 bytes = sizeof(struct transfer) * messages * (size_t)play->steps;

    play->transfers = pp_arena_alloc_raw(play->arena, bytes);
    memset(play->transfers, 0xff, bytes);
    play->line_of = pp_arena_alloc_raw(play->arena, sizeof(int32_t) * messages);
    play->lines = PP_ARRAY(play->arena, struct line, p->channel_count);
    for (int c = 0; c < p->channel_count; c++) {
        const int32_t first = p->channels[c].first, end = first + p->channels[c].count;
        play->lines[c] =
            (struct line){.next = play->steps * first, .end = play->steps * end, .stage = -1};
        for (int32_t m = first; m < end; m++)
            play->line_of[m] = c;
    }
}

static void make_seats(struct play *play)
{
    const struct pp_program *p = play->p;

    play->seats = PP_ARRAY(play->arena, struct seat, p->ranks);
    play->ready = PP_ARRAY(play->arena, uint16_t, p->ranks);
    play->turning = PP_ARRAY(play->arena, uint16_t, p->ranks);
    for (int r = 0; r < p->ranks; r++) {
        struct seat *seat = &play->seats[r];
        *seat = (struct seat){.rank = r, .next = p->begin[r], .end = p->begin[r + 1]};
        seat->last = &seat->first;
        play->ready[p->ranks - 1 - r] = (uint16_t)r;
    }
    play->ready_count = p->ranks;
    for (int i = p->begin[0]; i < p->begin[1]; i++)
        play->barrier_count += p->kind[i] == PP_BAR;
}

/* Is true once every rank has reached its end, and every transfer. */
static bool is_over(const struct play *play)
{
    const struct pp_program *p = play->p;

    for (int r = 0; r < p->ranks; r++) {
        const struct seat *seat = &play->seats[r];
        if (seat->awaited || seat->first || seat->passed != play->steps * play->barrier_count ||
            (seat->reduced && *seat->reduced < 0))
            return false;
    }
    for (int c = 0; c < p->channel_count; c++)
        if (play->lines[c].next < play->lines[c].end)
            return false;
    return true;
}

/* Is true for programs and options that are played here. */
static bool is_played(const struct pp_program *p, const struct pp_eval_options *o)
{
    enum { MOST = 1 << 28 }; /* instructions of all steps */
    const int steps = o->steps > 1 ? o->steps : 1;

    return p->level == PP_LEVEL_LOWERED && !p->weight_stream && !o->nic_fifo && !o->ring_flows &&
           (steps == 1 || o->is_barrier_free) && pp_program_size(p) <= MOST / steps;
}

/* Fills in the spans of transfers and collectives, which end on several ranks at once. */
static void note_shared(const struct play *play)
{
    const struct pp_program *p = play->p;
    const int size = pp_program_size(p);

    for (int step = 0; step < play->steps; step++)
        for (int i = 0; i < size; i++) {
            const int stream = pp_op_kinds[p->kind[i]].stream;
            const size_t row = row_of(play, step, i);
            if (stream == PP_STREAM_CHANNEL) {
                const struct transfer *t = transfer_of(play, p->arg[i], step);
                play->start[row] = t->end - t->ps;
                play->end[row] = t->end;
            } else if (stream == PP_STREAM_REDUCE && p->arg[i] >= 0) {
                const struct meeting *m = meeting_of(play, step, p->arg[i]);
                play->start[row] = m->latest;
                play->end[row] = m->end;
            }
        }
}

static bool play_all(struct play *play)
{
    make_lines(play);
    make_seats(play);
    make_collectives(play);
    play->barriers = make_meetings(play, play->barrier_count);
    play->own =
        play->end ? play->end
                  : pp_arena_alloc_raw(play->arena, sizeof(int64_t) * row_of(play, play->steps, 0));
    while (play->ready_count + play->turning_count > 0)
        if (play->turning_count > 0)
            play_turns(play, &play->seats[play->turning[--play->turning_count]]);
        else
            play_rank(play, &play->seats[play->ready[--play->ready_count]]);
    return is_over(play) && play->sum_ps < (double)LIMIT_PS;
}

static struct play play_of(struct pp_arena *arena, const struct pp_program *program,
                           const struct pp_costs *costs, const struct pp_eval_options *options)
{
    return (struct play){.arena = arena,
                         .p = program,
                         .costs = costs,
                         .options = options,
                         .steps = options->steps > 1 ? options->steps : 1};
}

bool pp_makespan(const struct pp_program *program, const struct pp_costs *costs,
                 const struct pp_eval_options *options, int64_t step_end_ps[])
{
    if (!is_played(program, options))
        return false;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct play play = play_of(arena, program, costs, options);
    play.step_end_ps = step_end_ps;
    memset(step_end_ps, 0, sizeof(*step_end_ps) * (size_t)play.steps);
    return play_all(&play);
}

struct pp_times *pp_makespan_spans(struct pp_arena *arena, const struct pp_program *program,
                                   const struct pp_costs *costs,
                                   const struct pp_eval_options *options)
{
    if (!is_played(program, options))
        return NULL;
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct play play = play_of(scratch, program, costs, options);
    struct pp_times *times = PP_NEW(arena, struct pp_times);
    const size_t bytes = sizeof(int64_t) * row_of(&play, play.steps, 0);
    *times = (struct pp_times){.replicas = 1,
                               .steps = play.steps,
                               .step_end_ps = PP_ARRAY(arena, int64_t, play.steps),
                               .start_ps = pp_arena_alloc_raw(arena, bytes),
                               .end_ps = pp_arena_alloc_raw(arena, bytes)};
    play.step_end_ps = times->step_end_ps;
    play.start = times->start_ps;
    play.end = times->end_ps;
    if (!play_all(&play))
        return NULL;
    note_shared(&play);
    times->makespan_ps = times->step_end_ps[play.steps - 1];
    return times;
}
