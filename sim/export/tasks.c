/* Makes tasks of the list of one rank: compute, copies, waits and barriers. */
#include "sim/export/walk.h"

#include "core/units.h"

#include <math.h>

/* Returns the tag of the message by which a receiver tells the sender that it has posted. */
static uint32_t token_tag(const struct pp_export_walk *w, int message)
{
    return (uint32_t)(w->program->message_count + message);
}

/* Returns the most messages of a channel in flight before the receiver posts; -1: any number. */
static int room_of(const struct pp_export_walk *w)
{
    const struct pp_eval_options *o = &w->export->result->config.engine_options.eval;

    return !o->is_buffered ? 0 : o->buffered > 0 ? o->buffered : -1;
}

static int peer_node(const struct pp_export_walk *w, int rank)
{
    return w->replica * w->program->ranks + rank;
}

/* Units: a message takes its latency in the reader, and never waits. */
static bool is_fixed(const struct pp_export_walk *w)
{
    return w->export->wires == PP_WIRES_FIXED && !w->export->result->costs->is_unit;
}

/* Returns the lane of a channel's transfers, at its source. */
static int wire_lane(const struct pp_export_walk *w, int channel)
{
    return is_fixed(w) ? LANE_WIRES + w->export->out_lane[channel] : LANE_COMPUTE;
}

static struct pp_task message(const struct pp_export_walk *w, enum pp_task_kind kind, int i)
{
    const int m = w->program->arg[i], channel = w->export->channel_of[m];
    const struct pp_op op = pp_program_op(w->program, i);
    const double bytes = pp_costs_message_bytes(w->export->result->costs, &op);
    const bool is_send = kind == PP_TASK_SEND;
    const int wire = wire_lane(w, channel);

    return (struct pp_task){
        .kind = kind,
        .lane = is_send ? wire : LANE_COMPUTE,
        .peer_lane = is_send ? LANE_COMPUTE : wire,
        .bytes = bytes > 1 ? llround(bytes) : 1,
        .peer = peer_node(w, w->program->peer[i]),
        .tag = (uint32_t)m,
        .port = (16 * w->export->out_lane[channel] + w->export->in_lane[channel]) % RING_PORT,
        .instruction = i};
}

/* Adds a transfer as a task of the sender, with a free message at its end. It begins when this side
 * is ready, the other side is as ready as it must be, and the previous transfer has ended. */
static int fixed_send(struct pp_export_walk *w, int i)
{
    const struct pp_export *e = w->export;
    const int m = w->program->arg[i], channel = e->channel_of[m], room = room_of(w);
    const int first = w->program->channels[channel].first, lane = wire_lane(w, channel);
    int token = -1;

    if (room >= 0 && m - first >= room)
        token = pp_walk_token(w, PP_TASK_RECV, lane, peer_node(w, w->program->peer[i]),
                              LANE_COMPUTE, token_tag(w, m - room));
    const int wire = pp_walk_calc(w, lane, pp_walk_lasted_ps(w), i);
    pp_walk_need_clock(w);
    pp_walk_need(w, token);
    pp_walk_need(w, w->wire[channel]);
    if (e->result->config.engine_options.eval.nic_fifo)
        pp_walk_need(w, w->last_wire);
    w->wire[channel] = w->last_wire = wire;
    pp_export_add(w, message(w, PP_TASK_SEND, i));
    pp_walk_need(w, wire);
    return wire;
}

static int fixed_recv(struct pp_export_walk *w, int i)
{
    const int m = w->program->arg[i], room = room_of(w);
    const int c = w->export->channel_of[m];
    const struct pp_channel *channel = &w->program->channels[c];

    if (room >= 0 && m - channel->first + room < channel->count) {
        pp_walk_token(w, PP_TASK_SEND, LANE_COMPUTE, peer_node(w, w->program->peer[i]),
                      wire_lane(w, c), token_tag(w, m));
        pp_walk_need_clock(w);
    }
    return pp_export_add(w, message(w, PP_TASK_RECV, i));
}

/* Returns the time that a message takes beyond that in the reader's network. */
static int64_t beyond_ps(const struct pp_export_walk *w, int i)
{
    const struct pp_export *e = w->export;
    const bool is_send = pp_op_is_send(w->program->kind[i]);
    struct pp_op send = pp_program_op(w->program, i);
    int source = w->rank;

    if (!is_send) { /* the same message seen from its sender */
        const int up = send.kind == PP_RECV_F ? -1 : 1;
        source = send.peer;
        send.kind = send.kind == PP_RECV_F ? PP_SEND_F : PP_SEND_B;
        send.stage = (uint16_t)(send.stage + up);
        send.peer = (uint16_t)w->rank;
    }
    const struct pp_cost cost = pp_costs_p2p(e->result->costs, &send, source);
    return cost.ps - e->latency_ps - pp_units_ps(e->s_per_byte * cost.bytes);
}

static int network_send(struct pp_export_walk *w, int i)
{
    const int send = pp_export_add(w, message(w, PP_TASK_SEND, i));

    pp_walk_need_clock(w);
    return send;
}

