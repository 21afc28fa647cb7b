/* The text of a cluster from the device of a row and its links. */
#include "sim/published/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* One NVLink of an A100 or later, each way. */
static const double NVLINK_GBPS = 25;

enum pp_status pp_measure_put_cluster(struct pp_measure_writer *w, struct pp_error *err)
{
    const struct pp_measure_device *d = pp_measure_devices;
    const double intra = pp_measure_number(w->row, PP_COL_INTRA);
    const double inter = pp_measure_number(w->row, PP_COL_INTER);
    char text[256];
    int length;

    while (d->pattern && !pp_measure_contains(w->row->cell[PP_COL_GPU], d->pattern))
        d++;
    if (!d->pattern)
        return pp_error_set(err, PP_EINVAL, "gpu \"%.60s\": no constants for it",
                            w->row->cell[PP_COL_GPU]);
    length = snprintf(text, sizeof(text), "%s", d->preset);
    if (*d->keys)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " %s", d->keys);
    const bool has_nodes = w->per_node > 0 && !d->is_domain;
    if (has_nodes)
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length, " gpu:%" PRId64, w->per_node);
    const int links = pp_measure_number_in(w->row->cell[PP_COL_NOTE], "# NVLinks");
    if (isfinite(intra) && !strstr(d->keys, "pcie:"))
        length += snprintf(text + length, sizeof(text) - (size_t)length, " nvlink:%gGBps", intra);
    else if (links > 0)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " nvlink:%gGBps",
                           links * NVLINK_GBPS);
    if (isfinite(inter) && has_nodes)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " nic:%" PRId64 "x%gGBps",
                           w->per_node, inter);
    pp_measure_put(w, "cluster", text);
    return PP_OK;
}
