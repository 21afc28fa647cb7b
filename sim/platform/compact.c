/* Prints platforms as one <cluster>. */
#include "sim/platform/parts.h"

enum { TEXT_BYTES = 64 };

static struct pp_platform_level level_of(const struct pp_xml_page *p, int source, int dest,
                                         int position)
{
    (void)pp_fabric_route(p->fabric, source, dest, p->links);
    const struct pp_fabric_link link = pp_fabric_link(p->fabric, p->links[position]);

    return (struct pp_platform_level){link.bytes_per_s, link.latency_s};
}

static int count_links(const struct pp_xml_page *p, int dest)
{
    return pp_fabric_route(p->fabric, 0, dest, p->links).count;
}

/* Devices with their own links to one switch. */
static bool form_star(const struct pp_xml_page *p, struct pp_form *form)
{
    const struct pp_fabric_size *s = &p->size;

    if (s->gpus_per_node > 1 && s->nodes > 1)
        return false;
    form->levels = 1;
    form->level[0] = level_of(p, 0, pp_fabric_devices(p->fabric) - 1, 0);
    return true;
}

/* Levels from below: devices to the node's switch, nodes to leaves, leaves to spines. The route up
 * from the first device to the last has one link of each level. */
static bool form_fat_tree(const struct pp_xml_page *p, struct pp_form *form)
{
    const struct pp_fabric_size *s = &p->size;
    const int last = pp_fabric_devices(p->fabric) - 1;
    const bool has_device = s->gpus_per_node > 1, has_leaf = s->uplinks > 0;
    const int leaves = has_leaf ? s->nodes / s->leaf_nodes : 1, nodes = s->nodes / leaves;
    const int levels = count_links(p, last) / 2;
    char down[TEXT_BYTES], up[TEXT_BYTES], ports[TEXT_BYTES];

    if (s->nodes == 1)
        return form_star(p, form);
    if (s->gpus_per_node % s->rails != 0 || levels != has_device + 1 + has_leaf)
        return false;
    form->topology = "FAT_TREE";
    form->levels = levels;
    for (int i = 0; i < levels; i++)
        form->level[i] = level_of(p, 0, last, i);
    snprintf(down, sizeof down, has_leaf ? "%d,%d" : "%d", nodes, leaves);
    snprintf(up, sizeof up, has_leaf ? "%d,%d" : "%d", s->rails, s->uplinks);
    snprintf(ports, sizeof ports, has_leaf ? "1,1" : "1");
    if (has_device)
        snprintf(form->parameters, sizeof form->parameters, "%d;%d,%s;1,%s;1,%s", levels,
                 s->gpus_per_node, down, up, ports);
    else
        snprintf(form->parameters, sizeof form->parameters, "%d;%s;%s;%s", levels, down, up, ports);
    if (has_leaf && !s->is_static)
        form->note = "The uplinks of a leaf are one link: routing is adaptive.";
    return true;
}

/* Levels are links of one node to others that are one step away. Adaptive routing spreads the flows
 * of a group: its links are as wide as all its nodes, and never bind. */
static bool form_dragonfly(const struct pp_xml_page *p, struct pp_form *form)
{
    const struct pp_fabric_size *s = &p->size;
    const int chassis = s->routers * s->router_nodes, group = chassis * s->chassis;

    if (s->gpus_per_node > 1 || s->groups > s->routers)
        return false;
    form->topology = "DRAGONFLY";
    snprintf(form->parameters, sizeof form->parameters, "%d,1;%d,1;%d,1;%d", s->groups, s->chassis,
             s->routers, s->router_nodes);
    form->levels = PP_FORM_LEVELS;
    form->level[0] = level_of(p, 0, pp_fabric_devices(p->fabric) - 1, 0);
    const bool has[PP_FORM_LEVELS] = {true, s->routers > 1, s->chassis > 1, s->groups > 1};
    for (int i = 1; i < PP_FORM_LEVELS; i++)
        form->level[i].bytes_per_s = has[i] ? form->level[0].bytes_per_s * group : 0;
    if (s->is_static) {
        if (s->routers > 1)
            form->level[1] = level_of(p, 0, s->router_nodes, 1);
        if (s->chassis > 1)
            form->level[2] = level_of(p, 0, chassis, 1);
        if (s->groups > 1)
            form->level[3] = level_of(p, s->router_nodes, group, 1);
        if (s->chassis > 1)
            form->note = "SimGrid 3.32 ends each way inside a group as if it came from chassis 0;\n"
                         "       pipesim's own fabric comes from where the flow is.";
        return true;
    }
    const int near = s->routers > 1 ? s->router_nodes : chassis;
    if (group > s->router_nodes && count_links(p, near) > 2)
        return false; /* the ports of a router bind */
    if (s->groups > 1 && count_links(p, group) > 2)
        form->level[3] = level_of(p, 0, group, 1);
    form->note = "Routing is adaptive: links inside a group are as wide as all its nodes.";
    return true;
}

