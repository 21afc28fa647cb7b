#include "core/cluster/cluster.h"
#include "core/cost/framework.h"
#include "sim/error/band.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* A run with 64 pipelines of 8 ranks. */
static struct pp_config run_on(struct pp_arena *arena, const char *cluster, const char *framework)
{
    struct pp_config config = {.layout = {.tp = 4, .cp = 1, .pp = 8, .dp = 2, .gpus = 64}};
    struct pp_error err = {0};

    cr_assert_eq(pp_cluster_load(arena, cluster, &config.cluster, &err), PP_OK);
    cr_assert_eq(pp_framework_find(framework, &config.costs.framework, &err), PP_OK);
    return config;
}

static bool has_words(const char *like, const char *words)
{
    return like && strcmp(like, words) == 0;
}

Test(band, rows_of_the_same_kind_are_alike)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_config config = run_on(arena, "h100", "nemo");
    const struct pp_error_bands bands = pp_error_bands_of(arena, &config);

    cr_assert_null(bands.missing);
    cr_assert(has_words(bands.step.like, "h100, nemo, 16 bits, PP > 1, several nodes, no experts"),
              "%s", bands.step.like);
    cr_assert_geq(bands.step.rows, PP_ERROR_ROWS_MIN);
    cr_assert(bands.step.median_frac > 0 && bands.step.median_frac < bands.step.p90_frac);
}

Test(band, criteria_are_dropped_until_rows_are_enough)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_config config = run_on(arena, "h100", "torchtitan");

    /* torchtitan's rows have PP 1, and their sources differ in device and precision */
    const struct pp_error_bands bands = pp_error_bands_of(arena, &config);
    cr_assert(has_words(bands.step.like, "hopper, torchtitan, no experts"), "%s", bands.step.like);
    /* nothing published ran with the framework `plain` */
    config.costs.framework = pp_framework_plain;
    const struct pp_error_bands plain = pp_error_bands_of(arena, &config);
    cr_assert(has_words(plain.step.like, "h100, 16 bits, PP > 1, several nodes, no experts"), "%s",
              plain.step.like);
    cr_assert(has_words(plain.memory.like, "16 bits, PP > 1, no experts"), "%s", plain.memory.like);
    cr_assert_geq(plain.step.rows, PP_ERROR_ROWS_MIN);
}

Test(band, experts_and_the_generation_are_never_dropped)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_config config = run_on(arena, "h100", "nemo");

    config.model.experts.count = 8;
    const struct pp_error_bands experts = pp_error_bands_of(arena, &config);
    cr_assert_not_null(strstr(experts.step.like, ", experts"));
    cr_assert_eq(experts.memory.rows, 0, "no memory of such a run is published");
    cr_assert(isnan(experts.memory.median_frac));
    const struct pp_config pascal = run_on(arena, "p100-daint", "plain");
    const struct pp_error_bands none = pp_error_bands_of(arena, &pascal);
    cr_assert_eq(none.step.rows, 0);
    cr_assert_eq(none.memory.rows, 0);
    cr_assert_not_null(none.missing);
}

Test(band, a_device_of_the_user_has_no_band)
{
    static const struct {
        const char *cluster;
        bool is_known;
    } CASES[] = {{"gpu:8 peak:1307TF memory:192GB", false},
                 {"h100 peak:850TF hbm:2.4TBps", true},
                 {"h100 memory:72GB", true},
                 {"h100 peak:148TF", false},
                 {"h100 hbm:8TBps", false},
                 {"h100 peak:1200TF", true}};

    for (size_t i = 0; i < PP_COUNT(CASES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_config config = run_on(arena, CASES[i].cluster, "nemo");
        const struct pp_error_bands bands = pp_error_bands_of(arena, &config);
        cr_assert_eq(bands.step.rows > 0, CASES[i].is_known, "%s", CASES[i].cluster);
        cr_assert_eq(!bands.missing, CASES[i].is_known, "%s", CASES[i].cluster);
    }
}

Test(band, costs_of_the_user_have_no_band)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_config config = run_on(arena, "h100", "nemo");

    config.is_unit = true;
    cr_assert_not_null(pp_error_bands_of(arena, &config).missing);
    config.is_unit = false;
    config.cost = (const struct pp_cost_file *)&config;
    cr_assert_not_null(pp_error_bands_of(arena, &config).missing);
}
