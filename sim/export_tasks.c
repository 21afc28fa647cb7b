#include "sim/export.h"

#include "core/units.h"

#include <math.h>
#include <string.h>

enum { LANE_COMPUTE, LANE_MESSAGES, LANE_REDUCE, LANE_COPY, LANE_WIRES = LANE_COPY + 2 };
enum { MAX_LANES = 256, RING_PORT = 255, TOKEN_BYTES = 1, LATER = -2 };

/* The walk over the list of one node. */
struct walk {
    const struct pp_export *export;
    const struct pp_program *program;
    struct pp_arena *arena;
    struct pp_tasks *tasks;
    int rank, replica, node;
    int event;  /* of the trace: that of the instruction at hand */
    int *clock; /* tasks that are over when the rank is free */
    int clock_count, clock_capacity;
    int32_t *done; /* [position]: the task at whose end the instruction is over; -1 = at once, LATER
                    * = it is added where it is waited for */
    int32_t *inside; /* [position]: the part of a backward behind which a bucket is posted, or -1 */
    int32_t *wire;   /* [channel]: the last transfer that this node has begun, or -1 */
    int last_wire, last_collective, last_copy[PP_COPY_STREAMS], barriers;
};

/* ---- tasks ----------------------------------------------------------------------------------- */

static int add(struct walk *w, struct pp_task task)
{
    task.first = w->tasks->input_count;
    *PP_PUSH(w->arena, w->tasks->list, w->tasks->count, w->tasks->capacity) = task;
    return w->tasks->count - 1;
}

/* The last task added needs another; -1 is over from the start. */
static void need(struct walk *w, int input)
{
    struct pp_task *task = &w->tasks->list[w->tasks->count - 1];

    for (int k = 0; k < task->count; k++)
        if (w->tasks->inputs[task->first + k] == input)
            return;
    if (input < 0)
        return;
    *PP_PUSH(w->arena, w->tasks->inputs, w->tasks->input_count, w->tasks->input_capacity) = input;
    task->count++;
}

static void need_clock(struct walk *w)
{
    for (int k = 0; k < w->clock_count; k++)
        need(w, w->clock[k]);
}

static void set_clock(struct walk *w, int task)
{
    w->clock_count = 0;
    *PP_PUSH(w->arena, w->clock, w->clock_count, w->clock_capacity) = task;
}

static void wait_for(struct walk *w, int task)
{
    for (int k = 0; k < w->clock_count; k++)
        if (w->clock[k] == task)
            return;
    if (task >= 0)
        *PP_PUSH(w->arena, w->clock, w->clock_count, w->clock_capacity) = task;
}

static int add_calc(struct walk *w, int lane, int64_t ps, int instruction)
{
    return add(w, (struct pp_task){
                      .kind = PP_TASK_CALC, .lane = lane, .ps = ps, .instruction = instruction});
}

/* What orders nodes and is no message of the program; -1 where it stays on the node. */
static int add_token(struct walk *w, enum pp_task_kind kind, int peer, uint32_t tag)
{
    return add(w, (struct pp_task){.kind = kind,
                                   .lane = LANE_MESSAGES,
                                   .bytes = TOKEN_BYTES,
                                   .peer = peer,
                                   .tag = tag,
                                   .instruction = -1});
}

static const struct pp_trace_event *event_of(const struct walk *w)
{
    return &w->export->result->trace->events[w->event];
}

static int64_t lasted_ps(const struct walk *w)
{
    const struct pp_trace_event *event = event_of(w);

    return llround((event->end_s - event->start_s) * 1e12);
}

/* ---- compute --------------------------------------------------------------------------------- */

static void compute(struct walk *w, int i, int64_t ps)
{
    const int task = add_calc(w, LANE_COMPUTE, ps, i);

    need_clock(w);
    set_clock(w, task);
}

