#include "tests/oracle/fluid_parts.h"

#include <assert.h>
#include <math.h>

static const double SAME_S = 1e-15; /* two ends as near as this are one moment */

/* ---- instructions as rows of the tables --------------------------------------------------- */

static void set_times(struct fluid *x, int round, int i, int replica, double start_s, double end_s)
{
    x->t->start_s[fluid_row(x, round, i, replica)] = start_s;
    x->t->end_s[fluid_row(x, round, i, replica)] = end_s;
}

/* ---- tasks -------------------------------------------------------------------------------- */

static struct task *add_task(struct fluid *x, void (*ended)(struct fluid *, int, int), int a, int b)
{
    struct task *task = PP_NEW(x->arena, struct task);

    task->up = fmod(x->made++ * 0.61803398875, 1);
    task->ended = ended;
    task->a = a;
    task->b = b;
    *PP_PUSH(x->arena, x->tasks, x->task_count, x->task_capacity) = task;
    return task;
}

void fluid_add_timer(struct fluid *x, double duration_s, void (*ended)(struct fluid *, int, int),
                     int a, int b)
{
    add_task(x, ended, a, b)->until_s = x->now + duration_s;
}

void fluid_add_flow(struct fluid *x, int source, int dest, double bytes,
                    void (*ended)(struct fluid *, int, int), int a, int b)
{
    struct task *task = add_task(x, ended, a, b);

    assert(pp_fabric_route_max(x->o->network->fabric) <= FLUID_ROUTE_MAX);
    const struct pp_route route =
        pp_fabric_route(x->o->network->fabric, source, dest, task->flow.links);
    task->is_flow = true;
    task->flow.link_count = route.count;
    task->flow.left_bytes = bytes;
    task->until_s = x->now + route.alpha_s;
}

static double end_of(const struct fluid *x, const struct task *task)
{
    if (!task->is_moving)
        return task->until_s;
    const double end_s =
        task->flow.left_bytes > 0 ? x->now + task->flow.left_bytes / task->flow.rate : x->now;
    return x->o->quantum_s > 0
               ? fmax(x->now, floor(end_s / x->o->quantum_s + task->up) * x->o->quantum_s)
               : end_s;
}

static void share_links(struct fluid *x)
{
    int count = 0;

    if (x->task_count > x->flow_capacity) {
        x->flow_capacity = 2 * x->task_count;
        x->flows = PP_ARRAY(x->arena, struct fluid_flow *, x->flow_capacity);
    }
    for (int k = 0; k < x->task_count; k++)
        if (x->tasks[k]->is_moving)
            x->flows[count++] = &x->tasks[k]->flow;
    const int most = fluid_share(x->links, x->flows, count, x->room, x->users);
    x->t->most_shared = most > x->t->most_shared ? most : x->t->most_shared;
    x->is_changed = false;
}

/* ---- messages ----------------------------------------------------------------------------- */

static void message_ended(struct fluid *x, int c, int replica)
{
    const struct pp_channel *channel = &x->p->channels[c];
    struct lane_state *s = &x->channels[c * x->replicas + replica];

    if (--s->open > 0)
        return;
    const int round = s->head / channel->count, m = channel->first + s->head % channel->count;
    x->t->end_s[fluid_row(x, round, x->send_of[m], replica)] = x->now;
    x->t->end_s[fluid_row(x, round, x->recv_of[m], replica)] = x->now;
    s->head++;
}

static bool may_start(const struct fluid *x, const struct lane_state *s)
{
    if (s->open > 0 || s->sends <= s->head)
        return false;
    if (!x->o->is_buffered)
        return s->recvs > s->head;
    return x->o->buffered == 0 || s->head - s->recvs < x->o->buffered;
}

static bool try_message(struct fluid *x, int c, int replica)
{
    const struct pp_channel *channel = &x->p->channels[c];
    struct lane_state *s = &x->channels[c * x->replicas + replica];
    const struct pp_network *n = x->o->replay_ps ? NULL : x->o->network;

    if (!may_start(x, s))
        return false;
    const int round = s->head / channel->count, m = channel->first + s->head % channel->count;
    const struct pp_op op = pp_program_op(x->p, x->send_of[m]);
    x->t->start_s[fluid_row(x, round, x->send_of[m], replica)] = x->now;
    x->t->start_s[fluid_row(x, round, x->recv_of[m], replica)] = x->now;
    s->open = n ? n->lanes : 1;
    if (!n)
        fluid_add_timer(x,
                        fluid_duration(x, round, x->send_of[m], replica,
                                       pp_costs_p2p(x->costs, &op, channel->source).ps),
                        message_ended, c, replica);
    for (int lane = 0; n && lane < n->lanes; lane++)
        fluid_add_flow(x, pp_network_device(n, channel->source, replica, lane),
                       pp_network_device(n, channel->dest, replica, lane),
                       pp_costs_message_bytes(x->costs, &op), message_ended, c, replica);
    return true;
}

