/* A network: the fabric, and which device each rank is. */
#include "sim/engine/network.h"

#include "core/cost/analytic/roofline.h"

struct pp_network *pp_network_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                   const struct pp_cluster *cluster, const struct pp_layout *layout,
                                   struct pp_map_order order)
{
    struct pp_network *network = PP_NEW(arena, struct pp_network);

    *network = (struct pp_network){.fabric = fabric,
                                   .layout = *layout,
                                   .map = pp_map_make(order, layout),
                                   .lanes = pp_lanes(cluster, layout)};
    return network;
}
