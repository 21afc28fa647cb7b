/* Makes the text of a cluster of the topology of a node and measured collectives. */
#include "sim/import/cluster_import.h"

#include "core/cost/collective.h"
#include "core/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double GIGA = 1e9;

/* Devices by NVIDIA's names, the longer name first, with the number of NVLinks and the rate
 * of one each way. Data sheets: 25 GB/s in generations 2 to 4, 50 GB/s in 5. */
static const struct device {
    const char *title, *preset;
    int nvlinks;
    double link_bytes_per_s;
    bool is_guessed; /* without a name, that number of NVLinks stands for it */
} DEVICES[] = {
    {"GB300", "gb300", 18, 50e9, false},
    {"GB200", "gb200", 18, 50e9, false},
    {"B300", "b300", 18, 50e9, false},
    {"B200", "b200", 18, 50e9, false},
    {"H800", "h800", 8, 25e9, false},
    {"H200", "h200", 18, 25e9, false},
    {"H100", "h100", 18, 25e9, true},
    {"A800", "a800", 8, 25e9, true},
    {"A100-SXM4-40GB", "a100-40", 12, 25e9, false},
    {"A100", "a100", 12, 25e9, true},
    {"V100-SXM2-16GB", "v100-16", 6, 25e9, false},
    {"V100-SXM3", "v100-dgx2", 6, 25e9, false},
    {"V100", "v100-dgx1", 6, 25e9, true},
};
enum { DEVICE_COUNT = PP_COUNT(DEVICES) };

/* Rate of messages, 0 if unknown, and their latency. */
struct measured {
    double bytes_per_s, alpha_s;
};

struct importer {
    struct pp_arena *arena;
    struct pp_cluster_import *in;
    const struct device *device; /* NULL: in no row */
    struct pp_cluster base;
    struct measured node, network;
};

static void note(struct importer *m, const char *text)
{
    struct pp_cluster_import *in = m->in;

    *PP_PUSH(m->arena, in->notes, in->note_count, in->note_capacity) = text;
}

/* Appends a key to the text, unless the base has it. */
static void add_key(struct importer *m, const char *key, const char *value)
{
    const char *text = m->in->text;
    const size_t length = strlen(key);

    for (const char *p = text; (p = strstr(p, key)); p++)
        if ((p == text || strchr(" ,\t", p[-1])) && (p[length] == ':' || p[length] == '='))
            return;
    m->in->text =
        pp_arena_printf(m->arena, "%s%s%s:%s", m->in->text, *m->in->text ? " " : "", key, value);
}

static const char *rate(struct importer *m, double bytes_per_s)
{
    return pp_arena_printf(m->arena, "%.4gGBps", bytes_per_s / GIGA);
}

/* ---- devices --------------------------------------------------------------------------------- */

static const struct device *device_titled(const char *title)
{
    for (int k = 0; k < DEVICE_COUNT; k++)
        if (strstr(title, DEVICES[k].title))
            return &DEVICES[k];
    return NULL;
}

/* Returns the number of NVLinks between any two GPUs if it is the same for all, else 0. */
static int nvlinks_of_all(const struct pp_topology *t)
{
    const int count = t->gpus > 1 ? pp_topology_pair(t, 0, 1).nvlinks : 0;

    for (int a = 0; a < t->gpus; a++)
        for (int b = 0; b < t->gpus; b++)
            if (a != b && pp_topology_pair(t, a, b).nvlinks != count)
                return 0;
    return count;
}

/* Returns the number of NVLinks of a GPU to all others together, without a switch. */
static int nvlinks_of(const struct pp_topology *t, int gpu)
{
    int count = 0;

    for (int k = 0; k < t->gpus; k++)
        count += k != gpu ? pp_topology_pair(t, gpu, k).nvlinks : 0;
    return count;
}

/* A switch gives each pair all links of a device, wires a part of them. */
static const struct device *guess_device(const struct pp_topology *t)
{
    const int all = nvlinks_of_all(t), sum = t->gpus > 0 ? nvlinks_of(t, 0) : 0;

    for (int k = 0; k < DEVICE_COUNT; k++) {
        const int links = DEVICES[k].nvlinks;
        if (DEVICES[k].is_guessed && (all == links || (sum > 0 && sum == links)))
            return &DEVICES[k];
    }
    return NULL;
}

