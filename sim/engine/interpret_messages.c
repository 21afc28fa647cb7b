/* Channels: starts of transfers, and the instances that their ends wake. */
#include "sim/engine/interpret_parts.h"

void pp_messages_prepare(struct pp_run *r)
{
    const struct pp_program *p = r->p;

    r->sides = (int32_t(*)[2])PP_ARRAY(r->arena, int32_t, 2 * (size_t)p->message_count);
    r->channel_of = PP_ARRAY(r->arena, int32_t, p->message_count);
    r->message_bytes = PP_ARRAY(r->arena, double, p->message_count);
    r->message_ps = PP_ARRAY(r->arena, int64_t, p->message_count);
    r->channel = PP_ARRAY(r->arena, struct pp_channel_state, p->channel_count * r->replicas);
    for (int c = 0; c < p->channel_count; c++)
        for (int m = p->channels[c].first; m < p->channels[c].first + p->channels[c].count; m++)
            r->channel_of[m] = c;
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            const bool is_send = pp_op_is_send(p->kind[i]);
            if (!is_send && !pp_op_is_recv(p->kind[i]))
                continue;
            r->sides[p->arg[i]][!is_send] = i;
            if (is_send) {
                const struct pp_op op = pp_program_op(p, i);
                const struct pp_cost cost = pp_costs_p2p(r->costs, &op, rank);
                r->message_bytes[p->arg[i]] = cost.bytes;
                r->message_ps[p->arg[i]] = cost.ps;
            }
        }
}

void pp_messages_reset(struct pp_run *r, int64_t at_ps)
{
    for (int c = 0; c < r->p->channel_count * r->replicas; c++)
        r->channel[c] = (struct pp_channel_state){.last_ps = at_ps};
}

/* Row of one side of a channel's message `number`. */
static size_t side_at(const struct pp_run *r, int c, int replica, int number, int side)
{
    const struct pp_channel *channel = &r->p->channels[c];
    const int step = number / channel->count, m = channel->first + number % channel->count;

    return pp_run_at(r, step, r->sides[m][side], replica);
}

/* Earliest start of a message by its posts and receives; PP_UNKNOWN_PS if that is not known yet. */
static int64_t start_of(const struct pp_run *r, int c, int replica, int number)
{
    const struct pp_eval_options *plan = &r->options->eval;
    const struct pp_times *t = r->times;
    int64_t start_ps = t->posted_ps[side_at(r, c, replica, number, 0)];
    int64_t other_ps = start_ps;

    if (!plan->is_buffered) {
        other_ps = t->posted_ps[side_at(r, c, replica, number, 1)];
    } else if (plan->buffered > 0 && number >= plan->buffered) {
        /* With room for K messages, number k starts when k - K has come and is received. */
        const size_t before = side_at(r, c, replica, number - plan->buffered, 1);
        other_ps = t->posted_ps[before];
        if (other_ps != PP_UNKNOWN_PS && t->end_ps[before] > other_ps)
            other_ps = t->end_ps[before];
    }
    if (start_ps == PP_UNKNOWN_PS || other_ps == PP_UNKNOWN_PS)
        return PP_UNKNOWN_PS;
    return other_ps > start_ps ? other_ps : start_ps;
}

static void finish(struct pp_run *r, int c, int replica, int64_t end_ps)
{
    struct pp_channel_state *state = &r->channel[c * r->replicas + replica];
    const struct pp_channel *channel = &r->p->channels[c];
    const int number = state->next++, step = number / channel->count;
    const int m = channel->first + number % channel->count;

    state->last_ps = end_ps;
    for (int side = 0; side < 2; side++) {
        const size_t at = pp_run_at(r, step, r->sides[m][side], replica);
        r->times->start_ps[at] = state->begin_ps;
        r->times->end_ps[at] = end_ps;
        pp_run_wake(r, pp_run_instance(r, side ? channel->dest : channel->source, replica), step,
                    r->sides[m][side]);
    }
}

/* Starts the next message of a channel, if possible; without wires those after it, too. */
static void start(struct pp_run *r, int c, int replica)
{
    struct pp_channel_state *state = &r->channel[c * r->replicas + replica];
    const struct pp_channel *channel = &r->p->channels[c];

    while (state->lanes_left == 0 && state->next < channel->count * r->steps) {
        int64_t start_ps = start_of(r, c, replica, state->next);
        const int m = channel->first + state->next % channel->count;
        if (start_ps == PP_UNKNOWN_PS)
            return;
        /* In unit mode messages of a channel overlap: each takes C. */
        if (!r->costs->is_unit && state->last_ps > start_ps)
            start_ps = state->last_ps;
        if (pp_run_is_too_late(r, start_ps))
            return;
        state->begin_ps = start_ps;
        if (!r->wires) {
            finish(r, c, replica, start_ps + r->message_ps[m]);
            continue;
        }
        const int wire = (c * r->replicas + replica) * r->wires->lanes;
        state->lanes_left = r->wires->lanes;
        for (int lane = 0; lane < r->wires->lanes; lane++)
            pp_express_start(r->express, wire + lane, r->message_bytes[m], start_ps);
        r->transfers += r->wires->lanes;
    }
}

void pp_messages_post(struct pp_run *r, struct pp_instance *in, int i)
{
    r->times->posted_ps[pp_run_at(r, in->step, i, in->replica)] = in->clock_ps;
    start(r, r->channel_of[r->p->arg[i]], in->replica);
}

void pp_messages_end(struct pp_run *r, int wire)
{
    const int state = wire / r->wires->lanes, c = state / r->replicas,
              replica = state % r->replicas;

    if (--r->channel[state].lanes_left > 0)
        return;
    finish(r, c, replica, r->now_ps);
    start(r, c, replica);
}
