/* pipesim clusters: presets with their sources; a cluster as a SimGrid platform. */
#include "sim/command/commands.h"

#include "core/cluster/cluster.h"
#include "core/text/file.h"
#include "core/text/output.h"
#include "core/units.h"
#include "sim/command/list_json.h"
#include "sim/import/cluster_import.h"
#include "sim/platform/platform.h"
#include "sim/report/text.h"
#include "sim/simgrid/platform_file.h"

#include <string.h>

/* ---- the shape ------------------------------------------------------------------------------- */

/* Text such as "450 GB/s", in the arena. */
static const char *amount(struct pp_arena *arena, double value, enum pp_unit unit)
{
    char text[PP_UNITS_TEXT_BYTES];

    return pp_arena_strdup(arena, pp_units_print(value, unit, text));
}

static const char *rate(struct pp_arena *arena, double bytes_per_s)
{
    return amount(arena, bytes_per_s, PP_UNIT_BYTES_PER_S);
}

static int nics_of(const struct pp_cluster *c)
{
    return c->fabric.nics > 0 ? c->fabric.nics : c->gpus_per_node;
}

static const char *nic_rate(struct pp_arena *arena, const struct pp_cluster *c)
{
    return rate(arena, c->inter.bytes_per_s * c->gpus_per_node / nics_of(c));
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static const char *shape_fat_tree(struct pp_arena *arena, const struct pp_cluster *c)
{
    const struct pp_fabric_shape *s = &c->fabric;
    const bool is_wide = s->leaf_nodes == 0 || (!s->is_static && s->oversubscription <= 1);
    const char *leaves = "";

    if (s->leaf_nodes > 0)
        leaves = pp_arena_printf(arena, ", %d node%s a leaf switch, uplinks %g:1, %s routing",
                                 s->leaf_nodes, plural(s->leaf_nodes),
                                 s->oversubscription > 0 ? s->oversubscription : 1,
                                 s->is_static ? "static" : "adaptive");
    return pp_arena_printf(arena, "fat tree, %d rail%s of %s%s%s", nics_of(c), plural(nics_of(c)),
                           nic_rate(arena, c), leaves,
                           is_wide ? ": only devices and NICs can be full" : "");
}

static const char *shape_dragonfly(struct pp_arena *arena, const struct pp_cluster *c)
{
    const struct pp_fabric_shape *s = &c->fabric;
    const struct {
        double bytes_per_s;
        const char *where;
    } links[] = {{s->chassis_bytes_per_s, "between two routers of a chassis"},
                 {s->group_bytes_per_s, "of two chassis"},
                 {s->global_bytes_per_s, "between two groups"}};
    const char *text = pp_arena_printf(arena, "dragonfly, %s routing, %d NIC%s of %s",
                                       s->is_static ? "static" : "adaptive", nics_of(c),
                                       plural(nics_of(c)), nic_rate(arena, c));

    if (s->routers > 0)
        text = pp_arena_printf(arena, "%s; groups of %d chassis of %d routers of %d nodes", text,
                               s->chassis, s->routers, s->router_nodes);
    if (s->groups > 0)
        text = pp_arena_printf(arena, "%s, %d groups", text, s->groups);
    for (size_t i = 0; i < PP_COUNT(links); i++)
        if (links[i].bytes_per_s > 0)
            text = pp_arena_printf(arena, "%s%s %s %s", text, i ? "," : ";",
                                   rate(arena, links[i].bytes_per_s), links[i].where);
    return text;
}

static const char *shape_torus(struct pp_arena *arena, const struct pp_cluster *c)
{
    const struct pp_fabric_shape *s = &c->fabric;
    const char *text = "torus";

    for (int i = 0; i < PP_TORUS_DIMS && s->torus[i] > 0; i++)
        text = pp_arena_printf(arena, "%s%s%d", text, i ? "x" : " ", s->torus[i]);
    return pp_arena_printf(arena, "%s%s, %s to each neighbor", text,
                           s->torus[0] > 0 ? " nodes" : " as cubic as the nodes allow",
                           s->torus_bytes_per_s > 0 ? rate(arena, s->torus_bytes_per_s)
                                                    : nic_rate(arena, c));
}

static const char *shape_of(struct pp_arena *arena, const struct pp_cluster *c)
{
    switch (c->fabric.kind) {
    case PP_FABRIC_FAT_TREE:
        return shape_fat_tree(arena, c);
    case PP_FABRIC_DRAGONFLY:
        return shape_dragonfly(arena, c);
    case PP_FABRIC_TORUS:
        return shape_torus(arena, c);
    case PP_FABRIC_STAR:
        return pp_arena_printf(arena, "star, %d NIC%s of %s a node on one switch that never blocks",
                               nics_of(c), plural(nics_of(c)), nic_rate(arena, c));
    case PP_FABRIC_IDEAL:
        return "ideal: nothing is shared";
    default:
        return pp_arena_printf(arena, "links and routes of %s",
                               c->fabric.file ? c->fabric.file : "file");
    }
}

/* ---- a cluster ------------------------------------------------------------------------------- */

/* Prints the constants of rings, if the cluster has them. */
static void print_rings(const struct pp_cluster *c, FILE *out)
{
    const struct pp_ring_link *node = &c->intra_ring, *network = &c->inter_ring;

    if (node->start_s + network->start_s == 0)
        return;
    fprintf(out, "  rings    start %g us in node, %g us in fabric; reach %g, %g of messages%s\n",
            node->start_s * 1e6, network->start_s * 1e6, node->frac, network->frac,
            c->is_cube_mesh ? "\n           the node is a cube mesh" : "");
    if (c->mesh_links > 0)
        fprintf(out, "           the node is a mesh: g devices use g-1 of their %d links\n",
                c->mesh_links);
}

/* Prints the memory tiers of a node. */
static void print_tiers(struct pp_arena *arena, const struct pp_cluster *c, FILE *out)
{
    const struct pp_tier_memory *host = &c->tiers[PP_TIER_HOST], *drives = &c->tiers[PP_TIER_NVME];

    if (!(host->bytes > 0))
        return;
    fprintf(out, "  host     %s a node%s%s, %s a device and direction\n",
            amount(arena, host->bytes, PP_UNIT_BYTES), host->bytes_per_s > 0 ? " at " : "",
            host->bytes_per_s > 0 ? rate(arena, host->bytes_per_s) : "",
            rate(arena, host->link_bytes_per_s));
    if (host->uplink_bytes_per_s > 0)
        fprintf(out, "           all devices of a node together: %s each way\n",
                rate(arena, host->uplink_bytes_per_s));
    if (c->update_params_per_s > 0)
        fprintf(out, "           its processors update %s parameters a second\n",
                amount(arena, c->update_params_per_s, PP_UNIT_COUNT));
    if (drives->bytes > 0)
        fprintf(out, "  drives   %s a node at %s\n", amount(arena, drives->bytes, PP_UNIT_BYTES),
                rate(arena, drives->bytes_per_s));
}

/* Ends the line of shares; prints multiprocessors and the peaks of all precisions. */
static void print_precisions(struct pp_arena *arena, const struct pp_device *d, FILE *out)
{
    const char *text = "";
    char number[PP_UNITS_TEXT_BYTES];

    if (d->is_attention_unfused)
        fputs("\n           attention unfused", out);
    else
        fprintf(out, ",\n           fused attention %g", d->attention_eta);
    fprintf(out, "; %d multiprocessors\n", d->multiprocessors);
    if (d->constants_of)
        fprintf(out, "           launch and reached shares are those of %s: not measured\n",
                d->constants_of);
    for (int i = 0; i < PP_PRECISIONS; i++) {
        const double peak = pp_device_peak(d, (enum pp_precision)i);
        if (peak > 0)
            text =
                pp_arena_printf(arena, "%s%s %s~%s", text, *text ? "," : "", pp_precision_names[i],
                                pp_units_print_four(peak * 1e-12, number));
    }
    pp_text_paragraph(out, 80, 11, "", pp_arena_printf(arena, "dense TFLOP/s:%s", text));
}

static void print_cluster(struct pp_arena *arena, const struct pp_cluster *c, FILE *out)
{
    const struct pp_device *d = &c->device;

    fprintf(out, "%s: %d x %s a node\n", c->name, c->gpus_per_node, d->title);
    pp_text_paragraph(out, 80, 11, "network", c->title);
    fprintf(out, "  device   %s dense %s, memory %s",
            amount(arena, d->peak_flops_per_s, PP_UNIT_FLOPS_PER_S),
            pp_precision_names[d->precision], amount(arena, d->memory_bytes, PP_UNIT_BYTES));
    fprintf(out, " at %s\n           kernel launch %g us, reached of peak: matrix %g, memory %g",
            rate(arena, d->memory_bytes_per_s), d->launch_s * 1e6, d->gemm_eta, d->memory_eta);
    print_precisions(arena, d, out);
    fprintf(out, "  in node  %s a device and direction, latency %g us%s\n",
            rate(arena, c->intra.bytes_per_s), c->intra.alpha_s * 1e6,
            c->fabric.is_pcie ? ", through host memory" : "");
    fprintf(out, "  fabric   %s a device and direction, latency %g us, reached share %g\n",
            rate(arena, c->inter.bytes_per_s), c->inter.alpha_s * 1e6, c->eta_link);
    print_rings(c, out);
    print_tiers(arena, c, out);
    pp_text_paragraph(out, 80, 11, "shape", shape_of(arena, c));
    fprintf(out, "  reserved %s a device (context, libraries, communication buffers)\n",
            amount(arena, c->other_bytes, PP_UNIT_BYTES));
    pp_text_paragraph(out, 80, 11, "source",
                      pp_arena_printf(arena, "%s; %s", d->source, c->source));
}

static enum pp_status load(struct pp_arena *arena, const char *name, bool is_xml,
                           struct pp_cluster *cluster, struct pp_error *err)
{
    struct pp_platform *platform;

    if (!pp_platform_is_file(name))
        return pp_platform_hint(name, pp_cluster_load(arena, name, cluster, err), err);
    if (is_xml)
        return pp_error_set(err, PP_EINVAL, "--xml prints a preset or a text: %s is a file", name);
    PP_TRY(pp_platform_open(arena, name, &platform, cluster, err));
    pp_platform_close(platform);
    return PP_OK;
}

/* ---- import ---------------------------------------------------------------------------------- */

static enum pp_status read_logs(struct pp_arena *arena, const struct pp_wish *wish,
                                struct pp_cluster_import *import, struct pp_error *err)
{
    const struct pp_given *paths = &wish->given.nccl_tests;
    struct pp_nccl_log *logs = PP_ARRAY(arena, struct pp_nccl_log, paths->count);

    if (wish->given.collective.count && !paths->count)
        return pp_error_set(err, PP_EINVAL,
                            "--collective names the collective of --nccl-tests LOG");
    for (int k = 0; k < paths->count; k++) {
        const struct pp_nccl_log_source source = {.name = paths->all[k],
                                                  .operation = wish->given.collective.text};
        PP_TRY(pp_nccl_log_read(arena, &source, &logs[k], err));
    }
    import->logs = logs;
    import->log_names = (const char *const *)paths->all;
    import->log_count = paths->count;
    return PP_OK;
}

static void print_import(const struct pp_cluster_import *import, FILE *out)
{
    for (int k = 0; k < import->note_count; k++)
        pp_text_paragraph(out, 80, 11, k ? "" : "found", import->notes[k]);
    fprintf(out, "  text     %s\n", import->text);
}

/* Writes a SimGrid platform if the file's name ends in .xml, else the text. */
static enum pp_status write_import(struct pp_arena *arena, const struct pp_cluster_import *import,
                                   const char *path, int gpus, struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(arena, path, &output, err));
    enum pp_status status = PP_OK;
    if (pp_platform_is_file(path) &&
        (pp_has_suffix(path, ".xml") || pp_has_suffix(path, ".xml.gz")))
        status = pp_platform_print(arena, &import->cluster, gpus, output.file, err);
    else
        fprintf(output.file, "%s\n", import->text);
    if (status == PP_OK)
        return pp_output_commit(&output, err);
    pp_output_discard(&output);
    return status;
}

