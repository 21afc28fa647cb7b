/* The scheduling of LogGOPSim (spcl/LogGOPSim 76451de, LogGOPSim.cpp) and of ATLAHS' fork of it
 * (spcl/atlahs 8837294, sim/LogGOPSim/LogGOPSim.cpp), without overheads: o = g = O = 0, all
 * messages eager. bench/goal.sh holds the programs themselves against pipesim.
 *
 * LogGOPSim 76451de: A calc frees its users when it starts. A freed task is due when its own cpu is
 * free, a send when its port is, too. G is a whole number. The bytes of a message keep a cpu of the
 * receiver busy, that with the number of the sender's. At one time, what was freed first runs
 * first.
 *
 * ATLAHS 8837294: A freed task is due when all that it needs have ended. G may be a fraction; a
 * message takes whole nanoseconds. Its bytes keep no cpu busy. The order at one time is not
 * defined: here, what was freed last runs first.
 *
 * Both keep the number of cpus and ports in a byte, and L in a 32-bit int. */
#include "core/heap.h"
#include "tests/oracle/loggp.h"

#include <math.h>

struct event {
    double ns;
    int64_t order;
    int task;
    bool is_arrival;
};
#define IS_BEFORE(a, b) ((a).ns < (b).ns || ((a).ns == (b).ns && (a).order < (b).order))
PP_HEAP(event_heap, struct event, 2, IS_BEFORE)
struct sim {
    struct loggp *g;
    bool is_atlahs;
    int cpus, ports;
    struct event_heap heap;
    int64_t order;
    double *cpu_ns, *send_ns, *recv_ns; /* free from then on */
    int *waiting, *arrived;             /* hash tables of task + 1: posted RECVs; SENDs */
    size_t mask;
};

/* In ATLAHS, what was freed last runs first. */
static int64_t next_order(struct sim *s)
{
    return s->is_atlahs ? -s->order++ : s->order++;
}

static void push_event(struct sim *s, struct event event)
{
    event_heap_push(s->g->arena, &s->heap, event);
}

static double *cpu_of(const struct sim *s, int node, int cpu)
{
    return &s->cpu_ns[node * s->cpus + cpu];
}

static double *port_of(const struct sim *s, double *ports, int node, int port)
{
    return &ports[node * s->ports + port];
}

/* ---- dependencies ---------------------------------------------------------------------------- */

static int more(int a, int b)
{
    return a > b ? a : b;
}

static double due_ns(const struct sim *s, const struct loggp_task *task)
{
    const double cpu_ns = *cpu_of(s, task->node, task->cpu);

    if (task->kind == LOGGP_SEND) {
        const double port_ns = *port_of(s, s->send_ns, task->node, task->port);
        return fmax(port_ns, s->is_atlahs ? task->ready_ns : cpu_ns);
    }
    if (!s->is_atlahs)
        return cpu_ns;
    return task->kind == LOGGP_RECV ? task->ready_ns : fmax(task->ready_ns, cpu_ns);
}

/* Frees users now, sends first in LogGOPSim. */
static void done(struct sim *s, int index, double end_ns)
{
    struct loggp_task *task = &s->g->tasks[index];

    task->is_over = true;
    task->end_ns = end_ns;
    for (int kind = LOGGP_SEND; kind < LOGGP_SEND + 3; kind++)
        for (int e = task->first_user; e >= 0; e = s->g->edges[e].next) {
            const int user = s->g->edges[e].task;
            struct loggp_task *u = &s->g->tasks[user];
            if ((int)u->kind != kind % 3)
                continue;
            u->ready_ns = fmax(u->ready_ns, end_ns);
            u->calcs = more(u->calcs, task->calcs + (task->kind == LOGGP_CALC));
            u->passed = more(u->passed, task->passed);
            if (--u->missing == 0)
                push_event(s, (struct event){due_ns(s, u), next_order(s), user, false});
        }
}

/* ---- messages -------------------------------------------------------------------------------- */

