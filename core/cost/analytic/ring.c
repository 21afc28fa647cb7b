/* Gradient sums as rings of devices. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

static struct pp_ring allocate(struct pp_arena *arena, int positions)
{
    return (struct pp_ring){.positions = positions,
                            .device = PP_ARRAY(arena, int32_t, positions),
                            .rank = PP_ARRAY(arena, uint16_t, positions),
                            .replica = PP_ARRAY(arena, int32_t, positions),
                            .hop_ps = PP_ARRAY(arena, int64_t, positions),
                            .alpha_ps = PP_ARRAY(arena, int64_t, positions)};
}

struct pp_ring pp_roofline_ring(struct pp_arena *arena, const struct pp_cost_inputs *in, int stage)
{
    struct pp_stage_walk walk;

    pp_stage_walk_init(&walk, in, stage);
    struct pp_ring ring = allocate(arena, walk.count[0] * walk.count[1] * walk.count[2]);
    int at[PP_AXES] = {0}, position = 0;
    for (int i = 0; i < walk.count[0]; i++)
        for (int j = 0; j < walk.count[1]; j++)
            for (int k = 0; k < walk.count[2]; k++, position++) {
                at[walk.axis[0]] = pp_stage_walk_at(&walk, 0, i);
                at[walk.axis[1]] = pp_stage_walk_at(&walk, 1, j);
                at[walk.axis[2]] = pp_stage_walk_at(&walk, 2, k);
                ring.device[position] =
                    pp_map_device(&in->map, 0, at[PP_AXIS_CP], at[PP_AXIS_DP], at[PP_AXIS_PP]);
                ring.rank[position] = (uint16_t)at[PP_AXIS_PP];
                ring.replica[position] = at[PP_AXIS_DP];
            }
    return ring;
}

/* The link into a position. */
static struct pp_link hop_into(const struct pp_cost_inputs *in, const struct pp_ring *ring,
                               int position)
{
    const int before = position > 0 ? position - 1 : ring->positions - 1;

    return pp_roofline_hop(in, ring->device[before], ring->device[position]);
}

void pp_costs_rings(struct pp_arena *arena, const struct pp_cost_inputs *in, struct pp_costs *costs)
{
    if (in->layout.dp * in->layout.cp * in->pipelines < 2)
        return;
    costs->rings = PP_ARRAY(arena, struct pp_ring, in->stages);
    for (int s = 0; s < in->stages; s++) {
        const struct pp_ring ring = pp_roofline_ring(arena, in, s);
        const double share_bytes = costs->op[PP_AR][s].bytes / ring.positions;
        for (int i = 0; i < ring.positions && ring.positions > 1; i++) {
            const struct pp_link hop = hop_into(in, &ring, i);
            ring.alpha_ps[i] = pp_units_ps(hop.alpha_s);
            ring.hop_ps[i] = pp_units_ps(hop.alpha_s + share_bytes / hop.bytes_per_s);
        }
        costs->rings[s] = ring;
    }
}