/* ---- ranks -------------------------------------------------------------------------------- */

static int length_of(const struct fluid *x, const struct actor *a)
{
    return x->p->begin[a->rank + 1] - x->p->begin[a->rank];
}

/* Instruction at which an actor stands; -1 after its last. */
static int at_of(const struct fluid *x, const struct actor *a, int *round)
{
    const int length = length_of(x, a);

    *round = length > 0 ? a->pc / length : x->rounds;
    return *round < x->rounds ? x->p->begin[a->rank] + a->pc % length : -1;
}

static int64_t compute_ps(const struct fluid *x, int round, int i, int replica)
{
    const struct pp_op op = pp_program_op(x->p, i);
    struct pp_op second = {0};

    if (x->o->replay_ps)
        return x->o->replay_ps[fluid_row(x, round, i, replica)];
    if (op.aux == PP_FUSED_FIRST)
        second = pp_program_op(x->p, i + 1);
    return pp_costs_op(x->costs, &op, op.aux == PP_FUSED_FIRST ? &second : NULL).ps;
}

static void post(struct fluid *x, struct actor *a, int round, int i)
{
    if (!isnan(x->t->posted_s[fluid_row(x, round, i, a->replica)]))
        return; /* a bucket, posted while its backward ran */
    x->t->posted_s[fluid_row(x, round, i, a->replica)] = x->now;
    if (pp_op_is_collective(x->p->kind[i])) {
        assert(x->p->arg[i] >= 0);
        a->posted[a->posted_count++] = round * x->size + i;
        return;
    }
    assert(pp_op_is_send(x->p->kind[i]) || pp_op_is_recv(x->p->kind[i]));
    for (int c = 0; c < x->p->channel_count; c++) {
        const struct pp_channel *channel = &x->p->channels[c];
        struct lane_state *s = &x->channels[c * x->replicas + a->replica];
        if (x->p->arg[i] < channel->first || x->p->arg[i] >= channel->first + channel->count)
            continue;
        s->sends += pp_op_is_send(x->p->kind[i]);
        s->recvs += pp_op_is_recv(x->p->kind[i]);
    }
}

/* The next bucket after instruction `from` that is posted while the compute op at `i` runs; -1 =
 * none, and the whole op's time. */
static int next_inside(const struct fluid *x, const struct actor *a, int from, int round, int i,
                       double *time)
{
    const int last = x->p->aux[i] == PP_FUSED_FIRST ? i + 1 : i;
    const int64_t ps = compute_ps(x, round, i, a->replica);
    const double unit = x->o->replay_ps ? 1 : 1e-12;
    int numerator, denominator;

    for (int k = from + 1; k < x->p->begin[a->rank + 1] && !pp_op_is_compute(x->p->kind[k]); k++)
        if (pp_program_posted_inside(x->p, k, &numerator, &denominator) == last) {
            *time = (double)pp_costs_share_ps(ps, numerator, denominator) * unit;
            return k;
        }
    *time = (double)ps * unit;
    return -1;
}

/* The part of a compute op after instruction `from`, at full speed. */
static void run_part(struct fluid *x, struct actor *a, int from, int round, int i)
{
    const double done = a->done;

    a->inside = next_inside(x, a, from, round, i, &a->done);
    a->until_s = x->now + (a->done - done);
    a->speed = 1;
}

static bool run_compute(struct fluid *x, struct actor *a, int round, int i)
{
    const int last = x->p->aux[i] == PP_FUSED_FIRST ? i + 1 : i;

    if (!a->is_computing) {
        a->is_computing = true;
        a->done = 0;
        run_part(x, a, last, round, i);
        for (int k = i; k <= last; k++)
            x->t->start_s[fluid_row(x, round, k, a->replica)] = x->now;
    }
    for (; a->until_s <= x->now + SAME_S && a->inside >= 0; run_part(x, a, a->inside, round, i))
        post(x, a, round, a->inside);
    if (a->until_s > x->now + SAME_S)
        return false;
    a->is_computing = false;
    for (int k = i; k <= last; k++)
        x->t->end_s[fluid_row(x, round, k, a->replica)] = x->now;
    a->pc += last - i;
    return true;
}