static const char *title_in_logs(const struct pp_cluster_import *in)
{
    for (int k = 0; k < in->log_count; k++)
        if (in->logs[k].device)
            return in->logs[k].device;
    return NULL;
}

static enum pp_status find_base(struct importer *m, struct pp_error *err)
{
    struct pp_cluster_import *in = m->in;
    const char *title = title_in_logs(in);

    if (in->base) {
        PP_TRY(pp_cluster_load(m->arena, in->base, &m->base, err));
        in->text = in->base;
        m->device = device_titled(m->base.device.title);
        return PP_OK;
    }
    if (title)
        m->device = device_titled(title);
    if (!m->device && in->topology && (m->device = guess_device(in->topology)))
        note(m, pp_arena_printf(m->arena,
                                "%s: devices with so many NVLinks are taken for %s; "
                                "name a cluster if they are others",
                                in->topology->name, m->device->preset));
    if (!m->device)
        return pp_error_set(err, PP_EINVAL,
                            "no input names the devices%s%s: name a cluster to start from, as in "
                            "'pipesim clusters a100 --topo FILE'",
                            title ? ", and no preset is of " : "", title ? title : "");
    in->text = m->device->preset;
    return pp_cluster_load(m->arena, m->device->preset, &m->base, err);
}

/* ---- a node ---------------------------------------------------------------------------------- */

/* Adds the link of a device in its node: as measured, else by the topology. */
static void add_link(struct importer *m, const char *key, double bytes_per_s)
{
    if (m->node.bytes_per_s > 0)
        add_key(m, key,
                pp_arena_printf(m->arena, "%s@%.3gus",
                                rate(m, m->node.bytes_per_s / m->base.eta_link),
                                m->node.alpha_s * 1e6));
    else if (bytes_per_s > 0 && fabs(bytes_per_s - m->base.intra.bytes_per_s) > 1)
        add_key(m, key, rate(m, bytes_per_s));
}

static void import_pcie(struct importer *m, const char *why)
{
    const struct pp_topology *t = m->in->topology;

    note(m, pp_arena_printf(m->arena, "%s: %d GPUs, %s: they meet in the host's memory", t->name,
                            t->gpus, why));
    add_link(m, "pcie",
             m->base.fabric.is_pcie ? m->base.intra.bytes_per_s
                                    : m->base.tiers[PP_TIER_HOST].link_bytes_per_s);
}

/* Describes the wiring of GPUs by NVLinks: `all` between any two, or 0. */
static const char *shape_of(struct pp_arena *arena, int all, bool is_wired)
{
    if (all == 0)
        return " in a mesh";
    if (!is_wired)
        return ", all to all (a switch)";
    return pp_arena_printf(arena, ", %d between any two, without a switch (taken for one)", all);
}

static void import_links(struct importer *m)
{
    const struct pp_topology *t = m->in->topology;
    const int all = nvlinks_of_all(t), sum = nvlinks_of(t, 0);
    const bool is_wired = m->device && all != m->device->nvlinks && sum == m->device->nvlinks;

    if (t->gpus == 1) {
        note(m, pp_arena_printf(m->arena, "%s: 1 GPU", t->name));
    } else if (sum == 0) {
        import_pcie(m, "no NVLink");
    } else if (all == 0 && !m->base.is_cube_mesh) {
        import_pcie(m, "NVLink between some of them only");
    } else if (!m->device) {
        note(m, pp_arena_printf(m->arena,
                                "%s: %d GPUs with NVLink, of which nothing says how fast "
                                "it is: as %s",
                                t->name, t->gpus, m->base.name));
    } else {
        const int links = all && !is_wired ? all : sum;
        note(m, pp_arena_printf(m->arena,
                                "%s: %d GPUs, %d NVLinks each%s: %s a device and "
                                "direction",
                                t->name, t->gpus, links, shape_of(m->arena, all, is_wired),
                                rate(m, links * m->device->link_bytes_per_s)));
        add_link(m, "nvlink", links * m->device->link_bytes_per_s);
    }
    if (t->gpus != m->base.gpus_per_node)
        add_key(m, "gpu", pp_arena_printf(m->arena, "%d", t->gpus));
}

