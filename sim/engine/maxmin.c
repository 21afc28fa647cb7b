/* Max-min fair shares of links, solved anew only where they change. */
#include "sim/engine/maxmin.h"

#include "core/heap.h"

#include <math.h>

#define SLACK 1e-11 /* relative: rates and loads closer than this are equal */
enum { OWN_BOUND = -1, NOT_IN_HEAP = -1 };

struct flow {          /* of a wire */
    double left_bytes; /* at since_ps */
    double rate;       /* bytes/s; 0 = not solved yet */
    double next_rate;  /* of the filling */
    int64_t since_ps, end_ps;
    int32_t binding; /* the link that binds it, or OWN_BOUND */
    int32_t heap_at; /* in `ends`, or NOT_IN_HEAP */
    uint32_t area;   /* the solve in which it is filled */
    bool is_filled;
};

struct link {
    int32_t first, count; /* its flows, in `flow_of` */
    bool is_dirty;
    /* of its last filling */
    uint32_t filling;
    int32_t open; /* flows without a rate yet */
    bool is_binding;
    double room;    /* not given away yet, bytes/s */
    double fastest; /* of its flows in the filling */
};

/* A link, or the own bound of a flow: -1 - wire. */
struct level {
    double bytes_per_s;
    int32_t what;
};
static inline bool is_lower(struct level a, struct level b)
{
    return a.bytes_per_s != b.bytes_per_s ? a.bytes_per_s < b.bytes_per_s : a.what < b.what;
}
PP_HEAP(level_heap, struct level, 4, is_lower)

struct list {
    int32_t *at;
    int count, capacity;
};

struct pp_maxmin {
    struct pp_arena *arena;
    const struct pp_wires *wires;
    struct flow *flow; /* [wire] */
    struct link *link; /* [shared link] */
    int32_t *flow_of;  /* [link.first + k]: wires */
    int32_t *entry_of; /* [link.first + k]: index of wires->used */
    int32_t *place;    /* [index of wires->used]: in flow_of */
    int32_t *ends;     /* heap of wires by end_ps */
    int ends_count;
    struct list area;    /* flows to solve */
    struct list dirty;   /* links whose flows changed */
    struct list touched; /* links of the area */
    struct level_heap levels;
    uint32_t solve, filling;
    int64_t now_ps;
    struct pp_maxmin_stats stats;
};

