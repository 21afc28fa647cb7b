/* Finds the order of work-conserving ranks by simulating the compute ops. */
#include "schedules/search/eager.h"

#include "core/heap.h"
#include "schedules/verify/order.h"

/* A unit is one op, or the two of an overlapped pair; its number is the index of its first op. */
enum { NONE = -1 };

/* The last transfer of one channel. */
struct channel_end {
    int dest, pipe, direction;
    int64_t ps;
};

/* A unit ends, or the output of an op arrives at another rank. */
struct event {
    int64_t ps;
    int32_t order; /* events of one time happen in the order of their creation */
    int32_t op;
    bool is_arrival;
};

static inline bool is_event_before(struct event a, struct event b)
{
    return a.ps != b.ps ? a.ps < b.ps : a.order < b.order;
}

static inline bool is_unit_before(int32_t a, int32_t b)
{
    return a < b;
}

PP_HEAP(event_heap, struct event, 2, is_event_before)
PP_HEAP(unit_heap, int32_t, 2, is_unit_before)

struct rank {
    struct unit_heap ready[2]; /* others; units that begin with a forward */
    bool is_busy, is_touched;
    int64_t held, peak; /* activations, in (granule, split) cells */
    struct channel_end *channels;
    int channel_count, channel_capacity;
};

struct eager {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct pp_eager_options *options;
    int64_t limit;            /* in cells, INT64_MAX = none */
    int32_t *first_use, *use; /* ops that need op i: use[first_use[i] .. first_use[i + 1] - 1] */
    int32_t *missing;         /* [unit]: inputs that have not arrived */
    uint16_t *rank_of;        /* [op] */
    struct rank *ranks;
    int *touched, touched_count; /* ranks to visit after all events of one time */
    struct event_heap events;
    int32_t events_made;
    int left; /* units that have not begun */
    struct pp_orders *orders;
};

/* ---- needs ----------------------------------------------------------------------------------- */

static bool is_pair(const struct pp_program *p, int32_t unit)
{
    return p->aux[unit] == PP_FUSED_FIRST;
}

/* Visits every pair of an op and an op that it needs: the first call counts, the second fills. */
static void each_need(struct eager *e, const struct pp_verify *v, int32_t *at)
{
    const struct pp_program *p = e->p;
    int needs[VERIFY_NEEDS];

    for (int i = 0; i < pp_program_size(p); i++) {
        int64_t unit = pp_verify_unit(v, p->stage[i], p->mb[i], p->split[i]);
        for (int g = 0; g < p->granule_count[i]; g++, unit += p->splits) {
            const int count = pp_verify_needs(v, i, unit, needs);
            for (int k = 0; k < count; k++)
                if (e->use)
                    e->use[at[needs[k]]++] = i;
                else
                    at[needs[k]]++;
            e->missing[pp_verify_start(p, i)] += e->use ? count : 0;
        }
    }
}

static enum pp_status find_needs(struct eager *e, struct pp_error *err)
{
    const int size = pp_program_size(e->p);
    struct pp_verify v = {
        .p = e->p, .arena = e->arena, .err = err, .granules = e->p->micro_batches * e->p->granules};
    int32_t *at = PP_ARRAY(e->arena, int32_t, size + 1);

