/* Pairs of devices between which a program sends, with their links. */
#include "sim/engine/wires.h"

#include "core/units.h"

#include <math.h>

enum { MAX_WIRES = 1 << 26 };

struct maker {
    struct pp_arena *arena, *scratch;
    const struct pp_network *network;
    struct pp_wires *wires;
    int made;
    struct pp_link_set links; /* in use */
    int32_t *route;           /* of one wire */
    int32_t *all;             /* indices of `links` of all wires, one after another */
    int32_t *begin;           /* [wire]: in `all` */
    int all_count, all_capacity;
    int32_t *uses; /* [index of `links`]: wires on it */
    int uses_count, uses_capacity;
};

static void add_wire(struct maker *m, int source, int dest)
{
    struct pp_wire *wire = &m->wires->wire[m->made];
    const struct pp_route route = pp_fabric_route(m->network->fabric, source, dest, m->route);

    wire->alpha_ps = pp_units_ps(route.alpha_s);
    wire->bytes_per_s = route.bytes_per_s;
    m->begin[m->made++] = m->all_count;
    for (int k = 0; k < route.count; k++) {
        const int link = pp_link_set_at(&m->links, m->route[k]);
        if (link == m->uses_count)
            *PP_PUSH(m->scratch, m->uses, m->uses_count, m->uses_capacity) = 0;
        m->uses[link]++;
        *PP_PUSH(m->scratch, m->all, m->all_count, m->all_capacity) = link;
    }
}

static void add_channels(struct maker *m, const struct pp_program *p, int replicas)
{
    const int lanes = m->wires->lanes;

    for (int c = 0; c < p->channel_count; c++)
        for (int d = 0; d < replicas; d++)
            for (int lane = 0; lane < lanes; lane++)
                add_wire(m, pp_network_device(m->network, p->channels[c].source, d, lane),
                         pp_network_device(m->network, p->channels[c].dest, d, lane));
}

static void add_rings(struct maker *m, const struct pp_costs *costs)
{
    for (int s = 0; s < costs->stages; s++) {
        const struct pp_ring *ring = &costs->rings[s];
        m->wires->ring_first[s] = ring->positions > 1 ? m->made : -1;
        for (int lane = 0; lane < m->wires->ring_lanes && ring->positions > 1; lane++)
            for (int i = 0; i < ring->positions; i++) {
                const int before = ring->device[i > 0 ? i - 1 : ring->positions - 1];
                const int offset = lane * m->network->map.stride[PP_AXIS_TP];
                add_wire(m, before + offset, ring->device[i] + offset);
            }
    }
}

/* Numbers the links that several wires use, and writes each wire's list of them. */
static void share_links(struct maker *m)
{
    struct pp_wires *w = m->wires;
    int32_t *id = PP_ARRAY(m->scratch, int32_t, m->uses_count);
    int shared_capacity = 0, used = 0;

    w->used = PP_ARRAY(m->arena, int32_t, m->all_count);
    for (int k = 0; k < w->count; k++) {
        double own = INFINITY, slowest = INFINITY;
        w->wire[k].first = used;
        for (int i = m->begin[k]; i < m->begin[k + 1]; i++) {
            const int32_t link = m->all[i];
            const struct pp_fabric_link l = m->links.value[link];
            if (m->uses[link] == 1 || l.is_fatpipe) {
                own = fmin(own, l.bytes_per_s);
                continue;
            }
            if (id[link] == 0) {
                *PP_PUSH(m->arena, w->shared_bytes_per_s, w->shared_count, shared_capacity) =
                    l.bytes_per_s;
                id[link] = w->shared_count;
            }
            slowest = fmin(slowest, l.bytes_per_s);
            w->used[used++] = id[link] - 1;
        }
        w->wire[k].count = used - w->wire[k].first;
        w->wire[k].cap_bytes_per_s = own < slowest ? own : 0;
    }
}

enum pp_status pp_wires_make(struct pp_arena *arena, const struct pp_program *program,
                             const struct pp_costs *costs, const struct pp_network *network,
                             int replicas, bool has_rings, struct pp_wires **wires,
                             struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_wires *w = *wires = PP_NEW(arena, struct pp_wires);
    struct maker m = {.arena = arena, .scratch = scratch, .network = network, .wires = w};
    int64_t count;

    w->lanes = network->lanes;
    w->ring_lanes = network->lanes > 1 ? network->layout.tp : 1;
    count = (int64_t)program->channel_count * replicas * w->lanes;
    for (int s = 0; has_rings && s < costs->stages; s++)
        count += (int64_t)costs->rings[s].positions * w->ring_lanes;
    if (count > MAX_WIRES)
        return pp_error_set(err, PP_EFAIL,
                            "%lld pairs of devices that send to each other are too many to "
                            "simulate, at most %d: fold replicas, or use --engine dag",
                            (long long)count, MAX_WIRES);
    w->count = (int)count;
    w->wire = PP_ARRAY(arena, struct pp_wire, count);
    m.begin = PP_ARRAY(scratch, int32_t, count + 1);
    m.route = PP_ARRAY(scratch, int32_t, pp_fabric_route_max(network->fabric) + 1);
    m.links = pp_link_set_make(scratch, network->fabric, (int)count);
    add_channels(&m, program, replicas);
    if (has_rings) {
        w->ring_first = PP_ARRAY(arena, int, costs->stages);
        add_rings(&m, costs);
    }
    w->count = m.made;
    m.begin[m.made] = m.all_count;
    PP_TRY(pp_fabric_check(network->fabric, err));
    share_links(&m);
    return PP_OK;
}
