/* Constants of wires, sums and gaps are recovered from steps that the evaluator has made of them.
 * Ops have all lengths, so that most messages wait for one side or the other. */
#include "core/random.h"
#include "schedules/evaluate/evaluate.h"
#include "schedules/registry.h"
#include "tests/unit/exec/predict/predict_case.h"

#include <math.h>

static const struct pp_shape SHAPE = {.ranks = 4, .micro_batches = 8};
static const struct pp_exec_wires SLOW = {.alpha_s = 30e-6, .bytes_per_s = 0.5e9},
                                  FAST = {.alpha_s = 10e-6, .bytes_per_s = 1e9},
                                  LATE = {.alpha_s = 900e-6, .bytes_per_s = 1e9};

/* Messages of `times` as many bytes as usual. */
static struct predict_case case_sized(struct pp_arena *arena, const char *name, int replicas,
                                      size_t times)
{
    struct predict_case c;

    cr_assert(case_make(arena, pp_schedule_find(name), SHAPE, replicas, false, &c), "%s", name);
    for (int s = 0; s < c.program->stages; s++)
        ((struct pp_stage *)(uintptr_t)c.stages[s])->boundary_bytes *= times;
    return c;
}

static struct pp_costs *costs_over(const struct predict_case *c, const struct pp_exec_wires *wires)
{
    return pp_exec_costs(c->arena, c->program, c->stages, &c->batch, &case_kernels, wires, false);
}

static size_t rows_of(const struct predict_case *c)
{
    return (size_t)pp_program_size(c->program) * (size_t)c->batch.replicas;
}

static int64_t *durations(const struct predict_case *c, uint64_t seed)
{
    int64_t *ps = PP_ARRAY(c->arena, int64_t, rows_of(c));

    for (size_t row = 0; row < rows_of(c); row++)
        if (pp_op_is_compute(c->program->kind[row / (size_t)c->batch.replicas]))
            ps[row] = 1000000 + (int64_t)(pp_random_bits(seed, row) % 200000000);
    return ps;
}

/* A step that begins at another time than 0, as all but the first do. */
static struct pp_step_times play(const struct predict_case *c, const struct pp_costs *costs,
                                 const int64_t *compute_ps)
{
    enum { BEGIN_PS = 12345 };
    const struct pp_eval_options options = {0};
    const struct pp_perturbation perturbation = {.compute_ps = compute_ps};
    struct pp_error err = {0};
    struct pp_eval *plan;

    cr_assert_eq(pp_eval_create(c->arena, c->program, costs, &options, &plan, &err), PP_OK, "%s",
                 err.message);
    struct pp_times *t =
        pp_eval_run(c->arena, plan, c->batch.replicas, &perturbation, PP_TIMES_ALL);
    for (size_t row = 0; row < rows_of(c); row++) {
        t->start_ps[row] += BEGIN_PS;
        t->end_ps[row] += BEGIN_PS;
        t->posted_ps[row] += BEGIN_PS;
    }
    return (struct pp_step_times){.replicas = c->batch.replicas,
                                  .begin_ps = BEGIN_PS,
                                  .start_ps = t->start_ps,
                                  .end_ps = t->end_ps,
                                  .posted_ps = t->posted_ps};
}

static void measure_wires(struct pp_calibration *to, const struct predict_case *c,
                          const struct pp_exec_wires *wires, uint64_t seed)
{
    const struct pp_costs *costs = costs_over(c, wires);
    const struct pp_step_times times = play(c, costs, durations(c, seed));

    pp_calibration_wires(to, c->program, costs, &times);
}

static void is_wire(const struct pp_calibration *c, double alpha_s, double s_per_byte)
{
    struct pp_measured_wire wire;

    cr_assert(pp_calibration_wire(c, &wire));
    cr_assert_float_eq(wire.alpha_s, alpha_s, 1e-11, "latency %.6g s", wire.alpha_s);
    cr_assert_float_eq(wire.s_per_byte, s_per_byte, 1e-6 * s_per_byte, "%.9g s a byte",
                       wire.s_per_byte);
}

/* ---- messages -------------------------------------------------------------------------------- */

static const char *const SCHEDULES[] = {"gpipe", "1f1b", "zb-h1", "chimera", "zbv"};
enum { SCHEDULES_TRIED = sizeof SCHEDULES / sizeof *SCHEDULES };

Test(calibration_times, latency_and_bandwidth_come_back)
{
    for (int k = 0; k < SCHEDULES_TRIED; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct predict_case one = case_sized(arena, SCHEDULES[k], 1 + k % 2, 1),
                                  five = case_sized(arena, SCHEDULES[k], 1, 5);
        struct pp_calibration *c = pp_calibration_create(arena, &one.batch);
        struct pp_measured_wire none;

        cr_assert_not(pp_calibration_wire(c, &none));
        measure_wires(c, &one, &SLOW, (uint64_t)k);
        const double bytes = (double)one.stages[0]->boundary_bytes;
        is_wire(c, 0, SLOW.alpha_s / bytes + 1 / SLOW.bytes_per_s); /* of one size: all bandwidth */
        measure_wires(c, &five, &SLOW, (uint64_t)k + 100);
        is_wire(c, SLOW.alpha_s, 1 / SLOW.bytes_per_s);
    }
}