/* ---- network cards --------------------------------------------------------------------------- */

/* Returns the path from a GPU to its nearest card. */
static enum pp_topology_path nearest(const struct pp_topology *t, int gpu)
{
    enum pp_topology_path best = PP_PATHS;

    for (int k = 0; k < t->nics; k++) {
        const enum pp_topology_path path = pp_topology_pair(t, gpu, t->gpus + k).path;
        best = path < best ? path : best;
    }
    return best;
}

/* Counts cards next to a GPU (PIX, PXB): others serve storage, or people. Without any, all
 * count. */
static int count_nics(const struct pp_topology *t, bool *is_concurrent)
{
    int count = 0;

    for (int k = 0; k < t->nics; k++) {
        bool is_one = false;
        for (int gpu = 0; gpu < t->gpus; gpu++) {
            const enum pp_topology_path path = pp_topology_pair(t, gpu, t->gpus + k).path;
            is_one |= path <= PP_PATH_PXB && path == nearest(t, gpu);
        }
        count += is_one;
    }
    *is_concurrent = count > 0;
    return count > 0 ? count : t->nics;
}

static void import_nics(struct importer *m)
{
    const struct pp_topology *t = m->in->topology;
    const int base_nics = m->base.fabric.nics > 0 ? m->base.fabric.nics : m->base.gpus_per_node;
    const double card_bytes_per_s = m->base.inter.bytes_per_s * m->base.gpus_per_node / base_nics;
    bool is_concurrent;
    const int nics = count_nics(t, &is_concurrent);

    if (t->nics == 0) {
        note(m, pp_arena_printf(m->arena, "%s: no network card is listed: as %s", t->name,
                                m->base.name));
        return;
    }
    note(m, pp_arena_printf(m->arena, "%s: %d of %d network cards %s%s; each of %s, as %s says",
                            t->name, nics, t->nics,
                            is_concurrent ? "are next to GPUs"
                                          : "are counted, though none is next to a GPU",
                            is_concurrent && nics == t->gpus ? ", one each: rails" : "",
                            rate(m, card_bytes_per_s), m->base.name));
    if (m->network.bytes_per_s == 0 && (nics != base_nics || t->gpus != m->base.gpus_per_node))
        add_key(m, "nic", pp_arena_printf(m->arena, "%dx%s", nics, rate(m, card_bytes_per_s)));
}

/* Adds the measured rate of messages between nodes, for each card. */
static void add_network(struct importer *m)
{
    const struct pp_topology *t = m->in->topology;
    bool is_concurrent;
    const int nics = t && t->nics > 0          ? count_nics(t, &is_concurrent)
                     : m->base.fabric.nics > 0 ? m->base.fabric.nics
                                               : m->base.gpus_per_node;

    if (m->network.bytes_per_s == 0)
        return;
    add_key(m, "nic",
            pp_arena_printf(m->arena, "%dx%s", nics,
                            rate(m, m->network.bytes_per_s / m->base.eta_link)));
    add_key(m, "latency", pp_arena_printf(m->arena, "%.3gus", m->network.alpha_s * 1e6));
}

/* ---- logs ------------------------------------------------------------------------------------ */

/* Fits a line to the times of messages. */
static void import_messages(struct importer *m, const struct pp_nccl_log *log, const char *name)
{
    const struct pp_measured_line line =
        pp_calibrate_line(m->arena, log->operation, log->sizes, log->count, NULL);
    struct measured *to = log->nodes <= 1 ? &m->node : &m->network;
    char alpha[PP_UNITS_TEXT_BYTES];

    if (line.s_per_byte <= 0) {
        note(m, pp_arena_printf(m->arena, "%s: its times do not grow with sizes: not used", name));
        return;
    }
    *to = (struct measured){1 / line.s_per_byte, line.alpha_s};
    note(m, pp_arena_printf(
                m->arena, "%s: messages %s take %s + bytes / (%s); %d sizes, median error %.1f %%",
                name, log->nodes <= 1 ? "in a node" : "between nodes",
                pp_units_print(line.alpha_s, PP_UNIT_SECONDS, alpha), rate(m, to->bytes_per_s),
                line.samples, 100 * line.residual_frac));
}

