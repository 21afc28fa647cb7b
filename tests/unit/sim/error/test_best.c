/* The highest published MFU of a device. */
#include "sim/error/best.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>

static const struct pp_result *run_of(struct pp_arena *arena, const char *line)
{
    struct pp_result *result = PP_NEW(arena, struct pp_result);
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, line, PP_QUICK, result, &err), PP_OK, "%s: %s", line,
                 err.message);
    return result;
}

#define RUN "run --engine dag --schedule 1f1b --model llama2-7b --gpus 8 --tp 2 --pp 2 --gbs 16 "

Test(best_mfu, is_of_the_device_and_its_precision)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_best_mfu *a100 = pp_best_mfu_of(&run_of(arena, RUN "--cluster a100")->config),
                             *h100 = pp_best_mfu_of(&run_of(arena, RUN "--cluster h100")->config),
                             *fp8 = pp_best_mfu_of(
                                 &run_of(arena, RUN "--cluster h100 --precision fp8")->config);

    cr_assert(a100 && h100 && fp8);
    cr_expect_str_eq(a100->device, "a100");
    cr_expect_str_eq(h100->precision, "bf16");
    cr_expect_str_eq(fp8->precision, "fp8");
    cr_expect_eq(pp_best_mfu_of(&run_of(arena, RUN "--cluster a100 --precision fp16")->config),
                 a100);
    cr_expect_gt(a100->runs, 300);
    cr_expect_null(pp_best_mfu_of(&run_of(arena, RUN "--cluster p100 --zero 1")->config));
    const struct pp_result *units =
        run_of(arena, "run --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2");
    cr_expect_null(pp_best_mfu_of(&units->config));
}

Test(best_mfu, only_a_higher_one_is_said)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result *megatron = run_of(arena, RUN "--cluster a100"),
                           *causal = run_of(arena, RUN "--cluster a100 --flops causal");
    const double best = pp_best_mfu_of(&megatron->config)->mfu_frac;

    cr_expect_null(pp_best_mfu_text(arena, &megatron->config, best));
    cr_expect_not_null(pp_best_mfu_text(arena, &megatron->config, best + 1e-6));
    /* the same step by a rule that counts fewer flops has a lower MFU, and the same answer */
    const double ratio = causal->mfu / megatron->mfu;
    cr_assert_lt(ratio, 1);
    cr_expect_null(pp_best_mfu_text(arena, &causal->config, best * ratio * (1 - 1e-6)));
    cr_expect_not_null(pp_best_mfu_text(arena, &causal->config, best * ratio * (1 + 1e-6)));
}
