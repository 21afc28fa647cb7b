/* Durations of parts add up, whatever the program: to the picosecond. */
#include "tests/unit/exec/predict/predict_case.h"

#include <math.h>
#include <string.h>

/* Time of a layer of a part, and of an op outside its layers, in the rows of a probe. All
 * differ. */
static int64_t layer_ps(int row, int part, int split)
{
    static const int64_t ps[3][PP_PARTS] = {
        {3000, 70000, 9000}, {1100, 90000, 13000}, {1700, 60000, 11000}};

    return ps[row][part] + 100 * split;
}

static int64_t outside_ps(int kind)
{
    return 100 + 10 * kind;
}

/* Of a granule in the passes of the given rows. */
static int64_t stage_ps(const struct pp_stage *stage, const int *rows, int count, int split)
{
    const struct pp_stage_shape *shape = &stage->shape;
    int64_t sum = 0;

    for (int k = 0; k < count; k++)
        sum += shape->has_embedding * layer_ps(rows[k], PP_PART_EMBEDDING, split) +
               shape->blocks * layer_ps(rows[k], PP_PART_BLOCK, split) +
               shape->has_head * layer_ps(rows[k], PP_PART_HEAD, split);
    return sum;
}

static const int rows_of[PP_OP_KINDS][2] = {
    [PP_F] = {0}, [PP_R] = {0}, [PP_I] = {1}, [PP_W] = {2}, [PP_B] = {1, 2}};

static int64_t op_ps(const struct pp_stage *stage, int kind, int split)
{
    return stage_ps(stage, rows_of[kind], kind == PP_B ? 2 : 1, split);
}

static int64_t update_ps(const struct pp_stage *stage)
{
    return 3 * stage->elements;
}

static struct pp_probe probe_of(const struct pp_stage *stage, const struct pp_op *op)
{
    struct pp_probe probe = {0};

    for (int k = 0; k < (op->kind == PP_B ? 2 : 1); k++)
        for (int part = 0; part < PP_PARTS; part++) {
            const int row = rows_of[op->kind][k];
            probe.s[row][part] =
                1e-12 * (double)(op->granules * pp_calibration_layers(stage, op->kind, part) *
                                 layer_ps(row, part, op->split));
        }
    return probe;
}

/* Exchanges of a granule: their number is in no proportion to layers or passes; W has none. */
static int64_t exchanges_of(const struct pp_stage *stage, int kind)
{
    if (kind == PP_W || kind == PP_U)
        return 0;
    return kind == PP_F || kind == PP_R ? 2 * stage->shape.blocks + stage->shape.has_embedding
                                        : 3 * stage->shape.blocks + 5 * stage->shape.has_head;
}

/* All ops of a case as if they had run, `scale` times as long. Exchanges take `exchange_ps`. */
static void measure_group(struct pp_calibration *calibration, const struct predict_case *c,
                          double scale, int64_t exchange_ps)
{
    const struct pp_program *p = c->program;

    pp_calibration_begin(calibration, p);
    for (int i = 0; i < pp_program_size(p); i++) {
        const int count = 1 + (p->aux[i] == PP_FUSED_FIRST);
        struct pp_timed_op ops[2];
        struct pp_probe probes[2];
        int64_t duration_ps = 0, exchanged_ps = 0;

        if (!pp_op_is_compute(p->kind[i]) || p->aux[i] == PP_FUSED_SECOND)
            continue;
        for (int k = 0; k < count; k++) {
            const struct pp_op op = pp_program_op(p, i + k);
            const struct pp_stage *stage = c->stages[op.stage];
            probes[k] = probe_of(stage, &op);
            for (int at = 0; at < 3 * PP_PARTS; at++)
                probes[k].s[at / PP_PARTS][at % PP_PARTS] *= scale;
            ops[k] = (struct pp_timed_op){op, stage, &probes[k],
                                          op.granules * exchange_ps * exchanges_of(stage, op.kind)};
            exchanged_ps += ops[k].exchanged_ps;
            duration_ps +=
                op.kind == PP_U
                    ? update_ps(stage)
                    : op.granules * (op_ps(stage, op.kind, op.split) + outside_ps(op.kind));
        }
        pp_calibration_add(calibration, ops, count,
                           llround(scale * (double)duration_ps) + exchanged_ps);
        for (int k = 0; k < count; k++)
            ops[k].probe = NULL;
        pp_calibration_add(calibration, ops, count,
                           llround(scale * (double)duration_ps) + exchanged_ps);
    }
}

