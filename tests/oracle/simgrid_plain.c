#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "tests/oracle/simgrid_plain.h"

#include "tests/oracle/simgrid_plain_platform.h"

#include <assert.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xbt/config.h>

struct carrier { /* one mailbox: `count` transfers of `bytes` from one device to another */
    int source, dest, count;
    double alpha_s;
    long bytes;
    sg_sem_t go, over;
};

struct ring_state { /* of a collective: its carriers lie one after another */
    const struct pp_ring *ring;
    int steps, lanes, first_carrier, finished, joined;
    sg_sem_t *own, *next; /* [lane * positions + position]: steps passed, as seen by itself and by
                           * the next one */
    sg_sem_t *finish;     /* [member]: released when all is over */
};

/* All of one run: there is one engine in a process. */
static struct plain {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct fluid_options *o;
    double *start_s, *end_s, *posted_s; /* shared with the parent */
    int *finished;                      /* ranks that came to their end; shared */
    int size, replicas, rounds;
    int *send_of, *recv_of;          /* [message]: instruction */
    int *channel_of;                 /* [message] */
    sg_sem_t *sends, *recvs, *rooms; /* [channel * replicas + replica] */
    sg_sem_t *over;                  /* [instance]: end of what was posted */
    sg_sem_t *posts;                 /* [actor]: collectives posted */
    int **queue, *queued;            /* [actor]: instances of them */
    struct ring_state *sums;         /* [round * collectives + c] */
    struct carrier *carriers;
    int carrier_count, carrier_capacity;
    sg_bar_t barrier;
} g;

static int instance(int round, int i, int replica)
{
    return (round * g.size + i) * g.replicas + replica;
}

static int number(char **argv, int k)
{
    return (int)strtol(argv[k], NULL, 10);
}

static void start_actor(int device, void (*code)(int, char **), int a, int b)
{
    char host[32], first[16], second[16];
    char *argv[] = {"actor", first, second, NULL};

    snprintf(host, sizeof(host), "g%d", device);
    snprintf(first, sizeof(first), "%d", a);
    snprintf(second, sizeof(second), "%d", b);
    sg_actor_create("actor", sg_host_by_name(host), code, 3, argv);
}

static sg_sem_t *semaphores(int count, int value)
{
    sg_sem_t *list = PP_ARRAY(g.arena, sg_sem_t, count);

    for (int k = 0; k < count; k++)
        list[k] = sg_sem_init(value);
    return list;
}

/* ---- carriers ----------------------------------------------------------------------------- */

static sg_mailbox_t mailbox_of(int carrier)
{
    char name[32];

    snprintf(name, sizeof(name), "m%d", carrier);
    return sg_mailbox_by_name(name);
}

static void carry(int argc, char **argv)
{
    const int id = number(argv, 1);
    (void)argc;

    for (int k = 0; k < g.carriers[id].count; k++) {
        sg_sem_acquire(g.carriers[id].go);
        sg_actor_sleep_for(g.carriers[id].alpha_s);
        sg_mailbox_put(mailbox_of(id), &g, g.carriers[id].bytes);
        sg_sem_release(g.carriers[id].over);
    }
}

static void take(int argc, char **argv)
{
    const int id = number(argv, 1);
    (void)argc;

    for (int k = 0; k < g.carriers[id].count; k++)
        sg_mailbox_get(mailbox_of(id));
}

static int add_carrier(int source, int dest, int count)
{
    int32_t links[64];
    struct carrier *c = PP_PUSH(g.arena, g.carriers, g.carrier_count, g.carrier_capacity);

    *c = (struct carrier){.source = source,
                          .dest = dest,
                          .count = count,
                          .alpha_s =
                              pp_fabric_route(g.o->network->fabric, source, dest, links).alpha_s,
                          .go = sg_sem_init(0),
                          .over = sg_sem_init(0)};
    start_actor(source, carry, g.carrier_count - 1, 0);
    start_actor(dest, take, g.carrier_count - 1, 0);
    return g.carrier_count - 1;
}

/* ---- messages ----------------------------------------------------------------------------- */

static void carry_message(int first_carrier, long bytes)
{
    for (int lane = 0; lane < g.o->network->lanes; lane++) {
        g.carriers[first_carrier + lane].bytes = bytes;
        sg_sem_release(g.carriers[first_carrier + lane].go);
    }
    for (int lane = 0; lane < g.o->network->lanes; lane++)
        sg_sem_acquire(g.carriers[first_carrier + lane].over);
}