/* Of three steps one had a wire that was busy with something else. */
Test(calibration_times, what_is_rare_tells_nothing)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct predict_case one = case_sized(arena, "1f1b", 1, 1),
                              five = case_sized(arena, "1f1b", 1, 5);
    const struct pp_exec_wires *const wires[] = {&FAST, &LATE, &FAST};
    struct pp_calibration *c = pp_calibration_create(arena, &one.batch);

    for (uint64_t step = 0; step < 3; step++) {
        measure_wires(c, &one, wires[step], step);
        measure_wires(c, &five, wires[step], step);
    }
    is_wire(c, FAST.alpha_s, 1 / FAST.bytes_per_s);
}

/* Two sizes that take the same are all latency; a larger one that took less is no wire's. */
Test(calibration_times, no_wire_gives_time_back)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct predict_case one = case_sized(arena, "1f1b", 1, 1),
                              five = case_sized(arena, "1f1b", 1, 5);
    struct pp_calibration *c = pp_calibration_create(arena, &one.batch);
    const double bytes = (double)five.stages[0]->boundary_bytes;

    measure_wires(c, &one, &LATE, 1);
    measure_wires(c, &five, &FAST, 2);
    is_wire(c, FAST.alpha_s + bytes / FAST.bytes_per_s, 0);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void are_sums(const struct predict_case *c, const struct pp_costs *is,
                     const struct pp_costs *due, double factor)
{
    for (int s = 0; s < c->program->stages; s++) {
        cr_assert(due->op[PP_AR][s].ps > 0 && due->op[PP_AR][s].latency_ps > 0);
        cr_assert_float_eq((double)is->op[PP_AR][s].ps, factor * (double)due->op[PP_AR][s].ps, 3,
                           "stage %d", s);
        cr_assert_float_eq((double)is->op[PP_AR][s].latency_ps,
                           factor * (double)due->op[PP_AR][s].latency_ps, 3, "stage %d", s);
    }
}

/* Sums that take 2.5 times what the costs say. */
Test(calibration_times, sums_come_back_as_a_multiple)
{
    for (int k = 0; k < SCHEDULES_TRIED; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct predict_case one = case_sized(arena, SCHEDULES[k], 2, 1);
        struct pp_calibration *c = pp_calibration_create(arena, &one.batch);
        struct pp_costs *said = costs_over(&one, &FAST), *real = costs_over(&one, &FAST);

        for (int s = 0; s < one.program->stages; s++) {
            real->op[PP_AR][s].ps = 5 * said->op[PP_AR][s].ps / 2;
            real->op[PP_AR][s].latency_ps = 5 * said->op[PP_AR][s].latency_ps / 2;
        }
        const struct pp_step_times times = play(&one, real, durations(&one, (uint64_t)k));
        pp_calibration_wires(c, one.program, said, &times);
        pp_calibration_fill_wires(arena, c, said);
        are_sums(&one, said, real, 1);
    }
}

/* Calibrated where nothing was summed: over the wire of messages. */
Test(calibration_times, sums_that_were_not_measured_go_over_the_wire)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct predict_case one = case_sized(arena, "1f1b", 1, 1),
                              five = case_sized(arena, "1f1b", 1, 5),
                              two = case_sized(arena, "zb-h1", 2, 1);
    struct pp_calibration *c = pp_calibration_create(arena, &one.batch);
    struct pp_costs *costs = costs_over(&two, &FAST);

    measure_wires(c, &one, &SLOW, 1);
    measure_wires(c, &five, &SLOW, 2);
    pp_calibration_fill_wires(arena, c, costs);
    are_sums(&two, costs, costs_over(&two, &SLOW), 1);
    cr_assert_eq(costs->alpha_ps[0], llround(1e12 * SLOW.alpha_s));
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* All different. */
static const struct pp_pauses PAUSES = {{7000, 11000, 13000, 17000, 19000, 23000}};

/* Ops begin so much later than they could. */
static struct pp_step_times play_with_pauses(const struct predict_case *c, uint64_t seed)
{
    int64_t *pauses_ps = PP_ARRAY(c->arena, int64_t, rows_of(c)), *compute_ps = durations(c, seed);

    pp_pauses_add(c->program, PAUSES, c->batch.replicas, pauses_ps);
    pp_pauses_add(c->program, PAUSES, c->batch.replicas, compute_ps);
    const struct pp_step_times times = play(c, costs_over(c, &FAST), compute_ps);
    for (size_t row = 0; row < rows_of(c); row++)
        ((int64_t *)(uintptr_t)times.start_ps)[row] += pauses_ps[row];
    return times;
}

