/* Finds the order of work-conserving ranks by simulating the compute ops. */
#include "schedules/search/eager.h"

#include "core/heap.h"
#include "schedules/search/gates.h"
#include "schedules/search/needs.h"
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

/* A unit that may run. The least key runs first; of equal ones, those that begin with a backward.
 */
struct ready {
    int64_t key;
    int32_t unit;
    bool is_forward;
};

static inline bool is_ready_before(struct ready a, struct ready b)
{
    return a.key != b.key                 ? a.key < b.key
           : a.is_forward != b.is_forward ? b.is_forward
                                          : a.unit < b.unit;
}

PP_HEAP(event_heap, struct event, 2, is_event_before)
PP_HEAP(ready_heap, struct ready, 2, is_ready_before)

struct rank {
    struct ready_heap ready[2]; /* others; units that pass a gate */
    bool is_busy, is_touched;
    struct channel_end *channels;
    int channel_count, channel_capacity;
};

struct eager {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct pp_eager_options *options;
    struct pp_needs needs;
    struct pp_gates gates;
    uint16_t *rank_of; /* [op] */
    struct rank *ranks;
    int *touched, touched_count; /* ranks to visit after all events of one time */
    struct event_heap events;
    int32_t events_made;
    int left; /* units that have not begun */
    struct pp_orders *orders;
};

static bool is_pair(const struct pp_program *p, int32_t unit)
{
    return p->aux[unit] == PP_FUSED_FIRST;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void touch(struct eager *e, int rank)
{
    if (e->ranks[rank].is_touched)
        return;
    e->ranks[rank].is_touched = true;
    e->touched[e->touched_count++] = rank;
}

/* Returns the place of a unit in its rank's queue. By arrival, the first rank starts a micro-batch
 * as soon as the gate lets it; what needs no message follows at once. */
static int64_t key_of(const struct eager *e, int32_t unit, int64_t ps, bool is_message)
{
    enum { AT_THE_GATE = -2, AT_ONCE = -1 };

    if (e->options->order.rule != PP_ORDER_ARRIVAL)
        return unit;
    if (pp_gates_of(&e->gates, unit) != NONE)
        return AT_THE_GATE;
    return is_message ? ps : AT_ONCE;
}

static void make_ready(struct eager *e, int32_t unit, int64_t ps, bool is_message)
{
    const bool is_forward = e->p->kind[unit] == PP_F;
    const struct ready ready = {key_of(e, unit, ps, is_message), unit, is_forward};
    const int rank = e->rank_of[unit];

    ready_heap_push(e->arena, &e->ranks[rank].ready[pp_gates_of(&e->gates, unit) != NONE], ready);
    touch(e, rank);
}

/* Releases the ops that need op i, on its own rank or, once its message is there, on others. */
static void release(struct eager *e, int32_t i, int64_t ps, bool is_message)
{
    const struct pp_needs *needs = &e->needs;

    for (int32_t k = needs->first_use[i]; k < needs->first_use[i + 1]; k++) {
        const int32_t unit = pp_verify_start(e->p, needs->use[k]);
        if ((e->rank_of[unit] != e->rank_of[i]) == is_message && --needs->missing[unit] == 0)
            make_ready(e, unit, ps, is_message);
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
    const int rank = pp_gates_leave(&e->gates, i);

    if (rank != NONE)
        touch(e, rank);
    release(e, i, ps, false);
    send(e, i, ps);
}

static void happen(struct eager *e, const struct event *event)
{
    if (event->is_arrival) {
        release(e, event->op, event->ps, true);
        return;
    }
    e->ranks[e->rank_of[event->op]].is_busy = false;
    touch(e, e->rank_of[event->op]);
    finish_op(e, event->op, event->ps);
    if (is_pair(e->p, event->op))
        finish_op(e, event->op + 1, event->ps);
}

/* Is true for a backward before which no R will run, as its forward was the rank's last op. */
static bool is_skipped(const struct eager *e, int32_t unit, const struct pp_op *backward)
{
    const int r = e->rank_of[unit], count = e->orders->count[r];
    const struct pp_op *last = count > 0 ? &e->orders->ops[r][count - 1] : NULL;

    return e->options->skips_again && last && last->kind == PP_F &&
           pp_op_has_same_cells(last, backward);
}

/* Returns the duration of a unit, with that of its recomputation. */
static int64_t duration_ps(const struct eager *e, int32_t unit)
{
    const struct pp_op op = pp_program_op(e->p, unit);
    struct pp_op second = {0};

    if (is_pair(e->p, unit))
        second = pp_program_op(e->p, unit + 1);
    struct pp_op recompute = is_pair(e->p, unit) ? second : op;
    const bool may_repeat = recompute.kind == PP_B || recompute.kind == PP_I,
               is_left_out = may_repeat && is_skipped(e, unit, &recompute);
    if (e->options->unit_ps)
        return e->options->unit_ps[unit] - (is_left_out ? e->options->again_ps[unit] : 0);
    const int64_t ps = pp_costs_op(e->costs, &op, is_pair(e->p, unit) ? &second : NULL).ps;
    if (!e->options->recompute_frac || !may_repeat || is_left_out ||
        !(e->options->recompute_frac[recompute.stage] > 0))
        return ps;
    recompute.kind = PP_R;
    recompute.aux = 0;
    return ps + pp_costs_op(e->costs, &recompute, NULL).ps;
}

/* Returns the first unit that may run now, or NONE. */
static int32_t choose(struct eager *e, struct rank *rank)
{
    struct ready_heap *gated = &rank->ready[1], *other = &rank->ready[0];
    const bool has_room = gated->count > 0 && pp_gates_have_room(&e->gates, gated->data[0].unit);

    if (has_room && (other->count == 0 || is_ready_before(gated->data[0], other->data[0])))
        return ready_heap_pop(gated).unit;
    return other->count > 0 ? ready_heap_pop(other).unit : NONE;
}

static void begin(struct eager *e, int r, int64_t ps)
{
    struct rank *rank = &e->ranks[r];
    const int32_t unit = rank->is_busy ? NONE : choose(e, rank);

    if (unit == NONE)
        return;
    pp_gates_enter(&e->gates, unit);
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
            if (e->needs.missing[i] == 0)
                make_ready(e, i, 0, false);
        }
    }
}