/* Adds a RECV; returns the task whose end is the RECV's. */
static int walk_recv(struct pp_export_walk *w, int i)
{
    const int channel = w->export->channel_of[w->program->arg[i]];
    const int recv = pp_export_add(w, message(w, PP_TASK_RECV, i));
    const int64_t more_ps = pp_walk_has_collectives(w) ? 0 : beyond_ps(w, i);

    pp_walk_need_clock(w);
    if (more_ps < 500) /* less than a nanosecond is rounding */
        return recv;
    const int rest = pp_walk_calc(w, LANE_WIRES + w->export->in_lane[channel], more_ps, i);
    pp_walk_need(w, recv);
    return rest;
}

static void walk_channel(struct pp_export_walk *w, int i)
{
    const bool is_send = pp_op_is_send(w->program->kind[i]);
    const int at = i - w->program->begin[w->rank];

    if (is_fixed(w))
        w->done[at] = is_send ? fixed_send(w, i) : fixed_recv(w, i);
    else if (!is_send && pp_walk_has_collectives(w))
        w->done[at] = LATER;
    else
        w->done[at] = is_send ? network_send(w, i) : walk_recv(w, i);
}

/* ---- compute --------------------------------------------------------------------------------- */

static void compute(struct pp_export_walk *w, int i, int64_t ps)
{
    const int task = pp_walk_calc(w, LANE_COMPUTE, ps, i);

    pp_walk_need_clock(w);
    pp_walk_set_clock(w, task);
}

/* Adds one task for both ops of a pair. Buckets that are posted while it runs divide it. */
static void walk_compute(struct pp_export_walk *w, int i)
{
    const struct pp_program *p = w->program;
    const int last = i + (p->aux[i] == PP_FUSED_FIRST); /* a pair's backward */
    const int64_t ps = pp_walk_lasted_ps(w);
    int64_t passed_ps = 0;
    int numerator, denominator;

    if (p->aux[i] == PP_FUSED_SECOND)
        return;
    for (int k = last + 1; k < p->begin[w->rank + 1] && !pp_op_is_compute(p->kind[k]); k++) {
        if (!pp_op_is_collective(p->kind[k]) ||
            pp_program_posted_inside(p, k, &numerator, &denominator) != last)
            continue;
        const int64_t until_ps = pp_costs_share_ps(ps, numerator, denominator);
        compute(w, i, until_ps - passed_ps);
        w->inside[k - p->begin[w->rank]] = w->clock[0];
        passed_ps = until_ps;
    }
    compute(w, i, ps - passed_ps);
}

/* ---- other streams --------------------------------------------------------------------------- */

static void walk_copy(struct pp_export_walk *w, int i)
{
    const int purpose = w->program->purpose[i], stream = pp_move_stream(purpose),
              after = pp_move_after(purpose), other = w->last_copy[after];

    w->last_copy[stream] = pp_walk_alone(w, LANE_COPY + stream, w->last_copy[stream], i);
    if (after != stream)
        pp_walk_need(w, other);
    w->done[i - w->program->begin[w->rank]] = w->last_copy[stream];
}

static void walk_control(struct pp_export_walk *w, int i)
{
    const struct pp_program *p = w->program;

    if (p->kind[i] == PP_BAR) {
        pp_walk_set_clock(w, pp_walk_barrier(w, i));
    } else if (p->kind[i] == PP_WAIT && p->arg[i] >= 0) {
        int32_t *done = &w->done[p->arg[i]];
        if (*done == LATER)
            *done = walk_recv(w, p->begin[w->rank] + p->arg[i]);
        pp_walk_wait(w, *done);
    }
}

static void (*const walk_stream[])(struct pp_export_walk *w, int i) = {
    [PP_STREAM_COMPUTE] = walk_compute,      [PP_STREAM_CHANNEL] = walk_channel,
    [PP_STREAM_REDUCE] = pp_walk_collective, [PP_STREAM_COPY] = walk_copy,
    [PP_STREAM_CONTROL] = walk_control,
};

static int32_t *none(struct pp_arena *arena, int count)
{
    int32_t *list = PP_ARRAY(arena, int32_t, count);

    for (int i = 0; i < count; i++)
        list[i] = -1;
    return list;
}

void pp_export_tasks(struct pp_arena *arena, const struct pp_export *e, int node,
                     struct pp_tasks *tasks)
{
    const struct pp_program *p = e->result->program;
    const int rank = node % p->ranks, length = p->begin[rank + 1] - p->begin[rank];
    struct pp_export_walk w = {.export = e,
                               .program = p,
                               .arena = arena,
                               .tasks = tasks,
                               .rank = rank,
                               .replica = node / p->ranks,
                               .done = none(arena, length),
                               .inside = none(arena, length),
                               .wire = none(arena, p->channel_count),
                               .last_wire = -1,
                               .last_collective = -1,
                               .last_share = -1,
                               .last_copy = {-1, -1, -1}};
    const int simulated = w.replica < e->result->trace->replicas ? w.replica : 0;

    *tasks = (struct pp_tasks){0};
    w.event = e->event0[simulated * p->ranks + rank];
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const bool is_second = p->aux[i] == PP_FUSED_SECOND && pp_op_is_compute(p->kind[i]);
        w.event += i > p->begin[rank] && !is_second; /* a pair shares its event */
        walk_stream[pp_op_kinds[p->kind[i]].stream](&w, i);
    }
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (w.done[i - p->begin[rank]] == LATER) /* no WAIT names it */
            walk_recv(&w, i);
}
