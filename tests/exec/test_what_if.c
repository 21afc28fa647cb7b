/* Slow devices and wires. With given durations, executed times equal closed forms and the evaluator
 * to the picosecond. With measured durations, the clock stretches each of them. */
#include "tests/exec/train.h"

#include "core/units.h"
#include "schedules/evaluate/perturb.h"
#include "schedules/registry.h"

#include <math.h>

static struct pp_arena *arena;

static void set_up(void)
{
    arena = pp_arena_create();
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
}

TestSuite(what_if, .init = set_up, .fini = tear_down);

enum { RANKS = 2, F_MS = 3, B_MS = 5 };
static const struct pp_exec_wires plain = {.alpha_s = 1e-3, .bytes_per_s = 1e6};

/* F and B take F_MS and B_MS; messages and sums go over `wires`. */
static struct exec_run *run_given(const struct exec_case *c, const struct pp_exec_wires *wires,
                                  const double *slow)
{
    static const struct pp_unit_costs UNIT = {
        .f = 1e-3 * F_MS, .b = 1e-3 * B_MS, .i = 2e-3, .w = 3e-3, .fb = 1e-3 * (F_MS + B_MS)};
    static const int KINDS[] = {PP_F, PP_B, PP_I, PP_W};
    struct exec_run *run = PP_NEW(arena, struct exec_run);
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, c, run, &err), PP_OK, "%s", err.message);
    struct pp_machine_options *m = &run->training.machine;
    const struct pp_program *p = run->program;
    struct pp_costs *costs = pp_exec_costs(arena, p, m->stages, &run->batch, m->kernels, wires,
                                           c->is_exact),
                    *without = pp_exec_costs(arena, p, m->stages, &run->batch, m->kernels, &plain,
                                             c->is_exact);
    const struct pp_costs *unit =
        pp_costs_unit(arena, &UNIT, p->ranks, p->stages, p->splits, p->granules);
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        costs->op[KINDS[k]] = without->op[KINDS[k]] = unit->op[KINDS[k]];
    m->costs = costs;
    m->has_durations = true;
    m->slow = slow;
    run->training.plain_costs = without;
    cr_assert_eq(pp_train(arena, &run->training, &run->result, &err), PP_OK, "%s", err.message);
    cr_assert_eq(run->result.structural_error_s, 0);
    cr_assert_eq(run->result.model_error_frac, 0, "%s", exec_case_text(arena, c));
    cr_assert_eq(run->result.slowdown, run->result.predicted_slowdown);
    cr_assert(run->result.weights.differing == 0 || !c->is_exact);
    return run;
}

static double message_s(const struct exec_run *run, double factor)
{
    return plain.alpha_s + (double)run->stages[0]->boundary_bytes / (plain.bytes_per_s * factor);
}

static void expect_s(double found_s, double expected_s)
{
    cr_assert_float_eq(found_s, expected_s, 4e-12, "%.12f s, expected %.12f s", found_s,
                       expected_s);
}

static const struct exec_case one = {.schedule = "1f1b",
                                     .shape = {.ranks = RANKS, .micro_batches = 1},
                                     .replicas = 1,
                                     .mbs = 1,
                                     .steps = 4,
                                     .is_exact = true,
                                     .is_untied = true};

/* One micro-batch there and back. */
Test(what_if, a_slow_wire_delays_what_goes_over_it)
{
    const double factors[RANKS * RANKS] = {1, 0.25, 0.5, 1};
    struct pp_exec_wires wires = plain;
    const double compute_s = 1e-3 * RANKS * (F_MS + B_MS);

    struct exec_run *run = run_given(&one, &wires, NULL);
    const double plain_s = compute_s + 2 * message_s(run, 1);
    expect_s(run->result.step_median_s, plain_s);
    cr_assert_eq(run->result.slowdown, 1);
    wires.factors = factors;
    run = run_given(&one, &wires, NULL);
    const double slow_s = compute_s + message_s(run, 0.25) + message_s(run, 0.5);
    expect_s(run->result.step_median_s, slow_s);
    cr_assert_float_eq(run->result.slowdown, slow_s / plain_s, 1e-9);
}