static enum pp_status stuck(const struct eager *e, struct pp_error *err)
{
    char order[PP_ORDER_TEXT_BYTES], text[PP_OP_TEXT_BYTES];

    for (int r = 0; r < e->p->ranks; r++) {
        const struct ready_heap *gated = &e->ranks[r].ready[1];
        if (gated->count == 0)
            continue;
        pp_error_set(err, PP_EPROGRAM,
                     "--order %s deadlocks: ", pp_order_print(e->options->order, order));
        pp_gates_explain(&e->gates, gated->data[0].unit, err);
        pp_program_print_op(e->p, gated->data[0].unit, text);
        return pp_error_append(err, ", so %s may not begin, and no backward of the rank is ready",
                               text);
    }
    return pp_error_set(err, PP_EPROGRAM,
                        "%s: no order exists: ops wait for each other in a circle", e->p->name);
}

static enum pp_status find_order(struct eager *e, struct pp_error *err)
{
    PP_TRY(pp_needs_find(e->arena, e->p, &e->needs, err));
    e->gates = pp_gates_make(e->arena, e->p, e->options->order);
    set_up(e);
    run(e);
    return e->left > 0 ? stuck(e, err) : PP_OK;
}

/* Appends a sufficient limit to the error of a limit that is too small. */
static enum pp_status suggest(struct eager *e, struct pp_error *err)
{
    const enum pp_order_rule rule = e->options->order.rule;
    struct pp_eager_options unlimited = *e->options;
    struct eager other = {.arena = e->arena,
                          .p = e->p,
                          .costs = e->costs,
                          .options = &unlimited,
                          .rank_of = e->rank_of};
    struct pp_error ignored = {0};

    unlimited.order = (struct pp_order_choice){.rule = rule, .limit = PP_GATES_OPEN};
    if (find_order(&other, &ignored) != PP_OK)
        return err->status;
    const long long most = pp_gates_most(&other.gates);
    return pp_error_append(err, "\n  without a limit a %s holds at most %lld; try --order %s:%lld",
                           rule == PP_ORDER_ARRIVAL ? "pipeline" : "rank", most,
                           pp_order_rule_names[rule], most);
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
                            "--order %s: %s is a lowered program; its order is fixed",
                            pp_order_rule_names[options->order.rule], program->name);
    for (int r = 0; r < program->ranks; r++)
        for (int i = program->begin[r]; i < program->begin[r + 1]; i++)
            e.rank_of[i] = (uint16_t)r;
    if (find_order(&e, err) != PP_OK)
        return suggest(&e, err);
    head.line = head.column = NULL;
    return pp_program_freeze(arena, &head, e.orders, eager, err);
}