    PP_TRY(pp_verify_units(&v));
    e->missing = PP_ARRAY(e->arena, int32_t, size + 1);
    e->first_use = PP_ARRAY(e->arena, int32_t, size + 1);
    each_need(e, &v, at);
    for (int i = 0; i < size; i++) {
        e->first_use[i + 1] = e->first_use[i] + at[i];
        at[i] = e->first_use[i];
    }
    e->use = PP_ARRAY(e->arena, int32_t, e->first_use[size] + 1);
    each_need(e, &v, at);
    return PP_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void touch(struct eager *e, int rank)
{
    if (e->ranks[rank].is_touched)
        return;
    e->ranks[rank].is_touched = true;
    e->touched[e->touched_count++] = rank;
}

static void make_ready(struct eager *e, int32_t unit)
{
    const int rank = e->rank_of[unit];

    unit_heap_push(e->arena, &e->ranks[rank].ready[e->p->kind[unit] == PP_F], unit);
    touch(e, rank);
}

/* Releases the ops that need op i, on its own rank or on others. */
static void release(struct eager *e, int32_t i, bool is_elsewhere)
{
    for (int32_t k = e->first_use[i]; k < e->first_use[i + 1]; k++) {
        const int32_t unit = pp_verify_start(e->p, e->use[k]);
        if ((e->rank_of[unit] != e->rank_of[i]) == is_elsewhere && --e->missing[unit] == 0)
            make_ready(e, unit);
    }
}

static struct channel_end *channel_of(struct eager *e, struct rank *rank, struct channel_end key)
{
    for (int k = 0; k < rank->channel_count; k++)
        if (rank->channels[k].dest == key.dest && rank->channels[k].pipe == key.pipe &&
            rank->channels[k].direction == key.direction)
            return &rank->channels[k];
    *PP_PUSH(e->arena, rank->channels, rank->channel_count, rank->channel_capacity) = key;
    return &rank->channels[rank->channel_count - 1];
}

static void add_event(struct eager *e, struct event event)
{
    event.order = e->events_made++;
    event_heap_push(e->arena, &e->events, event);
}

/* Sends the result of op i at `ps` to the rank that uses it, if that is another one. */
static void send(struct eager *e, int32_t i, int64_t ps)
{
    const struct pp_program *p = e->p;
    const bool is_forward = p->kind[i] == PP_F;
    const int next = p->stage[i] + (is_forward ? 1 : -1), source = e->rank_of[i];

    if ((!is_forward && p->kind[i] != PP_B && p->kind[i] != PP_I) || next < 0 || next >= p->stages)
        return;
    const int dest = pp_program_rank_of(p, p->pipe[i], next);
    if (dest == source)
        return;
    struct pp_op message = pp_program_op(p, i);
    message.kind = is_forward ? PP_SEND_F : PP_SEND_B;
    message.peer = (uint16_t)dest;
    struct channel_end *channel =
        channel_of(e, &e->ranks[source],
                   (struct channel_end){.dest = dest, .pipe = p->pipe[i], .direction = is_forward});
    const int64_t start = !e->costs->is_unit && channel->ps > ps ? channel->ps : ps;
    channel->ps = start + pp_costs_p2p(e->costs, &message, source).ps;
    add_event(e, (struct event){.ps = channel->ps, .op = i, .is_arrival = true});
}

static void finish_op(struct eager *e, int32_t i, int64_t ps)
{
    const int kind = e->p->kind[i];
    const bool is_freeing =
        e->p->mode == PP_MODE_INFER ? kind == PP_F : kind == PP_B || kind == PP_W;

    if (is_freeing)
        e->ranks[e->rank_of[i]].held -= e->p->granule_count[i];
    release(e, i, false);
    send(e, i, ps);
}

static void happen(struct eager *e, const struct event *event)
{
    if (event->is_arrival) {
        release(e, event->op, true);
        return;
    }
    e->ranks[e->rank_of[event->op]].is_busy = false;
    touch(e, e->rank_of[event->op]);
    finish_op(e, event->op, event->ps);
    if (is_pair(e->p, event->op))
        finish_op(e, event->op + 1, event->ps);
}

/* Returns the duration of a unit, with that of its recomputation. */
static int64_t duration_ps(const struct eager *e, int32_t unit)
{
    const struct pp_op op = pp_program_op(e->p, unit);
    struct pp_op second = {0}, recompute;

    if (is_pair(e->p, unit))
        second = pp_program_op(e->p, unit + 1);
    const int64_t ps = pp_costs_op(e->costs, &op, is_pair(e->p, unit) ? &second : NULL).ps;
    recompute = is_pair(e->p, unit) ? second : op;
    if (!e->options->recompute_frac || (recompute.kind != PP_B && recompute.kind != PP_I) ||
        !(e->options->recompute_frac[recompute.stage] > 0))
        return ps;
    recompute.kind = PP_R;
    recompute.aux = 0;
    return ps + pp_costs_op(e->costs, &recompute, NULL).ps;
}

/* Returns the first unit in the list that may run now, or NONE. */
static int32_t choose(const struct eager *e, struct rank *rank)
{
    struct unit_heap *forward = &rank->ready[1], *other = &rank->ready[0];
    const bool has_room =
        forward->count > 0 && rank->held + e->p->granule_count[forward->data[0]] <= e->limit;

    if (has_room && (other->count == 0 || forward->data[0] < other->data[0]))
        return unit_heap_pop(forward);
    return other->count > 0 ? unit_heap_pop(other) : NONE;
}

static void begin(struct eager *e, int r, int64_t ps)
{
    struct rank *rank = &e->ranks[r];
    const int32_t unit = rank->is_busy ? NONE : choose(e, rank);

    if (unit == NONE)
        return;
    if (e->p->kind[unit] == PP_F)
        rank->held += e->p->granule_count[unit];
    rank->peak = rank->held > rank->peak ? rank->held : rank->peak;
    rank->is_busy = true;
    e->left--;
    add_event(e, (struct event){.ps = ps + duration_ps(e, unit), .op = unit});
    for (int i = unit; i <= unit + is_pair(e->p, unit); i++)
        pp_orders_add(e->arena, e->orders, r, pp_program_op(e->p, i));
}

static void begin_all(struct eager *e, int64_t ps)
{
    for (int k = 0; k < e->touched_count; k++) {
        e->ranks[e->touched[k]].is_touched = false;
        begin(e, e->touched[k], ps);
    }
    e->touched_count = 0;
}

static void run(struct eager *e)
{
    begin_all(e, 0);
    while (e->events.count > 0) {
        const int64_t now_ps = e->events.data[0].ps;
        while (e->events.count > 0 && e->events.data[0].ps == now_ps) {
            const struct event event = event_heap_pop(&e->events);
            happen(e, &event);
        }
        begin_all(e, now_ps);
    }
}

/* ---- set-up and result ----------------------------------------------------------------------- */

static void set_up(struct eager *e)
{
    const struct pp_program *p = e->p;

    e->limit =
        e->options->limit > 0 ? (int64_t)e->options->limit * p->granules * p->splits : INT64_MAX;
    e->orders = pp_orders_create(e->arena, p->ranks);
    e->ranks = PP_ARRAY(e->arena, struct rank, p->ranks);
    e->touched = PP_ARRAY(e->arena, int, p->ranks);
    for (int r = 0; r < p->ranks; r++) {
        const int count = p->begin[r + 1] - p->begin[r];
        pp_orders_reserve(e->arena, e->orders, r, count);
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            if (pp_verify_start(p, i) != i)
                continue;
            e->left++;
            if (e->missing[i] == 0)
                make_ready(e, i);
        }
    }
}

