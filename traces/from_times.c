/* A trace from a program and the times of its instructions. */
#include "traces/from_times.h"

#include "core/units.h"

#include <math.h>
#include <string.h>

struct builder {
    struct pp_arena *arena;
    const struct pp_trace_source *source;
    int *event_of; /* [instruction] its event within one step of one replica */
    int events;    /* per step and replica */
    int size;      /* instructions */
};

static struct pp_op op_of(const struct builder *b, int i)
{
    return b->source->op(b->source->program, i);
}

/* Numbers the events of one replica: both ops of a fused pair share the event of the first. */
static void number_events(struct builder *b)
{
    b->event_of = PP_ARRAY(b->arena, int, b->size);
    for (int i = 0; i < b->size; i++) {
        const struct pp_op op = op_of(b, i);
        b->event_of[i] = op.aux == PP_FUSED_SECOND && i > 0 && pp_op_is_compute(op.kind)
                             ? b->event_of[i - 1]
                             : b->events++;
    }
}

/* Prints the cell of an op, and of the op with which it is fused, or NULL. */
static void print_cell(const struct pp_trace_source *s, const struct pp_op *op,
                       const struct pp_op *fused, char cell[PP_TRACE_CELL_BYTES])
{
    struct pp_op_style style = s->style;

    style.slots = false; /* events have the names of PyTorch's profiler */
    cell[0] = '(';
    size_t length = pp_op_print(op, style, cell + (fused != NULL)) + (fused != NULL);
    if (!fused)
        return;
    cell[length++] = ';';
    length += pp_op_print(fused, style, cell + length);
    strcpy(cell + length, ")OVERLAP_F_B");
}

struct pp_shares pp_trace_shares(const struct pp_trace_source *s, const struct pp_op *op, int i)
{
    const struct pp_costs *costs = s->costs;
    const bool is_fused = op->aux == PP_FUSED_FIRST;
    const struct pp_op second = is_fused ? s->op(s->program, i + 1) : (struct pp_op){0},
                       *fused = is_fused ? &second : NULL;
    const struct pp_cost cost =
        s->cost ? s->cost(s->program, costs, i, is_fused) : pp_costs_op(costs, op, fused);
    const double total_ps = cost.ps > 0 ? (double)cost.ps : 1;
    struct pp_shares shares = {.of = {[PP_SHARE_TP] = (double)cost.tp_ps / total_ps,
                                      [PP_SHARE_CP] = (double)cost.cp_ps / total_ps,
                                      [PP_SHARE_EP] = (double)cost.ep_ps / total_ps,
                                      [PP_SHARE_GATHER] = (double)cost.gather_ps / total_ps,
                                      [PP_SHARE_COPY] = (double)cost.copy_ps / total_ps},
                               .forward = NAN};

    if (fused) { /* in proportion to their separate costs */
        const double f_ps = (double)pp_costs_op(costs, op, NULL).ps,
                     b_ps = (double)pp_costs_op(costs, fused, NULL).ps;
        shares.forward = f_ps + b_ps > 0 ? f_ps / (f_ps + b_ps) : 0.5;
    }
    return shares;
}

static double bytes_of(const struct pp_costs *costs, const struct pp_op *op)
{
    if (pp_op_is_send(op->kind) || pp_op_is_recv(op->kind))
        return pp_costs_message_bytes(costs, op);
    return pp_op_has_purpose(op->kind) || op->kind == PP_A2A ? pp_costs_op(costs, op, NULL).bytes
                                                             : 0;
}

