/* The cluster of a platform file: its device, and links derived from its routes. */
#include "sim/platform/platform.h"
#include "sim/platform/props.h"
#include "sim/simgrid/platform_file_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum pp_status link_of_route(struct pp_platform *p, int source, int dest,
                                    struct pp_link *link, struct pp_error *err)
{
    int32_t links[PP_PROBE_ROUTE_MAX];
    const int count = pp_platform_find_route(p, source, dest, links, PP_PROBE_ROUTE_MAX, err);

    if (count < 0)
        return err->status;
    *link = (struct pp_link){p->alpha_s, INFINITY};
    for (int i = 0; i < count; i++) {
        link->alpha_s += p->link[links[i]].latency_s;
        link->bytes_per_s = fmin(link->bytes_per_s, p->link[links[i]].bytes_per_s);
    }
    return PP_OK;
}

/* Derives the bandwidth of a device from node 0 to node 1, if all devices send to their
 * counterparts, and the number of NICs. Routes share their common links. */
static enum pp_status share_of_network(struct pp_arena *arena, struct pp_platform *p,
                                       struct pp_cluster *c, struct pp_error *err)
{
    const int node = c->gpus_per_node;
    int *uses = PP_ARRAY(arena, int, p->links), sharers = 1;
    int32_t links[PP_PROBE_ROUTE_MAX];

    PP_TRY(link_of_route(p, 0, node, &c->inter, err));
    for (int i = 0; i < node; i++) {
        const int count = pp_platform_find_route(p, i, node + i, links, PP_PROBE_ROUTE_MAX, err);
        if (count < 0)
            return err->status;
        for (int k = 0; k < count; k++)
            uses[links[k]] += !p->link[links[k]].is_fatpipe;
    }
    for (int l = 0; l < p->links; l++)
        if (uses[l] > 0 && p->link[l].bytes_per_s / uses[l] < c->inter.bytes_per_s) {
            c->inter.bytes_per_s = p->link[l].bytes_per_s / uses[l];
            sharers = uses[l];
        }
    c->fabric.nics = sharers > 1 ? (node + sharers - 1) / sharers : 0;
    return PP_OK;
}

/* Sets the links in a node and between nodes; if only one exists, it stands for both. */
static enum pp_status set_links(struct pp_arena *arena, struct pp_platform *p, struct pp_cluster *c,
                                struct pp_error *err)
{
    const int node = c->gpus_per_node;

    if (node > 1)
        PP_TRY(link_of_route(p, 0, 1, &c->intra, err));
    if (p->hosts > node)
        PP_TRY(share_of_network(arena, p, c, err));
    if (node == 1 && p->hosts > 1)
        c->intra = c->inter;
    if (node > 1 && p->hosts == node)
        c->inter = c->intra;
    return PP_OK;
}

/* Turns an error "--cluster: memory:40XB" into "line 7: property memory", if possible. */
static enum pp_status bad_property(const struct pp_platform *p, struct pp_error *err)
{
    static const char option[] = "--cluster: ";
    struct pp_error from = *err;
    const bool has_option = !strncmp(from.message, option, strlen(option));

    const char *reason = from.message + (has_option ? strlen(option) : 0), *name;
    char word[16] = "device";
    int used = 0;

    if (sscanf(reason, "%15[a-z]:%n", word, &used) != 1 || used == 0)
        used = 0, snprintf(word, sizeof(word), "device");
    const int line = pp_prop_line(p->source.text, word, &name);
    if (!line)
        return pp_error_set(err, from.status, "%s: properties: %s", p->source.path, reason);
    pp_error_set(err, from.status, "property %s: %s", name, reason + used);
    return pp_platform_place(p, line, err);
}

static enum pp_status uneven(const struct pp_platform *p, int gpus_per_node, struct pp_error *err)
{
    const char *name = PP_PROP_GPUS;
    const int line = pp_prop_line(p->source.text, "gpu", &name);

    pp_error_set(err, PP_EINVAL, "%d hosts are no whole number of nodes: property %s is %d",
                 p->hosts, name, gpus_per_node);
    return pp_platform_place(p, line, err);
}

enum pp_status pp_platform_cluster(struct pp_arena *arena, struct pp_platform *p,
                                   struct pp_cluster *c, struct pp_error *err)
{
    const bool has_device = strstr(p->words, "device:") != NULL;

    if (pp_cluster_load(arena, *p->words ? p->words : "h100", c, err) != PP_OK)
        return bad_property(p, err);
    if (!strstr(p->words, "gpu:"))
        c->gpus_per_node = 1;
    if (p->hosts % c->gpus_per_node != 0)
        return uneven(p, c->gpus_per_node, err);
    c->name = p->source.path;
    c->title = pp_arena_printf(arena, "platform of %d host%s and %d links%s", p->hosts,
                               p->hosts == 1 ? "" : "s", p->links,
                               has_device ? "" : "; no property device: h100 taken");
    c->source = pp_arena_printf(arena, "links and routes from %s", c->name);
    c->nodes = p->hosts / c->gpus_per_node;
    c->eta_link = 1;
    c->fabric = (struct pp_fabric_shape){.kind = PP_FABRIC_FILE, .file = c->name};
    return set_links(arena, p, c, err);
}
