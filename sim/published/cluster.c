/* Makes the cluster of a row. */
#include "sim/published/parts.h"
#include "sim/simgrid/platform_file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Rate of one NVLink of an A100 or later, each way. */
static const double NVLINK_GBPS = 25;

enum pp_status pp_measure_put_cluster(struct pp_measure_writer *w, struct pp_error *err)
{
    const struct pp_measure_device *d = pp_measure_devices;
    const double intra = pp_measure_number(w->row, PP_COL_INTRA);
    const double inter = pp_measure_number(w->row, PP_COL_INTER);

    const char *cluster = w->row->cell[PP_COL_CLUSTER];

    if (pp_platform_is_file(cluster))
        return pp_error_set(err, PP_EINVAL, "cluster \"%.60s\": a cell opens no file", cluster);
    const struct pp_measure_device stated = {.preset = cluster, .keys = ""};
    while (d->pattern && !pp_measure_contains(w->row->cell[PP_COL_GPU], d->pattern))
        d++;
    if (*cluster)
        d = &stated;
    else if (!d->pattern)
        return pp_error_set(err, PP_EINVAL, "gpu \"%.60s\": no constants for it",
                            w->row->cell[PP_COL_GPU]);
    const bool has_nodes = w->per_node > 0 && !d->is_domain;
    const int links = pp_measure_number_in(w->row->cell[PP_COL_NOTE], "# NVLinks");
    const char *text = pp_arena_printf(w->arena, "%s%s%s", d->preset, *d->keys ? " " : "", d->keys);
    if (has_nodes)
        text = pp_arena_printf(w->arena, "%s gpu:%" PRId64, text, w->per_node);
    if (isfinite(intra) && !strstr(d->keys, "pcie:"))
        text = pp_arena_printf(w->arena, "%s nvlink:%gGBps", text, intra);
    else if (links > 0)
        text = pp_arena_printf(w->arena, "%s nvlink:%gGBps", text, links * NVLINK_GBPS);
    if (isfinite(inter) && has_nodes)
        text = pp_arena_printf(w->arena, "%s nic:%" PRId64 "x%gGBps", text, w->per_node, inter);
    pp_measure_put(w, "cluster", text);
    return PP_OK;
}
