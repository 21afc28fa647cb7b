/* Sends and receives as tasks. */
#include "sim/export/walk.h"

#include "core/units.h"

#include <math.h>

static uint32_t message_tag(int message)
{
    return (uint32_t)message;
}

/* The receiver tells the sender that it has posted. */
static uint32_t token_tag(const struct pp_export_walk *w, int message)
{
    return (uint32_t)(w->program->message_count + message);
}

/* How many messages of a channel may be on their way before the receiver posts; -1: any number. */
static int room_of(const struct pp_export_walk *w)
{
    const struct pp_eval_options *o = &w->export->result->config.engine_options.plan;

    return !o->is_buffered ? 0 : o->buffered > 0 ? o->buffered : -1;
}

static bool is_fixed(const struct pp_export_walk *w)
{
    return w->export->wires == PP_WIRES_FIXED && !w->export->result->costs->is_unit;
}

static int peer_node(const struct pp_export_walk *w, int rank)
{
    return w->replica * w->program->ranks + rank;
}

static struct pp_task message(const struct pp_export_walk *w, enum pp_task_kind kind, int i)
{
    const int m = w->program->arg[i], channel = w->export->channel_of[m];
    const struct pp_op op = pp_program_op(w->program, i);
    const double bytes = pp_costs_message_bytes(w->export->result->costs, &op);

    return (struct pp_task){
        .kind = kind,
        .lane = LANE_MESSAGES,
        .bytes = bytes > 1 ? llround(bytes) : 1,
        .peer = peer_node(w, w->program->peer[i]),
        .tag = message_tag(m),
        .port = (16 * w->export->out_lane[channel] + w->export->in_lane[channel]) % RING_PORT,
        .instruction = i};
}

/* A transfer is a task of the sender; the message at its end costs nothing. It may begin when this
 * side is there, the other one as far as it has to be, and the one before it is over. */
static int fixed_send(struct pp_export_walk *w, int i)
{
    const struct pp_export *e = w->export;
    const int m = w->program->arg[i], channel = e->channel_of[m], room = room_of(w);
    const int first = w->program->channels[channel].first;
    int token = -1;

    if (room >= 0 && m - first >= room)
        token = pp_walk_token(w, PP_TASK_RECV, peer_node(w, w->program->peer[i]),
                              token_tag(w, m - room));
    const int wire = pp_walk_calc(w, LANE_WIRES + e->out_lane[channel], pp_walk_lasted_ps(w), i);
    pp_walk_need_clock(w);
    pp_walk_need(w, token);
    pp_walk_need(w, w->wire[channel]);
    if (e->result->config.engine_options.plan.nic_fifo)
        pp_walk_need(w, w->last_wire);
    w->wire[channel] = w->last_wire = wire;
    pp_export_add(w, message(w, PP_TASK_SEND, i));
    pp_walk_need(w, wire);
    return wire;
}

static int fixed_recv(struct pp_export_walk *w, int i)
{
    const int m = w->program->arg[i], room = room_of(w);
    const struct pp_channel *channel = &w->program->channels[w->export->channel_of[m]];

    if (room >= 0 && m - channel->first + room < channel->count) {
        pp_walk_token(w, PP_TASK_SEND, peer_node(w, w->program->peer[i]), token_tag(w, m));
        pp_walk_need_clock(w);
    }
    return pp_export_add(w, message(w, PP_TASK_RECV, i));
}

/* What a message takes beyond what the one network of the reader does. */
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

int pp_walk_recv(struct pp_export_walk *w, int i)
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

void pp_walk_channel(struct pp_export_walk *w, int i)
{
    const bool is_send = pp_op_is_send(w->program->kind[i]);
    const int at = i - w->program->begin[w->rank];

    if (is_fixed(w))
        w->done[at] = is_send ? fixed_send(w, i) : fixed_recv(w, i);
    else if (!is_send && pp_walk_has_collectives(w))
        w->done[at] = LATER;
    else
        w->done[at] = is_send ? network_send(w, i) : pp_walk_recv(w, i);
}
