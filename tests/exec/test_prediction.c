/* What a training run says of its own step: by schedule, on both clocks. */
#include "schedules/registry.h"
#include "tests/exec/train.h"

#include <math.h>

static struct exec_case small(const char *schedule)
{
    return (struct exec_case){.schedule = schedule,
                              .shape = {.ranks = 4, .micro_batches = 8},
                              .replicas = 1,
                              .mbs = 1,
                              .steps = 5,
                              .seed = 3};
}

/* Calibration fills tables of its own: those of the machine know of no compute before and after.
 * The measured trace shares a pair out by what its ops took. */
Test(prediction, costs_of_the_machine_stay_what_they_are)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct exec_case c = small("dualpipe");
    struct exec_run run;
    int pairs = 0, uneven = 0;

    cr_assert(exec_run(arena, &c, &run));
    const struct pp_costs *costs = run.training.machine.costs;
    cr_assert(!costs->is_calibrated && !costs->overlap);
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        for (int s = 0; pp_op_is_compute(kind) && costs->op[kind] && s < costs->stages; s++)
            cr_assert_eq(costs->op[kind][s].ps, 0, "%s", pp_op_kinds[kind].text);
    for (int i = 0; i < run.result.trace->count; i++) {
        const struct pp_trace_event *e = &run.result.trace->events[i];
        pairs += e->is_fused;
        uneven +=
            e->is_fused && e->forward_frac > 0 && e->forward_frac < 1 && e->forward_frac != 0.5;
    }
    cr_assert(pairs > 0 && uneven == pairs, "%d of %d", uneven, pairs);
}

static void has_band(const struct exec_run *run, const char *name)
{
    const struct pp_training_result *r = &run->result;
    const struct pp_band *band = &r->predicted_band;

    cr_assert(0 < band->low_s && band->low_s <= band->mid_s && band->mid_s <= band->high_s &&
                  isfinite(band->high_s),
              "%s: %g .. %g .. %g s", name, band->low_s, band->mid_s, band->high_s);
    cr_assert_eq(r->structural_error_s, 0, "%s", name);
    cr_assert(isfinite(r->unattributed_s) && r->unattributed_s >= 0, "%s", name);
}

Test(prediction, has_a_band_for_every_schedule)
{
    for (int i = 0; pp_schedules[i]; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct exec_case c = small(pp_schedules[i]->name);
        struct exec_run run;

        if (pp_schedules[i]->is_simulated_only || !exec_run(arena, &c, &run))
            continue;
        has_band(&run, c.schedule);
        cr_assert_eq(run.result.unattributed_s, 0, "%s", c.schedule);
    }
}

/* Durations of another schedule: by part. */
Test(prediction, has_a_band_from_another_schedule)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct exec_case c = small("zbv"), other = small("1f1b");
    struct exec_run run, first;
    struct pp_calibration *calibration;
    struct pp_error err = {0};

    cr_assert(exec_run_make(arena, &c, &run, &err) == PP_OK &&
                  exec_run_make(arena, &other, &first, &err) == PP_OK &&
                  pp_train_calibrate(arena, &first.training, 2, &calibration, &err) == PP_OK,
              "%s", err.message);
    run.training.calibration = calibration;
    cr_assert_eq(pp_train(arena, &run.training, &run.result, &err), PP_OK, "%s", err.message);
    has_band(&run, "zbv");
}

Test(prediction, on_the_wall_clock)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = small("1f1b");
    struct exec_run run;

    c.clock = PP_CLOCK_WALL;
    cr_assert(exec_run(arena, &c, &run));
    has_band(&run, "1f1b");
}

static struct pp_costs predicted_costs(struct pp_arena *arena,
                                       const struct pp_calibration *calibration,
                                       const struct exec_case *c)
{
    struct pp_error err = {0};
    struct exec_run run;

    cr_assert_eq(exec_run_make(arena, c, &run, &err), PP_OK, "%s", err.message);
    struct pp_costs costs = *run.training.machine.costs;
    cr_assert_eq(
        pp_calibration_costs(calibration, run.program, run.training.machine.stages, &costs, &err),
        PP_OK, "%s", err.message);
    return costs;
}

/* Copies that share the state of a stage each update a part of it, in a prediction, too. Updates
 * are in proportion to their words outside of the measured sizes. Of eight words of an element, one
 * is a gradient that is zeroed. ZeRO 1 has all gradients. */
Test(prediction, an_update_of_a_share_takes_its_share)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = small("1f1b");
    struct pp_calibration *calibration;
    struct pp_error err = {0};
    struct exec_run run;

    c.shape.ranks = 1;
    cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_train_calibrate(arena, &run.training, 3, &calibration, &err), PP_OK, "%s",
                 err.message);
    const struct pp_costs whole = predicted_costs(arena, calibration, &c);
    c.replicas = 4;
    for (c.zero = 1; c.zero <= 3; c.zero++) {
        const struct pp_costs shared = predicted_costs(arena, calibration, &c);
        const double words = c.zero == 1 ? 7 / 4.0 + 1 : 8 / 4.0;
        cr_expect_float_eq((double)shared.op[PP_U][0].ps * 8 / words, (double)whole.op[PP_U][0].ps,
                           4, "ZeRO %d: %lld ps of %lld", c.zero, (long long)shared.op[PP_U][0].ps,
                           (long long)whole.op[PP_U][0].ps);
    }
}

/* A group of two, whose exchanges take seconds of the virtual clock: much more than all else. */
static void make_group(struct pp_arena *arena, const char *schedule, struct exec_run *run)
{
    const struct pp_exec_wires slow = {.alpha_s = 1, .bytes_per_s = 10e9};
    struct exec_case c = small(schedule);
    struct pp_error err = {0};

    c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 4};
    c.tp = 2;
    cr_assert_eq(exec_run_make(arena, &c, run, &err), PP_OK, "%s", err.message);
    struct pp_machine_options *m = &run->training.machine;
    m->costs =
        pp_exec_costs(arena, run->program, m->stages, &run->batch, m->kernels, &slow, c.is_exact);
}

/* The machine counts the exchanges that it runs. What is left of each op is less than one. */
Test(prediction, exchanges_of_a_group_are_those_of_each_op)
{
    static const char *const schedules[] = {"zbv", "interleaved", "zb-h1"};
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_calibration *calibration;
    struct pp_error err = {0};
    struct exec_run from;

    make_group(arena, "1f1b", &from);
    cr_assert_eq(pp_train_calibrate(arena, &from.training, 2, &calibration, &err), PP_OK, "%s",
                 err.message);
    for (size_t k = 0; k < sizeof(schedules) / sizeof(schedules[0]); k++) {
        struct exec_run run;
        make_group(arena, schedules[k], &run);
        struct pp_costs costs = *run.training.machine.costs;
        cr_assert_eq(pp_calibration_costs(calibration, run.program, run.training.machine.stages,
                                          &costs, &err),
                     PP_OK, "%s", err.message);
        for (int at = 0; at < 4 * run.program->stages; at++) {
            const int kind = kinds[at % 4], s = at / 4;
            const int64_t own_ps = run.training.machine.costs->op[kind][s].tp_ps,
                          rest_ps = costs.op[kind][s].ps - own_ps;
            cr_expect(kind == PP_W || own_ps > 1000000000000);
            cr_expect(rest_ps >= 0 && rest_ps < 1000000000000, "%s: %s of stage %d: %lld ps",
                      schedules[k], pp_op_kinds[kind].text, s, (long long)rest_ps);
        }
    }
}