static void measure(struct pp_calibration *calibration, const struct predict_case *c, double scale)
{
    measure_group(calibration, c, scale, 0);
}

static bool has_kind(const struct pp_program *p, int stage, int kind)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (p->kind[i] == kind && p->stage[i] == stage)
            return true;
    return false;
}

/* `outside_kind`: the source of the time of an op outside its layers, by kind. */
static void costs_are(const struct predict_case *c, const struct pp_costs *costs,
                      const int *outside_kind)
{
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W, PP_R};
    const struct pp_program *p = c->program;

    for (int s = 0; s < p->stages; s++) {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
            for (int q = 0; q < p->splits && has_kind(p, s, kinds[k]); q++)
                cr_assert_eq(costs->op[kinds[k]][s * p->splits + q].ps,
                             p->granules * (op_ps(c->stages[s], kinds[k], q) +
                                            outside_ps(outside_kind[kinds[k]])),
                             "%s: %s of stage %d, split %d", p->name, pp_op_kinds[kinds[k]].text, s,
                             q);
        cr_assert_eq(costs->op[PP_U][s].ps, update_ps(c->stages[s]));
    }
}

static const int own_kind[PP_OP_KINDS] = {
    [PP_F] = PP_F, [PP_B] = PP_B, [PP_I] = PP_I, [PP_W] = PP_W, [PP_R] = PP_R};

static bool is_split_backward(const struct pp_program *p)
{
    return has_kind(p, 0, PP_I);
}

/* Measured on programs that have I, W and B, with R where that is recomputed: every other program
 * costs the sum of its parts. Pairs come in no time of their own. */
static void predict_by_parts(struct predict_case *c, int number)
{
    static const struct pp_shape small = {.ranks = 2, .micro_batches = 4};
    struct pp_shape with_splits = small;
    struct pp_calibration *calibration = pp_calibration_create(c->arena, &c->batch);
    struct pp_costs *costs = case_costs(c);
    struct pp_error err = {0};
    const bool is_recomputed = has_kind(c->program, 0, PP_R);

    (void)number;
    with_splits.splits = c->program->splits;
    struct predict_case whole = case_named(c->arena, with_splits.splits > 1 ? "seq1f1b" : "1f1b",
                                           with_splits, is_recomputed);
    measure(calibration, &whole, 1);
    if (is_split_backward(c->program)) {
        struct predict_case split = case_named(c->arena, "zb-h1", small, is_recomputed);
        measure(calibration, &split, 1);
    }
    cr_assert_eq(pp_calibration_costs(calibration, c->program, c->stages, costs, &err), PP_OK,
                 "%s: %s", c->program->name, err.message);
    costs_are(c, costs, own_kind);
    cr_assert_null(costs->overlap);
    cr_assert(costs->is_calibrated);
}

Test(calibration, any_program_costs_the_sum_of_its_parts)
{
    cr_assert_geq(for_each_predicted(predict_by_parts), 60);
}

Test(calibration, passes_stand_in_for_each_other)
{
    static const struct pp_shape shape = {.ranks = 4, .micro_batches = 8};
    static const int as_forward[PP_OP_KINDS] = {
        [PP_F] = PP_F, [PP_B] = PP_F, [PP_I] = PP_F, [PP_W] = PP_F, [PP_R] = PP_F};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case whole = case_named(arena, "1f1b", shape, false);
    struct predict_case split = case_named(arena, "zb-h1", shape, true);
    struct predict_case back = case_named(arena, "gpipe", shape, false);
    struct pp_calibration *calibration = pp_calibration_create(arena, &whole.batch);
    struct pp_costs *costs = case_costs(&split);
    struct pp_error err = {0};

    measure(calibration, &whole, 1); /* F, B */
    cr_assert_eq(pp_calibration_costs(calibration, split.program, split.stages, costs, &err), PP_OK,
                 "%s", err.message);
    costs_are(&split, costs, as_forward); /* F, I, W, R */

    calibration = pp_calibration_create(arena, &whole.batch);
    measure(calibration, &split, 1);
    costs = case_costs(&back);
    cr_assert_eq(pp_calibration_costs(calibration, back.program, back.stages, costs, &err), PP_OK,
                 "%s", err.message);
    costs_are(&back, costs, as_forward);
}

