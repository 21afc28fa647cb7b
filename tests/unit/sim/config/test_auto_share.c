/* --offload CLASS=TIER:auto: the same run as with the least share that fits, found by trying all.
 */
#include "sim/config/auto_share.h"

#include "sim/config/tiers.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>

enum { SHARES = 21 }; /* 0 to 100 % in steps of 5 % */

static const struct {
    const char *line;
    const char *class, *tier; /* its share is found */
    const char *rest;         /* of --offload */
} cases[] = {
    {"--schedule gpipe --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 --cluster a100 "
     "--recompute none",
     "a", "host", ""},
    {"--schedule gpipe --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 12 --cluster a100 "
     "--recompute none",
     "a", "nvme", ",os=host"},
    {"--schedule interleaved --vp 2 --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 "
     "--cluster a100~memory:40GB --recompute none",
     "a", "host", ""},
    {"--schedule 1f1b --model llama2-7b --gpus 2 --pp 2 --micro-batches 4 --cluster "
     "a100~memory:56GB "
     "--recompute full",
     "p", "host", ""},
    {"--schedule 1f1b --model llama2-7b --gpus 2 --pp 2 --micro-batches 4 --cluster "
     "a100~memory:15GB "
     "--recompute full",
     "p", "host", ",os=host --cpu-optimizer"},
    {"--schedule 1f1b --model llama2-7b --gpus 2 --pp 2 --micro-batches 4 --cluster a100 "
     "--recompute full",
     "p", "host", ""},
    {"--schedule 1f1b --model llama2-13b --gpus 2 --pp 2 --micro-batches 4 --cluster "
     "a100~memory:105GB "
     "--recompute full",
     "p", "host", ""},
};

static struct pp_result run(struct pp_arena *arena, const char *line, const char *offload)
{
    struct pp_result result;
    struct pp_error err = {0};
    const char *all = pp_arena_printf(arena, "%s --engine dag %s", line, offload);

    cr_assert_eq(sim_run_at(arena, all, PP_QUICK, &result, &err), PP_OK, "%s: %s", all,
                 err.message);
    return result;
}

/* Text of an offload of that share of the case's class. */
static const char *offload_of(struct pp_arena *arena, size_t i, int share)
{
    const char *text =
        pp_arena_printf(arena, "%s=%s:%d%%", cases[i].class, cases[i].tier, 5 * share);

    if (share > 0)
        return pp_arena_printf(arena, "--offload %s%s", text, cases[i].rest);
    return *cases[i].rest ? pp_arena_printf(arena, "--offload %s", cases[i].rest + 1) : "";
}

static double short_bytes(const struct pp_result *r)
{
    return r->memory[r->peak_rank].peak_bytes - pp_config_capacity_bytes(&r->config);
}

Test(auto_share, is_the_least_that_fits)
{
    int found_inside = 0;

    for (size_t i = 0; i < PP_COUNT(cases); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result auto_run =
            run(arena, cases[i].line,
                pp_arena_printf(arena, "--offload %s=%s:auto%s", cases[i].class, cases[i].tier,
                                cases[i].rest));
        const int place = auto_run.config.origin.share_place;
        struct pp_result with[SHARES];
        int least = 0;

        for (int share = 0; share < SHARES; share++)
            with[share] = run(arena, cases[i].line, offload_of(arena, i, share));
        while (least < SHARES - 1 && short_bytes(&with[least]) > 0)
            least++;
        found_inside += least > 0 && least < SHARES - 1;
        cr_assert_eq(place, least, "%s: %d, not %d", cases[i].line, place, least);
        cr_assert_eq(auto_run.fits, with[least].fits);
        cr_assert_eq(auto_run.metrics.iteration_s, with[least].metrics.iteration_s);
        cr_assert_eq(auto_run.memory[0].peak_bytes, with[least].memory[0].peak_bytes);
        if (least > 0)
            cr_assert_float_eq(auto_run.config.origin.share_short_bytes,
                               short_bytes(&with[least - 1]), 1);
    }
    cr_assert_geq(found_inside, 4, "%d", found_inside);
}

/* Classes leave one after another, and what nothing uses any more is switched off. */
Test(auto_share, classes_leave_in_turn)
{
    struct pp_state_spec spec = {.is_cpu_update = true, .has_early_update = true};

    spec.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    spec.home[PP_STATE_PARAMS] = PP_TIER_NVME;
    cr_assert_eq(pp_auto_share_last(&spec), 0);
    spec.moved_frac[PP_STATE_OPTIMIZER] = spec.moved_frac[PP_STATE_PARAMS] = -1;
    cr_assert_eq(pp_auto_share_first(&spec), 0);
    cr_assert_eq(pp_auto_share_last(&spec), 40);
    for (int place = 0; place <= 40; place++) {
        const struct pp_state_spec at = pp_auto_share_at(&spec, place);
        cr_assert_eq(pp_auto_share_last(&at), 0);
        cr_assert_float_eq(pp_state_moved(&at, PP_STATE_OPTIMIZER), place < 20 ? place / 20.0 : 1,
                           1e-12);
        cr_assert_float_eq(pp_state_moved(&at, PP_STATE_PARAMS),
                           place < 20 ? 0 : (place - 20) / 20.0, 1e-12);
        cr_assert_eq(at.is_cpu_update, place > 0);
        cr_assert_eq(at.has_early_update, place > 0);
        cr_assert_eq(pp_state_is_away(&at, PP_STATE_PARAMS), place > 20);
    }
    spec.home[PP_STATE_GRADS] = PP_TIER_HOST;
    cr_assert_eq(pp_auto_share_first(&spec),
                 1); /* who updates on the device needs gradients there */
    spec.moved_frac[PP_STATE_GRADS] = -1;
    cr_assert_eq(pp_auto_share_first(&spec), 0);
    cr_assert_eq(pp_auto_share_last(&spec), 60);
}
