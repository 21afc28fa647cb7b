/* Messages and the reduce stream, whose ends depend on other ranks. */
#include "schedules/evaluate/makespan_play.h"

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

bool pp_play_channel(struct pp_play *play, struct pp_seat *seat, int i)
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

void pp_play_turns(struct pp_play *play, struct pp_seat *seat)
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

bool pp_play_reduce(struct pp_play *play, struct pp_seat *seat, int i)
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
