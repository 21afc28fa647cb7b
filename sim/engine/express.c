/* Transfers over shared links in the order of their events. */
#include "sim/engine/express.h"

#include "core/heap.h"
#include "core/units.h"

#include <assert.h>
#include <stdlib.h>

/* ---- events ---------------------------------------------------------------------------------- */

enum event_kind { EVENT_END, EVENT_CALL, EVENT_BEGIN }; /* the order at equal times */

struct event {
    int64_t at_ps;
    uint32_t order; /* kind and wire: the order at equal times */
    uint32_t stamp; /* END, CALL: void if the stamp of the wire or caller differs */
};
enum { KIND_SHIFT = 30 };

static inline bool is_before(struct event a, struct event b)
{
    return a.at_ps != b.at_ps ? a.at_ps < b.at_ps : a.order < b.order;
}

PP_HEAP(event_heap, struct event, 4, is_before)

/* ---- wires and links ------------------------------------------------------------------------- */

enum { NOBODY = -1 };

struct transfer {             /* on a wire */
    int64_t begin_ps, end_ps; /* if it is alone on its links */
    double bytes;
    uint32_t stamp;
    bool is_flow;
};
struct occupancy { /* of a link */
    int32_t count;
    int32_t alone; /* the wire that has it alone, without the solver */
    bool was_shared;
};

struct pp_express {
    struct pp_arena *arena;
    const struct pp_wires *wires;
    struct pp_solver solver; /* without functions until it is set */
    int32_t *waiting;        /* wires whose flows wait for the solver */
    int waiting_count, waiting_capacity;
    bool is_plain;
    struct event_heap events;
    struct transfer *transfer; /* [wire] */
    struct occupancy *link;    /* [shared link] */
    uint32_t *call;            /* [number of the caller]: stamp of the valid call */
    int calls;                 /* room of `call` */
    int flows;
    int64_t now_ps;
    struct pp_network_stats stats;
};

struct pp_express *pp_express_make(struct pp_arena *arena, const struct pp_wires *wires,
                                   bool is_plain)
{
    struct pp_express *e = PP_NEW(arena, struct pp_express);

    *e = (struct pp_express){.arena = arena,
                             .wires = wires,
                             .is_plain = is_plain,
                             .transfer = PP_ARRAY(arena, struct transfer, wires->count),
                             .link = PP_ARRAY(arena, struct occupancy, wires->shared_count)};
    for (int l = 0; l < wires->shared_count; l++)
        e->link[l].alone = NOBODY;
    return e;
}

static void add_event(struct pp_express *e, int64_t at_ps, enum event_kind kind, int number,
                      uint32_t stamp)
{
    event_heap_push(e->arena, &e->events,
                    (struct event){at_ps, (uint32_t)kind << KIND_SHIFT | (uint32_t)number, stamp});
}

void pp_express_start(struct pp_express *e, int wire, double bytes, int64_t start_ps)
{
    assert(start_ps >= e->now_ps);
    e->transfer[wire].bytes = bytes;
    add_event(e, start_ps + e->wires->wire[wire].alpha_ps, EVENT_BEGIN, wire, 0);
}

void pp_express_call(struct pp_express *e, int number, int64_t at_ps)
{
    assert(at_ps >= e->now_ps);
    if (number >= e->calls) {
        const int calls = 2 * number + 64;
        e->call = pp_arena_grow(e->arena, e->call, sizeof(*e->call) * (size_t)e->calls,
                                sizeof(*e->call) * (size_t)calls);
        e->calls = calls;
    }
    add_event(e, at_ps, EVENT_CALL, number, ++e->call[number]);
}

static void begin_flow(struct pp_express *e, int wire, double bytes)
{
    e->transfer[wire].is_flow = true;
    e->transfer[wire].stamp++; /* its end is no longer known */
    e->flows++;
    e->stats.shared++;
    if (e->solver.begin) {
        e->solver.begin(e->solver.context, wire, bytes, e->now_ps);
        return;
    }
    e->transfer[wire].bytes = bytes;
    *PP_PUSH(e->arena, e->waiting, e->waiting_count, e->waiting_capacity) = wire;
}

void pp_express_set_solver(struct pp_express *e, const struct pp_solver *solver)
{
    e->solver = *solver;
    for (int k = 0; k < e->waiting_count && solver->begin; k++)
        solver->begin(solver->context, e->waiting[k], e->transfer[e->waiting[k]].bytes, e->now_ps);
    e->waiting_count = 0;
}

/* Makes the transfer that has had the link alone a flow, with its remaining bytes. */
static void disturb(struct pp_express *e, int32_t link)
{
    const int wire = e->link[link].alone;

    e->link[link].was_shared = true;
    if (wire == NOBODY)
        return;
    const struct pp_wire *w = &e->wires->wire[wire];
    const struct transfer *t = &e->transfer[wire];
    for (int k = w->first; k < w->first + w->count; k++)
        e->link[e->wires->used[k]].alone = NOBODY;
    begin_flow(e, wire,
               t->bytes * ((double)(t->end_ps - e->now_ps) / (double)(t->end_ps - t->begin_ps)));
}

