#include "tests/oracle/loggp.h"
#include "core/heap.h"

#include <stdlib.h>
#include <string.h>

enum { CPUS = 256, PORTS = 256 };

/* ---- what is next ---------------------------------------------------------------------------- */

struct item {
    double ns;
    int64_t order;
    int task;
};
#define IS_BEFORE(a, b) ((a).ns < (b).ns || ((a).ns == (b).ns && (a).order < (b).order))
PP_HEAP(item_heap, struct item, 2, IS_BEFORE)
/* A meeting that has begun. */
struct party {
    int group, tasks[64], count;
    uint32_t tag;
    double latest_ns;
};
struct run {
    struct loggp *g;
    struct item_heap heap;
    int64_t order;
    double *cpu_ns, *send_ns, *recv_ns; /* [node * CPUS + ...]: busy until */
    int *slots; /* hash: task + 1 of an end of a message without its other */
    size_t mask;
    struct party *parties;
    int party_count, party_capacity;
    bool *is_talking; /* [node]: is_one_by_one: something is under way */
    int *waiting;     /* tasks that wait for that to be over */
    int waiting_count, waiting_capacity;
};

static void push(struct run *r, double ns, int task)
{
    item_heap_push(r->g->arena, &r->heap, (struct item){ns, r->order++, task});
}

/* ---- dependencies ---------------------------------------------------------------------------- */

static double later(double a, double b)
{
    return a > b ? a : b;
}

static int more(int a, int b)
{
    return a > b ? a : b;
}

static void follow(struct loggp_task *user, const struct loggp_task *task)
{
    user->calcs = more(user->calcs, task->calcs + (task->kind == LOGGP_CALC));
    user->passed = more(user->passed, task->passed);
}

/* An event that ends what a node talks about: the task's number, turned. */
static int release_of(int index)
{
    return -1 - index;
}

