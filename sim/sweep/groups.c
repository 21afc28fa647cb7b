/* Figures of a sweep with --mode infer, with --price, with --seeds, with data on other memory
 * tiers, and with units that stay. */
#include "sim/sweep/groups.h"

#include "sim/config/copies.h"
#include "sim/config/gathers.h"
#include "sim/config/price.h"
#include "sim/config/tiers.h"
#include "sim/inference/inference.h"
#include "sim/seeds/seeds.h"
#include "sim/sweep/check.h"

#include <math.h>

static double cost_of(const struct pp_result *r, int column)
{
    const struct pp_config *c = &r->config;

    return column == 0 ? pp_price_step(c, c->layout.gpus, r->metrics.iteration_s)
                       : pp_price_tokens(c, r->tokens_per_s_per_gpu);
}

enum tier_column { HOST_BYTES, NVME_BYTES, PEER_BYTES, HOST_UPDATE_S, HOST_UPDATE_EXPOSED_S };

static double tier_figure(const struct pp_result *r, int column)
{
    if (!pp_tiers_are_used(r))
        return (double)NAN;
    switch ((enum tier_column)column) {
    case HOST_BYTES:
        return pp_tiers_bytes(r, PP_TIER_HOST);
    case NVME_BYTES:
        return pp_tiers_bytes(r, PP_TIER_NVME);
    case PEER_BYTES:
        return pp_tiers_bytes(r, PP_TIER_PEER);
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

enum token_column { MAX_BATCH = 8 };

/* Figures of the object "inference" of the report. */
static double token_figure(const struct pp_result *r, int column)
{
    const struct pp_inference *f = r->inference;
    const struct pp_generation *g = &r->config.generation;

    if (!f || (column == MAX_BATCH && r->config.is_unit))
        return (double)NAN;
    const double figures[] = {f->first_token_s,
                              f->first_token_p90_s,
                              f->token_s,
                              f->token_p90_s,
                              f->latency_s,
                              f->prompt_tokens_per_s,
                              f->kv_bytes_per_token,
                              f->memory_bandwidth_frac};
    return column < MAX_BATCH ? figures[column]
                              : pp_inference_room(r, g->prompt_tokens + g->passes).sequences;
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
    {NAMES("mode"),
     NAMES("first_token_s", "first_token_p90_s", "token_s", "token_p90_s", "latency_s",
           "prompt_tokens_per_s", "kv_bytes_per_token", "memory_bandwidth_frac", "max_batch"),
     token_figure},
    {NAMES("offload"),
     NAMES("host_bytes", "nvme_bytes", "peer_bytes", "host_update_s", "host_update_exposed_s"),
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
