#include "tests/oracle/traffic.h"

#include "tests/oracle/maxmin.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct live {
    struct fluid_flow flow; /* first: shares are found for flows */
    struct traffic *of;
};

static const struct pp_fabric *sorted_on; /* for compare() only */

static double begin_s(const struct traffic *t)
{
    return t->start_s + pp_fabric_cost(sorted_on, t->source, t->dest).alpha_s;
}

static int compare(const void *a, const void *b)
{
    const double x = begin_s(a), y = begin_s(b);

    return x < y ? -1 : x > y;
}

static struct live *enter(struct pp_arena *arena, const struct pp_fabric *fabric,
                          struct traffic *of)
{
    struct live *l = PP_NEW(arena, struct live);

    assert(pp_fabric_route_max(fabric) <= FLUID_ROUTE_MAX);
    l->of = of;
    l->flow.link_count = pp_fabric_route(fabric, of->source, of->dest, l->flow.links).count;
    l->flow.left_bytes = of->bytes;
    return l;
}

/* Let all flows go on up to `next_s`; take out those that have come through. */
static int pass(struct live **live, int count, double now_s, double next_s)
{
    int left = 0;

    for (int k = 0; k < count; k++) {
        struct fluid_flow *f = &live[k]->flow;
        const bool is_over = now_s + f->left_bytes / f->rate <= next_s + 1e-15;
        f->left_bytes -= isfinite(f->rate) ? f->rate * (next_s - now_s) : 0;
        live[k]->of->end_s = next_s;
        if (!is_over)
            live[left++] = live[k];
    }
    return left;
}

void traffic_run(struct pp_arena *arena, const struct pp_fabric *fabric, struct traffic *transfers,
                 int count)
{
    const int link_count = pp_fabric_links(fabric);
    struct fluid_link *links = PP_ARRAY(arena, struct fluid_link, link_count);
    double *room = PP_ARRAY(arena, double, link_count), now_s = 0;
    int *users = PP_ARRAY(arena, int, link_count), entered = 0, active = 0;
    struct live **live = PP_ARRAY(arena, struct live *, count);

    for (int k = 0; k < link_count; k++) {
        const struct pp_fabric_link link = pp_fabric_link(fabric, k);
        links[k] = (struct fluid_link){link.bytes_per_s, link.is_fatpipe};
    }
    sorted_on = fabric;
    qsort(transfers, (size_t)count, sizeof(*transfers), compare);
    while (entered < count || active > 0) {
        double next_s = entered < count ? begin_s(&transfers[entered]) : (double)INFINITY;
        fluid_share(links, (struct fluid_flow *const *)live, active, room, users);
        for (int k = 0; k < active; k++)
            next_s = fmin(next_s, now_s + live[k]->flow.left_bytes / live[k]->flow.rate);
        active = pass(live, active, now_s, next_s);
        now_s = next_s;
        while (entered < count && begin_s(&transfers[entered]) <= now_s)
            live[active++] = enter(arena, fabric, &transfers[entered++]);
    }
}
