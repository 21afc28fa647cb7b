/* Bytes between devices: messages of all replicas, and sums as rings. */
#include "core/quantile.h"
#include "schedules/program/whole.h"
#include "sim/run/links_parts.h"

#include <stdlib.h>

/* ---- bytes ----------------------------------------------------------------------------------- */

/* `whole` of each part, divided by `cut`, then multiplied by `share`. This order makes the figures
 * of a program and of its bins round alike. */
struct amount {
    const double *whole;
    double cut, share;
};

static void add(struct pp_traffic *t, int link, const struct amount *amount)
{
    double *bytes = &t->bytes[(size_t)link * (size_t)t->parts];

    for (int k = 0; k < t->parts; k++)
        bytes[k] += amount->whole[k] / amount->cut * amount->share;
}

/* Index of the bytes of a link; -1 if it is left out. */
static int index_of(struct pp_traffic *t, int32_t link)
{
    if (t->only) {
        const int32_t *at =
            bsearch(&link, t->only, (size_t)t->only_count, sizeof(link), pp_ascending_ints);
        return at ? (int)(at - t->only) : -1;
    }
    const int at = pp_link_set_at(&t->links, link);
    if (t->links.capacity > t->room) {
        const size_t each = sizeof(double) * (size_t)t->parts;
        t->bytes = pp_arena_grow(t->arena, t->bytes, each * (size_t)t->room,
                                 each * (size_t)t->links.capacity);
        t->room = t->links.capacity;
    }
    return at;
}

static void send(struct pp_traffic *t, int source, int dest, const struct amount *amount)
{
    const int count = pp_fabric_route(t->in->network->fabric, source, dest, t->route).count;

    for (int h = 0; h < count; h++) {
        const int link = index_of(t, t->route[h]);
        if (link >= 0)
            add(t, link, amount);
    }
}

void pp_traffic_message(struct pp_traffic *t, const struct pp_rank_pair *pair, int replica,
                        const double *bytes)
{
    const struct pp_network *n = t->in->network;
    const int lanes = n->layout.tp * n->layout.cp;
    const struct amount amount = {bytes, 1, 1};

    for (int lane = 0; lane < lanes; lane++)
        send(t, pp_network_device(n, pair->source, replica, lane),
             pp_network_device(n, pair->dest, replica, lane), &amount);
}

/* Sends an amount from every device of a ring to the next one, `stride` later in the list. */
static void send_ring(struct pp_traffic *t, const int32_t *device, int count, int stride,
                      const struct amount *amount)
{
    const struct pp_network *n = t->in->network;

    for (int i = 0; count > 1 && i < count; i++)
        for (int tp = 0; tp < n->layout.tp; tp++) {
            const int lane = tp * n->map.stride[PP_AXIS_TP];
            send(t, device[i * stride] + lane, device[(i + 1) % count * stride] + lane, amount);
        }
}

static double share(int members) /* of the payload, which a device passes on: all but its own */
{
    return (double)(members - 1) / members;
}

/* Number of devices from `at` on that are in one node. `device` is sorted. */
static int run_of(const int32_t *device, int count, int at, int gpus_per_node)
{
    int end = at + 1;

    while (end < count && device[end] / gpus_per_node == device[at] / gpus_per_node)
        end++;
    return end - at;
}

/* First member and size of the node with fewest members. `is_even`: all nodes have as many. */
struct fewest {
    int first, count;
    bool is_even;
};

static struct fewest fewest_of(const int32_t *device, int count, int gpus_per_node)
{
    struct fewest f = {.count = count};
    int most = 0;

    for (int at = 0, run; at < count; at += run) {
        run = run_of(device, count, at, gpus_per_node);
        most = most > run ? most : run;
        if (run < f.count)
            f = (struct fewest){at, run, false};
    }
    f.is_even = f.count == most;
    return f;
}

/* Index of the device, among the `run` of a node, at the place that `other` has in its node. */
static int counterpart(const int32_t *device, int run, int32_t other, int gpus_per_node)
{
    for (int k = 0; k < run; k++)
        if (device[k] % gpus_per_node == other % gpus_per_node)
            return k;
    return other % run;
}

