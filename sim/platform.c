/* A cluster as SimGrid XML: one <cluster> where SimGrid has the shape, else a zone with every link
 * and every route. */
#include "sim/platform.h"

#include "core/fabric.h"
#include "core/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_DEVICES_MAX = 128, LEVELS_MAX = 4, TEXT_BYTES = 64, TORUS_SIDE = 4 };

struct level {
    double bytes_per_s, latency_s;
};

/* What a <cluster> says. */
struct form {
    const char *topology; /* NULL: every device has a link to one switch */
    char parameters[4 * TEXT_BYTES];
    int levels;
    struct level level[LEVELS_MAX]; /* 0 bytes/s: SimGrid has no link of this level */
    double alpha_s;                 /* of every route, beside its links' */
    const char *note;
};

/* What is printed. */
struct page {
    const struct pp_cluster *cluster; /* with eta_link 1: bandwidths as data sheets have them */
    const struct pp_fabric *fabric;
    struct pp_fabric_size size;
    double eta_link;
    int32_t *links; /* room for a route */
    FILE *out;
};

/* ---- values ------------------------------------------------------------------------------ */

/* With a prefix where that loses nothing: "10.2GBps", else "10200000001Bps". */
static void print_value(FILE *out, double value, double scale, const char *scaled, const char *unit)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof text, "%.15g", value / scale);
    if (strtod(text, NULL) * scale == value)
        fprintf(out, "%s%s", text, scaled);
    else
        fprintf(out, "%.17g%s", value, unit);
}

static void print_bandwidth(FILE *out, double bytes_per_s)
{
    print_value(out, bytes_per_s, 1e9, "GBps", "Bps");
}

static void print_latency(FILE *out, double latency_s)
{
    print_value(out, latency_s, 1e-6, "us", "s");
}

static void print_escaped(FILE *out, const char *text)
{
    static const char *const names[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};

    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < sizeof names / sizeof *names && names[c])
            fputs(names[c], out);
        else
            fputc(c < ' ' || c > '~' ? ' ' : c, out);
    }
}

static void open_prop(FILE *out, const char *name)
{
    fprintf(out, "      <prop id=\"%s\" value=\"", name);
}

static void close_prop(FILE *out)
{
    fputs("\"/>\n", out);
}

/* Of every host. */
static void print_props(const struct page *p)
{
    const struct pp_cluster *c = p->cluster;
    FILE *out = p->out;

    open_prop(out, PP_PROP_CLUSTER);
    print_escaped(out, c->name);
    close_prop(out);
    open_prop(out, PP_PROP_DEVICE);
    print_escaped(out, c->device.name);
    close_prop(out);
    open_prop(out, PP_PROP_MEMORY);
    fprintf(out, "%.17gB", c->device.memory_bytes);
    close_prop(out);
    open_prop(out, PP_PROP_HBM);
    print_bandwidth(out, c->device.memory_bytes_per_s);
    close_prop(out);
    open_prop(out, PP_PROP_PEAK);
    print_value(out, c->device.peak_flops_per_s, 1e12, "TF", "F");
    close_prop(out);
    open_prop(out, PP_PROP_GPUS);
    fprintf(out, "%d", c->gpus_per_node);
    close_prop(out);
    open_prop(out, PP_PROP_ETA_LINK);
    fprintf(out, "%.15g", p->eta_link);
    close_prop(out);
}

/* ---- the compact forms ------------------------------------------------------------------- */

static struct level level_of(const struct page *p, int source, int dest, int position)
{
    (void)pp_fabric_route(p->fabric, source, dest, p->links);
    const struct pp_fabric_link link = pp_fabric_link(p->fabric, p->links[position]);

    return (struct level){link.bytes_per_s, link.latency_s};
}

static int count_links(const struct page *p, int dest)
{
    return pp_fabric_route(p->fabric, 0, dest, p->links).count;
}