/* The event without its clock and its shares. */
static struct pp_trace_event describe(const struct pp_trace_source *s, int rank, int i,
                                      const struct pp_op *op, char *cell)
{
    struct pp_trace_event event = {.rank = rank,
                                   .kind = op->kind,
                                   .target = op->kind == PP_WAIT ? op->aux : 0,
                                   .stream = (uint8_t)pp_op_kinds[op->kind].stream,
                                   .cell = cell,
                                   .posted_s = NAN,
                                   .matched_s = NAN,
                                   .bytes = bytes_of(s->costs, op),
                                   .forward_frac = NAN,
                                   .waits_for = -1};

    const int kind = op->kind == PP_WAIT ? op->aux : op->kind;
    if (pp_op_is_move(kind))
        event.cause = (uint8_t)pp_move_cause(kind, op->purpose);
    else if (s->costs)
        event.cause = (uint8_t)pp_costs_copied_inside(s->costs, kind, op->stage);
    if (event.stream == PP_STREAM_COMPUTE) {
        event.is_fused = op->aux == PP_FUSED_FIRST;
        event.is_concurrent = s->is_concurrent && s->is_concurrent[i];
    }
    if (cell) {
        const struct pp_op second = event.is_fused ? s->op(s->program, i + 1) : *op;
        print_cell(s, op, event.is_fused ? &second : NULL, cell);
    }
    return event;
}

static double seconds_or_nan(const int64_t *ps, size_t at)
{
    return ps != NULL ? pp_units_s(ps[at]) : (double)NAN;
}

/* When both sides have posted the message of instruction `i`, which is `op`. */
static double matched_s(const struct pp_trace_source *s, int i, const struct pp_op *op, size_t at)
{
    if (s->matched_ps || !s->posted_ps || !s->sides)
        return seconds_or_nan(s->matched_ps, at);
    const int32_t other = s->sides[op->arg][!pp_op_is_recv(op->kind)];
    const int64_t mine_ps = s->posted_ps[at],
                  other_ps = s->posted_ps[(ptrdiff_t)at + (other - i) * (ptrdiff_t)s->replicas];
    return pp_units_s(mine_ps > other_ps ? mine_ps : other_ps);
}

/* Completes the event of instruction `i` in one step of one replica with its times. */
static void place(const struct pp_trace_source *s, int i, const struct pp_op *op,
                  struct pp_trace_event *event)
{
    const size_t row = (size_t)event->step * (size_t)s->begin[s->ranks] + (size_t)i;
    const size_t at = row * (size_t)s->replicas + (size_t)event->replica;
    const bool is_message = pp_op_is_send(event->kind) || pp_op_is_recv(event->kind);

    event->start_s = pp_units_s(s->start_ps[at]);
    event->end_s = pp_units_s(s->end_ps[at]);
    if (is_message || pp_op_is_collective(event->kind) || event->stream == PP_STREAM_COPY)
        event->posted_s = seconds_or_nan(s->posted_ps, at);
    if (is_message)
        event->matched_s = matched_s(s, i, op, at);
    if (s->step_of)
        event->step = s->step_of[i];
}