static void run_channel(int argc, char **argv)
{
    const int id = number(argv, 1), first_carrier = number(argv, 2), replica = id % g.replicas;
    const struct pp_channel *channel = &g.p->channels[id / g.replicas];
    (void)argc;

    for (int k = 0; k < g.rounds * channel->count; k++) {
        const int m = channel->first + k % channel->count, round = k / channel->count;
        const int send = instance(round, g.send_of[m], replica),
                  recv = instance(round, g.recv_of[m], replica);
        const struct pp_op op = pp_program_op(g.p, g.send_of[m]);
        sg_sem_acquire(g.sends[id]);
        if (!g.o->is_buffered)
            sg_sem_acquire(g.recvs[id]);
        else if (g.o->buffered > 0)
            sg_sem_acquire(g.rooms[id]);
        g.start_s[send] = g.start_s[recv] = simgrid_get_clock();
        carry_message(first_carrier, (long)pp_costs_message_bytes(g.costs, &op));
        g.end_s[send] = g.end_s[recv] = simgrid_get_clock();
        sg_sem_release(g.over[send]);
        sg_sem_release(g.over[recv]);
    }
}

static void start_channels(void)
{
    const struct pp_network *n = g.o->network;

    for (int id = 0; id < g.p->channel_count * g.replicas; id++) {
        const struct pp_channel *c = &g.p->channels[id / g.replicas];
        const int first = g.carrier_count;
        for (int lane = 0; lane < n->lanes; lane++)
            add_carrier(pp_network_device(n, c->source, id % g.replicas, lane),
                        pp_network_device(n, c->dest, id % g.replicas, lane), g.rounds * c->count);
        start_actor(pp_network_device(n, c->source, id % g.replicas, 0), run_channel, id, first);
    }
}

/* ---- collectives -------------------------------------------------------------------------- */

/* Steps into one position of a ring. */
static void run_position(int argc, char **argv)
{
    struct ring_state *s = &g.sums[number(argv, 1)];
    const int at = number(argv, 2), positions = s->ring->positions;
    const int before = at % positions == 0 ? at + positions - 1 : at - 1;
    (void)argc;

    for (int k = 0; k < s->steps; k++) {
        sg_sem_acquire(s->own[at]);
        sg_sem_acquire(s->next[before]);
        sg_sem_release(g.carriers[s->first_carrier + at].go);
        sg_sem_acquire(g.carriers[s->first_carrier + at].over);
        sg_sem_release(s->own[at]);
        sg_sem_release(s->next[at]);
    }
    if (++s->finished == positions * s->lanes)
        for (int k = 0; k < g.p->ranks * g.replicas; k++)
            sg_sem_release(s->finish[k]);
}

static void start_ring(int id, const struct pp_collective *c)
{
    struct ring_state *s = &g.sums[id];
    const struct pp_op op = {
        .kind = c->kind, .stage = c->stage, .split = c->bucket, .granules = c->buckets};

    s->finish = semaphores(g.p->ranks * g.replicas, 0);
    if (!g.o->ring_flows || c->tied || c->purpose || !g.costs->rings ||
        g.costs->rings[c->stage].positions < 2 || c->kind == PP_BC)
        return;
    const struct pp_ring *ring = s->ring = &g.costs->rings[c->stage];
    const double bytes = pp_costs_op(g.costs, &op, NULL).bytes / ring->positions;
    s->steps = (c->kind == PP_AR ? 2 : 1) * (ring->positions - 1);
    s->lanes = g.o->network->lanes > 1 ? g.o->network->layout.tp : 1;
    s->own = semaphores(s->lanes * ring->positions, 0);
    s->next = semaphores(s->lanes * ring->positions, 0);
    s->first_carrier = g.carrier_count;
    for (int at = 0; at < s->lanes * ring->positions; at++) {
        const int i = at % ring->positions,
                  offset = at / ring->positions * g.o->network->map.stride[PP_AXIS_TP];
        const int before = ring->device[(i + ring->positions - 1) % ring->positions];
        const int carrier = add_carrier(before + offset, ring->device[i] + offset, s->steps);
        g.carriers[carrier].bytes = (long)bytes;
        start_actor(ring->device[i] + offset, run_position, id, at);
    }
}

/* All members of an analytic collective have joined: it takes its time. */
static void join_analytic(struct ring_state *s, int members)
{
    if (++s->joined == members)
        for (int k = 0; k < g.p->ranks * g.replicas; k++)
            sg_sem_release(s->finish[k]);
}

