/* Updated parameters sent to the devices that did not update them, if the optimizer state is cut
 * more finely. Rule R4 of docs/costs-memory.md, "Sharded state". */
#include "core/cost/analytic/parts.h"

#include <math.h>

/* Tensors of a block, at least: four matrices of the attention, three of a gated feed-forward, two
 * norms. A device updates at least one tensor if tensors are not cut. */
enum { TENSORS_PER_BLOCK = 9 };

/* Each member broadcasts what it has updated, one after the other (Chen et al. 2024, AMSP, section
 * 4.3: T_os1; InternEvo's hybrid_zero_optim.py). */
static struct pp_collective_time broadcasts(const struct pp_cost_inputs *in,
                                            const struct pp_device_links *links,
                                            struct pp_device_group group, int stage, double bytes)
{
    const double tensors = TENSORS_PER_BLOCK * fmax(1, in->blocks_per_stage[stage]),
                 count = fmin(group.members, tensors);
    const struct pp_collective_time one =
        pp_collective_time(PP_BC, in->algorithm, group, links, bytes / count);

    return (struct pp_collective_time){count * one.node_s, count * one.network_s,
                                       count * one.latency_s};
}

struct pp_collective_time pp_roofline_spread(const struct pp_cost_inputs *in,
                                             const struct pp_device_links *links,
                                             struct pp_device_group group, int stage, double bytes)
{
    return pp_cost_framework(in)->has_param_broadcasts
               ? broadcasts(in, links, group, stage, bytes)
               : pp_collective_time(PP_AG, in->algorithm, group, links, bytes);
}

/* Concurrent with the next step's first forward, layer by layer: a layer waits for its own
 * parameters. With k layers of equal parts the forward ends after the last gather and one layer, or
 * after the first gather and all layers. The delay against a forward without gathers is exposed.
 * The hidden part takes its share of the forward. */
struct pp_cost pp_roofline_spread_ahead(struct pp_cost gather, int64_t forward_ps, int layers,
                                        double share_frac)
{
    const int64_t first_ps = gather.ps / layers,
                  late_ps = gather.ps - (forward_ps - forward_ps / layers);

    const int64_t exposed_ps = late_ps > first_ps ? late_ps : first_ps;

    gather.ps = exposed_ps + (int64_t)(share_frac * (double)(gather.ps - exposed_ps));
    gather.latency_ps = gather.latency_ps < gather.ps ? gather.latency_ps : gather.ps;
    return gather;
}
