#include "sim/links.h"

#include "sim/steps.h"
#include "sim/streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct traffic {
    struct pp_arena *arena;
    const struct pp_link_inputs *in;
    struct pp_link_set links;
    int32_t *route;
    int room;
    double *bytes; /* [link], room for `room` of them */
};

/* ---- bytes ----------------------------------------------------------------------------------- */

static void send(struct traffic *t, int source, int dest, double bytes)
{
    const int count = pp_fabric_route(t->in->network->fabric, source, dest, t->route).count;

    for (int h = 0; h < count; h++) {
        const int link = pp_link_set_at(&t->links, t->route[h]);
        if (t->links.capacity > t->room) {
            t->bytes = pp_arena_grow(t->arena, t->bytes, sizeof(double) * (size_t)t->room,
                                     sizeof(double) * (size_t)t->links.capacity);
            t->room = t->links.capacity;
        }
        t->bytes[link] += bytes;
    }
}

static void send_messages(struct traffic *t)
{
    const struct pp_network *n = t->in->network;
    const int lanes = n->layout.tp * n->layout.cp;
    int count;
    const struct pp_rank_pair *pairs =
        pp_rank_pairs(t->arena, t->in->program, t->in->costs, &count);

    for (int i = 0; i < count; i++)
        for (int r = 0; r < n->layout.dp; r++)
            for (int lane = 0; lane < lanes; lane++)
                send(t, pp_network_device(n, pairs[i].source, r, lane),
                     pp_network_device(n, pairs[i].dest, r, lane), pairs[i].message_bytes);
}

/* Every device of a ring passes `bytes` on to the next; `stride` devices apart in the list. */
static void send_ring(struct traffic *t, const int32_t *device, int count, int stride, double bytes)
{
    const struct pp_network *n = t->in->network;

    for (int i = 0; count > 1 && i < count; i++)
        for (int tp = 0; tp < n->layout.tp; tp++) {
            const int lane = tp * n->map.stride[PP_AXIS_TP];
            send(t, device[i * stride] + lane, device[(i + 1) % count * stride] + lane, bytes);
        }
}

static double share(int members) /* of the payload that a device passes on, all but its own */
{
    return (double)(members - 1) / members;
}

/* Members in each node when all nodes hold equally many, else 1. `device` is sorted. */
static int members_per_node(const int32_t *device, int count, int gpus_per_node)
{
    int first = 0;

    for (int i = 0, run = 0; i < count; i++) {
        run++;
        if (i + 1 < count && device[i + 1] / gpus_per_node == device[i] / gpus_per_node)
            continue;
        first = first ? first : run;
        if (run != first)
            return 1;
        run = 0;
    }
    return first ? first : 1;
}

/* A reduce-scatter or an all-gather of `bytes`, or several: inside each node, then across. */
static void send_two_levels(struct traffic *t, const int32_t *device, int count, double bytes)
{
    const int per_node = t->in->is_flat ? 1 : members_per_node(device, count, t->in->gpus_per_node);
    const int nodes = count / per_node;

    for (int k = 0; k < nodes; k++)
        send_ring(t, device + (size_t)k * (size_t)per_node, per_node, 1, bytes * share(per_node));
    for (int j = 0; j < per_node; j++)
        send_ring(t, device + j, nodes, per_node, bytes / per_node * share(nodes));
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* Devices of a group with tp coordinate 0, in all replicas, sorted. */
static int32_t *devices_of(struct traffic *t, const struct pp_group *group, int *count)
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
    qsort(device, (size_t)*count, sizeof(*device), by_number);
    return device;
}

/* Payload of the sums of every group times the rounds they make: an all-reduce goes around twice.
 */
static double *summed_bytes(struct traffic *t)
{
    const struct pp_program *p = t->in->program;
    double *bytes = PP_ARRAY(t->arena, double, p->group_count + 1);
    bool *is_counted = PP_ARRAY(t->arena, bool, p->collective_count + 1);

    for (int i = 0; i < pp_program_size(p); i++) {
        if (!pp_op_is_collective(p->kind[i]) || p->kind[i] == PP_A2A || is_counted[p->arg[i]])
            continue;
        const struct pp_op op = pp_program_op(p, i);
        is_counted[op.arg] = true;
        bytes[p->collectives[op.arg].group] +=
            (op.kind == PP_AR ? 2 : 1) * pp_costs_op(t->in->costs, &op, NULL).bytes;
    }
    return bytes;
}

/* A tied embedding is summed over the ranks that hold it, in every replica for itself. */
static void send_tied(struct traffic *t, const struct pp_group *group, double bytes)
{
    const struct pp_network *n = t->in->network;
    int32_t *device = PP_ARRAY(t->arena, int32_t, group->count);

    for (int r = 0; r < n->layout.dp; r++)
        for (int cp = 0; cp < n->layout.cp; cp++) {
            for (int m = 0; m < group->count; m++)
                device[m] =
                    pp_map_device(&n->map, 0, cp, r, t->in->program->members[group->first + m]);
            send_ring(t, device, group->count, 1, bytes * share(group->count));
        }
}

