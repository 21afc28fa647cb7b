/* Prediction, the prediction that needs no simulation, and replay. */
#include "tests/unit/exec/predict/predict_case.h"

#include "core/units.h"
#include "schedules/order/formula.h"
#include "schedules/registry.h"

#include <math.h>

/* ---- costs of the network -------------------------------------------------------------------*/

Test(predict, wires_sums_and_memory)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct predict_case c;
    const struct pp_shape shape = {.ranks = 2, .micro_batches = 4};

    cr_assert(case_make(arena, pp_schedule_find("1f1b"), shape, 3, false, &c));
    const struct pp_costs *costs = case_costs(&c);
    const struct pp_op send = {.kind = PP_SEND_F, .granules = 1, .peer = 1};
    /* 2,048 bytes at 1 GB/s after 10 us */
    cr_assert_eq(pp_costs_p2p(costs, &send, 0).ps, 12048000);
    cr_assert_eq(pp_costs_message_bytes(costs, &send), 2048);
    /* 1,000 elements of 4 bytes over 3 replicas: 4 steps of 10 us and 4,000 / 3 ns */
    cr_assert_eq(costs->op[PP_AR][0].ps, 4 * (10000000 + 1333333));
    cr_assert_eq(costs->op[PP_AR][0].latency_ps, 40000000);
    cr_assert_eq(costs->op[PP_AR][1].bytes, 4 * 1016);
    const struct pp_rank_memory *memory = pp_memory_peaks(arena, c.program, costs);
    cr_assert_eq(memory[0].params_bytes, 4000);
    cr_assert_eq(memory[0].optimizer_bytes, 8 * 1008);           /* shares are whole units of 16 */
    cr_assert_eq(memory[0].activations_bytes, 2 * (256 + 4096)); /* two in flight */
    cr_assert_eq(memory[1].activations_bytes, 256 + 4096);

    cr_assert(case_make(arena, pp_schedule_find("1f1b"), shape, 1, true, &c));
    memory = pp_memory_peaks(arena, c.program, case_costs(&c));
    cr_assert_eq(memory[0].activations_bytes, 2 * 256 + 4096);
    cr_assert_eq(case_costs(&c)->op[PP_AR][0].ps, 0); /* no other rank to sum with */
}

/* The tied matrix is summed once, by its own sum. */
Test(predict, a_tied_matrix_is_summed_apart)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_shape shape = {.ranks = 2, .micro_batches = 4};
    struct predict_case c = case_named(arena, "1f1b", shape, false);
    const struct pp_lower_options options = {.has_tied = true, .has_sync = true};
    struct pp_param matrix = {.count = 600, .is_tied = true};
    struct pp_error err = {0};

    cr_assert_eq(pp_lower(arena, c.program, &options, &c.program, &err), PP_OK, "%s", err.message);
    c.batch.replicas = 2;
    for (int s = 0; s < 2; s++) {
        struct pp_stage *stage = PP_NEW(arena, struct pp_stage);
        *stage = *c.stages[s];
        stage->params = &matrix;
        stage->param_count = 1;
        c.stages[s] = stage;
    }
    const struct pp_costs *costs = case_costs(&c);
    cr_assert_eq(costs->op[PP_AR][0].bytes, 4 * 400);
    cr_assert_eq(costs->op[PP_AR][0].ps, 2 * (10000000 + 800000));
    cr_assert_not_null(costs->tied);
    cr_assert_eq(costs->tied->bytes, 4 * 600); /* two ranks of two replicas */
    cr_assert_eq(costs->tied->ps, 6 * (10000000 + 600000));
}

/* ---- prediction -----------------------------------------------------------------------------*/

/* Durations by kind, stage and split, and of pairs: whole shares of granules. */
static void fill(const struct predict_case *c, struct pp_costs *costs)
{
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W, PP_R};
    const int stages = c->program->stages, splits = c->program->splits;

    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (int at = 0; at < stages * splits; at++)
            costs->op[kinds[k]][at].ps = 1000000 * (int64_t)(10 + 3 * k + (size_t)at % 5);
    for (int s = 0; s < stages; s++)
        costs->op[PP_U][s].ps = 777777 + s;
}

static void prediction_is_the_evaluator(struct predict_case *c, int number)
{
    struct pp_costs *costs = case_costs(c);
    struct pp_prediction prediction;
    struct pp_error err = {0};
    double work_s = 0;

    (void)number;
    fill(c, costs);
    cr_assert_eq(pp_predict(c->arena, c->program, costs,
                            (struct pp_replicas){.count = c->batch.replicas}, &prediction, &err),
                 PP_OK, "%s: %s", c->program->name, err.message);
    cr_assert_eq(prediction.trace->replicas, c->batch.replicas);
    cr_assert_float_eq(prediction.metrics.iteration_s, prediction.step_s, 1e-15);
    for (int i = 0; i < pp_program_size(c->program); i++) {
        const struct pp_op op = pp_program_op(c->program, i);
        work_s += pp_op_is_compute(op.kind) ? pp_units_s(pp_costs_op(costs, &op, NULL).ps) : 0;
    }
    for (int rank = 0; rank < c->program->ranks; rank++)
        work_s -= prediction.metrics.ranks[rank].busy_s;
    cr_assert_float_eq(work_s, 0, 1e-15);
}