/* Exchanges of a group are by the stages and ops of the program that is predicted. */
static void exchanges_are_its_own(struct pp_arena *arena, const char *schedule)
{
    enum { EXCHANGE_PS = 20000000 };
    static const struct pp_shape shape = {.ranks = 2, .micro_batches = 4};
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W};
    struct predict_case from = case_named(arena, "1f1b", shape, false);
    struct predict_case c = case_named(arena, schedule, shape, false);
    struct pp_calibration *calibration = pp_calibration_create(arena, &from.batch);
    struct pp_costs *costs = case_costs(&c);
    const struct pp_program *p = c.program;
    struct pp_error err = {0};

    for (int k = 0; k < 4 * p->stages; k++)
        costs->op[kinds[k % 4]][k / 4].tp_ps =
            p->granules * EXCHANGE_PS * exchanges_of(c.stages[k / 4], kinds[k % 4]);
    calibration->omits_exchanges = true;
    measure_group(calibration, &from, 1, EXCHANGE_PS);
    cr_assert_eq(pp_calibration_costs(calibration, p, c.stages, costs, &err), PP_OK, "%s",
                 err.message);
    for (int k = 0; k < 4 * p->stages; k++) {
        const int kind = kinds[k % 4], s = k / 4;
        const struct pp_cost *cost = &costs->op[kind][s];
        const int64_t expected_ps = p->granules * EXCHANGE_PS * exchanges_of(c.stages[s], kind);
        if (!has_kind(p, s, kind))
            continue;
        cr_expect_eq(cost->tp_ps, expected_ps, "%s", schedule);
        cr_expect_eq(cost->ps - expected_ps,
                     p->granules *
                         (op_ps(c.stages[s], kind, 0) + outside_ps(kind == PP_B ? PP_B : PP_F)),
                     "%s: %s of stage %d", schedule, pp_op_kinds[kind].text, s);
    }
}

Test(calibration, exchanges_are_those_of_the_predicted_program)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    exchanges_are_its_own(arena, "zbv");
    exchanges_are_its_own(arena, "interleaved");
    exchanges_are_its_own(arena, "zb-h1");
}

Test(calibration, medians)
{
    static const struct pp_shape shape = {.ranks = 2, .micro_batches = 4};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case c = case_named(arena, "1f1b", shape, false);
    struct pp_calibration *calibration = pp_calibration_create(arena, &c.batch);
    struct pp_costs *costs = case_costs(&c);
    struct pp_error err = {0};

    measure(calibration, &c, 7);
    measure(calibration, &c, 1);
    measure(calibration, &c, 0.5);
    cr_assert_eq(pp_calibration_costs(calibration, c.program, c.stages, costs, &err), PP_OK);
    costs_are(&c, costs, own_kind);
    cr_assert_eq(pp_calibration_costs(calibration, c.program, NULL, costs, &err), PP_OK);
    costs_are(&c, costs, own_kind);

    struct pp_samples four = {.ps = (double[]){4, 1, 8, 2}, .count = 4}, none = {0};
    cr_assert_eq(pp_samples_median(&four), 3);
    cr_assert(isnan(pp_samples_median(&none)));
}

/* Each event of a probe delays an op by 1 ns: one at its begin, and one after each layer of a pass.
 */
Test(calibration, the_delay_of_probes_is_taken_out)
{
    enum { DELAY_PS = 1000 };
    static const struct pp_shape shape = {.ranks = 2, .micro_batches = 4};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case c = case_named(arena, "1f1b", shape, false);
    struct pp_calibration *calibration = pp_calibration_create(arena, &c.batch);
    struct pp_costs *with = case_costs(&c), *without = case_costs(&c);
    const struct pp_program *p = c.program;
    int64_t *took_ps =
        PP_ARRAY(arena, int64_t, pp_program_size(p)); /* of one step, then of the other */
    struct pp_error err = {0};
    int events[PP_OP_KINDS][2];

    for (int s = 0; s < p->stages; s++) {
        int layers = 0;
        for (int part = 0; part < PP_PARTS; part++)
            layers += pp_calibration_layers(c.stages[s], PP_F, part);
        events[PP_F][s] = p->granules * (1 + layers);
        events[PP_B][s] = p->granules * (1 + 2 * layers);
    }
    measure(calibration, &c, 1);
    cr_assert_eq(pp_calibration_costs(calibration, p, c.stages, with, &err), PP_OK);
    for (int has_probes = 1; has_probes >= 0; has_probes--) {
        const struct pp_step_times times = {.replicas = 1, .nominal_ps = took_ps};
        for (int i = 0; i < pp_program_size(p); i++) {
            const struct pp_op op = pp_program_op(p, i);
            took_ps[i] = 1000000 + i;
            if (has_probes && (op.kind == PP_F || op.kind == PP_B))
                took_ps[i] += DELAY_PS * events[op.kind][op.stage] * op.granules / p->granules;
        }
        cr_assert_eq(calibration->delay[PP_B].count, 0);
        pp_calibration_probes(calibration, p, c.stages, &times, has_probes);
    }
    cr_assert_eq(pp_samples_median(&calibration->delay[PP_B]), DELAY_PS);
    cr_assert_eq(calibration->delay[PP_W].count, 0);
    cr_assert_eq(pp_calibration_costs(calibration, p, c.stages, without, &err), PP_OK);
    for (int s = 0; s < p->stages; s++) {
        for (int kind = PP_F; kind <= PP_B; kind += PP_B - PP_F)
            cr_assert_eq(with->op[kind][s].ps - without->op[kind][s].ps,
                         DELAY_PS * events[kind][s]);
        cr_assert_eq(with->op[PP_U][s].ps, without->op[PP_U][s].ps);
    }
}

