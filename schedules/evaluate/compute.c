/* The graph of a compute-only program, whose messages are implied. */
#include "schedules/evaluate/eval.h"

/* Messages follow from the data dependencies: those that lowering would insert, with unbounded
 * buffers. F of stage s sends to the rank of s + 1, B or I to that of s - 1, if not its own. */

enum { TABLE_SLACK = 1 << 16, TABLE_FACTOR = 64 };

struct implied {
    struct pp_graph *g;
    /* End of the transfer that the next stage waits for: [enum pp_direction] [(stage * granules +
     * granule) * splits + split] */
    int32_t *flow[2];
    int granules; /* of the whole program */
};

/* Last message of each channel from one rank. */
struct channel_end {
    uint16_t dest, pipe;
    uint8_t direction;
    int32_t entry, last;
};
struct channel_ends {
    struct channel_end *data;
    int count, capacity;
    int32_t last_send;
};

/* Is true if instruction i has an output for another stage. */
static bool has_flow(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_F || p->kind[i] == PP_B || p->kind[i] == PP_I;
}

static enum pp_direction direction_of(int kind)
{
    return kind == PP_F ? PP_DIR_F : PP_DIR_B;
}

static size_t cell(const struct implied *im, int stage, int granule, int split)
{
    return ((size_t)stage * (size_t)im->granules + (size_t)granule) *
               (size_t)im->g->program->splits +
           (size_t)split;
}

static int32_t *channel_last(struct pp_graph *g, struct channel_ends *ends, struct channel_end key)
{
    for (int k = 0; k < ends->count; k++)
        if (ends->data[k].dest == key.dest && ends->data[k].pipe == key.pipe &&
            ends->data[k].direction == key.direction)
            return &ends->data[k].last;
    key.entry = key.last = pp_graph_entry(g);
    *PP_PUSH(g->arena, ends->data, ends->count, ends->capacity) = key;
    return &ends->data[ends->count - 1].last;
}

/* Returns the transfer of the result of instruction i to the next stage. It is the node of i itself
 * if that stage is on the same rank or the transfer takes no time. */
static int32_t transfer(struct implied *im, struct channel_ends *ends, int rank, int i)
{
    struct pp_graph *g = im->g;
    const struct pp_program *p = g->program;
    const enum pp_direction direction = direction_of(p->kind[i]);
    const int next = p->stage[i] + (direction == PP_DIR_F ? 1 : -1);
    const int32_t from = g->node_of[i];

    if (next < 0 || next >= p->stages)
        return from;
    const int dest = pp_program_rank_of(p, p->pipe[i], next);
    if (dest == rank)
        return from;
    struct pp_op send = pp_program_op(p, i);
    send.kind = direction == PP_DIR_F ? PP_SEND_F : PP_SEND_B;
    send.peer = (uint16_t)dest;
    const int64_t ps = pp_costs_p2p(g->costs, &send, rank).ps;
    if (g->costs->is_unit && ps == 0 && !g->options->nic_fifo)
        return from;
    const int32_t message = pp_graph_add(g, (struct pp_node){.owner = i, .ps = ps, .in = {from}});
    if (!g->costs->is_unit) {
        int32_t *last = channel_last(g, ends,
                                     (struct channel_end){.dest = (uint16_t)dest,
                                                          .pipe = p->pipe[i],
                                                          .direction = (uint8_t)direction});
        pp_graph_input(g, message, *last);
        *last = message;
    }
    if (g->options->nic_fifo)
        pp_graph_input(g, message, ends->last_send);
    return ends->last_send = message;
}

static void add_compute(struct pp_graph *g, int rank)
{
    const struct pp_program *p = g->program;
    struct pp_clock clock = {0};
    const int32_t entry = pp_graph_clock(g, rank, &clock);

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (g->node_of[i] == 0 && pp_op_is_compute(p->kind[i]))
            pp_graph_compute(g, &clock, i, pp_graph_is_fused(p, i, p->begin[rank + 1]));
    pp_graph_carry(g, entry, clock.value[0]);
}

static void add_transfers(struct implied *im, int rank)
{
    const struct pp_program *p = im->g->program;
    const int32_t entry = pp_graph_entry(im->g);
    struct channel_ends ends = {.last_send = entry};

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        if (!has_flow(p, i))
            continue;
        const int32_t end = transfer(im, &ends, rank, i);
        for (int k = 0; k < p->granule_count[i]; k++)
            im->flow[direction_of(p->kind[i])][cell(im, p->stage[i], p->mb[i] + k, p->split[i])] =
                end;
    }
    pp_graph_carry(im->g, entry, ends.last_send);
    for (int k = 0; k < ends.count; k++)
        pp_graph_carry(im->g, ends.data[k].entry, ends.data[k].last);
}

static enum pp_status add_dependencies(struct implied *im, int rank, struct pp_error *err)
{
    struct pp_graph *g = im->g;
    const struct pp_program *p = g->program;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        if (!has_flow(p, i))
            continue;
        const enum pp_direction direction = direction_of(p->kind[i]);
        const int before = p->stage[i] + (direction == PP_DIR_F ? -1 : 1);
        if (before < 0 || before >= p->stages)
            continue;
        for (int k = 0; k < p->granule_count[i]; k++) {
            const int32_t end = im->flow[direction][cell(im, before, p->mb[i] + k, p->split[i])];
            if (end == 0)
                return pp_error_set(err, PP_EPROGRAM,
                                    "rank %d: %d%s%d needs %d%s%d, which no rank runs", rank,
                                    p->stage[i], pp_op_kinds[p->kind[i]].text, p->mb[i] + k, before,
                                    direction == PP_DIR_F ? "F" : "B", p->mb[i] + k);
            /* Earlier nodes of the rank itself are inputs already. */
            if (pp_program_rank_of(p, p->pipe[i], before) != rank || end >= g->node_of[i])
                pp_graph_input(g, g->node_of[i], end);
        }
    }
    return PP_OK;
}

enum pp_status pp_graph_compute_only(struct pp_graph *g, struct pp_error *err)
{
    const struct pp_program *p = g->program;
    struct implied im = {.g = g, .granules = p->micro_batches * p->granules};
    const size_t cells = cell(&im, p->stages, 0, 0);

    if (cells > (size_t)TABLE_FACTOR * (size_t)pp_program_size(p) + TABLE_SLACK)
        return pp_error_set(err, PP_EPROGRAM,
                            "%d stages of %d micro-batches need more ops than the %d there are",
                            p->stages, p->micro_batches, pp_program_size(p));
    for (int d = 0; d < 2; d++)
        im.flow[d] = PP_ARRAY(g->arena, int32_t, cells);
    for (int r = 0; r < p->ranks; r++)
        add_compute(g, r);
    for (int r = 0; r < p->ranks; r++)
        add_transfers(&im, r);
    for (int r = 0; r < p->ranks; r++)
        PP_TRY(add_dependencies(&im, r, err));
    return PP_OK;
}