static void send_sums(struct traffic *t)
{
    const struct pp_program *p = t->in->program;
    const double *bytes = summed_bytes(t);

    for (int g = 0; g < p->group_count; g++) {
        const struct pp_group *group = &p->groups[g];
        const struct pp_ring *ring =
            t->in->has_flows && t->in->costs->rings && group->kind == PP_GROUP_STAGE
                ? &t->in->costs->rings[group->stage]
                : NULL;
        int count;
        if (bytes[g] <= 0)
            continue;
        if (group->kind == PP_GROUP_TIED) {
            send_tied(t, group, bytes[g]);
            continue;
        }
        if (ring && ring->positions > 1) {
            send_ring(t, ring->device, ring->positions, 1, bytes[g] * share(ring->positions));
            continue;
        }
        const int32_t *device = devices_of(t, group, &count);
        send_two_levels(t, device, count, bytes[g]);
    }
}

/* ---- classes --------------------------------------------------------------------------------- */

/* "node3.nic0.up" -> "node*.nic*.up" */
static uint32_t pattern_of(const char *name, char pattern[PP_LINK_NAME_BYTES])
{
    uint32_t hash = UINT32_C(2166136261);
    int used = 0;

    for (const char *c = name; *c; c++) {
        const bool is_digit = *c >= '0' && *c <= '9';
        if (is_digit && used && pattern[used - 1] == '*')
            continue;
        pattern[used++] = is_digit ? '*' : *c;
        hash = (hash ^ (unsigned char)pattern[used - 1]) * UINT32_C(16777619);
    }
    pattern[used] = '\0';
    return hash;
}

struct classes {
    struct pp_arena *arena;
    struct pp_link_class *list;
    int count, capacity;
    int32_t *slots; /* open addressing, index + 1 */
    uint32_t mask;
};

static void rehash(struct classes *c)
{
    char pattern[PP_LINK_NAME_BYTES];

    c->mask = c->mask ? 2 * c->mask + 1 : 63;
    c->slots = PP_ARRAY(c->arena, int32_t, c->mask + 1);
    for (int i = 0; i < c->count; i++) {
        uint32_t at = pattern_of(c->list[i].name, pattern) & c->mask;
        while (c->slots[at])
            at = (at + 1) & c->mask;
        c->slots[at] = i + 1;
    }
}

static struct pp_link_class *class_of(struct classes *c, const char *name)
{
    char pattern[PP_LINK_NAME_BYTES];

    if (2 * (uint32_t)c->count >= c->mask)
        rehash(c);
    uint32_t at = pattern_of(name, pattern) & c->mask;
    for (; c->slots[at]; at = (at + 1) & c->mask)
        if (!strcmp(c->list[c->slots[at] - 1].name, pattern))
            return &c->list[c->slots[at] - 1];
    struct pp_link_class *class = PP_PUSH(c->arena, c->list, c->count, c->capacity);
    c->slots[at] = c->count;
    *class = (struct pp_link_class){0};
    memcpy(class->name, pattern, sizeof(pattern));
    return class;
}

#define TIE_FRAC 1e-9
static void sort_into_classes(const struct traffic *t, struct classes *c)
{
    const struct pp_link_inputs *in = t->in;
    char text[PP_LINK_NAME_BYTES];

    for (int i = 0; i < t->links.count; i++) {
        if (t->bytes[i] <= 0)
            continue;
        const char *name = pp_fabric_link_name(in->network->fabric, t->links.link[i], text);
        const double bytes = t->bytes[i] / in->steps;
        const double frac = bytes / (t->links.value[i].bytes_per_s * in->iteration_s);
        struct pp_link_class *class = class_of(c, name);
        class->count++;
        class->bytes += bytes;
        class->mean_frac += frac;
        if (frac > class->max_frac * (1 + TIE_FRAC)) /* of equals the first */
            snprintf(class->hottest, sizeof(class->hottest), "%s", name);
        class->max_frac = frac > class->max_frac ? frac : class->max_frac;
    }
}

static int by_use(const void *a, const void *b)
{
    const struct pp_link_class *x = a, *y = b;

    return x->max_frac != y->max_frac ? (x->max_frac > y->max_frac ? -1 : 1)
                                      : strcmp(x->name, y->name);
}

struct pp_link_loads pp_link_loads(struct pp_arena *arena, const struct pp_link_inputs *in)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct traffic t = {.arena = scratch, .in = in};
    struct classes classes = {.arena = arena};

    t.links = pp_link_set_make(scratch, in->network->fabric, 2 * in->network->layout.gpus);
    t.route = PP_ARRAY(scratch, int32_t, pp_fabric_route_max(in->network->fabric) + 1);
    send_messages(&t);
    send_sums(&t);
    sort_into_classes(&t, &classes);
    for (int i = 0; i < classes.count; i++) {
        struct pp_link_class *class = &classes.list[i];
        class->mean_frac = fmin(class->mean_frac / class->count, class->max_frac); /* rounding */
        if (class->count == 1)
            memcpy(class->name, class->hottest, sizeof(class->name));
    }
    if (classes.count)
        qsort(classes.list, (size_t)classes.count, sizeof(*classes.list), by_use);
    return (struct pp_link_loads){.count = classes.count, .classes = classes.list};
}

struct pp_link_loads pp_links_of(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    const struct pp_link_inputs in = {.program = r->program,
                                      .costs = r->costs,
                                      .network = c->engine_options.network,
                                      .gpus_per_node = c->cluster.gpus_per_node,
                                      .has_flows = c->engine_options.plan.ring_flows,
                                      .is_flat = c->algorithm == PP_ALGORITHM_RING,
                                      .steps =
                                          pp_steps_in_list(c) ? c->engine_options.plan.steps : 1,
                                      .iteration_s = r->metrics.iteration_s};

    return in.network ? pp_link_loads(arena, &in) : (struct pp_link_loads){0};
}