static void refuses(enum pp_status status, const struct pp_error *err, const char *words)
{
    cr_assert_eq(status, PP_EINVAL);
    cr_assert(strstr(err->message, words), "%s", err->message);
}

Test(calibration, what_was_not_measured_is_named)
{
    static const struct pp_shape shape = {.ranks = 2, .micro_batches = 4};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case c = case_named(arena, "1f1b", shape, false);
    struct predict_case other = case_named(arena, "gpipe", shape, false);
    struct pp_calibration *calibration = pp_calibration_create(arena, &c.batch);
    struct pp_costs *costs = case_costs(&c);
    struct pp_stage wide = *c.stages[0];
    struct pp_error err = {0};

    refuses(pp_calibration_costs(calibration, c.program, c.stages, costs, &err), &err,
            "stage 0: F of the embedding was never measured");
    refuses(pp_calibration_costs(calibration, c.program, NULL, costs, &err), &err,
            "1f1b is not the program that was measured last");
    measure(calibration, &c, 1);
    refuses(pp_calibration_costs(calibration, other.program, NULL, costs, &err), &err,
            "gpipe is not the program that was measured last");
    wide.shape.rows = 2 * CASE_ROWS;
    c.stages[0] = &wide;
    refuses(pp_calibration_costs(calibration, c.program, c.stages, costs, &err), &err,
            "with splits 1 and 2 samples at a time, this program has splits 1 and 4 samples");
}

/* What only ran in pairs, and in part: the pair is what it was, its ops share what it took. */
static void measured_as_a_whole(struct predict_case *c, int number)
{
    struct pp_calibration *calibration = pp_calibration_create(c->arena, &c->batch);
    struct pp_costs *costs = case_costs(c);
    struct pp_error err = {0};
    const struct pp_program *p = c->program;

    measure(calibration, c, 1 + number % 3);
    cr_assert_eq(pp_calibration_costs(calibration, p, NULL, costs, &err), PP_OK, "%s: %s", p->name,
                 err.message);
    for (int i = 0; i < pp_program_size(p); i++) {
        const struct pp_op op = pp_program_op(p, i);
        const bool is_fused = op.aux == PP_FUSED_FIRST;
        struct pp_op second = {0};
        int64_t expected_ps = 0;

        if (!pp_op_is_compute(op.kind) || op.aux == PP_FUSED_SECOND)
            continue;
        if (is_fused)
            second = pp_program_op(p, i + 1);
        for (int k = 0; k <= is_fused; k++) {
            const struct pp_op *at = k ? &second : &op;
            expected_ps += at->kind == PP_U
                               ? update_ps(c->stages[at->stage])
                               : at->granules * (op_ps(c->stages[at->stage], at->kind, at->split) +
                                                 outside_ps(at->kind));
        }
        cr_assert_eq(pp_costs_op(costs, &op, is_fused ? &second : NULL).ps,
                     expected_ps * (1 + number % 3), "%s instruction %d", p->name, i);
    }
}

Test(calibration, in_situ_every_op_costs_what_it_took)
{
    cr_assert_geq(for_each_predicted(measured_as_a_whole), 60);
}

/* ---- the band -------------------------------------------------------------------------------*/

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

Test(calibration, constant_durations_leave_no_band)
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
Test(calibration, a_spread_is_a_band_around_the_prediction)
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

Test(calibration, ranks_that_wait_for_each_other_take_longer)
{
    const int count = for_each_predicted(spread_band);

    cr_assert(count >= 60 && lies_above >= 0.95 * count, "%d of %d", lies_above, count);
}
