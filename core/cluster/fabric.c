/* A fabric: its size, and the routes over it. */
#include "core/cluster/fabric_parts.h"

#include <assert.h>
#include <math.h>

struct pp_fabric_size pp_fabric_size(const struct pp_fabric *f)
{
    return f->size;
}

int pp_fabric_devices(const struct pp_fabric *f)
{
    return f->devices;
}

int pp_fabric_links(const struct pp_fabric *f)
{
    return f->links;
}

static struct pp_route empty_route(void)
{
    return (struct pp_route){.bytes_per_s = INFINITY};
}

static double alpha_of(const struct pp_fabric *f, int source, int dest)
{
    return pp_fabric_node(f, source) == pp_fabric_node(f, dest) ? f->intra_s : f->inter_s;
}

int pp_fabric_route_max(const struct pp_fabric *f)
{
    int hops = 0;

    for (int dim = 0; dim < PP_TORUS_DIMS; dim++)
        hops += f->size.torus[dim] / 2;
    return f->listed ? PP_LISTED_ROUTE_MAX : hops + PP_COMPUTED_ROUTE_MAX;
}

struct pp_route pp_fabric_route(const struct pp_fabric *f, int source, int dest, int32_t *links)
{
    struct pp_route route = empty_route();

    assert(source >= 0 && source < f->devices && dest >= 0 && dest < f->devices);
    if (source == dest)
        return route;
    if (f->listed)
        return pp_fabric_listed_route(f, source, dest, links);
    route.alpha_s = alpha_of(f, source, dest);
    route.count = pp_fabric_walk(f, source, dest, links).count;
    for (int i = 0; i < route.count; i++)
        route.bytes_per_s = fmin(route.bytes_per_s, pp_fabric_link(f, links[i]).bytes_per_s);
    return route;
}

/* Uses the slowest level of the route; looks at its links only if single ones differ. */
struct pp_route pp_fabric_cost(const struct pp_fabric *f, int source, int dest)
{
    struct pp_route route = empty_route();

    if (source == dest)
        return route;
    if (f->scratch) {
        route = pp_fabric_route(f, source, dest, f->scratch);
        route.count = 0;
        return route;
    }
    route.alpha_s = alpha_of(f, source, dest);
    for (unsigned left = pp_fabric_walk(f, source, dest, NULL).levels; left; left &= left - 1)
        route.bytes_per_s = fmin(route.bytes_per_s, f->level[__builtin_ctz(left)].bytes_per_s);
    return route;
}
