/* Figures from cut programs are those of whole ones, to the bit: random runs of both engines. */
#include "core/random.h"
#include "schedules/program/whole.h"
#include "schedules/registry.h"
#include "sim/config/gathers.h"
#include "sim/run/links.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static uint64_t draw(uint64_t seed, uint64_t name, uint64_t count)
{
    return pp_random_stream(seed, name) % count;
}

static const char *pick(uint64_t seed, uint64_t name, const char *const *list, size_t count)
{
    return list[draw(seed, name, count)];
}
#define PICK(seed, name, list) pick(seed, name, list, sizeof(list) / sizeof((list)[0]))

static const char *const CLUSTERS[] = {
    "h100",
    "h100~gpu:2~nic:1x100Gbps",
    "h100~gpu:4~nic:1x50Gbps",
    "h100~gpu:2~nic:1x20Gbps~fabric:star",
    "h100~gpu:1~nic:1x30Gbps~fabric:torus",
    "h100~leaf:2~oversub:4",
    "a100~gpu:1~fabric:dragonfly",
};
static const char *const LAYOUTS[] = {
    "--tp 1 --dp 1", "--tp 2 --dp 1", "--tp 1 --dp 2",
    "--tp 2 --dp 2", "--tp 4 --dp 1", "--tp 1 --dp 2 --no-fold",
};
static const char *const STATES[] = {
    "--recompute none --zero 0",
    "--recompute full --zero 1",
    "--recompute selective",
    "--zero 3",
    "--offload a=host",
    "--zero 1 --offload os=host,a=host",
    "--zero 1 --offload os=host:60%,a=host --cpu-optimizer --update jit",
};
static const char *const WAYS[] = {
    "",
    "--map pp,tp,cp,dp",
    "--p2p buffered:2",
    "--p2p buffered:1 --post jit",
    "--post batched",
    "--grad-sync eager --buckets 3",
    "--steps 3",
    "--steps 2 --step-barrier off",
    "--jitter 0.05 --slow 1=0.8",
};

static const char *line_of(struct pp_arena *arena, uint64_t seed)
{
    int schedules = 0;

    while (pp_schedules[schedules])
        schedules++;
    const struct pp_schedule *s = pp_schedules[draw(seed, 0, (uint64_t)schedules)];
    const int ranks = draw(seed, 1, 2) ? 4 : 2;
    return pp_arena_printf(arena,
                           "run --model gpt2-64 --engine %s --schedule %s --pp %d --micro-batches "
                           "%d %s %s %s --cluster %s",
                           draw(seed, 2, 4) ? "simgrid" : "dag", s->name, ranks,
                           ranks * (int)(40 + draw(seed, 3, 4)), PICK(seed, 4, LAYOUTS),
                           PICK(seed, 5, STATES), PICK(seed, 6, WAYS), PICK(seed, 7, CLUSTERS));
}

/* Compares what the report of a run counts in its program. */
static void expect_same_counts(const struct pp_result *whole, const struct pp_result *run,
                               const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_link_loads a = pp_links_of(arena, whole), b = pp_links_of(arena, run);

    cr_assert_eq(pp_program_whole_size(run->program), pp_program_size(whole->program), "%s", line);
    cr_assert_eq(pp_gathers_elements(whole), pp_gathers_elements(run), "%s", line);
    for (int r = 0; r < whole->program->ranks; r++)
        cr_assert_eq(pp_gathers_visits(whole, r), pp_gathers_visits(run, r), "%s", line);
    cr_assert_eq(a.count, b.count, "%s", line);
    for (int i = 0; i < a.count; i++) {
        cr_assert_str_eq(a.classes[i].hottest, b.classes[i].hottest, "%s", line);
        cr_assert_eq(a.classes[i].bytes, b.classes[i].bytes, "%s", line);
        cr_assert_eq(a.classes[i].max_frac, b.classes[i].max_frac, "%s", line);
        cr_assert_eq(a.classes[i].mean_frac, b.classes[i].mean_frac, "%s", line);
    }
}

/* Compares what a row prints, and what an engine counts. */
static void expect_same(const struct pp_result *whole, const struct pp_result *row,
                        const char *line)
{
    const struct pp_metrics *m = &whole->metrics, *n = &row->metrics;
    const size_t ranks = (size_t)whole->program->ranks;

    cr_assert_eq(m->iteration_s, n->iteration_s, "%s: %.17g %.17g", line, m->iteration_s,
                 n->iteration_s);
    cr_assert(!memcmp(m->time_frac, n->time_frac, sizeof(m->time_frac)), "%s", line);
    cr_assert_eq(m->bubble_frac, n->bubble_frac, "%s", line);
    cr_assert_eq(m->span_bubble_frac, n->span_bubble_frac, "%s", line);
    cr_assert(!memcmp(m->ranks, n->ranks, sizeof(*m->ranks) * ranks), "%s", line);
    cr_assert_eq(whole->mfu, row->mfu, "%s", line);
    cr_assert_eq(whole->fits, row->fits, "%s", line);
    cr_assert_eq(whole->is_tight, row->is_tight, "%s", line);
    cr_assert_eq(whole->peak_rank, row->peak_rank, "%s", line);
    for (size_t r = 0; r < ranks; r++)
        cr_assert_eq(whole->memory[r].peak_bytes, row->memory[r].peak_bytes, "%s", line);
    cr_assert_eq(whole->replicas_simulated, row->replicas_simulated, "%s", line);
    cr_assert_eq(whole->network_stats.transfers, row->network_stats.transfers, "%s", line);
    cr_assert_eq(whole->network_stats.shared, row->network_stats.shared, "%s", line);
    cr_assert_eq(whole->network_stats.shared_links, row->network_stats.shared_links, "%s", line);
}