static void add(struct pp_maxmin *m, struct list *list, int32_t value)
{
    *PP_PUSH(m->arena, list->at, list->count, list->capacity) = value;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static bool ends_before(const struct pp_maxmin *m, int32_t a, int32_t b)
{
    const int64_t x = m->flow[a].end_ps, y = m->flow[b].end_ps;

    return x != y ? x < y : a < b;
}

static void put(struct pp_maxmin *m, int at, int32_t wire)
{
    m->ends[at] = wire;
    m->flow[wire].heap_at = at;
}

/* Moves a wire, whose end has changed, from a free place of the heap to its right one. */
static void sift(struct pp_maxmin *m, int at, int32_t wire)
{
    enum { CHILDREN = 4 };

    for (int up; at > 0 && ends_before(m, wire, m->ends[up = (at - 1) / CHILDREN]); at = up)
        put(m, at, m->ends[up]);
    for (int best; (best = CHILDREN * at + 1) < m->ends_count; at = best) {
        for (int k = best + 1, last = best + CHILDREN; k < last && k < m->ends_count; k++)
            if (ends_before(m, m->ends[k], m->ends[best]))
                best = k;
        if (!ends_before(m, m->ends[best], wire))
            break;
        put(m, at, m->ends[best]);
    }
    put(m, at, wire);
}

static void set_end(struct pp_maxmin *m, int32_t wire, int64_t end_ps)
{
    struct flow *f = &m->flow[wire];

    f->end_ps = end_ps;
    sift(m, f->heap_at == NOT_IN_HEAP ? m->ends_count++ : f->heap_at, wire);
}

static int32_t take_first_end(struct pp_maxmin *m)
{
    const int32_t wire = m->ends[0], last = m->ends[--m->ends_count];

    m->flow[wire].heap_at = NOT_IN_HEAP;
    if (last != wire)
        sift(m, 0, last);
    return wire;
}

/* ---- flows on links -------------------------------------------------------------------------- */

static void make_dirty(struct pp_maxmin *m, int32_t l)
{
    if (!m->link[l].is_dirty)
        add(m, &m->dirty, l);
    m->link[l].is_dirty = true;
}

static void enter(struct pp_maxmin *m, int32_t wire)
{
    const struct pp_wire *w = &m->wires->wire[wire];

    for (int k = w->first; k < w->first + w->count; k++) {
        struct link *link = &m->link[m->wires->used[k]];
        const int32_t at = link->first + link->count++;
        m->flow_of[at] = wire;
        m->entry_of[at] = k;
        m->place[k] = at;
        make_dirty(m, m->wires->used[k]);
    }
}

static void leave(struct pp_maxmin *m, int32_t wire)
{
    const struct pp_wire *w = &m->wires->wire[wire];

    for (int k = w->first; k < w->first + w->count; k++) {
        struct link *link = &m->link[m->wires->used[k]];
        const int32_t at = m->place[k], last = link->first + --link->count;
        m->flow_of[at] = m->flow_of[last];
        m->entry_of[at] = m->entry_of[last];
        m->place[m->entry_of[at]] = at;
        make_dirty(m, m->wires->used[k]);
    }
}

/* ---- the area to solve ----------------------------------------------------------------------- */

static bool is_in_area(const struct pp_maxmin *m, int32_t wire)
{
    return m->flow[wire].area == m->solve;
}

static void add_flow(struct pp_maxmin *m, int32_t wire)
{
    if (is_in_area(m, wire))
        return;
    m->flow[wire].area = m->solve;
    add(m, &m->area, wire);
}

/* Adds the flows that a link binds. */
static void add_bound(struct pp_maxmin *m, int32_t l)
{
    const struct link *link = &m->link[l];

    for (int k = link->first; k < link->first + link->count; k++)
        if (m->flow[m->flow_of[k]].rate == 0 || m->flow[m->flow_of[k]].binding == l)
            add_flow(m, m->flow_of[k]);
}

/* Adds the flows outside the area that a link of it makes faster or slower, and those that the same
 * links bind. */
static void add_disturbed(struct pp_maxmin *m, int32_t l)
{
    const struct link *link = &m->link[l];
    const bool is_full = link->is_binding || link->room <= SLACK * m->wires->shared_bytes_per_s[l];

    for (int k = link->first; k < link->first + link->count; k++) {
        const int32_t wire = m->flow_of[k];
        const struct flow *f = &m->flow[wire];
        if (is_in_area(m, wire))
            continue;
        const bool is_too_fast = link->is_binding && f->rate > link->fastest * (1 + SLACK);
        const bool is_too_slow =
            f->binding == l && (!is_full || f->rate < link->fastest * (1 - SLACK));
        if (!is_too_fast && !is_too_slow)
            continue;
        add_flow(m, wire);
        if (f->binding != OWN_BOUND && f->binding != l)
            add_bound(m, f->binding);
    }
}

/* ---- filling --------------------------------------------------------------------------------- */

/* Bandwidth of a wire's own links, if no shared link has less; else 0. */
static double own_bound(const struct pp_wire *w)
{
    return w->count > 0 ? w->cap_bytes_per_s : w->bytes_per_s;
}

static void touch(struct pp_maxmin *m, int32_t l)
{
    struct link *link = &m->link[l];

    link->filling = m->filling;
    link->open = 0;
    link->is_binding = false;
    link->fastest = 0;
    link->room = m->wires->shared_bytes_per_s[l];
    for (int k = link->first; k < link->first + link->count; k++)
        if (!is_in_area(m, m->flow_of[k]))
            link->room -= m->flow[m->flow_of[k]].rate;
    link->room = fmax(link->room, 0);
    add(m, &m->touched, l);
}

static void open_area(struct pp_maxmin *m)
{
    m->filling++;
    m->touched.count = m->levels.count = 0;
    for (int i = 0; i < m->area.count; i++) {
        const int32_t wire = m->area.at[i];
        const struct pp_wire *w = &m->wires->wire[wire];
        m->flow[wire].is_filled = false;
        if (own_bound(w) > 0)
            level_heap_push(m->arena, &m->levels, (struct level){own_bound(w), -1 - wire});
        for (int k = w->first; k < w->first + w->count; k++) {
            if (m->link[m->wires->used[k]].filling != m->filling)
                touch(m, m->wires->used[k]);
            m->link[m->wires->used[k]].open++;
        }
    }
    for (int i = 0; i < m->touched.count; i++) {
        const struct link *link = &m->link[m->touched.at[i]];
        level_heap_push(m->arena, &m->levels,
                        (struct level){link->room / link->open, m->touched.at[i]});
    }
}

static void fill_flow(struct pp_maxmin *m, int32_t wire, double rate, int32_t binding)
{
    const struct pp_wire *w = &m->wires->wire[wire];

    m->flow[wire].is_filled = true;
    m->flow[wire].next_rate = rate;
    m->flow[wire].binding = binding;
    for (int k = w->first; k < w->first + w->count; k++) {
        struct link *link = &m->link[m->wires->used[k]];
        link->open--;
        link->room = fmax(link->room - rate, 0);
        link->fastest = rate; /* rates rise */
    }
}

static void fill_link(struct pp_maxmin *m, int32_t l, double rate)
{
    struct link *link = &m->link[l];

    link->is_binding = true;
    for (int k = link->first; k < link->first + link->count; k++)
        if (is_in_area(m, m->flow_of[k]) && !m->flow[m->flow_of[k]].is_filled)
            fill_flow(m, m->flow_of[k], rate, l);
}

/* Raises all rates of the area together; a full link stops its flows. A level in the heap may be
 * lower than it is now, as flows of its link have stopped. */
static void fill(struct pp_maxmin *m)
{
    open_area(m);
    while (m->levels.count > 0) {
        const struct level lowest = level_heap_pop(&m->levels);
        if (lowest.what < 0) {
            const int32_t wire = -1 - lowest.what;
            if (!m->flow[wire].is_filled)
                fill_flow(m, wire, lowest.bytes_per_s, OWN_BOUND);
            continue;
        }
        const struct link *link = &m->link[lowest.what];
        if (link->open == 0)
            continue;
        const double now = link->room / link->open;
        if (now > lowest.bytes_per_s)
            level_heap_push(m->arena, &m->levels, (struct level){now, lowest.what});
        else
            fill_link(m, lowest.what, now);
    }
    m->stats.rounds++;
    m->stats.filled += m->area.count;
}

/* ---- time ------------------------------------------------------------------------------------ */

static int64_t end_of(const struct flow *f, int64_t now_ps)
{
    const double ps = round(f->left_bytes / f->rate * 1e12);

    return ps < (double)(INT64_MAX - now_ps) ? now_ps + (int64_t)fmax(ps, 0) : INT64_MAX;
}

static void set_rate(struct pp_maxmin *m, int32_t wire)
{
    struct flow *f = &m->flow[wire];

    if (fabs(f->next_rate - f->rate) <= 1e-14 * f->rate)
        return;
    f->left_bytes -= f->rate * ((double)(m->now_ps - f->since_ps) * 1e-12);
    f->since_ps = m->now_ps;
    f->rate = f->next_rate;
    set_end(m, wire, end_of(f, m->now_ps));
}

static void solve(struct pp_maxmin *m)
{
    int count;

    m->solve++;
    m->stats.solves++;
    m->area.count = 0;
    for (int i = 0; i < m->dirty.count; i++) {
        m->link[m->dirty.at[i]].is_dirty = false;
        add_bound(m, m->dirty.at[i]);
    }
    m->dirty.count = 0;
    do {
        count = m->area.count;
        fill(m);
        for (int i = 0; i < m->touched.count; i++)
            add_disturbed(m, m->touched.at[i]);
    } while (m->area.count > count);
    for (int i = 0; i < m->area.count; i++)
        set_rate(m, m->area.at[i]);
}

static void begin(void *context, int wire, double bytes, int64_t now_ps)
{
    struct pp_maxmin *m = context;
    struct flow *f = &m->flow[wire];
    const struct pp_wire *w = &m->wires->wire[wire];

    m->now_ps = now_ps;
    *f = (struct flow){
        .left_bytes = bytes, .since_ps = now_ps, .binding = OWN_BOUND, .heap_at = NOT_IN_HEAP};
    enter(m, wire);
    if (w->count > 0 && bytes > 0)
        return;
    f->rate = w->bytes_per_s; /* no other flow matters */
    set_end(m, wire, end_of(f, now_ps));
}

static int advance(void *context, int64_t until_ps, int64_t *end_ps)
{
    struct pp_maxmin *m = context;

    /* Changes of the same moment are solved together. */
    if (m->dirty.count > 0 && until_ps > m->now_ps &&
        (m->ends_count == 0 || m->flow[m->ends[0]].end_ps > m->now_ps))
        solve(m);
    if (m->ends_count == 0 || m->flow[m->ends[0]].end_ps > until_ps) {
        m->now_ps = until_ps;
        return -1;
    }
    const int32_t wire = take_first_end(m);
    m->now_ps = *end_ps = m->flow[wire].end_ps;
    leave(m, wire);
    return wire;
}

static void note(const void *context, int64_t now_ps, struct pp_network_state *state)
{
    const struct pp_maxmin *m = context;

    for (int l = 0; l < m->wires->shared_count; l++)
        for (int k = m->link[l].first; k < m->link[l].first + m->link[l].count; k++) {
            const struct flow *f = &m->flow[m->flow_of[k]];
            pp_network_state_put(state, l);
            pp_network_state_put(state, m->flow_of[k]);
            pp_network_state_put_real(state, f->left_bytes);
            pp_network_state_put_real(state, f->rate);
            pp_network_state_put(state, now_ps - f->since_ps);
            pp_network_state_put(state, f->heap_at == NOT_IN_HEAP ? -1 : f->end_ps - now_ps);
            pp_network_state_put(state, f->binding);
        }
    for (int k = 0; k < m->dirty.count; k++)
        pp_network_state_put(state, m->dirty.at[k]);
}

/* ---- making ---------------------------------------------------------------------------------- */

struct pp_maxmin *pp_maxmin_make(struct pp_arena *arena, const struct pp_wires *wires)
{
    struct pp_maxmin *m = PP_NEW(arena, struct pp_maxmin);
    int entries = 0;

    *m = (struct pp_maxmin){.arena = arena,
                            .wires = wires,
                            .flow = PP_ARRAY(arena, struct flow, wires->count),
                            .ends = PP_ARRAY(arena, int32_t, wires->count),
                            .link = PP_ARRAY(arena, struct link, wires->shared_count)};
    for (int w = 0; w < wires->count; w++)
        entries += wires->wire[w].count;
    m->flow_of = PP_ARRAY(arena, int32_t, entries);
    m->entry_of = PP_ARRAY(arena, int32_t, entries);
    m->place = PP_ARRAY(arena, int32_t, entries);
    for (int k = 0; k < entries; k++)
        m->link[wires->used[k]].first++;
    for (int l = 0, first = 0; l < wires->shared_count; l++) {
        const int count = m->link[l].first;
        m->link[l].first = first;
        first += count;
    }
    return m;
}

struct pp_solver pp_maxmin_solver(struct pp_maxmin *m)
{
    return (struct pp_solver){.context = m, .begin = begin, .advance = advance, .note = note};
}

struct pp_maxmin_stats pp_maxmin_stats(const struct pp_maxmin *m)
{
    return m->stats;
}
