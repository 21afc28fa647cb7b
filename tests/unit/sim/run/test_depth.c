/* All depths give the figures of PP_FULL, to the bit: every schedule, layout and way of taking
 * steps, unit and real costs. */
#include "schedules/registry.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const UNIT[] = {
    "--unit F=1,B=2",
    "--unit F=1,I=1,W=1,C=0.1 --steps 3",
    "--unit F=1,B=2,C=0.25 --steps 3 --step-barrier off",
};
static const char *const REAL[] = {
    "--model gpt2-64 --tp 1 --dp 1 --recompute none --zero 0",
    "--model gpt2-64 --tp 2 --dp 2 --recompute none --zero 1 --cluster h100",
    "--model gpt2-64 --tp 1 --dp 2 --recompute full --zero 0 --grad-sync eager --buckets 3",
    "--model gpt2-64 --tp 1 --dp 2 --zero 0 --p2p buffered:2 --post jit --jitter 0.05",
    "--model gpt2-64 --tp 1 --dp 2 --steps 3 --step-barrier on --collectives flows",
    "--model gpt2-64 --tp 1 --dp 2 --steps 3 --step-barrier off --no-fold --slow 1=0.8",
    "--model gpt2-64 --tp 1 --cp 2 --dp 1 --post batched --map pp,tp,cp,dp",
    "--model gpt2-64 --tp 1 --dp 2 --zero 3 --post sender --p2p buffered:1",
    "--model gpt2-64 --tp 1 --dp 4 --zero 2 --recompute selective",
    "--model gpt2-64 --tp 1 --dp 2 --zero 1 --offload os=host,a=host --act-bits 8",
};
#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static void expect_same(const struct pp_result *a, const struct pp_result *b, const char *line)
{
    const struct pp_metrics *m = &a->metrics, *n = &b->metrics;
    const size_t ranks = (size_t)a->program->ranks;

    cr_assert_null(b->trace, "%s", line);
    cr_assert(!memcmp(&m->iteration_s, &n->iteration_s, sizeof(double)), "%s: %.17g %.17g", line,
              m->iteration_s, n->iteration_s);
    cr_assert(!memcmp(m->time_frac, n->time_frac, sizeof(m->time_frac)), "%s", line);
    cr_assert(!memcmp(&m->bubble_frac, &n->bubble_frac, sizeof(double)), "%s", line);
    cr_assert(!memcmp(&m->span_bubble_frac, &n->span_bubble_frac, sizeof(double)), "%s", line);
    cr_assert(!memcmp(&m->exposed_comm_frac, &n->exposed_comm_frac, sizeof(double)), "%s", line);
    cr_assert(!memcmp(m->ranks, n->ranks, sizeof(*m->ranks) * ranks), "%s", line);
    cr_assert_eq(a->peak_rank, b->peak_rank, "%s", line);
    for (size_t r = 0; r < ranks; r++) {
        const struct pp_rank_memory *x = &a->memory[r], *y = &b->memory[r];
        cr_assert(!memcmp(x, y, offsetof(struct pp_rank_memory, peak_at)), "%s", line);
        cr_assert_eq(x->peak_at, y->peak_at, "%s", line);
    }
    cr_assert(!memcmp(&a->mfu, &b->mfu, sizeof(double)), "%s", line);
    cr_assert(!memcmp(&a->hfu, &b->hfu, sizeof(double)), "%s", line);
    cr_assert(!memcmp(&a->tokens_per_s, &b->tokens_per_s, sizeof(double)), "%s", line);
    cr_assert(!memcmp(&a->tokens_per_s_per_gpu, &b->tokens_per_s_per_gpu, sizeof(double)), "%s",
              line);
    cr_assert(!memcmp(&a->model_flops_per_s_per_gpu, &b->model_flops_per_s_per_gpu, sizeof(double)),
              "%s", line);
    cr_assert_eq(a->fits, b->fits, "%s", line);
    cr_assert_eq(a->replicas_simulated, b->replicas_simulated, "%s", line);
    cr_assert_str_eq(a->fold_note, b->fold_note, "%s", line);
}

/* Time and memory; a quick run takes one replica and disturbs nothing, and of steps that are alike
 * one. */
static void expect_quick(const struct pp_result *full, const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result *quick = PP_NEW(arena, struct pp_result);
    struct pp_error err;

    cr_assert_eq(sim_run_at(arena, line, PP_QUICK, quick, &err), PP_OK, "%s: %s", line,
                 err.message);
    for (int r = 0; r < full->program->ranks; r++)
        cr_assert_eq(quick->memory[r].peak_bytes, full->memory[r].peak_bytes, "%s", line);
    cr_assert_eq(quick->fits, full->fits, "%s", line);
    if (full->replicas_simulated > 1 || strstr(line, "--jitter") || strstr(line, "--slow"))
        return;
    const double slack_s =
        full->config.engine_options.eval.steps > 1 ? 1e-12 * full->metrics.iteration_s : 0;
    cr_assert_leq(fabs(quick->metrics.iteration_s - full->metrics.iteration_s), slack_s,
                  "%s: %.17g %.17g", line, quick->metrics.iteration_s, full->metrics.iteration_s);
}

/* Returns whether the line was simulated; a refusal is the same at all depths. */
static bool compare(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result *full = PP_NEW(arena, struct pp_result),
                     *bare = PP_NEW(arena, struct pp_result);
    const bool is_four = strstr(line, "--pp 4 ");
    struct pp_error err = {0}, other = {0};
    const enum pp_status status = sim_run_at(arena, line, PP_FULL, full, &err);

    cr_assert_eq(sim_run_at(arena, line, PP_METRICS, bare, &other), status, "%s: %s / %s", line,
                 err.message, other.message);
    if (status != PP_OK)
        cr_assert_str_eq(err.message, other.message, "%s", line);
    if (status != PP_OK)
        return false;
    expect_same(full, bare, line);
    if (is_four) {
        cr_assert_eq(sim_run_at(arena, line, PP_PROVED, bare, &err), PP_OK, "%s", line);
        expect_same(full, bare, line);
        cr_assert_eq(pp_program_hash(bare->program), pp_program_hash(full->program), "%s", line);
    }
    expect_quick(full, line);
    return true;
}

static int compare_all(const char *const *lists, int count)
{
    int simulated = 0;

    for (const struct pp_schedule *const *s = pp_schedules; *s; s++)
        for (int k = 0; k < count; k++)
            for (int ranks = 2; ranks <= 8; ranks *= 2) {
                char line[256];
                snprintf(line, sizeof(line),
                         "run --engine dag --schedule %s --pp %d --micro-batches %d %s", (*s)->name,
                         ranks, 2 * ranks, lists[k]);
                simulated += compare(line);
            }
    return simulated;
}

static int schedule_count(void)
{
    int count = 0;

    while (pp_schedules[count])
        count++;
    return count;
}

Test(depth, unit_figures_are_those_of_a_full_run)
{
    const int simulated = compare_all(UNIT, COUNT(UNIT));

    cr_expect_gt(simulated, 2 * schedule_count() * COUNT(UNIT), "only %d were legal", simulated);
}

Test(depth, figures_are_those_of_a_full_run)
{
    const int simulated = compare_all(REAL, COUNT(REAL));

    cr_expect_gt(simulated, schedule_count() * COUNT(REAL), "only %d were legal", simulated);
}
