/* Parts that were measured in one layout price no other one: the message names both. */
#include "tests/unit/exec/predict/measured.h"

#include "core/cost/recompute.h"

#include <string.h>

static const struct pp_shape shape = {.ranks = 2, .micro_batches = 4};

/* Gives all stages of a case a part of a layout. They have no exchanges. */
static void set_group(struct predict_case *c, int tp, bool is_sequence_parallel)
{
    for (int s = 0; s < c->program->stages; s++) {
        struct pp_stage *stage = PP_NEW(c->arena, struct pp_stage);

        *stage = *c->stages[s];
        stage->shape.tp = tp;
        stage->shape.is_sequence_parallel = is_sequence_parallel;
        c->stages[s] = stage;
    }
}

static void set_modules(struct predict_case *c, unsigned modules)
{
    for (int s = 0; s < c->program->stages; s++) {
        struct pp_stage *stage = PP_NEW(c->arena, struct pp_stage);

        *stage = *c->stages[s];
        stage->shape.again.modules = modules;
        c->stages[s] = stage;
    }
}

static void expect(const struct pp_calibration *calibration, const struct predict_case *c,
                   struct pp_costs costs, const char *words)
{
    struct pp_error err = {0};
    const enum pp_status status =
        pp_calibration_costs(calibration, c->program, c->stages, &costs, &err);

    cr_assert_eq(status, words ? PP_EINVAL : PP_OK, "%s", err.message);
    cr_assert(!words || strstr(err.message, words), "%s", err.message);
}

Test(layout, of_another_group_is_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case c = case_named(arena, "1f1b", shape, false);
    struct pp_calibration *calibration = pp_calibration_create(arena, &c.batch);
    const struct pp_costs costs = *case_costs(&c);

    measure(calibration, &c, 1);
    set_group(&c, 1, false); /* one device is no group */
    expect(calibration, &c, costs, NULL);
    set_group(&c, 2, true);
    expect(calibration, &c, costs,
           "durations were measured with --tp 1, this program has --tp 2 --sequence-parallel on: "
           "calibrate with the same");
    calibration = pp_calibration_create(arena, &c.batch);
    set_group(&c, 2, false);
    measure(calibration, &c, 1);
    expect(calibration, &c, costs, NULL);
    set_group(&c, 2, true);
    expect(calibration, &c, costs, "--tp 2 --sequence-parallel off, this program has --tp 2 --seq");
}

Test(layout, modules_of_r_are_those_that_were_measured)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case c = case_named(arena, "1f1b", shape, true);
    struct predict_case without = case_named(arena, "1f1b", shape, false);
    struct pp_calibration *calibration = pp_calibration_create(arena, &c.batch);
    const struct pp_costs costs = *case_costs(&c);

    measure(calibration, &c, 1);
    set_modules(&c, PP_AGAIN_CORE);
    expect(calibration, &c, costs,
           "R was measured with --recompute full or stage-aware=R, this program has "
           "--recompute selective=core_attn: calibrate with the same");
    set_modules(&without, PP_AGAIN_CORE);
    expect(calibration, &without, costs, NULL); /* it has no R */
}
