/* Prints a cluster as SimGrid XML: one <cluster> if possible, else every link and route. */
#include "sim/platform/parts.h"

#include <math.h>

enum { LISTED_DEVICES_MAX = 128, TORUS_SIDE = 4 };

/* ---- every link, every route ----------------------------------------------------------------- */

static void print_link(const struct pp_fabric *f, int link, FILE *out)
{
    const struct pp_fabric_link l = pp_fabric_link(f, link);
    char name[PP_LINK_NAME_BYTES], bandwidth[PP_VALUE_BYTES], latency[PP_VALUE_BYTES];

    fprintf(out, "    <link id=\"%s\" bandwidth=\"%s\" latency=\"%s\" sharing_policy=\"%s\"/>\n",
            pp_fabric_link_name(f, link, name), pp_platform_bandwidth(l.bytes_per_s, bandwidth),
            pp_platform_latency(l.latency_s, latency), l.is_fatpipe ? "FATPIPE" : "SHARED");
}

/* Links with the latency that the links of a route lack: in a node, between nodes. */
static const char *const carriers[2] = {"node.latency", "network.latency"};

static double lacking_s(const struct pp_xml_page *p, struct pp_route route)
{
    double lacking = route.alpha_s;

    for (int i = 0; i < route.count; i++)
        lacking -= pp_fabric_link(p->fabric, p->links[i]).latency_s;
    return lacking > 1e-9 * route.alpha_s ? lacking : 0;
}

static void print_links(const struct pp_xml_page *p, struct pp_arena *arena)
{
    const int devices = pp_fabric_devices(p->fabric), links = pp_fabric_links(p->fabric);
    char *is_used = PP_ARRAY(arena, char, links);
    char text[PP_VALUE_BYTES];
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
        if (lacking[i] > 0)
            fprintf(p->out,
                    "    <link id=\"%s\" bandwidth=\"1EBps\" latency=\"%s\" "
                    "sharing_policy=\"FATPIPE\"/>\n",
                    carriers[i], pp_platform_latency(lacking[i], text));
}

static void print_route(const struct pp_xml_page *p, int a, int b)
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

static void print_listed(const struct pp_xml_page *p, struct pp_arena *arena)
{
    const int devices = pp_fabric_devices(p->fabric);
    char speed[PP_VALUE_BYTES];

    pp_platform_value(p->cluster->device.peak_flops_per_s, 1e12, "Tf", "f", speed);
    fputs("  <zone id=\"cluster\" routing=\"Full\">\n", p->out);
    for (int i = 0; i < devices; i++) {
        fprintf(p->out, "    <host id=\"gpu%d\" speed=\"%s\">\n", i, speed);
        pp_platform_props(p);
        fputs("    </host>\n", p->out);
    }
    print_links(p, arena);
    for (int a = 0; a < devices; a++)
        for (int b = 0; b < devices; b++)
            if (a != b)
                print_route(p, a, b);
    fputs("  </zone>\n", p->out);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Default number of nodes: two nodes or groups, or a torus whose sides close. */
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

/* Devices of whole leaves, groups, or a torus, as a compact form has them. */
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
                           struct pp_xml_page *p, struct pp_error *err)
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
    struct pp_xml_page page = {.out = out, .eta_link = cluster->eta_link};
    struct pp_form form = {0};
    const int64_t asked = devices > 0 ? devices : usual_nodes(cluster) * cluster->gpus_per_node;

    sheet.eta_link = 1;
    PP_TRY(make(arena, &sheet, asked, &page, err));
    sheet.nodes = 0; /* prints whole leaves */
    PP_TRY(make(arena, &sheet, whole_devices(page.fabric, (int)asked), &page, err));
    const bool sums_up = sheet.gpus_per_node == 1 || sheet.intra.alpha_s <= sheet.inter.alpha_s;
    const bool is_compact = !page.size.is_pcie && sums_up && pp_platform_form(&page, &form);
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
        pp_platform_compact(&page, &form);
    else
        print_listed(&page, arena);
    fputs("</platform>\n", out);
    return PP_OK;
}