/* What a random run came to: all periods were played, or dag ran; else simgrid played a part. In
 * phases, ranks repeat at different speeds. */
enum outcome { REFUSED, OTHER, PART, PART_SHARED, PHASES, OUTCOMES };

/* Is true if only a part was played. Then the last instruction of the cut program has the times of
 * the whole one. */
static bool is_part(const struct pp_result *whole, const struct pp_result *row)
{
    const int64_t last = (int64_t)pp_program_size(row->program) * row->times->replicas - 1,
                  whole_last =
                      (int64_t)pp_program_size(whole->program) * whole->times->replicas - 1;

    return row->program->cut && row->times->end_ps[last] == whole->times->end_ps[whole_last];
}

/* Compares the time of a quick run, which has no contention, no jitter and one replica. */
static void expect_quick(struct pp_arena *arena, const struct pp_result *whole, const char *line)
{
    const struct pp_config *c = &whole->config;
    struct pp_result *quick = PP_NEW(arena, struct pp_result);
    struct pp_error err = {0};

    if (c->engine->shares_links || whole->replicas_simulated > 1 || c->slow_count > 0)
        return;
    cr_assert_eq(sim_run_at(arena, line, PP_QUICK, quick, &err), PP_OK, "%s: %s", line,
                 err.message);
    cr_assert_float_eq(quick->metrics.iteration_s, whole->metrics.iteration_s,
                       1e-12 * whole->metrics.iteration_s, "%s: %.17g %.17g", line,
                       quick->metrics.iteration_s, whole->metrics.iteration_s);
}

static enum outcome compare(struct pp_arena *arena, const char *line)
{
    struct pp_result *whole = PP_NEW(arena, struct pp_result),
                     *row = PP_NEW(arena, struct pp_result), *run = PP_NEW(arena, struct pp_result);
    struct pp_error err = {0}, other = {0};
    const enum pp_status status = sim_run_at(arena, line, PP_METRICS, row, &err);

    cr_assert_eq(sim_run_at(arena, line, PP_FULL, whole, &other), status, "%s: %s / %s", line,
                 err.message, other.message);
    if (status != PP_OK)
        return REFUSED;
    cr_assert_null(whole->program->cut);
    expect_same(whole, row, line);
    expect_quick(arena, whole, line);
    cr_assert_eq(sim_run_at(arena, line, PP_PROVED, run, &err), PP_OK, "%s: %s", line, err.message);
    cr_assert_eq(!run->program->cut, !row->program->cut, "%s: no proof", line);
    expect_same(whole, run, line);
    expect_same_counts(whole, run, line);
    if (!row->network_stats.repeats)
        return row->config.engine->shares_links && is_part(whole, row) ? PHASES : OTHER;
    return row->network_stats.shared ? PART_SHARED : PART;
}

Test(cut_runs, figures_are_those_of_whole_programs)
{
    const int runs = getenv("PIPESIM_LONG") ? 4000 : 48;
    int count[OUTCOMES] = {0};

    for (int seed = 0; seed < runs; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        count[compare(arena, line_of(arena, (uint64_t)seed))]++;
    }
    cr_expect_gt(count[PART], runs / 24, "%d", count[PART]);
    cr_expect_gt(count[PART_SHARED], runs / 48, "%d", count[PART_SHARED]);
}

/* Ranks of a phase run ahead of others. With an offload, a WAIT for a copy and one for a message
 * come at different paces in one period. */
Test(cut_runs, phases_are_those_of_whole_programs)
{
    static const struct {
        const char *line;
        enum outcome outcome;
    } rows[] = {
        {"--engine simgrid --dp 1 --cluster h100", PHASES},
        {"--engine simgrid --dp 1 --cluster h100~gpu:1~nic:1x30Gbps~fabric:torus", PHASES},
        {"--engine dag --dp 2 --offload a=host --cluster h100~gpu:2~nic:1x20Gbps~fabric:star",
         OTHER},
        {"--engine simgrid --dp 2 --no-fold --cluster h100~gpu:2~nic:1x20Gbps", OTHER},
    };

    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *line = pp_arena_printf(
            arena, "run --model gpt2-64 --schedule gpipe --pp 4 --micro-batches 168 %s",
            rows[k].line);
        cr_expect_eq(compare(arena, line), rows[k].outcome, "%s", line);
    }
}
