/* Durations of parts add up, whatever the program: to the picosecond. */
#include "tests/unit/exec/predict/measured.h"

#include <string.h>

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

/* The machine runs F and B of a pair one after the other, with the exchanges of their experts. */
Test(calibration, exchanges_hide_nothing_of_a_pair)
{
    enum { EXCHANGE_PS = 20000000 };
    static const struct pp_shape shape = {.ranks = 2, .micro_batches = 8};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case from = case_named(arena, "1f1b", shape, false);
    struct predict_case c = case_named(arena, "dualpipev", shape, false);
    struct pp_calibration *calibration = pp_calibration_create(arena, &from.batch);
    struct pp_costs *costs = case_costs(&c);
    const struct pp_program *p = c.program;
    struct pp_error err = {0};
    int pairs = 0;

    for (int s = 0; s < p->stages; s++)
        costs->op[PP_F][s].ep_ps = costs->op[PP_B][s].ep_ps = EXCHANGE_PS;
    calibration->omits_exchanges = true;
    measure(calibration, &from, 1);
    cr_assert_eq(pp_calibration_costs(calibration, p, c.stages, costs, &err), PP_OK, "%s",
                 err.message);
    for (int i = 0; i < pp_program_size(p); i++) {
        if (p->aux[i] != PP_FUSED_FIRST || !pp_op_is_compute(p->kind[i]))
            continue;
        const struct pp_op first = pp_program_op(p, i), second = pp_program_op(p, i + 1);
        const int64_t alone_ps = pp_costs_op(costs, &first, NULL).ps;
        cr_assert_gt(alone_ps, EXCHANGE_PS);
        cr_assert_eq(pp_costs_op(costs, &first, &second).ps,
                     alone_ps + pp_costs_op(costs, &second, NULL).ps);
        pairs++;
    }
    cr_assert_gt(pairs, 0);
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