static void join_ring(struct ring_state *s, int rank, int replica)
{
    for (int at = 0; at < s->lanes * s->ring->positions; at++) {
        const int i = at % s->ring->positions;
        if (s->ring->rank[i] != rank || s->ring->replica[i] != replica)
            continue;
        sg_sem_release(s->own[at]);
        sg_sem_release(s->next[at]);
    }
}

static void run_reduce(int argc, char **argv)
{
    const int rank = number(argv, 1), replica = number(argv, 2), self = replica * g.p->ranks + rank;
    int posts = 0;
    (void)argc;

    for (int i = g.p->begin[rank]; i < g.p->begin[rank + 1]; i++)
        posts += pp_op_is_collective(g.p->kind[i]);
    for (int head = 0; head < g.rounds * posts; head++) {
        sg_sem_acquire(g.posts[self]);
        const int at = g.queue[self][head], i = at / g.replicas % g.size;
        const int c = g.p->arg[i], round = at / g.replicas / g.size;
        const struct pp_op op = pp_program_op(g.p, i);
        struct ring_state *s = &g.sums[round * g.p->collective_count + c];
        const int members = g.p->groups[g.p->collectives[c].group].count * g.replicas;
        if (s->ring)
            join_ring(s, rank, replica);
        else
            join_analytic(s, members);
        sg_sem_acquire(s->finish[self]);
        if (!s->ring) {
            g.start_s[at] = simgrid_get_clock();
            sg_actor_sleep_for((double)pp_costs_op(g.costs, &op, NULL).ps * 1e-12);
        }
        g.end_s[at] = simgrid_get_clock();
        sg_sem_release(g.over[at]);
    }
}

/* ---- ranks -------------------------------------------------------------------------------- */

static void post(int rank, int replica, int round, int i)
{
    const int self = replica * g.p->ranks + rank, at = instance(round, i, replica);

    if (!isnan(g.posted_s[at]))
        return;
    g.posted_s[at] = simgrid_get_clock();
    if (pp_op_is_collective(g.p->kind[i])) {
        g.queue[self][g.queued[self]++] = at;
        sg_sem_release(g.posts[self]);
        return;
    }
    const int channel = g.channel_of[g.p->arg[i]] * g.replicas + replica;
    if (pp_op_is_send(g.p->kind[i])) {
        sg_sem_release(g.sends[channel]);
        return;
    }
    sg_sem_release(g.recvs[channel]);
    sg_sem_release(g.rooms[channel]);
}

static void compute(int rank, int replica, int round, int i, int last)
{
    const struct pp_op op = pp_program_op(g.p, i), second = pp_program_op(g.p, last);
    const int64_t ps = pp_costs_op(g.costs, &op, last > i ? &second : NULL).ps;
    const double start_s = simgrid_get_clock();
    int numerator, denominator;

    for (int k = last + 1; k < g.p->begin[rank + 1] && !pp_op_is_compute(g.p->kind[k]); k++)
        if (pp_program_posted_inside(g.p, k, &numerator, &denominator) == last) {
            sg_actor_sleep_until(start_s +
                                 (double)pp_costs_share_ps(ps, numerator, denominator) * 1e-12);
            post(rank, replica, round, k);
        }
    sg_actor_sleep_until(start_s + (double)ps * 1e-12);
    for (int k = i; k <= last; k++) {
        g.start_s[instance(round, k, replica)] = start_s;
        g.end_s[instance(round, k, replica)] = simgrid_get_clock();
    }
}

static void wait_for(int rank, int replica, int round, int i)
{
    const int at = instance(round, i, replica),
              target = instance(round, g.p->begin[rank] + g.p->arg[i], replica);

    g.start_s[at] = simgrid_get_clock();
    sg_sem_acquire(g.over[target]);
    sg_sem_release(g.over[target]);
    g.end_s[at] = simgrid_get_clock();
}

static void run_list(int rank, int replica, int round)
{
    for (int i = g.p->begin[rank]; i < g.p->begin[rank + 1]; i++) {
        const int kind = g.p->kind[i], at = instance(round, i, replica);
        if (pp_op_is_compute(kind)) {
            const int last = g.p->aux[i] == PP_FUSED_FIRST ? i + 1 : i;
            compute(rank, replica, round, i, last);
            i = last;
        } else if (kind == PP_WAIT) {
            wait_for(rank, replica, round, i);
        } else if (kind == PP_BAR) {
            g.start_s[at] = simgrid_get_clock();
            sg_barrier_wait(g.barrier);
            g.end_s[at] = simgrid_get_clock();
        } else if (kind == PP_DROP) {
            g.start_s[at] = g.end_s[at] = simgrid_get_clock();
        } else {
            post(rank, replica, round, i);
        }
    }
}