static int *slot_of(const struct sim *s, int *table, int source, int dest, uint32_t tag)
{
    uint64_t hash =
        ((uint64_t)source * 0x9e3779b97f4a7c15u + (uint64_t)dest) * 0x9e3779b97f4a7c15u + tag;

    hash *= 0xd6e8feb86659fd93u;
    for (size_t at = (hash ^ hash >> 32) & s->mask;; at = (at + 1) & s->mask) {
        const struct loggp_task *task = table[at] > 0 ? &s->g->tasks[table[at] - 1] : NULL;
        const bool is_send = task && task->kind == LOGGP_SEND;
        if (table[at] == 0 ||
            (task && task->tag == tag && task->node == (is_send ? source : dest) &&
             task->peer == (is_send ? dest : source)))
            return &table[at];
    }
}

static int take(const struct sim *s, int *table, int source, int dest, uint32_t tag)
{
    int *slot = slot_of(s, table, source, dest, tag);
    const int found = *slot - 1;

    if (found >= 0)
        *slot = -1; /* a search goes on past it */
    return found;
}

static double gap_ns(const struct sim *s, const struct loggp_task *task)
{
    const double gap = s->g->ns_per_byte * (task->bytes - 1);

    return s->is_atlahs ? floor(gap) : gap;
}

static void meet(struct sim *s, int send, int recv, double end_ns)
{
    struct loggp_task *from = &s->g->tasks[send], *to = &s->g->tasks[recv];

    to->calcs = more(to->calcs, from->calcs);
    to->passed = more(to->passed, from->passed + 1);
    done(s, recv, end_ns);
}

