/* The band of a prediction: nothing for constant durations, else what their spread makes of a step.
 */
#include "tests/unit/exec/predict/measured.h"

static struct pp_band band_of(const struct predict_case *c,
                              const struct pp_calibration *calibration, bool is_in_situ,
                              uint64_t seed)
{
    struct pp_band band;
    struct pp_error err = {0};

    cr_assert_eq(pp_predict_band(calibration, c->program, is_in_situ ? NULL : c->stages,
                                 case_costs(c), (struct pp_replicas){.count = c->batch.replicas},
                                 seed, &band, &err),
                 PP_OK, "%s: %s", c->program->name, err.message);
    return band;
}

/* From medians; what the costs were before is as it was. */
static double predicted_s(const struct predict_case *c, const struct pp_calibration *calibration,
                          bool is_in_situ)
{
    struct pp_costs *wires = case_costs(c), own = *wires;
    struct pp_prediction prediction;
    struct pp_error err = {0};

    cr_assert_eq(
        pp_calibration_costs(calibration, c->program, is_in_situ ? NULL : c->stages, &own, &err),
        PP_OK, "%s: %s", c->program->name, err.message);
    for (int at = 0; at < c->program->stages * c->program->splits; at++)
        cr_assert(wires->op[PP_F][at].ps == 0 && wires->op[PP_U][at].ps == 0 &&
                  own.op[PP_F][at].ps > 0);
    cr_assert_eq(pp_predict(c->arena, c->program, &own,
                            (struct pp_replicas){.count = c->batch.replicas}, &prediction, &err),
                 PP_OK, "%s", err.message);
    return prediction.step_s;
}

static bool has_pairs(const struct pp_program *p)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (p->aux[i] == PP_FUSED_FIRST && pp_op_is_compute(p->kind[i]))
            return true;
    return false;
}

/* The two ops of a pair share the time outside their layers evenly, so each has another time than
 * alone. By part, such a program has no constant durations. */
static void constant_band(struct predict_case *c, int number)
{
    struct pp_calibration *calibration = pp_calibration_create(c->arena, &c->batch);

    measure(calibration, c, 1);
    measure(calibration, c, 1);
    for (int is_in_situ = has_pairs(c->program); is_in_situ < 2; is_in_situ++) {
        const struct pp_band band = band_of(c, calibration, is_in_situ, (uint64_t)number);
        const double step_s = predicted_s(c, calibration, is_in_situ);

        cr_assert(band.low_s == step_s && band.mid_s == step_s && band.high_s == step_s,
                  "%s: %g, %g .. %g .. %g s", c->program->name, step_s, band.low_s, band.mid_s,
                  band.high_s);
    }
}

Test(band, constant_durations_leave_no_band)
{
    cr_assert_geq(for_each_predicted(constant_band), 60);
}

/* 0.8, 1 and 1.2 times as long: the median is 1. */
static struct pp_calibration *measure_spread(const struct predict_case *c)
{
    struct pp_calibration *calibration = pp_calibration_create(c->arena, &c->batch);

    for (int k = -1; k <= 1; k++)
        measure(calibration, c, 1 + 0.2 * k);
    return calibration;
}

/* A rank alone takes the sum of its ops. */
Test(band, a_spread_is_a_band_around_the_prediction)
{
    static const struct pp_shape shape = {.ranks = 1, .micro_batches = 8};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case c = case_named(arena, "1f1b", shape, false);
    const struct pp_calibration *calibration = measure_spread(&c);

    for (int is_in_situ = 0; is_in_situ < 2; is_in_situ++) {
        const struct pp_band band = band_of(&c, calibration, is_in_situ, 1);
        const double step_s = predicted_s(&c, calibration, is_in_situ);

        cr_assert(0.8 * step_s < band.low_s && band.low_s < step_s, "%g s", band.low_s / step_s);
        cr_assert(band.low_s < band.mid_s && band.mid_s < band.high_s);
        cr_assert(step_s < band.high_s && band.high_s < 1.2 * step_s, "%g s", band.high_s / step_s);
    }
}

/* Ranks wait for the latest, so the middle of the draws lies above the step of median durations.
 * With few ops, it may lie a little below. */
static int lies_above;

static void spread_band(struct predict_case *c, int number)
{
    const struct pp_calibration *calibration = measure_spread(c);
    const struct pp_band band = band_of(c, calibration, true, (uint64_t)number);
    const struct pp_band again = band_of(c, calibration, true, (uint64_t)number);
    const struct pp_band other = band_of(c, calibration, true, (uint64_t)number + 1);
    const double step_s = predicted_s(c, calibration, true);

    cr_assert(band.low_s < band.mid_s && band.mid_s < band.high_s);
    cr_assert(0.98 * step_s < band.mid_s && band.high_s < 1.2 * step_s, "%s: %g, %g",
              c->program->name, band.mid_s / step_s, band.high_s / step_s);
    lies_above += band.mid_s > step_s;
    cr_assert(band.low_s == again.low_s && band.high_s == again.high_s);
    cr_assert(band.low_s != other.low_s || band.mid_s != other.mid_s ||
              band.high_s != other.high_s);
    cr_assert_float_eq(band.mid_s, other.mid_s, 0.05 * step_s);
}

Test(band, ranks_that_wait_for_each_other_take_longer)
{
    const int count = for_each_predicted(spread_band);

    cr_assert(count >= 60 && lies_above >= 0.95 * count, "%d of %d", lies_above, count);
}