static void run_rank(int argc, char **argv)
{
    (void)argc;
    for (int round = 0; round < g.rounds; round++)
        run_list(number(argv, 1), number(argv, 2), round);
    ++*g.finished;
}

static void start_ranks(void)
{
    for (int replica = 0; replica < g.replicas; replica++)
        for (int r = 0; r < g.p->ranks; r++) {
            const int device = pp_network_device(g.o->network, r, replica, 0);
            start_actor(device, run_rank, r, replica);
            start_actor(device, run_reduce, r, replica);
        }
}

/* ---- a run -------------------------------------------------------------------------------- */

static void prepare(void)
{
    const struct pp_program *p = g.p;
    const int actors = p->ranks * g.replicas, channels = p->channel_count * g.replicas;

    g.send_of = PP_ARRAY(g.arena, int, p->message_count);
    g.recv_of = PP_ARRAY(g.arena, int, p->message_count);
    g.channel_of = PP_ARRAY(g.arena, int, p->message_count);
    for (int i = 0; i < g.size; i++) {
        if (pp_op_is_send(p->kind[i]))
            g.send_of[p->arg[i]] = i;
        if (pp_op_is_recv(p->kind[i]))
            g.recv_of[p->arg[i]] = i;
    }
    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            g.channel_of[p->channels[c].first + k] = c;
    g.sends = semaphores(channels, 0);
    g.recvs = semaphores(channels, 0);
    g.rooms = semaphores(channels, g.o->buffered);
    g.over = semaphores(g.rounds * g.size * g.replicas, 0);
    g.posts = semaphores(actors, 0);
    g.queue = PP_ARRAY(g.arena, int *, actors);
    g.queued = PP_ARRAY(g.arena, int, actors);
    for (int k = 0; k < actors; k++)
        g.queue[k] = PP_ARRAY(g.arena, int, g.rounds * p->collective_count);
    g.sums = PP_ARRAY(g.arena, struct ring_state, g.rounds * p->collective_count);
    g.barrier = sg_barrier_init((unsigned)actors);
}

static void run_child(void)
{
    char *argv[] = {"plain", "--log=root.thres:critical", NULL};
    int argc = 2;

    simgrid_init(&argc, argv);
    sg_cfg_set_int("contexts/stack-size", 64);
    sg_cfg_set_string("network/model", "CM02");
    sg_cfg_set_boolean("network/crosstraffic", "no");
    sg_cfg_set_double("network/TCP-gamma", 0);
    sg_cfg_set_double("surf/precision", 1e-13);
    simgrid_plain_platform(g.o->network);
    prepare();
    for (int k = 0; k < g.rounds * g.p->collective_count; k++)
        start_ring(k, &g.p->collectives[k % g.p->collective_count]);
    start_channels();
    start_ranks();
    simgrid_run();
    _exit(*g.finished == g.p->ranks * g.replicas ? 0 : 1);
}

struct fluid_times *simgrid_plain_run(struct pp_arena *arena, const struct pp_program *program,
                                      const struct pp_costs *costs,
                                      const struct fluid_options *options)
{
    const int replicas = options->replicas > 1 ? options->replicas : 1;
    const int rounds = options->steps > 1 ? options->steps : 1;
    const size_t rows = (size_t)rounds * (size_t)pp_program_size(program) * (size_t)replicas;
    double *shared = mmap(NULL, (3 * rows + 1) * sizeof(double), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct fluid_times *t = PP_NEW(arena, struct fluid_times);
    int status = -1;

    assert(shared != MAP_FAILED && options->network && (rounds == 1 || options->is_barrier_free));
    for (size_t k = 0; k < 3 * rows; k++)
        shared[k] = NAN;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        g = (struct plain){.arena = pp_arena_create(),
                           .p = program,
                           .costs = costs,
                           .o = options,
                           .start_s = shared,
                           .end_s = shared + rows,
                           .posted_s = shared + 2 * rows,
                           .finished = (int *)(shared + 3 * rows),
                           .size = pp_program_size(program),
                           .replicas = replicas,
                           .rounds = rounds};
        run_child();
    }
    waitpid(child, &status, 0);
    t->start_s = PP_ARRAY(arena, double, 3 * rows);
    t->end_s = t->start_s + rows;
    t->posted_s = t->end_s + rows;
    memcpy(t->start_s, shared, 3 * rows * sizeof(double));
    munmap(shared, (3 * rows + 1) * sizeof(double));
    for (size_t k = 0; k < rows; k++)
        t->makespan_s = fmax(t->makespan_s, t->end_s[k]);
    return status == 0 ? t : NULL;
}