static void finish(struct run *r, int index, double end_ns)
{
    struct loggp_task *task = &r->g->tasks[index];

    if (r->g->is_one_by_one && (task->kind == LOGGP_RECV || task->kind == LOGGP_MEET))
        push(r, end_ns, release_of(index));

    task->end_ns = end_ns;
    task->is_over = true;
    for (int e = task->first_user; e >= 0; e = r->g->edges[e].next) {
        struct loggp_task *user = &r->g->tasks[r->g->edges[e].task];
        user->ready_ns = later(user->ready_ns, end_ns);
        follow(user, task);
        if (--user->missing == 0)
            push(r, user->ready_ns, r->g->edges[e].task);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The slot of the other end of a message that waits, or a free one. */
static int *find(const struct run *r, const struct loggp_task *task)
{
    const bool is_send = task->kind == LOGGP_SEND;
    const uint64_t source = (uint64_t)(is_send ? task->node : task->peer),
                   dest = (uint64_t)(is_send ? task->peer : task->node);
    uint64_t hash = (source * 0x9e3779b97f4a7c15u + dest) * 0x9e3779b97f4a7c15u + task->tag;

    hash *= 0xd6e8feb86659fd93u;
    for (size_t at = (hash ^ hash >> 32) & r->mask;; at = (at + 1) & r->mask) {
        int *slot = &r->slots[at];
        const struct loggp_task *other = *slot > 0 ? &r->g->tasks[*slot - 1] : NULL;
        if (*slot == 0 || (other && other->kind != task->kind && other->tag == task->tag &&
                           other->node == task->peer && other->peer == task->node))
            return slot;
    }
}

static double gap_ns(const struct loggp *g, const struct loggp_task *task)
{
    return g->ns_per_byte * task->bytes;
}

/* Its first byte may wait until the port over there is free. */
static void travel(struct run *r, struct loggp_task *send)
{
    double *busy_ns = &r->recv_ns[send->peer * PORTS + send->port];

    send->arrived_ns = later(send->end_ns + r->g->latency_ns, *busy_ns) + gap_ns(r->g, send);
    *busy_ns = send->arrived_ns;
}

/* The message of `send` is on its way, and `recv` has been posted. */
static void deliver(struct run *r, int send, int recv)
{
    struct loggp_task *from = &r->g->tasks[send], *to = &r->g->tasks[recv];

    follow(to, from);
    to->passed = more(to->passed, from->passed + 1);
    finish(r, recv, later(to->ready_ns, from->arrived_ns));
}

/* The first end that comes waits for the other one. */
static void meet(struct run *r, int index)
{
    struct loggp_task *task = &r->g->tasks[index];
    int *slot = find(r, task);
    const int other = *slot - 1;

    if (other < 0) {
        *slot = index + 1;
        return;
    }
    *slot = -1; /* taken: others after it in the table must still be found */
    if (task->kind == LOGGP_SEND)
        deliver(r, index, other);
    else
        deliver(r, other, index);
}

/* ---- meetings -------------------------------------------------------------------------------- */

static struct party *party_of(struct run *r, const struct loggp_task *task)
{
    struct party *party;

    for (int i = 0; i < r->party_count; i++)
        if (r->parties[i].group == task->peer && r->parties[i].tag == task->tag)
            return &r->parties[i];
    party = PP_PUSH(r->g->arena, r->parties, r->party_count, r->party_capacity);
    *party = (struct party){.group = task->peer, .tag = task->tag};
    return party;
}

static void join(struct run *r, int index, double now_ns)
{
    const struct loggp_task *task = &r->g->tasks[index];
    struct party *party = party_of(r, task);

    party->latest_ns = later(party->latest_ns, now_ns);
    party->tasks[party->count++] = index;
    for (int k = 0; party->count == task->members && k < task->members; k++)
        finish(r, party->tasks[k], party->latest_ns + task->ns);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void run_calc(struct run *r, int index, double now_ns)
{
    const struct loggp_task *task = &r->g->tasks[index];
    double *busy_ns = &r->cpu_ns[task->node * CPUS + task->cpu];

    if (*busy_ns > now_ns) {
        push(r, *busy_ns, index);
        return;
    }
    *busy_ns = now_ns + task->ns;
    finish(r, index, *busy_ns);
}

static void run_send(struct run *r, int index, double now_ns)
{
    struct loggp_task *task = &r->g->tasks[index];
    double *busy_ns = &r->send_ns[task->node * PORTS + task->port];

    if (*busy_ns > now_ns) {
        push(r, *busy_ns, index);
        return;
    }
    *busy_ns = now_ns + gap_ns(r->g, task);
    finish(r, index, now_ns);
    travel(r, task);
    if (r->g->is_one_by_one)
        push(r, task->arrived_ns, release_of(index));
    meet(r, index);
}

static void run_task(struct run *r, int index, double now_ns)
{
    struct loggp_task *task = &r->g->tasks[index];

    if (r->g->is_one_by_one && task->kind != LOGGP_CALC) {
        if (r->is_talking[task->node]) {
            *PP_PUSH(r->g->arena, r->waiting, r->waiting_count, r->waiting_capacity) = index;
            return;
        }
        r->is_talking[task->node] = true;
    }
    if (task->kind == LOGGP_CALC) {
        run_calc(r, index, now_ns);
    } else if (task->kind == LOGGP_SEND) {
        run_send(r, index, now_ns);
    } else if (task->kind == LOGGP_MEET) {
        join(r, index, now_ns);
    } else {
        task->ready_ns = now_ns;
        meet(r, index);
    }
}

/* The next of the node that has fallen silent. */
static void release(struct run *r, int index, double now_ns)
{
    const int node = r->g->tasks[index].node;
    int best = -1;

    r->is_talking[node] = false;
    for (int k = 0; k < r->waiting_count; k++)
        if (r->g->tasks[r->waiting[k]].node == node &&
            (best < 0 || r->waiting[k] < r->waiting[best]))
            best = k;
    if (best < 0)
        return;
    const int next = r->waiting[best];
    r->waiting[best] = r->waiting[--r->waiting_count];
    run_task(r, next, now_ns);
}

static void begin(struct run *r)
{
    struct loggp *g = r->g;

    for (int i = 0; i < g->count; i++)
        g->tasks[i].first_user = -1;
    for (int e = g->edge_count - 1; e >= 0; e--) { /* users in the order of their numbers */
        struct loggp_task *needed = &g->tasks[g->edges[e].needs];
        g->edges[e].next = needed->first_user;
        needed->first_user = e;
        g->tasks[g->edges[e].task].missing++;
    }
    for (int i = 0; i < g->count; i++)
        if (g->tasks[i].missing == 0)
            push(r, 0, i);
}

struct loggp_result loggp_run(struct loggp *g)
{
    struct run r = {.g = g, .mask = 63};
    struct loggp_result result = {0};

    r.cpu_ns = PP_ARRAY(g->arena, double, g->nodes *CPUS);
    r.send_ns = PP_ARRAY(g->arena, double, g->nodes *PORTS);
    r.recv_ns = PP_ARRAY(g->arena, double, g->nodes *PORTS);
    r.is_talking = PP_ARRAY(g->arena, bool, g->nodes);
    while (r.mask < 2 * (size_t)g->count)
        r.mask = 2 * r.mask + 1;
    r.slots = PP_ARRAY(g->arena, int, r.mask + 1);
    begin(&r);
    while (r.heap.count > 0) {
        const struct item item = item_heap_pop(&r.heap);
        if (item.task < 0)
            release(&r, release_of(item.task), item.ns);
        else
            run_task(&r, item.task, item.ns);
    }
    for (int i = 0; i < g->count; i++) {
        const struct loggp_task *task = &g->tasks[i];
        result.end_ns = later(result.end_ns, task->end_ns);
        result.calcs = more(result.calcs, task->calcs + (task->kind == LOGGP_CALC));
        result.passed = more(result.passed, task->passed);
        result.stuck += !task->is_over;
    }
    for (size_t at = 0; at <= r.mask; at++)
        result.unmatched += r.slots[at] > 0 && g->tasks[r.slots[at] - 1].kind == LOGGP_SEND;
    return result;
}
