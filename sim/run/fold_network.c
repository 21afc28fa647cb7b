/* Wiring and demand of the replicas' messages, for sim/run/fold.h. */
#include "sim/run/fold.h"

#include "core/map64.h"
#include "sim/engine/network.h"

#include <math.h>

enum { UNUSED = -1, SEVERAL = -2, NOTHING = -1, WAYS = 4 };
#define ROUNDING 1e-9 /* of sums of equal bandwidths */

struct use {               /* of one link */
    int32_t owner;         /* replica, UNUSED or SEVERAL */
    int32_t first, second; /* replicas, if SEVERAL */
    int32_t last, number;  /* the replica that numbered it last, and its number there */
    double asked[WAYS];    /* upper bounds of the demand in bytes a second, by gates */
};
struct wiring {
    const struct pp_network *network;
    const struct pp_rank_pair *pairs;
    int streams; /* of one replica: pairs times lanes */
    struct pp_link_set links;
    int32_t *hops;  /* routes of all streams, replica by replica: indices of links */
    int64_t *begin; /* [replica * streams + stream], one more at the end */
    struct use *uses;
};

/* Demand on a link by the streams that also pass a gate, for each pair of link and gate. */
struct crossings {
    struct pp_arena *arena;
    struct pp_map64 index; /* of link and gate */
    double *asked;
    int count, capacity;
};

static void trace_routes(struct pp_arena *arena, struct wiring *w)
{
    const struct pp_network *n = w->network;
    const size_t streams = (size_t)w->streams * (size_t)n->layout.dp;
    const int longest = pp_fabric_route_max(n->fabric);
    int32_t *route = PP_ARRAY(arena, int32_t, longest + 1);
    int64_t at = 0, *begin;

    begin = w->begin = PP_ARRAY(arena, int64_t, streams + 1);
    w->hops = pp_arena_alloc_raw(arena, (streams * (size_t)longest + 1) * sizeof(*w->hops));
    w->links = pp_link_set_make(arena, n->fabric, 2 * n->layout.gpus);
    for (int r = 0; r < n->layout.dp; r++)
        for (int s = 0; s < w->streams; s++) {
            const struct pp_rank_pair *pair = &w->pairs[s / n->lanes];
            const int lane = s % n->lanes;
            const int count =
                pp_fabric_route(n->fabric, pp_network_device(n, pair->source, r, lane),
                                pp_network_device(n, pair->dest, r, lane), route)
                    .count;
            *begin++ = at;
            for (int h = 0; h < count; h++)
                w->hops[at++] = pp_link_set_at(&w->links, route[h]);
        }
    *begin = at;
    w->uses = PP_ARRAY(arena, struct use, w->links.count + 1);
    for (int i = 0; i < w->links.count; i++)
        w->uses[i] = (struct use){.owner = UNUSED, .last = UNUSED};
}

static void own(struct use *use, int replica)
{
    if (use->owner == UNUSED) {
        use->owner = use->first = replica;
    } else if (use->owner >= 0 && use->owner != replica) {
        use->owner = SEVERAL;
        use->second = replica;
    }
}

/* Number of a link within a replica, in the order in which its streams use links first. */
static int number_of(struct use *use, int replica, int *used)
{
    if (use->last != replica) {
        use->last = replica;
        use->number = (*used)++;
    }
    return use->number;
}

static bool is_same_link(struct pp_fabric_link a, struct pp_fabric_link b)
{
    return a.bytes_per_s == b.bytes_per_s && a.latency_s == b.latency_s &&
           a.is_fatpipe == b.is_fatpipe;
}

/* First hop at which replicas r and 0 differ, or NOTHING; r = 0 fills `numbers` for the others. */
static int64_t compare_replica(const struct wiring *w, int r, int32_t *numbers)
{
    const int64_t *own_begin = w->begin + (int64_t)r * w->streams;
    const int64_t start = own_begin[0], end = own_begin[w->streams];
    int used = 0;

    for (int s = 1; r > 0 && s <= w->streams; s++)
        if (own_begin[s] - start != w->begin[s]) /* the longer of the two routes */
            return own_begin[s] - start > w->begin[s] ? own_begin[s - 1] : w->begin[s - 1];
    for (int64_t h = 0; h < end - start; h++) {
        const int link = w->hops[start + h];
        const int number = number_of(&w->uses[link], r, &used);
        own(&w->uses[link], r);
        if (r == 0)
            numbers[h] = number;
        else if (numbers[h] != number ||
                 !is_same_link(w->links.value[link], w->links.value[w->hops[h]]))
            return start + h;
    }
    return NOTHING;
}

static struct pp_fold compare_wiring(struct pp_arena *arena, const struct wiring *w)
{
    int32_t *numbers = PP_ARRAY(arena, int32_t, w->begin[w->streams] + 1);