static enum pp_status import_cluster(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                     struct pp_error *err)
{
    const struct pp_parsed *flags = wish->request.flags;
    const char *output = wish->output;
    struct pp_cluster_import import = {.base = flags->operand_count ? flags->operands[0] : NULL};
    struct pp_topology topology;

    if (import.base && pp_platform_is_file(import.base))
        return pp_error_set(err, PP_EINVAL,
                            "%s is a file: --topo and --nccl-tests change a preset "
                            "or a text",
                            import.base);
    if (output)
        PP_TRY(pp_output_check(arena, output, err));
    if (wish->topo) {
        PP_TRY(pp_topology_read(arena, wish->topo, &topology, err));
        import.topology = &topology;
    }
    PP_TRY(read_logs(arena, wish, &import, err));
    PP_TRY(pp_cluster_import(arena, &import, err));
    if (output)
        PP_TRY(write_import(arena, &import, output, wish->gpus, err));
    if (wish->xml)
        return pp_platform_print(arena, &import.cluster, wish->gpus, out, err);
    if (output && !strcmp(output, "-"))
        return PP_OK;
    if (wish->json) {
        pp_list_clusters_json(&import.cluster, out);
        return PP_OK;
    }
    print_cluster(arena, &import.cluster, out);
    print_import(&import, out);
    return PP_OK;
}

