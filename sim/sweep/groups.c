/* Figures of a sweep with --price, with --seeds, with data on other memory tiers, and with units
 * that stay. */
#include "sim/sweep/groups.h"

#include "sim/config/copies.h"
#include "sim/config/gathers.h"
#include "sim/config/price.h"
#include "sim/config/tiers.h"
#include "sim/seeds/seeds.h"
#include "sim/sweep/check.h"

#include <math.h>

static double cost_of(const struct pp_result *r, int column)
{
    const struct pp_config *c = &r->config;

    return column == 0 ? pp_price_step(c, c->layout.gpus, r->metrics.iteration_s)
                       : pp_price_tokens(c, r->tokens_per_s_per_gpu);
}

enum tier_column { HOST_BYTES, NVME_BYTES, HOST_UPDATE_S, HOST_UPDATE_EXPOSED_S };

static double tier_figure(const struct pp_result *r, int column)
{
    if (!pp_tiers_are_used(r))
        return (double)NAN;
    switch ((enum tier_column)column) {
    case HOST_BYTES:
        return pp_tiers_bytes(r, PP_TIER_HOST);
    case NVME_BYTES:
        return pp_tiers_bytes(r, PP_TIER_NVME);
    case HOST_UPDATE_S:
        return pp_host_updates(r).s;
    case HOST_UPDATE_EXPOSED_S:
        return pp_host_updates(r).exposed_s;
    }
    return (double)NAN;
}

enum cache_column { LOADS, HITS, CACHED_UNITS };

static double cache_figure(const struct pp_result *r, int column)
{
    const struct pp_cache_counts count = pp_cache_count(r);

    return !pp_gathers_are_used(r) ? (double)NAN
           : column == LOADS       ? (double)count.loads
           : column == HITS        ? (double)count.hits
                                   : count.cached;
}

static double seeds_figure(const struct pp_result *r, int column)
{
    const struct pp_seeds *s = r->seeds;
    const double figures[] = {s->step.mean,  s->step.least,    s->step.greatest, s->gain.mean,
                              s->gain.least, s->gain.greatest, s->slower};

    return figures[column];
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
const struct pp_sweep_group pp_sweep_groups[] = {
    {NAMES("offload"), NAMES("host_bytes", "nvme_bytes", "host_update_s", "host_update_exposed_s"),
     tier_figure},
    {NAMES("cache", "evict"), NAMES("loads", "hits", "cached_units"), cache_figure},
    {NAMES("price"), NAMES("cost_per_step", "cost_per_trillion_tokens"), cost_of},
    {NAMES("seeds"),
     NAMES("step_mean_s", "step_least_s", "step_greatest_s", "strict_over_step_mean",
           "strict_over_step_least", "strict_over_step_greatest", "slower_seeds"),
     seeds_figure},
    {NULL, NULL, NULL}};

bool pp_sweep_has_group(const struct pp_grid *grid, const struct pp_sweep_group *group)
{
    bool has = false;

    for (const char *const *option = group->options; *option; option++)
        has |= pp_grid_axis(grid, *option) != NULL;
    return has;
}