    for (int r = 0; r < w->network->layout.dp; r++) {
        const int64_t at = compare_replica(w, r, numbers);
        if (at != NOTHING)
            return (struct pp_fold){
                .obstacle = PP_FOLD_WIRING, .link = w->links.link[w->hops[at]], .replicas = {0, r}};
    }
    return (struct pp_fold){.obstacle = PP_FOLD_EXACT};
}

static double *crossing_at(struct crossings *c, int link, int gate)
{
    const uint64_t key = (uint64_t)link << 32 | (uint32_t)gate;
    const int32_t index = *pp_map64_at(&c->index, key, c->count);

    if (index == c->count)
        *PP_PUSH(c->arena, c->asked, c->count, c->capacity) = 0;
    return &c->asked[index];
}

/* Links that one replica alone uses, on hops [from, to) of a stream: the narrowest, and the one
 * next to the links that several use. Fatpipes are left out: they bound no sum. */
struct gates {
    int narrow, near;
};

static struct gates gates_of(const struct wiring *w, int64_t from, int64_t to, int direction)
{
    struct gates gates = {NOTHING, NOTHING};

    for (int64_t h = direction > 0 ? from : to - 1; from <= h && h < to; h += direction) {
        const int link = w->hops[h];
        if (w->links.value[link].is_fatpipe)
            continue;
        gates.near = link;
        if (gates.narrow == NOTHING ||
            w->links.value[link].bytes_per_s <= w->links.value[gates.narrow].bytes_per_s)
            gates.narrow = link;
    }
    return gates;
}

/* Bytes a second that `asked` adds to a link's demand, which the gate limits. */
static double passes(struct crossings *c, const struct wiring *w, int link, int gate_link,
                     double asked)
{
    if (gate_link == NOTHING)
        return asked;
    const double limit = w->links.value[gate_link].bytes_per_s;
    double *sum = crossing_at(c, link, gate_link);
    const double before = fmin(*sum, limit);
    *sum += asked;
    return fmin(*sum, limit) - before;
}

/* Adds the demand of a stream, with up to `channels` transfers, to links of several replicas. */
static void demand_of(struct wiring *w, struct crossings crossings[WAYS], int64_t begin,
                      int64_t end, int channels)
{
    int64_t first = end, last = begin - 1;
    double alone = INFINITY; /* bytes a second */

    for (int64_t h = begin; h < end; h++) {
        alone = fmin(alone, w->links.value[w->hops[h]].bytes_per_s);
        if (w->uses[w->hops[h]].owner == SEVERAL) {
            first = first == end ? h : first;
            last = h;
        }
    }
    if (first == end)
        return;
    const struct gates in = gates_of(w, begin, first, 1), out = gates_of(w, last + 1, end, -1);
    const int gate[WAYS] = {in.narrow, in.near, out.narrow, out.near};
    for (int64_t h = first; h <= last; h++)
        for (int way = 0; w->uses[w->hops[h]].owner == SEVERAL && way < WAYS; way++)
            w->uses[w->hops[h]].asked[way] +=
                passes(&crossings[way], w, w->hops[h], gate[way], channels * alone);
}

static struct pp_fold compare_demand(struct pp_arena *arena, struct wiring *w)
{
    struct crossings crossings[WAYS];

    for (int way = 0; way < WAYS; way++)
        crossings[way] = (struct crossings){.arena = arena, .index = pp_map64_create(arena, 512)};
    for (int r = 0; r < w->network->layout.dp; r++)
        for (int s = 0; s < w->streams; s++) {
            const int64_t *begin = w->begin + (int64_t)r * w->streams + s;
            demand_of(w, crossings, begin[0], begin[1], w->pairs[s / w->network->lanes].channels);
        }
    for (int i = 0; i < w->links.count; i++) {
        const struct use *use = &w->uses[i];
        double asked = INFINITY;
        for (int way = 0; way < WAYS; way++)
            asked = fmin(asked, use->asked[way]);
        if (use->owner == SEVERAL && !w->links.value[i].is_fatpipe &&
            asked > w->links.value[i].bytes_per_s * (1 + ROUNDING))
            return (struct pp_fold){.obstacle = PP_FOLD_SHARED,
                                    .link = w->links.link[i],
                                    .replicas = {use->first, use->second},
                                    .demand_per_s = asked};
    }
    return (struct pp_fold){.obstacle = PP_FOLD_EXACT};
}

struct pp_fold pp_fold_network(const struct pp_program *program, const struct pp_network *network)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct wiring w = {.network = network};
    int pairs;

    w.pairs = pp_rank_pairs(arena, program, NULL, &pairs);
    w.streams = pairs * network->lanes;
    trace_routes(arena, &w);
    const struct pp_fold wiring = compare_wiring(arena, &w);
    return wiring.obstacle == PP_FOLD_EXACT ? compare_demand(arena, &w) : wiring;
}
