/* Bandwidth and latency of each level of a <cluster>. */
#include "sim/simgrid/module/platform.h"

#include "core/units.h"
#include "sim/platform/platform.h"
#include "sim/platform/props.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1 << 26 };

/* A link of a fat tree, "link_from_<low>_<high>_<uid>_UP|DOWN": between two of its nodes. */
struct edge {
    int low, high;
    long uid;
    int link;
};

static bool parse_edge(const char *name, struct edge *edge)
{
    char direction[8];

    return sscanf(name, "link_from_%d_%d_%ld_%7s", &edge->low, &edge->high, &edge->uid,
                  direction) == 4 &&
           edge->low >= 0 && edge->low < NODES_MAX && edge->high >= 0 && edge->high < NODES_MAX;
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return x->uid < y->uid ? -1 : x->uid > y->uid;
}

/* Links are numbered from below: above a link of level k are links of level k + 1. */
static int find_tree_levels(struct pp_arena *arena, sg_link_t *links, int count, int *levels)
{
    struct edge *edges = PP_ARRAY(arena, struct edge, count + 1);
    int edge_count = 0, node_max = 0;

    for (int i = 0; i < count; i++) {
        struct edge *e = &edges[edge_count];
        if (!parse_edge(sg_link_get_name(links[i]), e))
            continue;
        e->link = i;
        node_max = e->low > node_max ? e->low : node_max;
        node_max = e->high > node_max ? e->high : node_max;
        edge_count++;
    }
    int *level = PP_ARRAY(arena, int, node_max + 1);
    qsort(edges, (size_t)edge_count, sizeof(*edges), compare_edges);
    for (int i = 0; i < edge_count; i++) {
        levels[edges[i].link] = level[edges[i].low] + 1;
        level[edges[i].high] = level[edges[i].low] + 1;
    }
    return edge_count;
}

/* Names of a dragonfly's links begin with a word for their level. */
static int find_dragonfly_levels(sg_link_t *links, int count, int *levels)
{
    static const char *const words[] = {"local_link_", "green_link_", "black_link_", "blue_link_"};
    int found = 0;

    for (int i = 0; i < count; i++)
        for (int k = 0; k < 4; k++)
            if (!strncmp(sg_link_get_name(links[i]), words[k], strlen(words[k]))) {
                levels[i] = k + 1;
                found++;
            }
    return found;
}

static void find_levels(struct pp_arena *arena, sg_link_t *links, int count, int *levels)
{
    if (find_tree_levels(arena, links, count, levels) > 0 ||
        find_dragonfly_levels(links, count, levels) > 0)
        return;
    for (int i = 0; i < count; i++)
        levels[i] = strstr(sg_link_get_name(links[i]), "loopback") ? 0 : 1;
}

static enum pp_status parse(const char *name, const char *value, enum pp_unit unit, double *number,
                            struct pp_error *err)
{
    if (pp_units_parse(value, unit, number, err) != PP_OK)
        return pp_error_prefix(err, "property %s: ", name);
    return PP_OK;
}

static enum pp_status set_level(sg_host_t host, int level, sg_link_t *links, const int *levels,
                                int count, struct pp_error *err)
{
    char names[2][64];
    double number[2];
    int hit = 0;

    snprintf(names[0], sizeof(names[0]), PP_PROP_LEVEL_BANDWIDTH, level);
    snprintf(names[1], sizeof(names[1]), PP_PROP_LEVEL_LATENCY, level);
    const char *bandwidth = sg_host_get_property_value(host, names[0]);
    const char *latency = sg_host_get_property_value(host, names[1]);
    if (!bandwidth && !latency)
        return PP_OK;
    if (bandwidth)
        PP_TRY(parse(names[0], bandwidth, PP_UNIT_BYTES_PER_S, &number[0], err));
    if (latency)
        PP_TRY(parse(names[1], latency, PP_UNIT_SECONDS, &number[1], err));
    for (int i = 0; i < count; i++) {
        if (levels[i] != level)
            continue;
        if (bandwidth)
            sg_link_set_bandwidth(links[i], number[0]);
        if (latency)
            sg_link_set_latency(links[i], number[1]);
        hit++;
    }
    if (hit == 0)
        return pp_error_set(err, PP_EINVAL, "property %s: no link has level %d",
                            names[bandwidth ? 0 : 1], level);
    return PP_OK;
}

enum pp_status pp_simgrid_set_levels(struct pp_arena *arena, sg_host_t host, sg_link_t *links,
                                     int count, struct pp_error *err)
{
    int *levels = PP_ARRAY(arena, int, count + 1);

    find_levels(arena, links, count, levels);
    for (int level = 1; level <= PP_PROP_LEVELS; level++)
        PP_TRY(set_level(host, level, links, levels, count, err));
    return PP_OK;
}
