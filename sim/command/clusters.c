/* pipesim clusters: what is built in, with sources; a cluster as a SimGrid platform. */
#include "sim/command/commands.h"

#include "core/cluster/cluster.h"
#include "core/cluster/fabric.h"
#include "core/text/file.h"
#include "core/text/output.h"
#include "core/units.h"
#include "sim/cli/cli.h"
#include "sim/import/cluster_import.h"
#include "sim/platform/platform.h"
#include "sim/report/text.h"
#include "sim/simgrid/platform_file.h"

#include <string.h>

/* ---- the shape --------------------------------------------------------------------------- */

struct rate {
    char text[PP_UNITS_TEXT_BYTES];
};

static struct rate rate(double bytes_per_s)
{
    struct rate r;

    pp_units_print(bytes_per_s, PP_UNIT_BYTES_PER_S, r.text);
    return r;
}

static int nics_of(const struct pp_cluster *c)
{
    return c->fabric.nics > 0 ? c->fabric.nics : c->gpus_per_node;
}

static struct rate nic_rate(const struct pp_cluster *c)
{
    return rate(c->inter.bytes_per_s * c->gpus_per_node / nics_of(c));
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static void shape_fat_tree(const struct pp_cluster *c, char text[PP_TEXT_BYTES])
{
    const struct pp_fabric_shape *s = &c->fabric;
    int used = snprintf(text, PP_TEXT_BYTES, "fat tree, %d rail%s of %s", nics_of(c),
                        plural(nics_of(c)), nic_rate(c).text);

    if (s->leaf_nodes > 0)
        used += snprintf(text + used, (size_t)(PP_TEXT_BYTES - used),
                         ", %d node%s a leaf switch, uplinks %g:1, %s routing", s->leaf_nodes,
                         plural(s->leaf_nodes), s->oversubscription > 0 ? s->oversubscription : 1,
                         s->is_static ? "static" : "adaptive");
    if (s->leaf_nodes == 0 || (!s->is_static && s->oversubscription <= 1))
        snprintf(text + used, (size_t)(PP_TEXT_BYTES - used),
                 ": only devices and NICs can be full");
}

static void shape_dragonfly(const struct pp_cluster *c, char text[PP_TEXT_BYTES])
{
    const struct pp_fabric_shape *s = &c->fabric;
    int used = snprintf(text, PP_TEXT_BYTES, "dragonfly, %s routing, %d NIC%s of %s",
                        s->is_static ? "static" : "adaptive", nics_of(c), plural(nics_of(c)),
                        nic_rate(c).text);

    if (s->routers > 0)
        used += snprintf(text + used, (size_t)(PP_TEXT_BYTES - used),
                         "; groups of %d chassis of %d routers of %d nodes", s->chassis, s->routers,
                         s->router_nodes);
    if (s->groups > 0)
        used += snprintf(text + used, (size_t)(PP_TEXT_BYTES - used), ", %d groups", s->groups);
    const struct {
        double bytes_per_s;
        const char *where;
    } links[] = {{s->chassis_bytes_per_s, "between two routers of a chassis"},
                 {s->group_bytes_per_s, "of two chassis"},
                 {s->global_bytes_per_s, "between two groups"}};
    for (size_t i = 0; i < PP_COUNT(links); i++)
        if (links[i].bytes_per_s > 0)
            used += snprintf(text + used, (size_t)(PP_TEXT_BYTES - used), "%s %s %s", i ? "," : ";",
                             rate(links[i].bytes_per_s).text, links[i].where);
}

static void shape_torus(const struct pp_cluster *c, char text[PP_TEXT_BYTES])
{
    const struct pp_fabric_shape *s = &c->fabric;
    int used = snprintf(text, PP_TEXT_BYTES, "torus");

    for (int i = 0; i < PP_TORUS_DIMS && s->torus[i] > 0; i++)
        used += snprintf(text + used, (size_t)(PP_TEXT_BYTES - used), "%s%d", i ? "x" : " ",
                         s->torus[i]);
    snprintf(text + used, (size_t)(PP_TEXT_BYTES - used), "%s, %s to each neighbor",
             s->torus[0] > 0 ? " nodes" : " as cubic as the nodes allow",
             s->torus_bytes_per_s > 0 ? rate(s->torus_bytes_per_s).text : nic_rate(c).text);
}

static void shape_star(const struct pp_cluster *c, char text[PP_TEXT_BYTES])
{
    snprintf(text, PP_TEXT_BYTES, "star, %d NIC%s of %s a node on one switch that never blocks",
             nics_of(c), plural(nics_of(c)), nic_rate(c).text);
}

static void shape_ideal(const struct pp_cluster *c, char text[PP_TEXT_BYTES])
{
    (void)c;
    snprintf(text, PP_TEXT_BYTES, "ideal: nothing is shared");
}

static void shape_file(const struct pp_cluster *c, char text[PP_TEXT_BYTES])
{
    snprintf(text, PP_TEXT_BYTES, "links and routes of %s",
             c->fabric.file ? c->fabric.file : "file");
}

static void (*const shapes[PP_FABRIC_KINDS])(const struct pp_cluster *,
                                             char text[PP_TEXT_BYTES]) = {
    [PP_FABRIC_FAT_TREE] = shape_fat_tree, [PP_FABRIC_DRAGONFLY] = shape_dragonfly,
    [PP_FABRIC_TORUS] = shape_torus,       [PP_FABRIC_STAR] = shape_star,
    [PP_FABRIC_IDEAL] = shape_ideal,       [PP_FABRIC_FILE] = shape_file,
};

/* ---- a cluster --------------------------------------------------------------------------- */

/* Constants of collectives that links do not have; not known of every cluster. */
static void print_rings(const struct pp_cluster *c, FILE *out)
{
    const struct pp_ring_link *node = &c->intra_ring, *network = &c->inter_ring;

    if (node->start_s + network->start_s == 0)
        return;
    fprintf(out, "  rings    start %g us in node, %g us in fabric; reach %g, %g of messages%s\n",
            node->start_s * 1e6, network->start_s * 1e6, node->frac, network->frac,
            c->is_cube_mesh ? "\n           the node is a cube mesh" : "");
}

/* Memory of a node outside of its devices. */
static void print_tiers(const struct pp_cluster *c, FILE *out)
{
    const struct pp_tier_memory *host = &c->tiers[PP_TIER_HOST], *drives = &c->tiers[PP_TIER_NVME];
    char a[PP_UNITS_TEXT_BYTES], b[PP_UNITS_TEXT_BYTES];

    if (!(host->bytes > 0))
        return;
    fprintf(out, "  host     %s a node%s%s, %s a device and direction\n",
            pp_units_print(host->bytes, PP_UNIT_BYTES, a), host->bytes_per_s > 0 ? " at " : "",
            host->bytes_per_s > 0 ? rate(host->bytes_per_s).text : "",
            rate(host->link_bytes_per_s).text);
    if (c->update_params_per_s > 0)
        fprintf(out, "           its processors update %.3g parameters a second\n",
                c->update_params_per_s);
    if (drives->bytes > 0)
        fprintf(out, "  drives   %s a node at %s\n",
                pp_units_print(drives->bytes, PP_UNIT_BYTES, b), rate(drives->bytes_per_s).text);
}

/* The end of the line of shares, multiprocessors, and what --precision may say. */
static void print_precisions(const struct pp_device *d, FILE *out)
{
    enum { FULL_LINE = 5 }; /* of at most 80 characters */

    if (d->is_attention_unfused)
        fputs("\n           attention unfused", out);
    else
        fprintf(out, ",\n           fused attention %g", d->attention_eta);
    fprintf(out, "; %d multiprocessors\n           dense TFLOP/s:", d->multiprocessors);
    for (int i = 0, count = 0; i < PP_PRECISIONS; i++) {
        const double peak = pp_device_peak(d, (enum pp_precision)i);
        if (peak > 0 && count == FULL_LINE)
            fputs(",\n          ", out);
        if (peak > 0)
            fprintf(out, "%s %s %g", count % FULL_LINE ? "," : "", pp_precision_names[i],
                    peak * 1e-12);
        count += peak > 0;
    }
    fputc('\n', out);
}

static void print_cluster(const struct pp_cluster *c, FILE *out)
{
    const struct pp_device *d = &c->device;
    char a[PP_UNITS_TEXT_BYTES], b[PP_UNITS_TEXT_BYTES], text[PP_TEXT_BYTES];

    fprintf(out, "%s: %d x %s a node\n", c->name, c->gpus_per_node, d->title);
    pp_text_paragraph(out, 80, 11, "network", c->title);
    fprintf(out, "  device   %s dense %s, memory %s",
            pp_units_print(d->peak_flops_per_s, PP_UNIT_FLOPS_PER_S, a), d->dtype,
            pp_units_print(d->memory_bytes, PP_UNIT_BYTES, b));
    fprintf(out, " at %s\n           kernel launch %g us, reached of peak: matrix %g, memory %g",
            pp_units_print(d->memory_bytes_per_s, PP_UNIT_BYTES_PER_S, a), d->launch_s * 1e6,
            d->gemm_eta, d->memory_eta);
    print_precisions(d, out);
    fprintf(out, "  in node  %s a device and direction, latency %g us%s\n",
            pp_units_print(c->intra.bytes_per_s, PP_UNIT_BYTES_PER_S, a), c->intra.alpha_s * 1e6,
            c->fabric.is_pcie ? ", through host memory" : "");
    fprintf(out, "  fabric   %s a device and direction, latency %g us, reached share %g\n",
            pp_units_print(c->inter.bytes_per_s, PP_UNIT_BYTES_PER_S, a), c->inter.alpha_s * 1e6,
            c->eta_link);
    print_rings(c, out);
    print_tiers(c, out);
    shapes[c->fabric.kind](c, text);
    pp_text_paragraph(out, 80, 11, "shape", text);
    fprintf(out, "  reserved %s a device (context, libraries, communication buffers)\n",
            pp_units_print(c->other_bytes, PP_UNIT_BYTES, a));
    snprintf(text, sizeof(text), "%s; %s", d->source, c->source);
    pp_text_paragraph(out, 80, 11, "source", text);
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

/* ---- one that was looked at ----------------------------------------------------------------*/

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

/* A platform by the name of the file, else the text. */
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
    print_cluster(&import.cluster, out);
    print_import(&import, out);
    return PP_OK;
}

/* Options that only change or write what --topo and --nccl-tests have found. */
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
        print_cluster(&c, out);
        return PP_OK;
    }
    for (const struct pp_cluster *c = pp_cluster_presets; c->name; c++) {
        fputs(c == pp_cluster_presets ? "" : "\n", out);
        print_cluster(c, out);
    }
    return PP_OK;
}
