/* Room on the device for values or for optimizer state: the gains of both. */
#include "core/cost/residence.h"

#include "core/cost/terms.h"

#include <math.h>

#define VALUE_BYTES     2.0 /* of a parameter in 16 bits */
#define OPTIMIZER_BYTES 4.0 /* of the fp32 copy that moves for an update on the device */
#define OPTIMIZER_ROOM  7.0 /* of optimizer state and gradient, in values */

static double each(double amount, double per_s)
{
    return per_s > 0 ? amount / per_s : (double)NAN;
}

struct pp_residence pp_residence_gain(const struct pp_residence_rates *r, int devices)
{
    const double up = r->to_device_bytes_per_s, down = r->to_host_bytes_per_s,
                 cache_s = each(VALUE_BYTES, up) + each(VALUE_BYTES, down),
                 optimizer_s = devices / OPTIMIZER_ROOM *
                               (each(OPTIMIZER_BYTES, up) + cache_s + each(VALUE_BYTES, down) +
                                each(1, r->host_params_per_s) - each(1, r->device_params_per_s));

    return (struct pp_residence){isnan(cache_s) ? 0 : cache_s,
                                 isnan(optimizer_s) ? 0 : optimizer_s};
}

struct pp_residence_rates pp_residence_published(int devices)
{
    return (struct pp_residence_rates){.to_device_bytes_per_s = (16.3 * devices + 8.7) * 1e9,
                                       .to_host_bytes_per_s = (15.8 * devices + 2.3) * 1e9,
                                       .device_params_per_s = 50e9 * devices,
                                       .host_params_per_s = (1.66 * log(devices) + 5.15) * 1e9};
}

struct pp_residence_rates pp_residence_here(const struct pp_cost_inputs *in, int devices)
{
    const struct pp_cluster *cluster = in->cluster;
    const struct pp_class_bytes state = pp_cost_state_bytes(in);
    const double update_bytes = 5 * state.grads + 2 * state.optimizer + state.params,
                 rate = cluster->tiers[PP_TIER_HOST].bytes > 0
                            ? devices * pp_tier_rate(cluster->tiers,
                                                     pp_tier_route(PP_TIER_HOST, PP_TIER_DEVICE),
                                                     devices)
                            : 0;

    return (struct pp_residence_rates){.to_device_bytes_per_s = rate,
                                       .to_host_bytes_per_s = rate,
                                       .device_params_per_s =
                                           devices * cluster->device.memory_bytes_per_s *
                                           cluster->device.memory_eta / update_bytes,
                                       .host_params_per_s = cluster->update_params_per_s};
}

static const char *gain_text(struct pp_arena *arena, struct pp_residence gain)
{
    return pp_arena_printf(arena,
                           "%.4f ns for its value, %.4f ns for its optimizer state: %s first",
                           gain.cache_s * 1e9, gain.optimizer_s * 1e9,
                           gain.cache_s > gain.optimizer_s ? "the cache" : "the optimizer");
}

/* Texts of both rates: published, and of the cluster. */
struct texts {
    const char *published, *here;
};

static struct texts texts_of(struct pp_arena *arena, const struct pp_cost_inputs *in, int devices)
{
    const struct pp_residence_rates published = pp_residence_published(devices),
                                    here = pp_residence_here(in, devices);

    return (struct texts){gain_text(arena, pp_residence_gain(&published, devices)),
                          gain_text(arena, pp_residence_gain(&here, devices))};
}

const char *pp_residence_text(struct pp_arena *arena, const struct pp_cost_inputs *in, int devices)
{
    const struct texts t = texts_of(arena, in, devices);

    return pp_arena_printf(arena,
                           "for a parameter on %d of a node's devices saves a step, by Elixir's "
                           "rule and this cluster's rates, %s; with its rates of A100 %s",
                           devices, t.here, t.published);
}

void pp_residence_explain(const struct pp_cost_inputs *in, int devices, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct texts t = texts_of(arena, in, devices);

    fprintf(out, "  room for a parameter on %d device%s of a node saves a step (Elixir's rule):\n",
            devices, devices > 1 ? "s" : "");
    fprintf(out, "    with its rates of A100: %s\n    with those of this cluster: %s\n",
            t.published, t.here);
}
