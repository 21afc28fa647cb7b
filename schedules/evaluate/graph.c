/* The graph of a lowered program: one walk over each rank's instructions. */
#include "schedules/evaluate/eval.h"

#include "schedules/evaluate/op_cost.h"
#include "schedules/evaluate/weight_stream.h"

#include <string.h>

enum { MAX_PAST = 1 << 24 };

/* ---- nodes ----------------------------------------------------------------------------------- */

int32_t pp_graph_add(struct pp_graph *g, struct pp_node node)
{
    *PP_PUSH(g->arena, g->nodes, g->count, g->capacity) = node;
    return g->count - 1;
}

int32_t pp_graph_entry(struct pp_graph *g)
{
    if (g->options->steps < 2 || !g->options->is_barrier_free)
        return 0;
    return pp_graph_add(g, (struct pp_node){.type = PP_NODE_ENTRY, .owner = PP_NO_OWNER});
}

void pp_graph_carry(struct pp_graph *g, int32_t entry, int32_t exit)
{
    if (entry != 0)
        *PP_PUSH(g->arena, g->carries, g->carry_count, g->carry_capacity) =
            (struct pp_carry){entry, exit};
}

/* Adds a meet with room for `room` inputs. */
static int32_t add_meet(struct pp_graph *g, int owner, int64_t ps, int room)
{
    const int32_t first = g->input_count;

    for (int i = 0; i < room; i++)
        *PP_PUSH(g->arena, g->inputs, g->input_count, g->input_capacity) = 0;
    return pp_graph_add(
        g, (struct pp_node){.type = PP_NODE_MEET, .in = {first, 0, 0}, .owner = owner, .ps = ps});
}