/* Both ops of a pair are one task. Buckets that are posted while it runs cut it in parts. */
static void walk_compute(struct walk *w, int i)
{
    const struct pp_program *p = w->program;
    const int last = i + (p->aux[i] == PP_FUSED_FIRST); /* of a pair the backward */
    const int64_t ps = lasted_ps(w);
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

/* ---- messages -------------------------------------------------------------------------------- */

static uint32_t message_tag(int message)
{
    return (uint32_t)message;
}

/* The receiver tells the sender that it has posted. */
static uint32_t token_tag(const struct walk *w, int message)
{
    return (uint32_t)(w->program->message_count + message);
}

/* How many messages of a channel may be on their way before the receiver posts; -1: any number. */
static int room_of(const struct walk *w)
{
    const struct pp_plan_options *o = &w->export->result->config.engine_options.plan;

    return !o->is_buffered ? 0 : o->buffered > 0 ? o->buffered : -1;
}

static bool is_fixed(const struct walk *w)
{
    return w->export->wires == PP_WIRES_FIXED && !w->export->result->costs->is_unit;
}

static bool has_collectives(const struct walk *w)
{
    return w->export->wires == PP_WIRES_COLLECTIVES;
}

static int peer_node(const struct walk *w, int rank)
{
    return w->replica * w->program->ranks + rank;
}

static struct pp_task message(const struct walk *w, enum pp_task_kind kind, int i)
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
static int fixed_send(struct walk *w, int i)
{
    const struct pp_export *e = w->export;
    const int m = w->program->arg[i], channel = e->channel_of[m], room = room_of(w);
    const int first = w->program->channels[channel].first;
    int token = -1;

    if (room >= 0 && m - first >= room)
        token =
            add_token(w, PP_TASK_RECV, peer_node(w, w->program->peer[i]), token_tag(w, m - room));
    const int wire = add_calc(w, LANE_WIRES + e->out_lane[channel], lasted_ps(w), i);
    need_clock(w);
    need(w, token);
    need(w, w->wire[channel]);
    if (e->result->config.engine_options.plan.nic_fifo)
        need(w, w->last_wire);
    w->wire[channel] = w->last_wire = wire;
    add(w, message(w, PP_TASK_SEND, i));
    need(w, wire);
    return wire;
}

static int fixed_recv(struct walk *w, int i)
{
    const int m = w->program->arg[i], room = room_of(w);
    const struct pp_channel *channel = &w->program->channels[w->export->channel_of[m]];

    if (room >= 0 && m - channel->first + room < channel->count) {
        add_token(w, PP_TASK_SEND, peer_node(w, w->program->peer[i]), token_tag(w, m));
        need_clock(w);
    }
    return add(w, message(w, PP_TASK_RECV, i));
}

/* What a message takes beyond what the one network of the reader does. */
static int64_t beyond_ps(const struct walk *w, int i)
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

static int network_send(struct walk *w, int i)
{
    const int send = add(w, message(w, PP_TASK_SEND, i));

    need_clock(w);
    return send;
}

static int network_recv(struct walk *w, int i)
{
    const int channel = w->export->channel_of[w->program->arg[i]];
    const int recv = add(w, message(w, PP_TASK_RECV, i));
    const int64_t more_ps = has_collectives(w) ? 0 : beyond_ps(w, i);

    need_clock(w);
    if (more_ps < 500) /* less than a nanosecond is rounding */
        return recv;
    const int rest = add_calc(w, LANE_WIRES + w->export->in_lane[channel], more_ps, i);
    need(w, recv);
    return rest;
}

static void walk_channel(struct walk *w, int i)
{
    const bool is_send = pp_op_is_send(w->program->kind[i]);
    const int at = i - w->program->begin[w->rank];

    if (is_fixed(w))
        w->done[at] = is_send ? fixed_send(w, i) : fixed_recv(w, i);
    else if (!is_send && has_collectives(w))
        w->done[at] = LATER;
    else
        w->done[at] = is_send ? network_send(w, i) : network_recv(w, i);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* Nodes that meet: those of some ranks, in all replicas. */
struct party {
    const uint16_t *ranks; /* NULL: all */
    int count;             /* ranks */
    int size, own;         /* nodes; the place of this one among them */
};

static struct party party_of(const struct walk *w, const uint16_t *ranks, int count)
{
    struct party party = {.ranks = ranks, .count = count, .size = count * w->export->replicas};
    int k = 0;

    while (k < count && (ranks ? ranks[k] : k) != w->rank)
        k++;
    party.own = w->replica * count + k;
    return party;
}

static int node_of(const struct walk *w, const struct party *party, int place)
{
    const int k = place % party->count, rank = party->ranks ? party->ranks[k] : k;

    return place / party->count * w->program->ranks + rank;
}

/* All tell the first one, which tells all when `ps` have passed since the last of them. `ready` is
 * what this node waits for first: NULL is its clock. Returns what is over then. */
static int meet(struct walk *w, const struct party *party, const int *ready, int64_t ps,
                uint32_t tag, int instruction)
{
    if (party->own > 0) {
        add_token(w, PP_TASK_SEND, node_of(w, party, 0), tag);
        if (ready)
            need(w, *ready);
        else
            need_clock(w);
        need(w, w->last_collective);
        return add_token(w, PP_TASK_RECV, node_of(w, party, 0), tag + 1);
    }
    const int first = w->tasks->count;
    for (int k = 1; k < party->size; k++)
        add_token(w, PP_TASK_RECV, node_of(w, party, k), tag);
    const int together = add_calc(w, LANE_REDUCE, ps, instruction);
    if (ready)
        need(w, *ready);
    else
        need_clock(w);
    need(w, w->last_collective);
    for (int k = 1; k < party->size; k++)
        need(w, first + k - 1);
    for (int k = 1; k < party->size; k++) {
        add_token(w, PP_TASK_SEND, node_of(w, party, k), tag + 1);
        need(w, together);
    }
    return together;
}

/* Shares of it go around: in each step one to the next node, one from the one before. */
static int ring(struct walk *w, const struct party *party, const int *ready, int steps,
                uint32_t tag, int i)
{
    const int next = node_of(w, party, (party->own + 1) % party->size),
              last = node_of(w, party, (party->own + party->size - 1) % party->size);
    const double share = ceil(event_of(w)->bytes / party->size);
    const struct pp_task task = {.lane = LANE_MESSAGES,
                                 .bytes = share > 1 ? llround(share) : 1,
                                 .port = RING_PORT,
                                 .instruction = i};
    int over = -1;

    for (int k = 0; k < steps; k++) {
        struct pp_task send = task, recv = task;
        send.kind = PP_TASK_SEND;
        send.peer = next;
        recv.kind = PP_TASK_RECV;
        recv.peer = last;
        send.tag = recv.tag = tag + (uint32_t)k;
        add(w, send);
        if (k > 0)
            need(w, over);
        else if (ready)
            need(w, *ready);
        else
            need_clock(w);
        if (k == 0)
            need(w, w->last_collective);
        over = add(w, recv);
    }
    return over;
}

static int native(struct walk *w, const int *ready, int i)
{
    const int task =
        add(w, (struct pp_task){.kind = PP_TASK_COLLECTIVE,
                                .lane = LANE_REDUCE,
                                .bytes = llround(event_of(w)->bytes),
                                .peer = w->program->collectives[w->program->arg[i]].group,
                                .instruction = i});

    if (ready)
        need(w, *ready);
    else
        need_clock(w);
    need(w, w->last_collective);
    return task;
}

static int alone(struct walk *w, int lane, int last, int i)
{
    const int task = add_calc(w, lane, lasted_ps(w), i);

    need_clock(w);
    need(w, last);
    return task;
}

static void walk_collective(struct walk *w, int i)
{
    const struct pp_program *p = w->program;
    const int at = i - p->begin[w->rank], c = p->arg[i];

    if (c < 0) { /* inside the rank */
        w->done[at] = w->last_collective = alone(w, LANE_REDUCE, w->last_collective, i);
        return;
    }
    const struct pp_group *group = &p->groups[p->collectives[c].group];
    const struct party party = party_of(w, &p->members[group->first], group->count);
    const int *ready = w->inside[at] >= 0 ? &w->inside[at] : NULL;
    const int steps = pp_ring_turns(p->kind[i]) * (party.size - 1);

    if (has_collectives(w) && party.size > 1)
        w->last_collective = native(w, ready, i);
    else if (w->export->wires == PP_WIRES_NETWORK && steps > 0)
        w->last_collective = ring(w, &party, ready, steps, w->export->tag0[c], i);
    else
        w->last_collective = meet(w, &party, ready, lasted_ps(w), w->export->tag0[c], i);
    w->done[at] = w->last_collective;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void walk_copy(struct walk *w, int i)
{
    const int stream = pp_copy_stream(w->program->version[i]);

    w->last_copy[stream] = alone(w, LANE_COPY + stream, w->last_copy[stream], i);
    w->done[i - w->program->begin[w->rank]] = w->last_copy[stream];
}

static void walk_control(struct walk *w, int i)
{
    const struct pp_program *p = w->program;

    if (p->kind[i] == PP_BAR) {
        const struct party all = party_of(w, NULL, p->ranks);
        const uint32_t tag = w->export->tag0[p->collective_count] + 2 * (uint32_t)w->barriers++;
        const int collective = w->last_collective;
        w->last_collective = -1; /* no member's sums are waited for */
        set_clock(w, meet(w, &all, NULL, 0, tag, i));
        w->last_collective = collective;
    } else if (p->kind[i] == PP_WAIT && p->arg[i] >= 0) {
        int32_t *done = &w->done[p->arg[i]];
        if (*done == LATER)
            *done = network_recv(w, p->begin[w->rank] + p->arg[i]);
        wait_for(w, *done);
    }
}

static void (*const walk_stream[])(struct walk *w, int i) = {
    [PP_STREAM_COMPUTE] = walk_compute,   [PP_STREAM_CHANNEL] = walk_channel,
    [PP_STREAM_REDUCE] = walk_collective, [PP_STREAM_COPY] = walk_copy,
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
    struct walk w = {.export = e,
                     .program = p,
                     .arena = arena,
                     .tasks = tasks,
                     .rank = rank,
                     .replica = node / p->ranks,
                     .node = node,
                     .done = none(arena, length),
                     .inside = none(arena, length),
                     .wire = none(arena, p->channel_count),
                     .last_wire = -1,
                     .last_collective = -1,
                     .last_copy = {-1, -1}};
    const int simulated = w.replica < e->result->trace->replicas ? w.replica : 0;

    *tasks = (struct pp_tasks){0};
    w.event = e->event0[simulated * p->ranks + rank];
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const bool is_second = p->aux[i] == PP_FUSED_SECOND && pp_op_is_compute(p->kind[i]);
        w.event += i > p->begin[rank] && !is_second; /* a pair shares its event */
        walk_stream[pp_op_kinds[p->kind[i]].stream](&w, i);
    }
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (w.done[i - p->begin[rank]] == LATER) /* nobody waits for it */
            network_recv(&w, i);
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum pp_status number_channels(struct pp_arena *arena, struct pp_export *e,
                                      struct pp_error *err)
{
    const struct pp_program *p = e->result->program;
    int *out = PP_ARRAY(arena, int, p->ranks), *in = PP_ARRAY(arena, int, p->ranks);

    e->channel_of = PP_ARRAY(arena, int32_t, p->message_count);
    e->out_lane = PP_ARRAY(arena, int, p->channel_count);
    e->in_lane = PP_ARRAY(arena, int, p->channel_count);
    for (int c = 0; c < p->channel_count; c++) {
        const struct pp_channel *channel = &p->channels[c];
        for (int m = channel->first; m < channel->first + channel->count; m++)
            e->channel_of[m] = c;
        e->out_lane[c] = out[channel->source]++;
        e->in_lane[c] = in[channel->dest]++;
        if (LANE_WIRES + e->out_lane[c] >= MAX_LANES || LANE_WIRES + e->in_lane[c] >= MAX_LANES)
            return pp_error_set(err, PP_EINVAL,
                                "rank %d has more channels than other formats number: at most %d",
                                channel->source, MAX_LANES - LANE_WIRES);
    }
    return PP_OK;
}

static enum pp_status number_tags(struct pp_arena *arena, struct pp_export *e, struct pp_error *err)
{
    const struct pp_program *p = e->result->program;
    int64_t tag = 2 * (int64_t)p->message_count;

    e->tag0 = PP_ARRAY(arena, uint32_t, p->collective_count + 1);
    for (int c = 0; c <= p->collective_count && tag <= UINT32_MAX; c++) {
        e->tag0[c] = (uint32_t)tag;
        if (c < p->collective_count)
            tag += 2 * (int64_t)p->groups[p->collectives[c].group].count * e->replicas;
    }
    tag += 2 * (int64_t)pp_program_size(p); /* barriers */
    if (tag > UINT32_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "%lld tags of messages are more than other formats number: fewer "
                            "micro-batches or replicas",
                            (long long)tag);
    return PP_OK;
}

/* Of the links that messages take, the least of both. */
static void find_network(struct pp_export *e)
{
    const struct pp_program *p = e->result->program;
    const struct pp_costs *costs = e->result->costs;
    bool is_known = false;

    if (e->wires == PP_WIRES_FIXED && !costs->is_unit)
        return;
    for (int c = 0; c < p->channel_count; c++) {
        const struct pp_channel *channel = &p->channels[c];
        const int link =
            costs->link ? costs->link[channel->source * costs->ranks + channel->dest] : 0;
        if (!is_known || costs->alpha_ps[link] < e->latency_ps)
            e->latency_ps = costs->alpha_ps[link];
        if (!is_known || costs->s_per_byte[link] < e->s_per_byte)
            e->s_per_byte = costs->s_per_byte[link];
        is_known = true;
    }
}

static void find_events(struct pp_arena *arena, struct pp_export *e)
{
    const struct pp_trace *trace = e->result->trace;

    e->event0 = PP_ARRAY(arena, int, trace->ranks * trace->replicas);
    for (int i = trace->count - 1; i >= 0; i--)
        e->event0[trace->events[i].replica * trace->ranks + trace->events[i].rank] = i;
}

enum pp_status pp_export_open(struct pp_arena *arena, const struct pp_result *result,
                              enum pp_export_wires wires, struct pp_export *export,
                              struct pp_error *err)
{
    const bool is_fixed = wires == PP_WIRES_FIXED || result->config.is_unit;

    *export = (struct pp_export){.result = result, .wires = wires};
    export->replicas = is_fixed ? result->trace->replicas : result->config.layout.dp;
    export->nodes = export->replicas * result->program->ranks;
    find_network(export);
    find_events(arena, export);
    PP_TRY(number_channels(arena, export, err));
    return number_tags(arena, export, err);
}