static bool run_wait(struct fluid *x, struct actor *a, int round, int i)
{
    const int target = x->p->begin[a->rank] + x->p->arg[i];

    if (isnan(a->arrived_s))
        a->arrived_s = x->now;
    if (isnan(x->t->end_s[fluid_row(x, round, target, a->replica)]))
        return false;
    set_times(x, round, i, a->replica, a->arrived_s, x->now);
    a->arrived_s = NAN;
    return true;
}

/* One instruction; false when the actor has to stay where it is. */
static bool advance(struct fluid *x, struct actor *a)
{
    int round;
    const int i = at_of(x, a, &round);

    if (i < 0)
        return false;
    if (x->p->kind[i] == PP_BAR) {
        if (isnan(a->arrived_s))
            a->arrived_s = x->now;
        return false;
    }
    if (pp_op_is_compute(x->p->kind[i]) && !run_compute(x, a, round, i))
        return false;
    if (x->p->kind[i] == PP_WAIT && !run_wait(x, a, round, i))
        return false;
    if (x->p->kind[i] == PP_DROP)
        set_times(x, round, i, a->replica, x->now, x->now);
    if (pp_op_is_posted(x->p->kind[i]))
        post(x, a, round, i);
    a->pc++;
    return true;
}

/* Where all have come to the barrier, let them go. */
static bool pass_barrier(struct fluid *x)
{
    int round;

    for (int k = 0; k < x->p->ranks * x->replicas; k++) {
        const int i = at_of(x, &x->actors[k], &round);
        if (i < 0 || x->p->kind[i] != PP_BAR)
            return false;
    }
    for (int k = 0; k < x->p->ranks * x->replicas; k++) {
        struct actor *a = &x->actors[k];
        const int i = at_of(x, a, &round);
        set_times(x, round, i, a->replica, a->arrived_s, x->now);
        a->arrived_s = NAN;
        a->pc++;
    }
    return true;
}

/* ---- time --------------------------------------------------------------------------------- */

/* All that can happen now. */
static void settle(struct fluid *x)
{
    for (bool is_moved = true; is_moved;) {
        is_moved = pass_barrier(x);
        for (int k = 0; k < x->p->ranks * x->replicas; k++)
            while (advance(x, &x->actors[k]))
                is_moved = true;
        for (int k = 0; k < x->p->channel_count * x->replicas; k++)
            is_moved |= try_message(x, k / x->replicas, k % x->replicas);
        is_moved |= fluid_try_sums(x);
    }
}

/* A collective that runs takes its share of the compute of its ranks. */
static void set_speeds(struct fluid *x)
{
    for (int k = 0; k < x->p->ranks * x->replicas; k++) {
        struct actor *a = &x->actors[k];
        const double speed = x->reducing[k] ? 1 - x->o->sync_share : 1;
        if (!a->is_computing || a->speed == speed)
            continue;
        a->until_s = x->now + (a->until_s - x->now) * a->speed / speed;
        a->speed = speed;
    }
}

static double next_moment(const struct fluid *x)
{
    double next_s = INFINITY;

    for (int k = 0; k < x->task_count; k++)
        next_s = fmin(next_s, end_of(x, x->tasks[k]));
    for (int k = 0; k < x->p->ranks * x->replicas; k++)
        if (x->actors[k].is_computing)
            next_s = fmin(next_s, x->actors[k].until_s);
    return next_s;
}

/* Go on to the next moment and end the tasks that end there. */
static void go_to(struct fluid *x, double next_s)
{
    struct task **tasks = x->tasks;
    const int count = x->task_count;
    bool *is_over = PP_ARRAY(x->arena, bool, count);

    for (int k = 0; k < count; k++)
        is_over[k] = end_of(x, tasks[k]) <= next_s + SAME_S;
    for (int k = 0; k < count; k++)
        if (tasks[k]->is_moving && isfinite(tasks[k]->flow.rate))
            tasks[k]->flow.left_bytes -= tasks[k]->flow.rate * (next_s - x->now);
    x->now = next_s;
    x->tasks = NULL;
    x->task_count = x->task_capacity = 0;
    for (int k = 0; k < count; k++) {
        const bool begins = is_over[k] && tasks[k]->is_flow && !tasks[k]->is_moving;
        x->is_changed |= is_over[k] && tasks[k]->is_flow;
        tasks[k]->is_moving |= begins;
        if (!is_over[k] || begins)
            *PP_PUSH(x->arena, x->tasks, x->task_count, x->task_capacity) = tasks[k];
        else
            tasks[k]->ended(x, tasks[k]->a, tasks[k]->b);
    }
}