Test(what_if, a_slow_rank_takes_longer)
{
    const double slow[RANKS] = {0.3, 1};
    const struct exec_run *run = run_given(&one, &plain, slow);

    expect_s(run->result.step_median_s,
             1e-3 * (F_MS + B_MS) * (1 + 1 / 0.3) + 2 * message_s(run, 1));
}

/* Replicas pass gradients on over the wire from a rank to itself: 2 (n - 1) steps. */
Test(what_if, a_slow_wire_between_replicas_delays_their_sum)
{
    const double factors[RANKS * RANKS] = {0.5, 1, 1, 1};
    const struct pp_exec_wires wires = {plain.alpha_s, plain.bytes_per_s, factors};
    struct exec_case two = one;

    two.replicas = 2;
    const struct exec_run *run = run_given(&two, &wires, NULL);
    const double bytes = 8.0 * (double)run->stages[0]->elements; /* exact: 64 bits */
    const double sum_s = 2 * (plain.alpha_s + bytes / 2 / (0.5 * plain.bytes_per_s));
    expect_s(run->result.step_median_s,
             1e-3 * RANKS * (F_MS + B_MS) + 2 * message_s(run, 1) + sum_s);
}

Test(what_if, every_schedule_is_slowed_as_predicted)
{
    enum { P = 4, REPLICAS = 2 };
    double slow[P * REPLICAS], factors[P * P];
    int runs = 0;

    for (int k = 0; k < P * REPLICAS; k++)
        slow[k] = 0.3 + 0.2 * k;
    for (int k = 0; k < P * P; k++)
        factors[k] = 0.1 + 0.05 * k;
    const struct pp_exec_wires wires = {plain.alpha_s, plain.bytes_per_s, factors};
    for (int i = 0; pp_schedules[i]; i++) {
        struct exec_case c = {.schedule = pp_schedules[i]->name,
                              .shape = {.ranks = P, .micro_batches = 8},
                              .replicas = REPLICAS,
                              .mbs = 1,
                              .steps = 3,
                              .is_exact = true};
        struct exec_run ignored;
        struct pp_error err;
        if (pp_schedules[i]->is_simulated_only || exec_run_make(arena, &c, &ignored, &err) != PP_OK)
            continue;
        const struct exec_run *run = run_given(&c, &wires, slow);
        cr_assert_gt(run->result.slowdown, 1);
        runs++;
    }
    cr_assert_geq(runs, 12);
}

/* Measured durations, on both backends: each op takes what it took, divided by the speed. */
Test(what_if, measured_durations_are_stretched)
{
    static const struct pp_backend *const backends[] = {&pp_backend_cpu, &pp_backend_fake};
    const double slow[RANKS] = {0.5, 4};

    for (int b = 0; b < 2; b++) {
        struct exec_case c = one;
        struct exec_run run;
        struct pp_machine *machine;
        struct pp_step_result result;
        struct pp_error err = {0};

        c.backend = backends[b];
        cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK, "%s", err.message);
        run.training.machine.slow = slow;
        cr_assert_eq(pp_machine_create(arena, &run.training.machine, &machine, &err), PP_OK);
        cr_assert_eq(pp_machine_step(machine, &run.training.text, 0, &result, &err), PP_OK);
        const int64_t *nominal_ps = pp_machine_step_times(machine, 0).nominal_ps,
                      *duration_ps = pp_machine_step_times(machine, 0).duration_ps;
        for (int rank = 0; rank < RANKS; rank++)
            for (int i = run.program->begin[rank]; i < run.program->begin[rank + 1]; i++)
                if (pp_op_is_compute(run.program->kind[i])) {
                    cr_assert_gt(nominal_ps[i], 0);
                    cr_assert_eq(duration_ps[i], pp_slowed_ps(nominal_ps[i], slow[rank]));
                }
        pp_machine_destroy(machine);
    }
}