/* Sends rings over all devices, as many as the node with fewest has, each on a rail of its own. */
static void send_rings(struct pp_traffic *t, const int32_t *device, int count, struct fewest f,
                       const double *bytes)
{
    const struct amount amount = {bytes, f.count, share(count)};
    const int gpus_per_node = t->in->gpus_per_node;
    int32_t *order = PP_ARRAY(t->arena, int32_t, count);

    for (int j = 0; j < f.count; j++) {
        for (int at = 0, run; at < count; at += run) {
            run = run_of(device, count, at, gpus_per_node);
            const int enter = counterpart(device + at, run, device[f.first + j], gpus_per_node);
            for (int k = 0; k < run; k++)
                order[at + k] = device[at + (k + enter) % run];
        }
        send_ring(t, order, count, 1, &amount);
    }
}

/* Sends one or several reduce-scatters or all-gathers of `bytes`: inside each node, then across. If
 * nodes have different numbers of members, rings go around all. */
static void send_two_levels(struct pp_traffic *t, const int32_t *device, int count,
                            const double *bytes)
{
    const struct fewest fewest = fewest_of(device, count, t->in->gpus_per_node);
    if (!t->in->is_flat && !fewest.is_even) {
        send_rings(t, device, count, fewest, bytes);
        return;
    }
    const int per_node = t->in->is_flat ? 1 : fewest.count, nodes = count / per_node;
    const struct amount inside = {bytes, 1, share(per_node)},
                        across = {bytes, per_node, share(nodes)};

    for (int k = 0; k < nodes; k++)
        send_ring(t, device + (size_t)k * (size_t)per_node, per_node, 1, &inside);
    for (int j = 0; j < per_node; j++)
        send_ring(t, device + j, nodes, per_node, &across);
}

/* Devices of a group with tp coordinate 0, in all replicas, sorted. */
static int32_t *devices_of(struct pp_traffic *t, const struct pp_group *group, int *count)
{
    const struct pp_network *n = t->in->network;
    const int each = n->layout.dp * n->layout.cp;
    int32_t *device = PP_ARRAY(t->arena, int32_t, (size_t)group->count * (size_t)each + 1);

    *count = 0;
    for (int m = 0; m < group->count; m++)
        for (int r = 0; r < n->layout.dp; r++)
            for (int cp = 0; cp < n->layout.cp; cp++)
                device[(*count)++] =
                    pp_map_device(&n->map, 0, cp, r, t->in->program->members[group->first + m]);
    qsort(device, (size_t)*count, sizeof(*device), pp_ascending_ints);
    return device;
}

bool pp_traffic_is_sum(const struct pp_program *p, int i)
{
    return pp_op_is_collective(p->kind[i]) && p->kind[i] != PP_A2A;
}

double pp_traffic_payload(const struct pp_link_inputs *in, int i)
{
    const struct pp_op op = pp_program_op(in->program, i);

    return (op.kind == PP_AR ? 2 : 1) * pp_costs_op(in->costs, &op, NULL).bytes;
}

static int group_of(const struct pp_program *p, int stage)
{
    for (int g = 0; g < p->group_count; g++)
        if (p->groups[g].kind == PP_GROUP_STAGE && p->groups[g].stage == stage)
            return g;
    return -1;
}

double pp_traffic_inside(const struct pp_link_inputs *in, int i, int *group)
{
    const struct pp_program *p = in->program;
    const int kind = p->kind[i];
    const struct pp_stage_gathers *g = in->costs->gathers ? &in->costs->gathers[p->stage[i]] : NULL;
    double bytes = 0;

    if (!g || g->units < 2)
        return 0;
    if (kind == PP_F)
        bytes = g->forward_bytes;
    if (kind == PP_B || kind == PP_I)
        bytes = g->backward_bytes;
    if (kind == PP_B || kind == PP_W)
        bytes += g->scatter_bytes;
    *group = bytes > 0 ? group_of(p, p->stage[i]) : -1;
    return *group >= 0 ? bytes / p->groups[*group].count : 0;
}