static bool is_finished(const struct fluid *x)
{
    int round;

    for (int k = 0; k < x->p->ranks * x->replicas; k++)
        if (at_of(x, &x->actors[k], &round) >= 0 || x->actors[k].head < x->actors[k].posted_count)
            return false;
    for (int k = 0; k < x->p->channel_count * x->replicas; k++)
        if (x->channels[k].head < x->rounds * x->p->channels[k / x->replicas].count)
            return false;
    return true;
}

/* `rounds` steps without a barrier between them. False on a deadlock. */
static bool run_rounds(struct fluid *x, int rounds)
{
    const int actors = x->p->ranks * x->replicas;

    x->rounds = rounds;
    x->actors = PP_ARRAY(x->arena, struct actor, actors);
    x->reducing = PP_ARRAY(x->arena, bool, actors);
    x->channels = PP_ARRAY(x->arena, struct lane_state, x->p->channel_count * x->replicas);
    x->sums = PP_ARRAY(x->arena, struct sum, rounds * x->p->collective_count);
    for (int k = 0; k < actors; k++)
        x->actors[k] =
            (struct actor){.rank = k % x->p->ranks,
                           .replica = k / x->p->ranks,
                           .arrived_s = NAN,
                           .posted = PP_ARRAY(x->arena, int, rounds * x->p->collective_count)};
    for (;;) {
        settle(x);
        set_speeds(x);
        if (x->is_changed)
            share_links(x);
        const double next_s = next_moment(x);
        if (isinf(next_s))
            break;
        x->t->events++;
        go_to(x, next_s);
    }
    return is_finished(x);
}

/* ---- a run -------------------------------------------------------------------------------- */

static double *unknowns(struct pp_arena *arena, size_t count)
{
    double *column = PP_ARRAY(arena, double, count);

    for (size_t k = 0; k < count; k++)
        column[k] = NAN;
    return column;
}

static void prepare(struct fluid *x)
{
    const struct pp_program *p = x->p;

    x->send_of = PP_ARRAY(x->arena, int, p->message_count);
    x->recv_of = PP_ARRAY(x->arena, int, p->message_count);
    for (int i = 0; i < x->size; i++) {
        if (pp_op_is_send(p->kind[i]))
            x->send_of[p->arg[i]] = i;
        if (pp_op_is_recv(p->kind[i]))
            x->recv_of[p->arg[i]] = i;
    }
    if (!x->o->network)
        return;
    const int count = pp_fabric_links(x->o->network->fabric);
    x->links = PP_ARRAY(x->arena, struct fluid_link, count);
    x->room = PP_ARRAY(x->arena, double, count);
    x->users = PP_ARRAY(x->arena, int, count);
    for (int k = 0; k < count; k++) {
        const struct pp_fabric_link link = pp_fabric_link(x->o->network->fabric, k);
        x->links[k] = (struct fluid_link){link.bytes_per_s, link.is_fatpipe};
    }
}

/* Latest end of all rounds up to `round`. */
static double latest_of(const struct fluid *x, int round)
{
    double latest_s = 0;

    for (size_t k = fluid_row(x, round, 0, 0); k < fluid_row(x, round + 1, 0, 0); k++)
        latest_s = fmax(latest_s, x->t->end_s[k]);
    return latest_s;
}

struct fluid_times *fluid_run(struct pp_arena *arena, const struct pp_program *program,
                              const struct pp_costs *costs, const struct fluid_options *options)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const int steps = options->steps > 1 ? options->steps : 1;
    struct fluid_times *t = PP_NEW(arena, struct fluid_times);
    struct fluid x = {.arena = scratch,
                      .p = program,
                      .costs = costs,
                      .o = options,
                      .t = t,
                      .size = pp_program_size(program),
                      .replicas = options->replicas > 1 ? options->replicas : 1};
    const size_t rows = (size_t)steps * (size_t)x.size * (size_t)x.replicas;

    assert(!costs->is_unit);
    t->start_s = unknowns(arena, rows);
    t->end_s = unknowns(arena, rows);
    t->posted_s = unknowns(arena, rows);
    t->step_end_s = PP_ARRAY(arena, double, steps);
    prepare(&x);
    const int rounds = options->is_barrier_free ? steps : 1;
    for (x.step = 0; x.step < steps && !t->is_stuck; x.step += rounds) {
        t->is_stuck = !run_rounds(&x, rounds);
        for (int r = 0; r < rounds; r++)
            t->makespan_s = t->step_end_s[x.step + r] = latest_of(&x, r);
    }
    return t;
}
