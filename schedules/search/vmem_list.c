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

struct list {
    const struct pp_vmem *vmem;
    const struct pp_vmem_policy *policy;
    struct pp_vmem_lists *out;
    int ranks;
    int64_t *ready; /* [(kind * ranks + rank) * N + mb], -1 = not yet known */
    int64_t *clock;
    int *next; /* [rank * 4 + kind]: micro-batch */
    int *held, *held_0;
    int *owed; /* [rank]: position of the next I whose W is to run */
    struct event_heap events;
    struct pp_arena *arena;
};

static void push(struct list *l, int64_t time, int rank)
{
    event_heap_push(l->arena, &l->events, (struct event){time, rank});
}

static int64_t *ready_of(const struct list *l, int kind, int rank, int mb)
{
    return &l->ready[((size_t)kind * (size_t)l->ranks + (size_t)rank) *
                         (size_t)l->vmem->shape->micro_batches +
                     (size_t)mb];
}

/* Finds the op that waits for (kind, rank); false for the last of the chain. */
static bool target_of(int ranks, int kind, int rank, int *to_kind, int *to_rank)
{
    const bool is_up = pp_vmem_is_up(kind);
    const bool is_turn = rank == (is_up ? ranks - 1 : 0);

    *to_kind = is_turn ? kind + 1 : kind;
    *to_rank = is_turn ? rank : is_up ? rank + 1 : rank - 1;
    return *to_kind < PP_VMEM_CHAIN;
}

static void run_op(struct list *l, int rank, int kind, int mb)
{
    const bool frees_0 = kind == (l->vmem->rule->is_split ? PP_VMEM_W0 : PP_VMEM_I0);
    int to_kind, to_rank;

    l->clock[rank] += l->vmem->costs.op[kind * l->ranks + rank];
    l->held[rank] += pp_vmem_held(l->vmem->rule, kind);
    l->held_0[rank] += (kind == PP_VMEM_F0) - frees_0;
    pp_vmem_row(l->out, rank)[l->out->count[rank]++] = pp_vmem_op(kind, mb);
    push(l, l->clock[rank], rank);
    if (kind >= PP_VMEM_CHAIN)
        return;
    l->next[rank * PP_VMEM_CHAIN + kind]++;
    if (!target_of(l->ranks, kind, rank, &to_kind, &to_rank))
        return;
    const int64_t wire = to_rank == rank ? 0 : l->vmem->costs.wire[kind * l->ranks + rank];
    *ready_of(l, to_kind, to_rank, mb) = l->clock[rank] + wire;
    if (to_rank != rank)
        push(l, l->clock[rank] + wire, to_rank);
}

static bool has_room(const struct list *l, int rank, int kind)
{
    const int cap = l->policy->cap;
    const int limit = l->policy->chunk_0 ? l->policy->chunk_0[rank] : cap - 1;

    if (kind > PP_VMEM_F1)
        return true;
    return kind == PP_VMEM_F1 ? l->held[rank] < cap
                              : l->held[rank] < cap - 1 && l->held_0[rank] < limit;
}

struct choice {
    int kind;        /* op to run now, -1 = none */
    bool is_blocked; /* a ready op has no room */
    int64_t soon;    /* arrival of the next op that is not ready, INT64_MAX = none known */
};

static struct choice choose(const struct list *l, int rank)
{
    struct choice choice = {.kind = -1, .soon = INT64_MAX};
    int64_t best = INT64_MAX;

    for (int kind = 0; kind < PP_VMEM_CHAIN; kind++) {
        const int mb = l->next[rank * PP_VMEM_CHAIN + kind];
        const int64_t ready =
            mb < l->vmem->shape->micro_batches ? *ready_of(l, kind, rank, mb) : -1;
        const int64_t key = l->policy->key[kind * l->ranks + rank] + l->policy->period * mb;
        if (ready < 0)
            continue;
        if (!has_room(l, rank, kind))
            choice.is_blocked |= ready <= l->clock[rank];
        else if (ready > l->clock[rank])
            choice.soon = ready < choice.soon ? ready : choice.soon;
        else if (key < best)
            best = key, choice.kind = kind;
    }
    return choice;
}

static void look_for_work(struct list *l, int rank, int64_t now)
{
    if (now < l->clock[rank])
        return;
    l->clock[rank] = now;
    const struct choice choice = choose(l, rank);
    if (choice.kind >= 0) {
        run_op(l, rank, choice.kind, l->next[rank * PP_VMEM_CHAIN + choice.kind]);
        return;
    }
    const int32_t w =
        pp_vmem_owed(l->vmem, pp_vmem_row(l->out, rank), &l->owed[rank], l->out->count[rank]);
    if (w < 0)
        return;
    const int64_t length = l->vmem->costs.op[w % 8 * l->ranks + rank];
    if (!choice.is_blocked && choice.soon != INT64_MAX &&
        choice.soon - now < length / 4 * l->policy->patience)
        return; /* the arrival is an event */
    l->owed[rank]++;
    run_op(l, rank, w % 8, w / 8);
}

void pp_vmem_list(struct pp_arena *arena, const struct pp_vmem *vmem,
                  const struct pp_vmem_policy *policy, struct pp_vmem_lists *out)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    const int ranks = vmem->shape->ranks, n = vmem->shape->micro_batches;
    const size_t all = (size_t)PP_VMEM_CHAIN * (size_t)ranks * (size_t)n;
    struct list l = {.vmem = vmem,
                     .policy = policy,
                     .out = out,
                     .ranks = ranks,
                     .ready = pp_arena_alloc_raw(arena, all * sizeof(int64_t)),
                     .clock = PP_ARRAY(arena, int64_t, ranks),
                     .next = PP_ARRAY(arena, int, PP_VMEM_CHAIN *ranks),
                     .held = PP_ARRAY(arena, int, ranks),
                     .held_0 = PP_ARRAY(arena, int, ranks),
                     .owed = PP_ARRAY(arena, int, ranks),
                     .arena = arena};

    memset(l.ready, 0xff, all * sizeof(int64_t));
    memset(out->count, 0, (size_t)ranks * sizeof(int));
    memset(l.ready, 0, (size_t)n * sizeof(int64_t)); /* F0 on rank 0 */
    push(&l, 0, 0);
    while (l.events.count > 0) {
        const struct event event = event_heap_pop(&l.events);
        look_for_work(&l, event.rank, event.time);
    }
    pp_arena_release(arena, mark);
}