/* Is true if the first member of the group of a sum posts it here. */
static bool is_first_post(const struct pp_program *p, int i)
{
    const struct pp_group *group = &p->groups[p->collectives[p->arg[i]].group];

    return i < p->begin[p->members[group->first] + 1];
}

/* Payload of every group's sums, gathers and scatters. */
static double *summed_bytes(struct pp_traffic *t)
{
    const struct pp_program *p = t->in->program;
    double *bytes = PP_ARRAY(t->arena, double, p->group_count + 1);
    int group;

    for (struct pp_whole_walk walk = pp_whole_walk(p, 0); walk.at < pp_program_size(p);
         pp_whole_next(p, &walk)) {
        const int i = walk.at;
        const double inside = pp_traffic_inside(t->in, i, &group);
        if (inside > 0)
            bytes[group] += inside;
        if (pp_traffic_is_sum(p, i) && is_first_post(p, i))
            bytes[p->collectives[p->arg[i]].group] += pp_traffic_payload(t->in, i);
    }
    return bytes;
}

/* Sends the sums of a tied embedding over the ranks that hold it, in each replica separately. */
static void send_tied(struct pp_traffic *t, const struct pp_group *group, const double *bytes)
{
    const struct pp_network *n = t->in->network;
    int32_t *device = PP_ARRAY(t->arena, int32_t, group->count);
    const struct amount amount = {bytes, 1, share(group->count)};

    for (int r = 0; r < n->layout.dp; r++)
        for (int cp = 0; cp < n->layout.cp; cp++) {
            for (int m = 0; m < group->count; m++)
                device[m] =
                    pp_map_device(&n->map, 0, cp, r, t->in->program->members[group->first + m]);
            send_ring(t, device, group->count, 1, &amount);
        }
}

void pp_traffic_sum(struct pp_traffic *t, const struct pp_group *group, const double *bytes)
{
    const struct pp_ring *ring =
        t->in->has_flows && t->in->costs->rings && group->kind == PP_GROUP_STAGE
            ? &t->in->costs->rings[group->stage]
            : NULL;
    int count;

    if (group->kind == PP_GROUP_TIED) {
        send_tied(t, group, bytes);
    } else if (ring && ring->positions > 1) {
        const struct amount amount = {bytes, 1, share(ring->positions)};
        send_ring(t, ring->device, ring->positions, 1, &amount);
    } else {
        const int32_t *device = devices_of(t, group, &count);
        send_two_levels(t, device, count, bytes);
    }
}

void pp_traffic_all(struct pp_traffic *t)
{
    const struct pp_program *p = t->in->program;
    int count;
    const struct pp_rank_pair *pairs = pp_rank_pairs(t->arena, p, t->in->costs, &count);

    for (int i = 0; i < count; i++)
        for (int r = 0; r < t->in->network->layout.dp; r++)
            pp_traffic_message(t, &pairs[i], r, &pairs[i].message_bytes);
    const double *bytes = summed_bytes(t);
    for (int g = 0; g < p->group_count; g++)
        if (bytes[g] > 0)
            pp_traffic_sum(t, &p->groups[g], &bytes[g]);
}

/* ---- making ---------------------------------------------------------------------------------- */

struct pp_traffic pp_traffic_make(struct pp_arena *arena, const struct pp_link_inputs *in,
                                  int parts, const int32_t *only, int only_count)
{
    const struct pp_network *n = in->network;
    const size_t numbers = (size_t)parts * (size_t)only_count;

    return (struct pp_traffic){.arena = arena,
                               .in = in,
                               .parts = parts,
                               .links = pp_link_set_make(arena, n->fabric, 2 * n->layout.gpus),
                               .bytes = PP_ARRAY(arena, double, numbers + 1),
                               .only = only,
                               .only_count = only_count,
                               .route =
                                   PP_ARRAY(arena, int32_t, pp_fabric_route_max(n->fabric) + 1)};
}
