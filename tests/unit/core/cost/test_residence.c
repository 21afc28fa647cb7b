/* Gains of room on the device: published values to four digits, and their forms at other rates. */
#include "core/cost/residence.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>

/* In and Jn of Elixir, nanoseconds a parameter. */
Test(residence, gains_are_the_published_ones)
{
    static const struct {
        int devices;
        double cache_ns, optimizer_ns;
    } rows[] = {{1, .1905, .0907}, {2, .1074, .1177}, {4, .0576, .1551}, {8, .0299, .2148}};

    for (size_t k = 0; k < PP_COUNT(rows); k++) {
        const struct pp_residence_rates rates = pp_residence_published(rows[k].devices);
        const struct pp_residence gain = pp_residence_gain(&rates, rows[k].devices);
        cr_assert_float_eq(gain.cache_s * 1e9, rows[k].cache_ns, .5e-4, "%d: %g", rows[k].devices,
                           gain.cache_s * 1e9);
        cr_assert_float_eq(gain.optimizer_s * 1e9, rows[k].optimizer_ns, .5e-4, "%d: %g",
                           rows[k].devices, gain.optimizer_s * 1e9);
        cr_assert_eq(gain.cache_s > gain.optimizer_s, rows[k].devices == 1);
    }
}

/* The same forms with rates of a cluster: twice the links halve what a value gains. */
Test(residence, rates_of_the_cluster_are_those_of_its_links)
{
    static const char *const texts[] = {"a100 h2d:12GBps ram:1TB@200GBps",
                                        "a100 h2d:24GBps ram:1TB@200GBps"};
    double last_s = 0;

    for (size_t k = 0; k < PP_COUNT(texts); k++)
        for (int n = 1; n <= 8; n *= 2) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct setting setting = {"gpt-7.5b", texts[k], 1, 1, 8, 1, 1, 2048};
            struct pp_model model;
            struct pp_cluster cluster;
            struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
            in.state = pp_state_spec_zero(0, pp_cost_replicas(&in));
            cluster.tiers[PP_TIER_HOST].uplink_bytes_per_s = 0;
            cluster.tiers[PP_TIER_DEVICE].uplink_bytes_per_s = 0;
            const struct pp_residence_rates r = pp_residence_here(&in, n);
            const struct pp_residence gain = pp_residence_gain(&r, n);
            const double link = fmin(12e9 * (double)(k + 1) * n, 200e9);
            cr_assert_float_eq(r.to_device_bytes_per_s / link, 1, 1e-9, "%g, %g",
                               r.to_device_bytes_per_s, link);
            cr_assert_float_eq(gain.cache_s, 4 / link, 1e-9 * gain.cache_s);
            cr_assert_float_eq(gain.optimizer_s,
                               n / 7. *
                                   (4 / link + gain.cache_s + 2 / link + 1 / r.host_params_per_s -
                                    1 / r.device_params_per_s),
                               1e-9 * gain.optimizer_s);
            if (n == 1)
                cr_assert(k == 0 || fabs(2 * gain.cache_s / last_s - 1) < 1e-9);
            last_s = n == 1 ? gain.cache_s : last_s;
        }
}

/* Without processors for updates, or without a host, nothing is gained by what needs them. */
Test(residence, a_missing_rate_gains_nothing)
{
    struct pp_residence_rates rates = pp_residence_published(1);

    rates.host_params_per_s = 0;
    cr_assert_gt(pp_residence_gain(&rates, 1).cache_s, 0);
    cr_assert_eq(pp_residence_gain(&rates, 1).optimizer_s, 0);
    rates.to_host_bytes_per_s = 0;
    cr_assert_eq(pp_residence_gain(&rates, 1).cache_s, 0);
}
