/* Costs of the cases of laws.h: durations, links of every pair of ranks, rings of sums. */
#include "tests/property/laws_parts.h"

#include "core/units.h"

#include <math.h>
#include <stdlib.h>

/* Durations of compute and of analytic collectives: all different, or in lockstep. */
static void make_durations(struct law_case *c, struct rng *rng)
{
    static const struct {
        int kind;
        double s;
    } rows[] = {{PP_F, 4e-3}, {PP_B, 8e-3},  {PP_I, 4e-3},  {PP_W, 4e-3}, {PP_R, 3e-3},
                {PP_U, 1e-3}, {PP_AR, 6e-3}, {PP_RS, 3e-3}, {PP_AG, 3e-3}};
    struct pp_costs *costs = c->costs;
    const bool is_even = rng_chance(rng, 40);

    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        costs->op[rows[k].kind] = PP_ARRAY(c->arena, struct pp_cost, costs->stages * costs->splits);
        for (int s = 0; s < costs->stages * costs->splits; s++) {
            const double factor = is_even ? 1 : 0.2 + rng_int(rng, 0, 1000000) * 1.6e-6;
            costs->op[rows[k].kind][s].ps = pp_units_ps(rows[k].s * factor);
            costs->op[rows[k].kind][s].latency_ps = pp_units_ps(1e-4);
        }
    }
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++) {
        costs->purpose[purpose] = PP_ARRAY(c->arena, struct pp_cost, costs->stages);
        for (int s = 0; s < costs->stages; s++)
            costs->purpose[purpose][s].ps = pp_units_ps(1e-3 * (1 + (s + purpose) % 5));
    }
    costs->tied = PP_NEW(c->arena, struct pp_cost);
    costs->tied->ps = pp_units_ps(2e-3);
    costs->tied->bytes = 1e8;
}

/* Each pair of ranks is a link class of its own: what the cheapest of its routes takes. */
static void make_messages(struct law_case *c, struct rng *rng)
{
    struct pp_costs *costs = c->costs;
    const struct pp_network *n = &c->network;
    const int ranks = costs->ranks, lanes = n->layout.tp * n->layout.cp;
    const double bytes = 1024. * 1024 * (rng_chance(rng, 50) ? 96 : 24);
    unsigned char *link = PP_ARRAY(c->arena, unsigned char, ranks *ranks);

    costs->links = ranks * ranks;
    costs->link = link;
    costs->alpha_ps = PP_ARRAY(c->arena, int64_t, costs->links);
    costs->s_per_byte = PP_ARRAY(c->arena, double, costs->links);
    costs->memory = PP_ARRAY(c->arena, struct pp_stage_memory, costs->stages);
    for (int s = 0; s < costs->stages - 1; s++)
        costs->memory[s].boundary_bytes = bytes;
    for (int k = 0; k < ranks * ranks; k++) {
        double least_s = INFINITY;
        link[k] = (unsigned char)k;
        for (int at = 0; at < n->layout.dp * lanes && k / ranks != k % ranks; at++) {
            const struct pp_route route =
                pp_fabric_cost(n->fabric, pp_network_device(n, k / ranks, at / lanes, at % lanes),
                               pp_network_device(n, k % ranks, at / lanes, at % lanes));
            if (route.alpha_s + bytes / route.bytes_per_s >= least_s)
                continue;
            least_s = route.alpha_s + bytes / route.bytes_per_s;
            costs->alpha_ps[k] = pp_units_ps(route.alpha_s);
            costs->s_per_byte[k] = 1 / route.bytes_per_s;
        }
    }
}

static int by_device(const void *a, const void *b)
{
    return (*(const int(*)[3])a)[0] - (*(const int(*)[3])b)[0];
}

static void make_ring(const struct law_case *c, int stage, double bytes, struct pp_ring *ring)
{
    const struct pp_program *p = c->program;
    const struct pp_network *n = &c->network;
    const struct pp_layout *l = &n->layout;
    const int most = p->pipelines * l->dp * l->cp;
    int(*at)[3] = (int(*)[3])PP_ARRAY(c->arena, int, 3 * most); /* device, rank, replica */
    int count = 0;

    for (int pipe = 0; pipe < p->pipelines; pipe++)
        for (int k = 0; k < l->dp * l->cp; k++) {
            const int rank = pp_program_rank_of(p, pipe, stage), replica = k / l->cp;
            const int device = pp_map_device(&n->map, 0, k % l->cp, replica, rank);
            bool is_new = true;
            for (int j = 0; j < count; j++)
                is_new &= at[j][0] != device;
            if (is_new)
                memcpy(at[count++], (const int[3]){device, rank, replica}, sizeof(at[0]));
        }
    qsort(at, (size_t)count, sizeof(at[0]), by_device);
    *ring = (struct pp_ring){.positions = count,
                             .device = PP_ARRAY(c->arena, int32_t, count),
                             .rank = PP_ARRAY(c->arena, uint16_t, count),
                             .replica = PP_ARRAY(c->arena, int32_t, count),
                             .hop_ps = PP_ARRAY(c->arena, int64_t, count),
                             .alpha_ps = PP_ARRAY(c->arena, int64_t, count)};
    for (int i = 0; i < count; i++) {
        const struct pp_route route =
            pp_fabric_cost(n->fabric, at[(i + count - 1) % count][0], at[i][0]);
        ring->device[i] = at[i][0];
        ring->rank[i] = (uint16_t)at[i][1];
        ring->replica[i] = at[i][2];
        ring->alpha_ps[i] = pp_units_ps(route.alpha_s);
        ring->hop_ps[i] =
            ring->alpha_ps[i] + (count > 1 ? pp_units_ps(bytes / count / route.bytes_per_s) : 0);
    }
}

void law_make_costs(struct law_case *c, struct rng *rng)
{
    const struct pp_program *p = c->program;
    const double bytes = 2520. * 65536; /* divides by every number of positions */
    struct pp_costs *costs = c->costs = PP_NEW(c->arena, struct pp_costs);

    *costs = (struct pp_costs){.stages = p->stages,
                               .splits = p->splits,
                               .granules = p->granules,
                               .ranks = p->ranks,
                               .origin = "analytic",
                               .source = "test",
                               .rings = PP_ARRAY(c->arena, struct pp_ring, p->stages)};
    make_durations(c, rng);
    make_messages(c, rng);
    for (int s = 0; s < p->stages; s++) {
        make_ring(c, s, bytes, &costs->rings[s]);
        costs->op[PP_AR][s].bytes = costs->op[PP_RS][s].bytes = costs->op[PP_AG][s].bytes = bytes;
    }
}