static bool form_torus(const struct pp_xml_page *p, struct pp_form *form)
{
    const struct pp_fabric_size *s = &p->size;

    if (s->gpus_per_node > 1)
        return false;
    form->topology = "TORUS";
    snprintf(form->parameters, sizeof form->parameters, "%d,%d,%d", s->torus[0], s->torus[1],
             s->torus[2]);
    form->levels = 1;
    form->level[0] = level_of(p, 0, pp_fabric_devices(p->fabric) - 1, 0);
    form->alpha_s = p->cluster->inter.alpha_s;
    form->note = "Latency does not grow with hops: it is a property.";
    return true;
}

static bool (*const forms[PP_FABRIC_KINDS])(const struct pp_xml_page *, struct pp_form *) = {
    [PP_FABRIC_FAT_TREE] = form_fat_tree,
    [PP_FABRIC_DRAGONFLY] = form_dragonfly,
    [PP_FABRIC_TORUS] = form_torus,
    [PP_FABRIC_STAR] = form_star,
};

bool pp_platform_form(const struct pp_xml_page *p, struct pp_form *form)
{
    return forms[p->size.kind] && forms[p->size.kind](p, form);
}

/* Prints the properties of level `number`, from 1. */
static void print_level(const struct pp_platform_level *level, int number, FILE *out)
{
    char name[TEXT_BYTES], text[PP_VALUE_BYTES];

    snprintf(name, sizeof name, PP_PROP_LEVEL_BANDWIDTH, number);
    pp_platform_prop(out, name, pp_platform_bandwidth(level->bytes_per_s, text));
    snprintf(name, sizeof name, PP_PROP_LEVEL_LATENCY, number);
    pp_platform_prop(out, name, pp_platform_latency(level->latency_s, text));
}

void pp_platform_compact(const struct pp_xml_page *p, const struct pp_form *form)
{
    FILE *out = p->out;
    char speed[PP_VALUE_BYTES], bandwidth[PP_VALUE_BYTES], latency[PP_VALUE_BYTES];

    fprintf(out,
            "  <!-- SimGrid gives all links the same speed; with the levels in the properties,\n"
            "       pipesim sets each when it loads this file.%s%s -->\n",
            form->note ? "\n       " : "", form->note ? form->note : "");
    fprintf(out,
            "  <cluster id=\"cluster\" prefix=\"gpu\" suffix=\"\" radical=\"0-%d\" speed=\"%s\" "
            "bw=\"%s\" lat=\"%s\"",
            pp_fabric_devices(p->fabric) - 1,
            pp_platform_value(p->cluster->device.peak_flops_per_s, 1e12, "Tf", "f", speed),
            pp_platform_bandwidth(form->level[0].bytes_per_s, bandwidth),
            pp_platform_latency(form->level[0].latency_s, latency));
    if (form->topology)
        fprintf(out, "\n           topology=\"%s\" topo_parameters=\"%s\"", form->topology,
                form->parameters);
    fputs(" sharing_policy=\"SPLITDUPLEX\">\n", out);
    pp_platform_props(p);
    for (int i = 0; i < form->levels; i++)
        if (form->level[i].bytes_per_s > 0)
            print_level(&form->level[i], i + 1, out);
    if (form->alpha_s > 0)
        pp_platform_prop(out, PP_PROP_ALPHA, pp_platform_latency(form->alpha_s, latency));
    fputs("  </cluster>\n", out);
}