int pp_trace_source_rank(const struct pp_trace_source *s, int row)
{
    const int i = row / s->replicas % s->begin[s->ranks];
    int low = 0, high = s->ranks - 1;

    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (s->begin[middle] <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

struct pp_trace_event pp_trace_source_event(const struct pp_trace_source *s, int row,
                                            char cell[PP_TRACE_CELL_BYTES])
{
    const int size = s->begin[s->ranks], i = row / s->replicas % size;
    const struct pp_op op = s->op(s->program, i);
    struct pp_trace_event event = describe(s, pp_trace_source_rank(s, row), i, &op, cell);

    event.replica = row % s->replicas;
    event.step = row / s->replicas / size;
    place(s, i, &op, &event);
    return event;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Replaces the shares of exchanges by their measured times. All others divide the rest. */
static void measure(const struct pp_trace_source *s, const struct pp_shares *shares, size_t at,
                    struct pp_trace_event *event)
{
    const double tp_s = pp_units_s(s->tp_ps[at]), ep_s = pp_units_s(s->ep_ps[at]);
    const double rest_s = event->end_s - event->start_s - tp_s - ep_s,
                 rest_frac = 1 - shares->of[PP_SHARE_TP] - shares->of[PP_SHARE_EP];

    for (int k = 0; k < PP_SHARES; k++)
        event->share_s[k] = shares->of[k] > 0 ? shares->of[k] / rest_frac * rest_s : 0;
    event->share_s[PP_SHARE_TP] = tp_s;
    event->share_s[PP_SHARE_EP] = ep_s;
}

/* Sets the times of a compute op in its parts. Jitter and slow devices stretch it as a whole. */
static void share_out(const struct pp_trace_source *s, const struct pp_shares *shares, int i,
                      struct pp_trace_event *event)
{
    const size_t row = (size_t)event->step * (size_t)s->begin[s->ranks] + (size_t)i;

    for (int k = 0; k < PP_SHARES; k++)
        event->share_s[k] = shares->of[k] * (event->end_s - event->start_s);
    if (s->tp_ps && event->stream == PP_STREAM_COMPUTE)
        measure(s, shares, row * (size_t)s->replicas + (size_t)event->replica, event);
}

static void add_instruction(const struct builder *b, int rank, int i, struct pp_trace_event *events)
{
    const struct pp_trace_source *s = b->source;
    const struct pp_op op = op_of(b, i);
    char cell[PP_TRACE_CELL_BYTES];
    struct pp_trace_event event = describe(s, rank, i, &op, cell);
    struct pp_shares shares = {.forward = NAN};
    const int target = event.kind == PP_WAIT ? op.arg : -1, steps = s->steps;
    const int first = b->event_of[s->begin[rank]]; /* first event of the list */
    const int length = b->event_of[s->begin[rank + 1] - 1] + 1 - first;

    event.cell = pp_arena_strdup(b->arena, cell);
    if (event.stream == PP_STREAM_COMPUTE)
        shares = pp_trace_shares(s, &op, i);
    event.forward_frac = shares.forward;
    for (int replica = 0; replica < s->replicas; replica++)
        for (int step = 0; step < steps; step++) {
            const int base = steps * (replica * b->events + first) + step * length - first;
            struct pp_trace_event *mine = &events[base + b->event_of[i]];
            *mine = event;
            mine->replica = replica;
            mine->step = step;
            place(s, i, &op, mine);
            share_out(s, &shares, i, mine);
            if (target >= 0)
                mine->waits_for = base + b->event_of[s->begin[rank] + target];
        }
}

/* The trace without events. */
static struct pp_trace *make_trace(struct pp_arena *arena, const struct pp_trace_source *source,
                                   int count)
{
    struct pp_trace *trace = PP_NEW(arena, struct pp_trace);

    *trace = (struct pp_trace){.program = source->name,
                               .program_hash = source->hash,
                               .engine = source->engine,
                               .time_unit = source->time_unit,
                               .ranks = source->ranks,
                               .replicas = source->replicas,
                               .steps = source->step_of ? source->steps_in_list : source->steps,
                               .count = count};
    return trace;
}

struct pp_trace *pp_trace_from_source(struct pp_arena *arena, const struct pp_trace_source *source)
{
    struct builder b = {.arena = arena, .source = source, .size = source->begin[source->ranks]};

    number_events(&b);
    struct pp_trace *trace = make_trace(arena, source, b.events * source->replicas * source->steps);
    trace->events = PP_ARRAY(arena, struct pp_trace_event, trace->count);
    for (int r = 0; r < source->ranks; r++)
        for (int i = source->begin[r]; i < source->begin[r + 1]; i++)
            if (i == 0 || b.event_of[i] != b.event_of[i - 1])
                add_instruction(&b, r, i, trace->events);
    return trace;
}

struct pp_trace *pp_trace_of_source(struct pp_arena *arena, const struct pp_trace_source *source)
{
    struct pp_trace *trace =
        make_trace(arena, source, source->begin[source->ranks] * source->steps * source->replicas);

    trace->source = source;
    return trace;
}