void pp_graph_input(struct pp_graph *g, int32_t node, int32_t input)
{
    struct pp_node *n = &g->nodes[node];

    if (input == 0)
        return;
    if (n->type == PP_NODE_MEET) {
        g->inputs[n->in[0] + n->in[1]++] = input;
        return;
    }
    for (int k = 0; k < PP_STEP_INPUTS; k++)
        if (n->in[k] == 0 || n->in[k] == input) {
            n->in[k] = input;
            return;
        }
    struct pp_node latest = {.owner = n->owner};
    memcpy(latest.in, n->in, sizeof(latest.in));
    const int32_t joined = pp_graph_add(g, latest);
    n = &g->nodes[node]; /* may have moved */
    memset(n->in, 0, sizeof(n->in));
    n->in[0] = joined;
    n->in[1] = input;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* Returns one node for the clock; 0 = time zero. */
static int32_t clock_node(struct pp_graph *g, struct pp_clock *clock)
{
    if (clock->count == 0)
        return 0;
    if (clock->count > 1) {
        /* The owner is that of the last input, which is enough for a message. */
        struct pp_node latest = {.owner = g->nodes[clock->value[clock->count - 1]].owner};
        memcpy(latest.in, clock->value, sizeof(int32_t) * (size_t)clock->count);
        clock->value[0] = pp_graph_add(g, latest);
        clock->count = 1;
    }
    return clock->value[0];
}

static void clock_wait(struct pp_graph *g, struct pp_clock *clock, int32_t node)
{
    if (node == 0)
        return;
    for (int k = 0; k < clock->count; k++)
        if (clock->value[k] == node)
            return;
    if (clock->count == PP_STEP_INPUTS)
        clock_node(g, clock);
    clock->value[clock->count++] = node;
}

static void set_clock(struct pp_clock *clock, int32_t node)
{
    clock->value[0] = node;
    clock->count = 1;
}

int32_t pp_graph_clock(struct pp_graph *g, int rank, struct pp_clock *clock)
{
    const int32_t entry = pp_graph_entry(g);

    clock->count = 0;
    clock_wait(g, clock, entry);
    return g->entry_of[rank] = entry;
}

bool pp_graph_is_fused(const struct pp_program *program, int i, int end)
{
    return program->aux[i] == PP_FUSED_FIRST && pp_op_is_compute(program->kind[i]) && i + 1 < end &&
           program->aux[i + 1] == PP_FUSED_SECOND && pp_op_is_compute(program->kind[i + 1]);
}

int32_t pp_graph_compute(struct pp_graph *g, struct pp_clock *clock, int i, bool is_fused)
{
    struct pp_node node = {.owner = i,
                           .ps = pp_program_ps(g->program, g->costs, i, is_fused),
                           .is_compute = true,
                           .price = PP_PRICE_COMPUTE};
    memcpy(node.in, clock->value, sizeof(int32_t) * (size_t)clock->count);
    const int32_t id = pp_graph_add(g, node);
    g->node_of[i] = id;
    if (is_fused)
        g->node_of[i + 1] = id;
    set_clock(clock, id);
    return id;
}

/* ---- a lowered program ----------------------------------------------------------------------- */

struct walk {
    struct pp_graph *g;
    int rank;
    struct pp_clock clock;
    int32_t last_send, last_collective, last_copy[PP_COPY_STREAMS];
    int32_t weights;               /* time of the rank's weight-gradient stream */
    int32_t message0, collective0; /* node of message 0, of collective 0 */
    int32_t *barriers;             /* nodes; every rank meets the same ones in order */
    int barrier_count, barrier_capacity, passed;
};

static void walk_channel(struct walk *w, int i)
{
    struct pp_graph *g = w->g;
    const struct pp_op op = pp_program_op(g->program, i);
    const bool is_send = pp_op_is_send(op.kind);
    const int32_t message = w->message0 + op.arg, post = clock_node(g, &w->clock);

    g->posts[op.arg][is_send ? 0 : 1] = post;
    g->node_of[i] = message;
    if (is_send || !g->options->is_buffered)
        pp_graph_input(g, message, post);
    if (!is_send)
        return;
    g->nodes[message].owner = i;
    g->nodes[message].ps = pp_costs_p2p(g->costs, &op, w->rank).ps;
    g->nodes[message].price = PP_PRICE_MESSAGE;
    if (g->options->nic_fifo)
        pp_graph_input(g, message, w->last_send);
    w->last_send = message;
}

/* Adds asynchronous work of the rank alone, in the order of its stream. */
static int32_t walk_own(struct walk *w, int i, int32_t before, int32_t other)
{
    const struct pp_op op = pp_program_op(w->g->program, i);
    const int32_t post = clock_node(w->g, &w->clock);

    w->g->node_of[i] =
        pp_graph_add(w->g, (struct pp_node){.owner = i,
                                            .in = {post, before, other},
                                            .ps = pp_costs_op(w->g->costs, &op, NULL).ps,
                                            .price = PP_PRICE_OWN});
    return w->g->node_of[i];
}

static void walk_copy(struct walk *w, int i)
{
    const int purpose = w->g->program->purpose[i];
    int32_t *last = &w->last_copy[pp_move_stream(purpose)];
    const int32_t other = w->last_copy[pp_move_after(purpose)];

    *last = walk_own(w, i, *last, other == *last ? 0 : other);
}

/* Returns the node of the rank's other compute stream that instruction i waits for. */
static int32_t other_stream(const struct walk *w, int i)
{
    const int after = pp_weight_stream_after(w->g->program, i);

    return after < 0 ? 0 : w->g->node_of[after];
}

static int32_t weights_node(struct walk *w, int i)
{
    struct pp_clock clock = {0};

    clock_wait(w->g, &clock, w->weights);
    clock_wait(w->g, &clock, other_stream(w, i));
    return w->weights = clock_node(w->g, &clock);
}

/* Returns the post of collective i: the clock of its stream, or a point inside the backward that
 * completes its bucket's gradients. That is a share of the backward's time, jitter included. */
static int32_t collective_post(struct walk *w, int i)
{
    struct pp_graph *g = w->g;
    int numerator, denominator;
    const int backward = pp_program_posted_inside(g->program, i, &numerator, &denominator);

    if (pp_weight_stream_has(g->program, i))
        weights_node(w, i);
    if (backward < 0)
        return pp_weight_stream_has(g->program, i) ? w->weights : clock_node(g, &w->clock);
    struct pp_node part = g->nodes[g->node_of[backward]];
    part.numerator = (uint8_t)numerator;
    part.denominator = (uint8_t)denominator;
    if (!g->inside)
        g->inside = PP_ARRAY(g->arena, int32_t, pp_program_size(g->program));
    return g->inside[i] = pp_graph_add(g, part);
}

static void walk_collective(struct walk *w, int i)
{
    struct pp_graph *g = w->g;

    if (g->program->arg[i] < 0) { /* inside the rank: A2A */
        w->last_collective = walk_own(w, i, w->last_collective, 0);
        return;
    }
    const int32_t meet = w->collective0 + g->program->arg[i];
    const int32_t post = collective_post(w, i);
    /* One input per member: a ring reads the time at which each is ready. */
    const int32_t ready =
        pp_graph_add(g, (struct pp_node){.owner = i, .in = {post, w->last_collective}});
    pp_graph_input(g, meet, ready);
    if (g->nodes[meet].in[2]) {
        const int32_t start = g->rings[g->nodes[meet].in[2] - 1].start;
        pp_graph_input(g, start, ready);
        g->nodes[start].owner = i;
    }
    w->last_collective = meet;
    g->node_of[i] = meet;
    g->nodes[meet].owner = i;
}

static void walk_barrier(struct walk *w, int i)
{
    if (w->passed == w->barrier_count)
        *PP_PUSH(w->g->arena, w->barriers, w->barrier_count, w->barrier_capacity) =
            add_meet(w->g, i, 0, w->g->program->ranks);
    const int32_t meet = w->barriers[w->passed++];
    pp_graph_input(w->g, meet, clock_node(w->g, &w->clock));
    w->g->node_of[i] = meet;
    set_clock(&w->clock, meet);
}

static void walk_control(struct walk *w, int i)
{
    const struct pp_program *p = w->g->program;

    if (p->kind[i] == PP_BAR)
        walk_barrier(w, i);
    if (p->kind[i] != PP_WAIT || p->arg[i] < 0)
        return;
    const int32_t target = w->g->node_of[p->begin[w->rank] + p->arg[i]];
    clock_wait(w->g, &w->clock, target);
    w->g->node_of[i] = target;
}

static void walk_weights(struct walk *w, int i)
{
    struct pp_clock clock = {0};

    clock_wait(w->g, &clock, weights_node(w, i));
    w->weights = pp_graph_compute(w->g, &clock, i, false);
}

static void walk_compute(struct walk *w, int i)
{
    if (pp_weight_stream_has(w->g->program, i))
        walk_weights(w, i);
    else if (w->g->node_of[i] == 0) /* not 0: the second of a fused pair */
        pp_graph_compute(w->g, &w->clock, i,
                         pp_graph_is_fused(w->g->program, i, w->g->program->begin[w->rank + 1]));
}

static void (*const walk_stream[])(struct walk *w, int i) = {
    [PP_STREAM_COMPUTE] = walk_compute,   [PP_STREAM_CHANNEL] = walk_channel,
    [PP_STREAM_REDUCE] = walk_collective, [PP_STREAM_COPY] = walk_copy,
    [PP_STREAM_CONTROL] = walk_control,
};

/* Adds a collective with the cost of its table, or with a ring. */
static void add_collective(struct pp_graph *g, const struct pp_collective *c, int posts)
{
    const struct pp_op op = pp_collective_op(c);
    const int32_t meet = add_meet(g, PP_NO_OWNER, pp_costs_op(g->costs, &op, NULL).ps, posts);
    struct pp_ring_plan ring;

    g->nodes[meet].price = PP_PRICE_SUM;
    if (!g->options->ring_flows ||
        !pp_ring_plan(g->eval_arena, g->costs, c, posts, &ring, &g->nodes[meet].ps) ||
        ring.positions == 0)
        return;
    *PP_PUSH(g->eval_arena, g->rings, g->ring_count, g->ring_capacity) = ring;
    g->nodes[meet].in[2] = g->ring_count;
}

/* Orders the transfers of a channel. In unit mode messages are independent: each takes C. */
static void chain_transfers(struct pp_graph *g, const struct pp_channel *channel, int32_t message0)
{
    if (g->costs->is_unit || channel->count == 0)
        return;
    const int32_t entry = pp_graph_entry(g);
    int32_t last = entry;
    for (int m = channel->first; m < channel->first + channel->count; m++) {
        pp_graph_input(g, message0 + m, last);
        last = message0 + m;
    }
    pp_graph_carry(g, entry, last);
}

/* Returns how many of the K messages before a step can have been sent in earlier steps. */
static int sent_before(const struct pp_graph *g, const struct pp_channel *channel)
{
    const struct pp_eval_options *o = g->options;
    const int64_t sent =
        o->is_barrier_free && o->steps > 1 ? (int64_t)channel->count * (o->steps - 1) : 0;

    return sent < o->buffered ? (int)sent : o->buffered;
}

/* With room for K messages, number k starts when k-K has ended and is received. `ends` and `posts`
 * are from earlier steps: index j is message -1-j, counted from this step on. */
static void limit_buffer(struct pp_graph *g, const struct pp_channel *channel, int32_t message0)
{
    const int room = g->options->buffered, count = channel->count, first = channel->first;
    const int past = sent_before(g, channel);
    int32_t *ends = PP_ARRAY(g->arena, int32_t, past), *posts = PP_ARRAY(g->arena, int32_t, past);

    for (int j = 0; j < past; j++) {
        ends[j] = pp_graph_entry(g);
        posts[j] = pp_graph_entry(g);
    }
    for (int k = 0; k < count; k++) {
        const int32_t message = message0 + first + k;
        const int before = k - room, j = -1 - before;
        if (before >= 0) {
            pp_graph_input(g, message, message0 + first + before);
            pp_graph_input(g, message, g->posts[first + before][1]);
        } else if (j < past) {
            pp_graph_input(g, message, ends[j]);
            pp_graph_input(g, message, posts[j]);
        }
    }
    for (int j = 0; j < past; j++) {
        const int k = count - 1 - j;
        pp_graph_carry(g, ends[j], k >= 0 ? message0 + first + k : ends[-1 - k]);
        pp_graph_carry(g, posts[j], k >= 0 ? g->posts[first + k][1] : posts[-1 - k]);
    }
}

static void add_shared_nodes(struct pp_graph *g)
{
    const struct pp_program *p = g->program;
    int *posts = PP_ARRAY(g->arena, int, p->collective_count);

    g->posts = (int32_t(*)[2])PP_ARRAY(g->arena, int32_t, 2 * (size_t)p->message_count);
    for (int m = 0; m < p->message_count; m++)
        pp_graph_add(g, (struct pp_node){.owner = PP_NO_OWNER});
    for (int i = 0; i < pp_program_size(p); i++)
        if (pp_op_is_collective(p->kind[i]) && p->arg[i] >= 0)
            posts[p->arg[i]]++;
    for (int c = 0; c < p->collective_count; c++)
        add_collective(g, &p->collectives[c], posts[c]);
    const int32_t collective0 = g->count - p->collective_count;
    for (int c = 0; c < p->collective_count; c++) {
        const int32_t ring = g->nodes[collective0 + c].in[2];
        if (ring)
            g->rings[ring - 1].start = add_meet(g, PP_NO_OWNER, 0, posts[c]);
    }
}

static void walk_rank(struct walk *w)
{
    struct pp_graph *g = w->g;
    const struct pp_program *p = g->program;
    const int32_t clock = pp_graph_clock(g, w->rank, &w->clock);
    const int32_t send = pp_graph_entry(g), collective = pp_graph_entry(g);
    int32_t copy[PP_COPY_STREAMS];

    w->last_send = send;
    w->last_collective = collective;
    for (int k = 0; k < PP_COPY_STREAMS; k++)
        w->last_copy[k] = copy[k] = pp_graph_entry(g);
    w->weights = 0;
    for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++) {
        if (!pp_weight_stream_has(p, i))
            clock_wait(g, &w->clock, other_stream(w, i));
        walk_stream[pp_op_kinds[p->kind[i]].stream](w, i);
    }
    clock_wait(g, &w->clock, w->weights); /* the whole step is done before the next */
    pp_graph_carry(g, clock, clock_node(g, &w->clock));
    pp_graph_carry(g, send, w->last_send);
    pp_graph_carry(g, collective, w->last_collective);
    for (int k = 0; k < PP_COPY_STREAMS; k++)
        pp_graph_carry(g, copy[k], w->last_copy[k]);
}

enum pp_status pp_graph_lowered(struct pp_graph *g, struct pp_error *err)
{
    const struct pp_program *p = g->program;
    struct walk w = {.g = g, .message0 = g->count, .collective0 = g->count + p->message_count};
    int64_t past = 0;

    add_shared_nodes(g);
    for (int r = 0; r < p->ranks; r++) {
        const int barriers = w.barrier_count;
        w.rank = r;
        w.passed = 0;
        walk_rank(&w);
        if (r > 0 && w.passed != barriers)
            return pp_error_set(err, PP_EPROGRAM,
                                "rank %d has %d BAR, rank 0 has %d: all ranks must meet", r,
                                w.passed, barriers);
    }
    for (int c = 0; c < p->channel_count; c++) {
        past += sent_before(g, &p->channels[c]);
        if (past > MAX_PAST)
            return pp_error_set(err, PP_EFAIL,
                                "buffers of %d messages over %d steps without a barrier are too "
                                "many to follow",
                                g->options->buffered, g->options->steps);
        chain_transfers(g, &p->channels[c], w.message0);
        if (g->options->is_buffered && g->options->buffered > 0)
            limit_buffer(g, &p->channels[c], w.message0);
    }
    return PP_OK;
}
