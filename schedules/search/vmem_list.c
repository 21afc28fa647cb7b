/* List scheduling in time. It never blocks for ever: the last free place of a rank is kept for
 * chunk 1, and each kind runs its micro-batches in order. So the oldest one can always proceed. */
#include "schedules/search/vmem.h"

#include "core/heap.h"

#include <string.h>

struct event { /* a rank looks for work */
    int64_t time;
    int rank;
};

static inline bool is_before(struct event a, struct event b)
{
    return a.time != b.time ? a.time < b.time : a.rank < b.rank;
}

PP_HEAP(event_heap, struct event, 2, is_before)

/* A rank, now and in a run of its list, where nothing waits for what may arrive. */
struct rank {
    int64_t clock;
    int64_t run_clock, run_first; /* run_first: start of its first op, -1 = none yet */
    int64_t idle, most_idle;      /* of the run; most: of one as short as the best */
    int next[PP_VMEM_CHAIN];      /* micro-batch */
    int64_t *ready[PP_VMEM_CHAIN], *run_ready[PP_VMEM_CHAIN]; /* rows of the list's */
    int held, held_0, peak;
    int owed; /* position of the next I whose W is to run */
};

struct list {
    const struct pp_vmem *vmem;
    const struct pp_vmem_policy *policy;
    struct pp_vmem_lists *out;
    int ranks, micro_batches;
    int64_t *ready;     /* [(kind * ranks + rank) * micro_batches + mb], -1 = not yet known */
    int64_t *run_ready; /* the same in a run of the lists; equal to `ready` without patience */
    struct rank *rank;
    struct event_heap events;
    struct pp_arena *arena;
    bool is_worse; /* than the best */
};

static void push(struct list *l, int64_t time, int rank)
{
    event_heap_push(l->arena, &l->events, (struct event){time, rank});
}

/* Starts the op in the run of the lists. */
static void follow(struct list *l, int at, int64_t ready, int64_t length)
{
    struct rank *rank = &l->rank[at];

    if (ready > rank->run_clock) {
        rank->idle += ready - rank->run_clock;
        rank->run_clock = ready;
        /* what comes after the last forward of rank 0 may differ for more micro-batches */
        l->is_worse |=
            rank->idle > rank->most_idle && l->rank[0].next[PP_VMEM_F0] < l->micro_batches;
    }
    if (rank->run_first < 0)
        rank->run_first = rank->run_clock;
    rank->run_clock += length;
}

static void run_op(struct list *l, int at, int kind, int mb)
{
    const bool frees_0 = kind == (l->vmem->rule->is_split ? PP_VMEM_W0 : PP_VMEM_I0);
    const int64_t length = l->vmem->costs.op[kind * l->ranks + at];
    struct rank *rank = &l->rank[at];
    int to_kind, to;

    rank->clock += length;
    rank->held += pp_vmem_held(l->vmem->rule, kind);
    rank->held_0 += (kind == PP_VMEM_F0) - frees_0;
    rank->peak = rank->held > rank->peak ? rank->held : rank->peak;
    pp_vmem_row(l->out, at)[l->out->count[at]++] = pp_vmem_op(kind, mb);
    push(l, rank->clock, at);
    if (kind >= PP_VMEM_CHAIN) {
        follow(l, at, 0, length);
        return;
    }
    rank->next[kind]++;
    follow(l, at, rank->run_ready[kind][mb], length);
    if (!pp_vmem_target(l->ranks, kind, at, &to_kind, &to))
        return;
    const int64_t wire = to == at ? 0 : l->vmem->costs.wire[kind * l->ranks + at];
    l->rank[to].run_ready[to_kind][mb] = rank->run_clock + wire;
    l->rank[to].ready[to_kind][mb] = rank->clock + wire;
    if (to != at &&
        rank->clock + wire >= l->rank[to].clock) /* else the end of its op is an event */
        push(l, rank->clock + wire, to);
}

static bool has_room(const struct list *l, int rank, int kind)
{
    const struct rank *r = &l->rank[rank];
    const int cap = l->policy->cap;
    const int limit = l->policy->chunk_0 ? l->policy->chunk_0[rank] : cap - 1;

    if (kind > PP_VMEM_F1)
        return true;
    return kind == PP_VMEM_F1 ? r->held < cap : r->held < cap - 1 && r->held_0 < limit;
}

struct choice {
    int kind;        /* op to run now, -1 = none */
    bool is_blocked; /* a ready op has no room */
    int64_t soon;    /* arrival of the next op that is not ready, INT64_MAX = none known */
};

static struct choice choose(const struct list *l, int rank)
{
    const struct rank *r = &l->rank[rank];
    const int64_t now = r->clock;
    struct choice choice = {.kind = -1, .soon = INT64_MAX};
    int64_t best = INT64_MAX;