/* Refuses options that only change or write the results of --topo and --nccl-tests. */
static enum pp_status check_import(const struct pp_wish *wish, struct pp_error *err)
{
    if (wish->output)
        return pp_error_set(err, PP_EINVAL,
                            "-o writes the cluster of --topo FILE and --nccl-tests LOG; --xml "
                            "prints a preset or a text");
    if (wish->given.collective.count)
        return pp_error_set(err, PP_EINVAL,
                            "--collective names the collective of --nccl-tests LOG");
    return PP_OK;
}

enum pp_status pp_command_clusters(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                   struct pp_error *err)
{
    const struct pp_parsed *flags = wish->request.flags;

    if (wish->topo || wish->nccl_tests)
        return import_cluster(arena, wish, out, err);
    PP_TRY(check_import(wish, err));

    if (wish->xml && wish->json)
        return pp_error_set(err, PP_EINVAL,
                            "--xml and --json are two forms of a cluster: give one");
    if (wish->xml && !flags->operand_count)
        return pp_error_set(err, PP_EINVAL,
                            "--xml prints one cluster: pipesim clusters h100 --xml");
    if (wish->gpus && !wish->xml)
        return pp_error_set(err, PP_EINVAL, "--gpus is the size of a platform: give --xml with it");
    if (flags->operand_count) {
        struct pp_cluster c;
        PP_TRY(load(arena, flags->operands[0], wish->xml, &c, err));
        if (wish->xml)
            return pp_platform_print(arena, &c, wish->gpus, out, err);
        if (wish->json)
            pp_list_clusters_json(&c, out);
        else
            print_cluster(arena, &c, out);
        return PP_OK;
    }
    if (wish->json) {
        pp_list_clusters_json(NULL, out);
        return PP_OK;
    }
    for (const struct pp_cluster *c = pp_cluster_presets; c->name; c++) {
        fputs(c == pp_cluster_presets ? "" : "\n", out);
        print_cluster(arena, c, out);
    }
    return PP_OK;
}