static enum pp_status stuck(const struct eager *e, struct pp_error *err)
{
    const struct pp_program *p = e->p;
    const double cells = (double)p->granules * p->splits;
    char text[PP_OP_TEXT_BYTES];

    for (int r = 0; r < p->ranks; r++) {
        const struct rank *rank = &e->ranks[r];
        if (rank->ready[1].count == 0)
            continue;
        pp_program_print_op(p, rank->ready[1].data[0], text);
        return pp_error_set(err, PP_EPROGRAM,
                            "--order eager:%d deadlocks: rank %d holds %g chunk activation%s, so "
                            "%s may not begin, and no backward of the rank is ready",
                            e->options->limit, r, (double)rank->held / cells,
                            (double)rank->held == cells ? "" : "s", text);
    }
    return pp_error_set(err, PP_EPROGRAM,
                        "%s: no order exists: ops wait for each other in a circle", p->name);
}

static enum pp_status find_order(struct eager *e, struct pp_error *err)
{
    PP_TRY(find_needs(e, err));
    set_up(e);
    run(e);
    return e->left > 0 ? stuck(e, err) : PP_OK;
}

/* Appends a sufficient limit to the error of a limit that is too small. */
static void suggest(struct eager *e, struct pp_error *err)
{
    const struct pp_eager_options unlimited = {.recompute_frac = e->options->recompute_frac};
    struct eager other = {.arena = e->arena,
                          .p = e->p,
                          .costs = e->costs,
                          .options = &unlimited,
                          .rank_of = e->rank_of};
    const int64_t cells = (int64_t)e->p->granules * e->p->splits;
    struct pp_error ignored = {0};
    int64_t peak = 0;

    if (e->options->limit == 0 || find_order(&other, &ignored) != PP_OK)
        return;
    for (int r = 0; r < e->p->ranks; r++)
        peak = other.ranks[r].peak > peak ? other.ranks[r].peak : peak;
    pp_error_append(err, "\n  without a limit a rank holds at most %lld; try --order eager:%lld",
                    (long long)((peak + cells - 1) / cells),
                    (long long)((peak + cells - 1) / cells));
}

enum pp_status pp_eager_program(struct pp_arena *arena, const struct pp_program *program,
                                const struct pp_costs *costs,
                                const struct pp_eager_options *options, struct pp_program **eager,
                                struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct eager e = {.arena = scratch,
                      .p = program,
                      .costs = costs,
                      .options = options,
                      .rank_of = PP_ARRAY(scratch, uint16_t, pp_program_size(program) + 1)};
    struct pp_program_head head = pp_program_head_of(program);

    if (program->level != PP_LEVEL_COMPUTE)
        return pp_error_set(err, PP_EINVAL,
                            "--order eager: %s is a lowered program; its order is fixed",
                            program->name);
    for (int r = 0; r < program->ranks; r++)
        for (int i = program->begin[r]; i < program->begin[r + 1]; i++)
            e.rank_of[i] = (uint16_t)r;
    const enum pp_status status = find_order(&e, err);
    if (status != PP_OK) {
        suggest(&e, err);
        return status;
    }
    head.line = head.column = NULL;
    return pp_program_freeze(arena, &head, e.orders, eager, err);
}