/* Notes the largest size of a collective, as measured and as the cluster predicts it. */
static void check_collective(struct importer *m, const struct pp_nccl_log *log, const char *name,
                             enum pp_op_kind kind)
{
    const struct pp_calibrate_message *largest = &log->sizes[log->count - 1];
    const int nodes = log->nodes > 0 ? log->nodes : 1;
    const struct pp_device_group group = {log->ranks, (log->ranks + nodes - 1) / nodes, nodes,
                                          log->ranks / nodes};
    const struct pp_device_links links = pp_collective_links_of(&m->in->cluster);
    const double predicted_s =
        pp_collective_s(pp_collective_time(kind, PP_ALGORITHM_AUTO, group, &links, largest->bytes));
    char bytes[PP_UNITS_TEXT_BYTES], took[PP_UNITS_TEXT_BYTES], predicted[PP_UNITS_TEXT_BYTES];

    note(m,
         pp_arena_printf(m->arena,
                         "%s: %s of %s over %d ranks on %d node%s took %s; this cluster "
                         "predicts %s, %+.1f %%",
                         name, log->operation, pp_units_print(largest->bytes, PP_UNIT_BYTES, bytes),
                         log->ranks, nodes, nodes == 1 ? "" : "s",
                         pp_units_print(largest->s, PP_UNIT_SECONDS, took),
                         pp_units_print(predicted_s, PP_UNIT_SECONDS, predicted),
                         100 * (predicted_s / largest->s - 1)));
}

static const struct {
    const char *operation;
    enum pp_op_kind kind;
} COLLECTIVES[] = {
    {"all_reduce", PP_AR}, {"all_gather", PP_AG}, {"reduce_scatter", PP_RS}, {"alltoall", PP_A2A}};

/* Routes between nodes cross the links of devices, too. */
static void check_latencies(struct importer *m)
{
    const struct pp_cluster *c = &m->in->cluster;

    if (c->intra.alpha_s > c->inter.alpha_s)
        note(m, pp_arena_printf(m->arena,
                                "the latency in a node is above that between nodes (%.3g us, %s): "
                                "links of devices get that one, so measure both",
                                c->inter.alpha_s * 1e6,
                                m->network.bytes_per_s > 0 ? "measured" : "not measured"));
}

static void check_logs(struct importer *m)
{
    const struct pp_cluster_import *in = m->in;

    for (int k = 0; k < in->log_count; k++)
        for (size_t i = 0; i < PP_COUNT(COLLECTIVES); i++)
            if (!strcmp(in->logs[k].operation, COLLECTIVES[i].operation))
                check_collective(m, &in->logs[k], in->log_names[k], COLLECTIVES[i].kind);
}

enum pp_status pp_cluster_import(struct pp_arena *arena, struct pp_cluster_import *import,
                                 struct pp_error *err)
{
    struct importer m = {.arena = arena, .in = import};

    PP_TRY(find_base(&m, err));
    for (int k = 0; k < import->log_count; k++)
        if (!strcmp(import->logs[k].operation, "sendrecv"))
            import_messages(&m, &import->logs[k], import->log_names[k]);
    if (import->topology) {
        import_links(&m);
        import_nics(&m);
    } else {
        add_link(&m, m.base.fabric.is_pcie ? "pcie" : "nvlink", 0);
    }
    add_network(&m);
    if (pp_cluster_load(arena, import->text, &import->cluster, err) != PP_OK)
        return pp_error_append(err, "; made: \"%s\"", import->text);
    check_latencies(&m);
    check_logs(&m);
    return PP_OK;
}