static void arrive(struct sim *s, struct event event)
{
    const struct loggp_task *send = &s->g->tasks[event.task];
    int *posted = slot_of(s, s->waiting, send->node, send->peer, send->tag);
    const int recv = *posted - 1;
    const int cpu = s->is_atlahs && recv >= 0 ? s->g->tasks[recv].cpu : send->cpu;
    double *cpu_ns = cpu_of(s, send->peer, cpu),
           *port_ns = port_of(s, s->recv_ns, send->peer, send->port);

    if (s->is_atlahs && recv < 0) {
        *slot_of(s, s->arrived, send->node, send->peer, send->tag) = event.task + 1;
        return;
    }
    if (fmax(*cpu_ns, *port_ns) > event.ns) {
        event.ns = fmax(*cpu_ns, *port_ns);
        push_event(s, event);
        return;
    }
    *cpu_ns = *port_ns = event.ns + (s->is_atlahs ? 0 : gap_ns(s, send));
    if (recv < 0) {
        *slot_of(s, s->arrived, send->node, send->peer, send->tag) = event.task + 1;
        return;
    }
    *posted = -1;
    meet(s, event.task, recv, *cpu_ns);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void run_calc(struct sim *s, struct event event)
{
    const struct loggp_task *task = &s->g->tasks[event.task];
    double *cpu_ns = cpu_of(s, task->node, task->cpu);

    if (*cpu_ns > event.ns) {
        event.ns = *cpu_ns;
        push_event(s, event);
        return;
    }
    *cpu_ns = event.ns + task->ns;
    done(s, event.task, *cpu_ns);
}

static void run_send(struct sim *s, struct event event)
{
    const struct loggp_task *task = &s->g->tasks[event.task];
    double *cpu_ns = cpu_of(s, task->node, task->cpu),
           *port_ns = port_of(s, s->send_ns, task->node, task->port);
    const double free_ns = fmax(*cpu_ns, *port_ns);

    if (free_ns > event.ns) {
        event.ns = free_ns;
        push_event(s, event);
        return;
    }
    *cpu_ns = event.ns;
    *port_ns = event.ns + gap_ns(s, task);
    const double arrival_ns = (s->is_atlahs ? *port_ns : event.ns) + s->g->latency_ns;
    push_event(s, (struct event){arrival_ns, next_order(s), event.task, true});
    done(s, event.task, event.ns);
}

static void run_recv(struct sim *s, const struct event *event)
{
    const struct loggp_task *task = &s->g->tasks[event->task];
    const int send = take(s, s->arrived, task->peer, task->node, task->tag);
    double end_ns = event->ns;

    if (send < 0) {
        *slot_of(s, s->waiting, task->peer, task->node, task->tag) = event->task + 1;
        return;
    }
    if (s->is_atlahs) { /* it asks the port of sends */
        end_ns = fmax(end_ns, *port_of(s, s->send_ns, task->node, task->port));
        *cpu_of(s, task->node, task->cpu) = end_ns;
        *port_of(s, s->recv_ns, task->node, task->port) = end_ns;
    }
    meet(s, send, event->task, end_ns);
}

static void begin(struct sim *s)
{
    struct loggp *g = s->g;

    for (int i = 0; i < g->count; i++) {
        g->tasks[i].first_user = -1;
        g->tasks[i].missing = 0;
        g->tasks[i].ready_ns = g->tasks[i].end_ns = 0;
        g->tasks[i].calcs = g->tasks[i].passed = 0;
        g->tasks[i].is_over = false;
    }
    for (int e = g->edge_count - 1; e >= 0; e--) {
        struct loggp_task *needed = &g->tasks[g->edges[e].needs];
        g->edges[e].next = needed->first_user;
        needed->first_user = e;
        g->tasks[g->edges[e].task].missing++;
    }
    for (int i = 0; i < g->count; i++)
        if (g->tasks[i].missing == 0)
            push_event(s, (struct event){0, next_order(s), i, false});
}

static int greatest(const struct loggp *g, bool is_port)
{
    int most = 0;

    for (int i = 0; i < g->count; i++)
        most = more(most, is_port ? g->tasks[i].port : g->tasks[i].cpu);
    return most;
}

struct loggp_result loggopsim_run(struct loggp *g, bool is_atlahs)
{
    struct sim s = {.g = g, .is_atlahs = is_atlahs, .mask = 63};
    struct loggp_result result = {0};

    s.cpus = (uint8_t)(greatest(g, false) + 1);
    s.ports = (uint8_t)(greatest(g, true) + 1);
    result.is_refused = s.cpus == 0 || s.ports == 0 || g->latency_ns > INT32_MAX ||
                        (!is_atlahs && g->ns_per_byte != floor(g->ns_per_byte));
    if (result.is_refused)
        return result;
    while (s.mask < 2 * (size_t)g->count)
        s.mask = 2 * s.mask + 1;
    s.cpu_ns = PP_ARRAY(g->arena, double, g->nodes *s.cpus);
    s.send_ns = PP_ARRAY(g->arena, double, g->nodes *s.ports);
    s.recv_ns = PP_ARRAY(g->arena, double, g->nodes *s.ports);
    s.waiting = PP_ARRAY(g->arena, int, s.mask + 1);
    s.arrived = PP_ARRAY(g->arena, int, s.mask + 1);
    begin(&s);
    while (s.heap.count > 0) {
        const struct event event = event_heap_pop(&s.heap);
        const enum loggp_kind kind = g->tasks[event.task].kind;
        if (event.is_arrival)
            arrive(&s, event);
        else if (kind == LOGGP_CALC)
            run_calc(&s, event);
        else if (kind == LOGGP_SEND)
            run_send(&s, event);
        else
            run_recv(&s, &event);
    }
    for (int k = 0; k < g->nodes * s.cpus; k++) /* what they print */
        result.end_ns = fmax(result.end_ns, s.cpu_ns[k]);
    for (int i = 0; i < g->count; i++) {
        result.calcs = more(result.calcs, g->tasks[i].calcs + (g->tasks[i].kind == LOGGP_CALC));
        result.passed = more(result.passed, g->tasks[i].passed);
        result.stuck += !g->tasks[i].is_over;
    }
    for (size_t at = 0; at <= s.mask; at++)
        result.unmatched += s.arrived[at] > 0;
    return result;
}