    for (int kind = 0; kind < PP_VMEM_CHAIN; kind++) {
        const int mb = r->next[kind];
        const int64_t ready = mb < l->micro_batches ? r->ready[kind][mb] : -1;
        const int64_t key = l->policy->key[kind * l->ranks + rank] + l->policy->period * mb;
        if (ready < 0)
            continue;
        if (!has_room(l, rank, kind))
            choice.is_blocked |= ready <= now;
        else if (ready > now)
            choice.soon = ready < choice.soon ? ready : choice.soon;
        else if (key < best)
            best = key, choice.kind = kind;
    }
    return choice;
}

static void look_for_work(struct list *l, int at, int64_t now)
{
    struct rank *rank = &l->rank[at];

    if (now < rank->clock)
        return;
    rank->clock = now;
    const struct choice choice = choose(l, at);
    if (choice.kind >= 0) {
        run_op(l, at, choice.kind, rank->next[choice.kind]);
        return;
    }
    const int32_t w =
        pp_vmem_owed(l->vmem, pp_vmem_row(l->out, at), &rank->owed, l->out->count[at]);
    if (w < 0)
        return;
    const int64_t length = l->vmem->costs.op[w % 8 * l->ranks + at];
    if (!choice.is_blocked && choice.soon != INT64_MAX &&
        choice.soon - now < length / 4 * l->policy->patience)
        return; /* the arrival is an event */
    rank->owed++;
    run_op(l, at, w % 8, w / 8);
}

static struct list prepare(struct pp_arena *arena, const struct pp_vmem *vmem,
                           const struct pp_vmem_policy *policy, struct pp_vmem_lists *out)
{
    const int ranks = out->ranks, n = out->micro_batches;
    const size_t bytes = (size_t)PP_VMEM_CHAIN * (size_t)(ranks * n) * sizeof(int64_t);
    struct list l = {.vmem = vmem,
                     .policy = policy,
                     .out = out,
                     .ranks = ranks,
                     .micro_batches = n,
                     .ready = pp_arena_alloc_raw(arena, bytes),
                     .rank = PP_ARRAY(arena, struct rank, ranks),
                     .arena = arena};

    memset(l.ready, 0xff, bytes);
    memset(l.ready, 0, (size_t)n * sizeof(int64_t)); /* F0 on rank 0 */
    l.run_ready = l.ready;
    if (policy->patience > 0)
        l.run_ready = memcpy(pp_arena_alloc_raw(arena, bytes), l.ready, bytes);
    memset(out->count, 0, (size_t)ranks * sizeof(int));
    const int64_t *most_idle = pp_vmem_most_idle(arena, vmem);
    for (int rank = 0; rank < ranks; rank++) {
        struct rank *r = &l.rank[rank];
        r->run_first = -1;
        r->most_idle = most_idle[rank];
        for (int kind = 0; kind < PP_VMEM_CHAIN; kind++) {
            const size_t row = (size_t)(kind * ranks + rank) * (size_t)n;
            r->ready[kind] = l.ready + row;
            r->run_ready[kind] = l.run_ready + row;
        }
    }
    return l;
}

static struct pp_vmem_score score_of(const struct list *l)
{
    struct pp_vmem_score score = {0};

    for (int i = 0; i < l->ranks; i++) {
        const struct rank *rank = &l->rank[i];
        const int64_t span = rank->run_clock - rank->run_first;
        score.makespan = rank->run_clock > score.makespan ? rank->run_clock : score.makespan;
        score.span = span > score.span ? span : score.span;
        score.peak = rank->peak > score.peak ? rank->peak : score.peak;
    }
    if (l->is_worse) {
        score.makespan = score.span = INT64_MAX;
        return score;
    }
    pp_vmem_find_period(l->vmem, l->out);
    struct pp_vmem_score waiting = score;
    pp_vmem_lengthen(l->vmem, l->out, l->run_ready, &score);
    if (score.wanted || l->run_ready == l->ready)
        return score;
    pp_vmem_lengthen(l->vmem, l->out, l->ready, &waiting);
    score.wanted = waiting.wanted;
    return score;
}

struct pp_vmem_score pp_vmem_list(struct pp_arena *arena, const struct pp_vmem *vmem,
                                  const struct pp_vmem_policy *policy, struct pp_vmem_lists *out)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct list l = prepare(arena, vmem, policy, out);

    push(&l, 0, 0);
    while (l.events.count > 0 && !l.is_worse) {
        const struct event event = event_heap_pop(&l.events);
        look_for_work(&l, event.rank, event.time);
    }
    const struct pp_vmem_score score = score_of(&l);
    pp_arena_release(arena, mark);
    return score;
}