Test(predict, every_schedule_is_as_busy_as_its_ops)
{
    cr_assert_geq(for_each_predicted(prediction_is_the_evaluator), 60);
}

/* Equal stages, no network, no update: what is ideal over 1 - the closed form is the step. */
static void null_is_exact(const char *name, int ranks, int n)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_shape shape = {.ranks = ranks, .micro_batches = n};
    struct predict_case c = case_named(arena, name, shape, false);
    const struct pp_exec_wires none = {.alpha_s = 0, .bytes_per_s = INFINITY};
    struct pp_costs *costs =
        pp_exec_costs(arena, c.program, c.stages, &c.batch, &case_kernels, &none, false);
    struct pp_prediction prediction;
    struct pp_error err = {0};

    for (int s = 0; s < ranks; s++) {
        costs->op[PP_F][s].ps = 5000000;
        costs->op[PP_B][s].ps = 9000000;
    }
    const double ideal_s = n * 14e-6, bubble = (ranks - 1.0) / (n + ranks - 1.0);
    const double null_s = pp_formula_step_s(c.program, c.schedule, costs);
    cr_assert_float_eq(null_s, ideal_s / (1 - bubble), 1e-17);
    cr_assert_eq(
        pp_predict(arena, c.program, costs, (struct pp_replicas){.count = 1}, &prediction, &err),
        PP_OK, "%s", err.message);
    cr_assert_float_eq(null_s, prediction.step_s, 1e-17);
    /* a program of no known schedule: as if it were one of these */
    cr_assert_float_eq(pp_formula_step_s(c.program, NULL, costs), null_s, 1e-17);
}

Test(predict, null_of_even_stages)
{
    for (int ranks = 1; ranks <= 6; ranks++)
        for (int n = ranks; n <= 16; n += 3) {
            null_is_exact("1f1b", ranks, n);
            null_is_exact("gpipe", ranks, n);
        }
}

/* ---- replay ---------------------------------------------------------------------------------*/

enum { STEPS = 3 };

static int64_t *durations_of(const struct predict_case *c, const struct pp_times *times)
{
    const size_t rows = (size_t)pp_program_size(c->program) * (size_t)times->replicas;
    int64_t *ps = PP_ARRAY(c->arena, int64_t, rows * STEPS);

    for (size_t k = 0; k < rows * STEPS; k++)
        ps[k] = times->end_ps[k] - times->start_ps[k];
    return ps;
}

static void replay_is_exact(struct predict_case *c, int number)
{
    const struct pp_eval_options three = {.steps = STEPS};
    const struct pp_perturbation noise = {.jitter_frac = 0.3, .seed = (uint64_t)number};
    const size_t rows = (size_t)pp_program_size(c->program) * (size_t)c->batch.replicas;
    struct pp_costs *costs = case_costs(c);
    struct pp_eval *plan;
    struct pp_error err = {0};
    struct pp_replay replay;

    fill(c, costs);
    cr_assert_eq(pp_eval_create(c->arena, c->program, costs, &three, &plan, &err), PP_OK, "%s",
                 err.message);
    const struct pp_times *times =
        pp_eval_run(c->arena, plan, c->batch.replicas, &noise, PP_TIMES_ALL);
    int64_t *ps = durations_of(c, times);
    costs = case_costs(c); /* knows of no compute */
    for (int k = 0; k < STEPS; k++) {
        cr_assert_eq(
            pp_replay(c->arena, c->program, costs, times, k, ps + (size_t)k * rows, &replay, &err),
            PP_OK, "%s", err.message);
        cr_assert(replay.step_error_s == 0 && replay.event_error_s == 0, "%s step %d: %g s, %g s",
                  c->program->name, k, replay.step_error_s, replay.event_error_s);
    }
    for (size_t row = 0; row < rows; row++) /* every update a nanosecond later */
        ps[row] += c->program->kind[row / (size_t)c->batch.replicas] == PP_U ? 1000 : 0;
    cr_assert_eq(pp_replay(c->arena, c->program, costs, times, 0, ps, &replay, &err), PP_OK);
    cr_assert_leq(replay.step_error_s, -1e-9); /* the step went faster than its replay */
    cr_assert_geq(replay.event_error_s, -replay.step_error_s);
    cr_assert_float_eq(replay.step_s + replay.step_error_s, pp_units_s(times->step_end_ps[0]),
                       1e-15);
}

Test(predict, replay_of_its_own_durations_is_exact)
{
    cr_assert_geq(for_each_predicted(replay_is_exact), 60);
}