Test(calibration_times, gaps_come_back_by_what_stands_before)
{
    int seen[PP_GAPS] = {0};

    for (int k = 0; k < SCHEDULES_TRIED; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct predict_case one = case_sized(arena, SCHEDULES[k], 1 + k % 2, 1);
        struct pp_calibration *c = pp_calibration_create(arena, &one.batch);
        const struct pp_step_times times = play_with_pauses(&one, (uint64_t)k);

        pp_calibration_gaps(c, one.program, &times);
        const struct pp_pauses pauses = pp_calibration_pauses(c);
        for (int gap = 0; gap < PP_GAPS; gap++) {
            seen[gap] += c->gap[gap].count;
            cr_assert(c->gap[gap].count == 0 || pauses.ps[gap] == PAUSES.ps[gap],
                      "%s: gap %d is %lld ps", SCHEDULES[k], gap, (long long)pauses.ps[gap]);
        }
    }
    cr_assert(seen[0] > 0 && seen[1] > 0 && seen[PP_GAP_BAR] > 0 && seen[PP_GAP_STEP] > 0);
}

/* The list of rank 1 of two, which the test reads itself. Each forward waits for a message, the
 * last one for a send buffer as well. Backwards follow forwards at once, and the update comes after
 * a barrier. */
Test(calibration_times, gaps_of_a_list_that_is_known)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct predict_case one =
        case_named(arena, "1f1b", (struct pp_shape){.ranks = 2, .micro_batches = 3}, false);
    const struct pp_program *p = one.program;
    int64_t *ps = PP_ARRAY(arena, int64_t, rows_of(&one));
    static const int waits[] = {1, 1, 2};
    int forwards = 0;

    pp_pauses_add(p, PAUSES, 1, ps);
    for (int i = p->begin[1]; i < p->begin[2]; i++) {
        const int64_t due = p->kind[i] == PP_B   ? PAUSES.ps[0]
                            : p->kind[i] == PP_U ? PAUSES.ps[PP_GAP_BAR]
                            : p->kind[i] == PP_F ? PAUSES.ps[waits[forwards++]]
                                                 : 0;
        cr_assert_eq(ps[i], due, "instruction %d: %lld ps", i, (long long)ps[i]);
    }
    cr_assert_eq(forwards, 3);
}

/* More WAITs than were measured take what the most of them took. */
Test(calibration_times, gaps_that_were_not_measured)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct predict_case one = case_sized(arena, "1f1b", 1, 1);
    struct pp_calibration *c = pp_calibration_create(arena, &one.batch);
    double waits_ps[] = {500}, none_ps[] = {100};

    c->gap[0] = (struct pp_samples){none_ps, 1, 1};
    c->gap[1] = (struct pp_samples){waits_ps, 1, 1};
    const struct pp_pauses pauses = pp_calibration_pauses(c);
    for (int gap = 0; gap < PP_GAPS; gap++)
        cr_assert_eq(pauses.ps[gap], gap == 0 ? 100 : gap < PP_GAP_WAITS ? 500 : 0, "gap %d", gap);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* 1f1b whose saved activations move. */
static struct predict_case case_moved(struct pp_arena *arena)
{
    const struct pp_schedule *schedule = pp_schedule_find("1f1b");
    const struct pp_lower_options lower = {
        .recv_slots = 2, .has_optimizer = true, .state.home[PP_STATE_ACTIVATIONS] = PP_TIER_HOST};
    struct pp_program *program;
    struct pp_error err = {0};

    cr_assert_eq(pp_schedule_program(arena, schedule, &SHAPE, NULL, &program, &err), PP_OK);
    cr_assert_eq(pp_lower(arena, program, &lower, &program, &err), PP_OK, "%s", err.message);
    return case_of(arena, program, schedule, 1);
}

/* Copies of different sizes that take `factor` times what the costs say; all else is as said. */
Test(calibration_times, copies_come_back_as_a_multiple)
{
    for (double factor = 0.25; factor < 9; factor *= 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct predict_case one = case_moved(arena);
        struct pp_calibration *c = pp_calibration_create(arena, &one.batch);
        struct pp_costs said = *costs_over(&one, &FAST), real = said;
        struct pp_cost *copy = PP_ARRAY(arena, struct pp_cost, one.program->stages),
                       *slow = PP_ARRAY(arena, struct pp_cost, one.program->stages);

        for (int s = 0; s < one.program->stages; s++) {
            copy[s] = (struct pp_cost){.ps = 4000000 * (s + 1), .bytes = 4096};
            slow[s] = (struct pp_cost){.ps = llround(factor * (double)copy[s].ps), .bytes = 4096};
        }
        said.op[PP_COPY] = copy;
        real.op[PP_COPY] = slow;
        const struct pp_step_times times = play(&one, &real, durations(&one, 7));
        pp_calibration_copies(c, one.program, &said, &times);
        cr_assert_gt(c->copied[PP_FOR_DOWN].count, 0);
        pp_calibration_fill_copies(arena, c, &said);
        for (int s = 0; s < one.program->stages; s++) {
            cr_expect_eq(said.op[PP_COPY][s].ps, slow[s].ps, "%g: stage %d", factor, s);
            cr_expect_eq(said.op[PP_COPY][s].bytes, slow[s].bytes);
        }
    }
}
