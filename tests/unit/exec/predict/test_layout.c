/* Parts that were measured in one layout price another one by profiles alone. Without them, the
 * message names both. */
#include "exec/predict/profile_parts.h"
#include "tests/unit/exec/predict/measured.h"

#include "core/cost/recompute.h"

#include <string.h>

static const struct pp_shape shape = {.ranks = 2, .micro_batches = 4};

/* Gives all stages of a case a part of a layout. They have no exchanges. */
static void set_group(struct predict_case *c, int tp, int ep, bool is_sequence_parallel)
{
    for (int s = 0; s < c->program->stages; s++) {
        struct pp_stage *stage = PP_NEW(c->arena, struct pp_stage);

        *stage = *c->stages[s];
        stage->shape.tp = tp;
        stage->shape.ep = ep;
        stage->shape.is_sequence_parallel = is_sequence_parallel;
        c->stages[s] = stage;
    }
}

static void set_etp(struct predict_case *c, int tp, int etp)
{
    for (int s = 0; s < c->program->stages; s++) {
        struct pp_stage *stage = PP_NEW(c->arena, struct pp_stage);

        *stage = *c->stages[s];
        stage->shape.tp = tp;
        stage->shape.etp = etp;
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
    set_group(&c, 1, 1, false); /* one device is no group */
    expect(calibration, &c, costs, NULL);
    set_group(&c, 2, 1, true);
    expect(calibration, &c, costs,
           "durations were measured with --tp 1, this program has --tp 2 --sequence-parallel on: "
           "calibrate with the same");
    set_group(&c, 1, 2, false);
    expect(calibration, &c, costs, "with --tp 1, this program has --tp 1 --ep 2: calibrate");
    set_group(&c, 2, 1, false);
    set_etp(&c, 2, 1);
    expect(calibration, &c, costs, "--tp 2 --sequence-parallel off --etp 1 --ep 2: calibrate");
    set_etp(&c, 2, 0);
    calibration = pp_calibration_create(arena, &c.batch);
    set_group(&c, 2, 2, false);
    measure(calibration, &c, 1);
    expect(calibration, &c, costs, NULL);
    set_group(&c, 2, 2, true);
    expect(calibration, &c, costs,
           "--tp 2 --sequence-parallel off --ep 2, this program has --tp 2");
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

/* A profile whose layers take 1000 ps, or `group_ps` where the group lasts. */
static struct pp_profile *profile_of(struct predict_case *c, struct pp_machine_options *options,
                                     double group_ps)
{
    struct pp_profile *profile = PP_NEW(c->arena, struct pp_profile);

    *options = (struct pp_machine_options){.stages = c->stages};
    profile->options = options;
    for (int pass = 0; pass < PP_TIMED_PASSES; pass++)
        for (int part = 0; part < PP_PARTS; part++) {
            pp_samples_push(c->arena, &profile->first[pass][part], 1000);
            pp_samples_push(c->arena, &profile->group[pass][part],
                            part == PP_PART_BLOCK ? group_ps : 1000);
        }
    return profile;
}

/* Returns the time of the blocks of an op. */
static int64_t blocks_ps(const struct predict_case *c, const struct pp_costs *costs, int kind,
                         int s)
{
    const struct pp_stage_shape *stage = &c->stages[s]->shape;
    int64_t rest_ps = outside_ps(kind);

    for (int k = 0; k < (kind == PP_B ? 2 : 1); k++)
        rest_ps += stage->has_embedding * layer_ps(rows_of[kind][k], PP_PART_EMBEDDING, 0) +
                   stage->has_head * layer_ps(rows_of[kind][k], PP_PART_HEAD, 0);
    return costs->op[kind][s].ps - rest_ps;
}

static int64_t measured_blocks_ps(const struct predict_case *c, int kind, int s)
{
    int64_t ps = 0;

    for (int k = 0; k < (kind == PP_B ? 2 : 1); k++)
        ps += c->stages[s]->shape.blocks * layer_ps(rows_of[kind][k], PP_PART_BLOCK, 0);
    return ps;
}

/* Blocks of another group last as many times as long as profiles say, and all else as before. Of
 * the same group, only R changes. */
Test(layout, profiles_price_another_group)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case c = case_named(arena, "1f1b", shape, true);
    struct pp_calibration *calibration = pp_calibration_create(arena, &c.batch);
    struct pp_machine_options options[2];
    static const int kinds[] = {PP_F, PP_B, PP_R};
    struct pp_error err = {0};

    measure(calibration, &c, 1);
    const struct pp_profile *from = profile_of(&c, &options[0], 1000);
    for (int tp = 1; tp <= 2; tp++) {
        struct pp_costs costs = *case_costs(&c);
        struct predict_case other = c;
        other.stages = case_stages(arena, c.program);
        set_group(&other, tp, 1, false);
        const struct pp_profile *to = profile_of(&other, &options[1], 1500);
        const struct pp_calibration *priced =
            pp_calibration_of_layout(arena, calibration, from, to);
        cr_assert_eq(pp_calibration_costs(priced, c.program, other.stages, &costs, &err), PP_OK,
                     "%s", err.message);
        for (int k = 0; k < 3 * c.program->stages; k++) {
            const int kind = kinds[k % 3], s = k / 3;
            const int64_t before_ps = measured_blocks_ps(&c, kind, s),
                          expected_ps = kind == PP_R || tp > 1 ? before_ps * 3 / 2 : before_ps;
            cr_expect_eq(blocks_ps(&other, &costs, kind, s), expected_ps, "--tp %d: %s of stage %d",
                         tp, pp_op_kinds[kind].text, s);
        }
    }
    expect(calibration, &c, *case_costs(&c), NULL); /* the first one has not changed */
}
