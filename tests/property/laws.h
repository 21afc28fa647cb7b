/* tests/property/laws.h — random but repeatable runs for the laws that all engines obey: a schedule
 * of the registry, a shape, a layout, a platform, options. A seed says everything. */
#ifndef PP_TESTS_LAWS_H
#define PP_TESTS_LAWS_H

#include "schedules/lower/lower.h"
#include "sim/engine/engine.h"
#include "tests/oracle/fluid.h"

enum { LAW_PLATFORMS = 11, LAW_IDEAL = 0, LAW_ANY = -1 };
extern const char *const law_platform_names[LAW_PLATFORMS];

enum law_flags {
    LAW_RINGS = 1,    /* gradient sums as rings of messages */
    LAW_ANALYTIC = 2, /* never */
    LAW_JITTER = 32,  /* compute ops vary, some devices are slow */
    LAW_SHARE = 64,   /* collectives take a share of compute */
    LAW_SMALL = 4,    /* at most 4 ranks, 6 micro-batches and 2 replicas */
    LAW_ONE_STEP = 8, /* no steps */
    LAW_FREE = 16,    /* one step, or steps without a barrier */
};

struct law_case {
    struct pp_arena *arena;
    const struct pp_schedule *schedule;
    struct pp_program *program;
    struct pp_costs *costs;
    struct pp_network network;
    struct pp_engine_options options;
    char text[320]; /* what it is */
};

/* False when the schedule does not accept the shape of this seed: try another. */
bool law_make(struct pp_arena *arena, const struct pp_schedule *schedule, int platform,
              unsigned flags, uint64_t seed, struct law_case *c);
/* A random program in place of a schedule's, with a network; true when it may deadlock. */
bool law_make_random(struct pp_arena *arena, int platform, uint64_t seed, struct law_case *c);
/* Call `check` with `count` cases: schedules and platforms (all of them, or the one that is given)
 * take turns. PIPESIM_LONG=1: with `rounds` cases of every schedule on every platform.
 * PIPESIM_SEED=n: with others. */
void law_for_each(int platform, unsigned flags, int count, int rounds,
                  void (*check)(const struct law_case *c));

/* Finds the times of a case, with posts. */
enum pp_status law_try(const struct law_case *c, const struct pp_engine *engine,
                       struct pp_engine_run *run, struct pp_error *err);
/* Their trace. Fails the test when the engine fails. */
struct pp_trace *law_run(const struct law_case *c, const struct pp_engine *engine);
struct fluid_options law_fluid_options(const struct law_case *c);
/* Latest end. */
double law_makespan_s(const struct pp_trace *trace);
/* Of every event, by instruction: [(step * instructions + instruction) * replicas + replica]; of a
 * fused pair at its first op. Times of a trace are seconds: near enough to find the picoseconds. */
int64_t *law_durations(const struct law_case *c, const struct pp_trace *trace);
/* The first event of which a time differs by more than `slack_s`, as text; NULL when none does.
 */
const char *law_difference(struct pp_arena *arena, const struct pp_trace *a,
                           const struct pp_trace *b, double slack_s);
const char *law_fluid_difference(const struct law_case *c, const struct pp_trace *trace,
                                 const struct fluid_times *x, double slack_s);
/* Program, costs and options as text, for people. */
void law_print(const struct law_case *c, FILE *out);

#endif