static void begin(struct pp_express *e, int wire)
{
    const struct pp_wire *w = &e->wires->wire[wire];
    struct transfer *t = &e->transfer[wire];
    const int32_t *used = e->wires->used + w->first;
    const int64_t duration_ps = pp_units_ps(t->bytes / w->bytes_per_s);
    bool is_alone = !(e->is_plain && duration_ps > 0);

    t->is_flow = false;
    for (int k = 0; k < w->count && duration_ps > 0; k++)
        if (e->link[used[k]].count > 0) {
            is_alone = false;
            disturb(e, used[k]);
        }
    for (int k = 0; k < w->count; k++) {
        e->link[used[k]].count++;
        if (is_alone && duration_ps > 0)
            e->link[used[k]].alone = wire;
    }
    if (!is_alone) {
        begin_flow(e, wire, t->bytes);
        return;
    }
    t->begin_ps = e->now_ps;
    t->end_ps = e->now_ps + duration_ps;
    add_event(e, t->end_ps, EVENT_END, wire, t->stamp);
}

static struct pp_express_event end(struct pp_express *e, int wire)
{
    const struct pp_wire *w = &e->wires->wire[wire];

    for (int k = w->first; k < w->first + w->count; k++) {
        struct occupancy *link = &e->link[e->wires->used[k]];
        link->count--;
        if (link->alone == wire)
            link->alone = NOBODY;
    }
    e->flows -= e->transfer[wire].is_flow;
    return (struct pp_express_event){PP_EXPRESS_END, wire, e->now_ps};
}

static bool is_void(const struct pp_express *e, struct event event)
{
    const uint32_t number = event.order & ((1u << KIND_SHIFT) - 1);

    switch (event.order >> KIND_SHIFT) {
    case EVENT_END:
        return event.stamp != e->transfer[number].stamp;
    case EVENT_CALL:
        return event.stamp != e->call[number];
    default:
        return false;
    }
}

/* Drops void events: they must not advance time. */
static void drop_void(struct pp_express *e)
{
    while (e->events.count > 0 && is_void(e, e->events.data[0]))
        event_heap_pop(&e->events);
}

struct pp_express_event pp_express_next(struct pp_express *e)
{
    for (;;) {
        drop_void(e);
        const int64_t next_ps = e->events.count > 0 ? e->events.data[0].at_ps : INT64_MAX;
        if (e->flows > 0) {
            int64_t end_ps = e->now_ps;
            if (!e->solver.advance)
                return (struct pp_express_event){PP_EXPRESS_SOLVER, 0, e->now_ps};
            const int wire = e->solver.advance(e->solver.context, next_ps, &end_ps);
            if (wire >= 0) {
                e->now_ps = end_ps > e->now_ps ? end_ps : e->now_ps;
                return end(e, wire);
            }
        }
        if (e->events.count == 0)
            return (struct pp_express_event){PP_EXPRESS_NOTHING, 0, e->now_ps};
        const struct event event = event_heap_pop(&e->events);
        const int number = (int)(event.order & ((1u << KIND_SHIFT) - 1));
        e->now_ps = event.at_ps > e->now_ps ? event.at_ps : e->now_ps;
        switch (event.order >> KIND_SHIFT) {
        case EVENT_END:
            return end(e, number);
        case EVENT_CALL:
            return (struct pp_express_event){PP_EXPRESS_CALL, number, e->now_ps};
        default:
            begin(e, number);
        }
    }
}

static int by_order(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    return x->order < y->order ? -1 : x->order > y->order;
}

/* Adds the transfers that begin later, or end at a known time. */
static void note_events(const struct pp_express *e, struct pp_network_state *state)
{
    struct event *pending = PP_ARRAY(state->arena, struct event, e->events.count);
    int count = 0;

    for (int k = 0; k < e->events.count; k++)
        if (e->events.data[k].order >> KIND_SHIFT != EVENT_CALL && !is_void(e, e->events.data[k]))
            pending[count++] = e->events.data[k];
    qsort(pending, (size_t)count, sizeof(*pending), by_order);
    for (int k = 0; k < count; k++) {
        const struct transfer *t = &e->transfer[pending[k].order & ((1u << KIND_SHIFT) - 1)];
        pp_network_state_put(state, pending[k].order);
        pp_network_state_put(state, pending[k].at_ps - e->now_ps);
        pp_network_state_put_real(state, t->bytes);
        if (pending[k].order >> KIND_SHIFT == EVENT_END)
            pp_network_state_put(state, e->now_ps - t->begin_ps);
    }
}

void pp_express_note(const struct pp_express *e, struct pp_network_state *state)
{
    note_events(e, state);
    for (int l = 0; l < e->wires->shared_count; l++)
        if (e->link[l].count > 0) {
            pp_network_state_put(state, l);
            pp_network_state_put(state, e->link[l].count);
            pp_network_state_put(state, e->link[l].alone);
        }
    if (e->flows > 0 && e->solver.note)
        e->solver.note(e->solver.context, e->now_ps, state);
    state->is_unknown |= e->flows > 0 && !e->solver.note;
}

void pp_express_stats(const struct pp_express *e, struct pp_network_stats *stats)
{
    *stats = e->stats;
    for (int l = 0; l < e->wires->shared_count; l++)
        stats->shared_links += e->link[l].was_shared;
}