/* Devices with a link of their own to one switch. */
static bool form_star(const struct page *p, struct form *form)
{
    const struct pp_fabric_size *s = &p->size;

    if (s->gpus_per_node > 1 && s->nodes > 1)
        return false;
    form->levels = 1;
    form->level[0] = level_of(p, 0, pp_fabric_devices(p->fabric) - 1, 0);
    return true;
}

/* From below: devices to the switch of the node, nodes to their leaves, leaves to spines; the way
 * up from the first device to the last has a link of each. */
static bool form_fat_tree(const struct page *p, struct form *form)
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

/* Links of one node to others that are one step away on each level. Adaptive routing spreads the
 * flows of a group; its links are as wide as all nodes of the group, and never bind. */
static bool form_dragonfly(const struct page *p, struct form *form)
{
    const struct pp_fabric_size *s = &p->size;
    const int chassis = s->routers * s->router_nodes, group = chassis * s->chassis;

    if (s->gpus_per_node > 1 || s->groups > s->routers)
        return false;
    form->topology = "DRAGONFLY";
    snprintf(form->parameters, sizeof form->parameters, "%d,1;%d,1;%d,1;%d", s->groups, s->chassis,
             s->routers, s->router_nodes);
    form->levels = LEVELS_MAX;
    form->level[0] = level_of(p, 0, pp_fabric_devices(p->fabric) - 1, 0);
    const bool has[LEVELS_MAX] = {true, s->routers > 1, s->chassis > 1, s->groups > 1};
    for (int i = 1; i < LEVELS_MAX; i++)
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

static bool form_torus(const struct page *p, struct form *form)
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

static bool no_form(const struct page *p, struct form *form)
{
    (void)p, (void)form;
    return false;
}

static bool (*const forms[PP_FABRIC_KINDS])(const struct page *, struct form *) = {
    [PP_FABRIC_FAT_TREE] = form_fat_tree, [PP_FABRIC_DRAGONFLY] = form_dragonfly,
    [PP_FABRIC_TORUS] = form_torus,       [PP_FABRIC_STAR] = form_star,
    [PP_FABRIC_IDEAL] = no_form,          [PP_FABRIC_FILE] = no_form,
};

static void print_compact(const struct page *p, const struct form *form)
{
    FILE *out = p->out;
    char name[TEXT_BYTES];

    fprintf(out,
            "  <!-- SimGrid gives all links the same speed; with the levels in the properties,\n"
            "       pipesim sets each when it loads this file.%s%s -->\n",
            form->note ? "\n       " : "", form->note ? form->note : "");
    fprintf(out, "  <cluster id=\"cluster\" prefix=\"gpu\" suffix=\"\" radical=\"0-%d\" speed=\"",
            pp_fabric_devices(p->fabric) - 1);
    print_value(out, p->cluster->device.peak_flops_per_s, 1e12, "Tf", "f");
    fputs("\" bw=\"", out);
    print_bandwidth(out, form->level[0].bytes_per_s);
    fputs("\" lat=\"", out);
    print_latency(out, form->level[0].latency_s);
    fputs("\"", out);
    if (form->topology)
        fprintf(out, "\n           topology=\"%s\" topo_parameters=\"%s\"", form->topology,
                form->parameters);
    fputs(" sharing_policy=\"SPLITDUPLEX\">\n", out);
    print_props(p);
    for (int i = 0; i < form->levels; i++) {
        if (!(form->level[i].bytes_per_s > 0))
            continue;
        snprintf(name, sizeof name, PP_PROP_LEVEL_BANDWIDTH, i + 1);
        open_prop(out, name);
        print_bandwidth(out, form->level[i].bytes_per_s);
        close_prop(out);
        snprintf(name, sizeof name, PP_PROP_LEVEL_LATENCY, i + 1);
        open_prop(out, name);
        print_latency(out, form->level[i].latency_s);
        close_prop(out);
    }
    if (form->alpha_s > 0) {
        open_prop(out, PP_PROP_ALPHA);
        print_latency(out, form->alpha_s);
        close_prop(out);
    }
    fputs("  </cluster>\n", out);
}

/* ---- every link, every route ------------------------------------------------------------- */

static void print_link(const struct pp_fabric *f, int link, FILE *out)
{
    const struct pp_fabric_link l = pp_fabric_link(f, link);
    char name[PP_LINK_NAME_BYTES];

    fprintf(out, "    <link id=\"%s\" bandwidth=\"", pp_fabric_link_name(f, link, name));
    print_bandwidth(out, l.bytes_per_s);
    fputs("\" latency=\"", out);
    print_latency(out, l.latency_s);
    fprintf(out, "\" sharing_policy=\"%s\"/>\n", l.is_fatpipe ? "FATPIPE" : "SHARED");
}

/* Links that carry the latency which the links of a route lack: in a node, between nodes. */
static const char *const carriers[2] = {"node.latency", "network.latency"};

static double lacking_s(const struct page *p, struct pp_route route)
{
    double lacking = route.alpha_s;

    for (int i = 0; i < route.count; i++)
        lacking -= pp_fabric_link(p->fabric, p->links[i]).latency_s;
    return lacking > 1e-9 * route.alpha_s ? lacking : 0;
}

static void print_links(const struct page *p, struct pp_arena *arena)
{
    const int devices = pp_fabric_devices(p->fabric), links = pp_fabric_links(p->fabric);
    char *is_used = PP_ARRAY(arena, char, links);
    double lacking[2] = {0};

    for (int i = 0; i < devices * devices; i++) {
        const int a = i / devices, b = i % devices, gpus = p->size.gpus_per_node;
        const struct pp_route route = pp_fabric_route(p->fabric, a, b, p->links);
        for (int k = 0; k < route.count; k++)
            is_used[p->links[k]] = 1;
        lacking[a / gpus != b / gpus] = fmax(lacking[a / gpus != b / gpus], lacking_s(p, route));
    }
    for (int i = 0; i < links; i++)
        if (is_used[i])
            print_link(p->fabric, i, p->out);
    for (int i = 0; i < 2; i++)
        if (lacking[i] > 0) {
            fprintf(p->out, "    <link id=\"%s\" bandwidth=\"1EBps\" latency=\"", carriers[i]);
            print_latency(p->out, lacking[i]);
            fputs("\" sharing_policy=\"FATPIPE\"/>\n", p->out);
        }
}

static void print_route(const struct page *p, int a, int b)
{
    const struct pp_route route = pp_fabric_route(p->fabric, a, b, p->links);
    const int gpus = p->size.gpus_per_node;
    char name[PP_LINK_NAME_BYTES];

    fprintf(p->out, "    <route src=\"gpu%d\" dst=\"gpu%d\" symmetrical=\"NO\">", a, b);
    if (lacking_s(p, route) > 0)
        fprintf(p->out, "<link_ctn id=\"%s\"/>", carriers[a / gpus != b / gpus]);
    for (int i = 0; i < route.count; i++)
        fprintf(p->out, "<link_ctn id=\"%s\"/>", pp_fabric_link_name(p->fabric, p->links[i], name));
    fputs("</route>\n", p->out);
}

static void print_listed(const struct page *p, struct pp_arena *arena)
{
    const int devices = pp_fabric_devices(p->fabric);

    fputs("  <zone id=\"cluster\" routing=\"Full\">\n", p->out);
    for (int i = 0; i < devices; i++) {
        fprintf(p->out, "    <host id=\"gpu%d\" speed=\"", i);
        print_value(p->out, p->cluster->device.peak_flops_per_s, 1e12, "Tf", "f");
        fputs("\">\n", p->out);
        print_props(p);
        fputs("    </host>\n", p->out);
    }
    print_links(p, arena);
    for (int a = 0; a < devices; a++)
        for (int b = 0; b < devices; b++)
            if (a != b)
                print_route(p, a, b);
    fputs("  </zone>\n", p->out);
}

/* ---- the file ---------------------------------------------------------------------------- */

/* Two of what joins most: nodes, groups; and a torus with a way round. */
static int64_t usual_nodes(const struct pp_cluster *c)
{
    const struct pp_fabric_shape *s = &c->fabric;
    const int64_t nodes[PP_FABRIC_KINDS] = {
        [PP_FABRIC_DRAGONFLY] = s->groups > 0
                                    ? (int64_t)s->groups * s->chassis * s->routers * s->router_nodes
                                : s->routers > 0 ? 2LL * s->chassis * s->routers * s->router_nodes
                                                 : 0,
        [PP_FABRIC_TORUS] = s->torus[0] > 0
                                ? (int64_t)s->torus[0] * (s->torus[1] ? s->torus[1] : 1) *
                                      (s->torus[2] ? s->torus[2] : 1)
                                : TORUS_SIDE * TORUS_SIDE,
    };

    if (c->nodes > 0)
        return c->nodes;
    return nodes[s->kind] > 0 ? nodes[s->kind] : 2;
}

/* Devices of the whole leaves, groups, or torus that a compact form consists of. */
static int64_t whole_devices(const struct pp_fabric *fabric, int devices)
{
    const struct pp_fabric_size s = pp_fabric_size(fabric);
    const bool is_whole = s.kind == PP_FABRIC_TORUS || s.kind == PP_FABRIC_DRAGONFLY;
    const int64_t leaf = s.uplinks > 0 ? s.leaf_nodes : 1;

    if (s.kind == PP_FABRIC_IDEAL || s.is_pcie)
        return devices;
    return (is_whole ? s.nodes : (s.nodes + leaf - 1) / leaf * leaf) * s.gpus_per_node;
}

static enum pp_status make(struct pp_arena *arena, struct pp_cluster *c, int64_t devices,
                           struct page *p, struct pp_error *err)
{
    struct pp_fabric *fabric;

    if (devices > INT32_MAX)
        return pp_error_set(err, PP_EINVAL, "--cluster %s: a platform of %lld devices is too large",
                            c->name, (long long)devices);
    PP_TRY(pp_fabric_make(arena, c, (int)devices, &fabric, err));
    p->cluster = c;
    p->fabric = fabric;
    p->size = pp_fabric_size(fabric);
    p->links = PP_ARRAY(arena, int32_t, pp_fabric_route_max(fabric));
    return PP_OK;
}

enum pp_status pp_platform_print(struct pp_arena *arena, const struct pp_cluster *cluster,
                                 int devices, FILE *out, struct pp_error *err)
{
    struct pp_cluster sheet = *cluster;
    struct page page = {.out = out, .eta_link = cluster->eta_link};
    struct form form = {0};
    const int64_t asked = devices > 0 ? devices : usual_nodes(cluster) * cluster->gpus_per_node;

    sheet.eta_link = 1;
    PP_TRY(make(arena, &sheet, asked, &page, err));
    sheet.nodes = 0; /* a leaf that is not full is printed whole */
    PP_TRY(make(arena, &sheet, whole_devices(page.fabric, (int)asked), &page, err));
    const bool sums_up = sheet.gpus_per_node == 1 || sheet.intra.alpha_s <= sheet.inter.alpha_s;
    const bool is_compact = !page.size.is_pcie && sums_up && forms[page.size.kind](&page, &form);
    if (!is_compact)
        PP_TRY(make(arena, &sheet, asked, &page, err));
    if (!is_compact && asked > LISTED_DEVICES_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster %s: SimGrid has no <cluster> of this shape, so every route "
                            "is listed, for at most %d devices, not %lld: --gpus %d",
                            cluster->name, LISTED_DEVICES_MAX, (long long)asked,
                            LISTED_DEVICES_MAX);
    fputs("<?xml version=\"1.0\"?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n",
          out);
    if (is_compact)
        print_compact(&page, &form);
    else
        print_listed(&page, arena);
    fputs("</platform>\n", out);
    return PP_OK;
}
