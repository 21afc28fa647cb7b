/* The same laws for whole runs, from a command line to a trace: costs, routes, lanes, rings and
 * folding as pipesim itself derives them. PIPESIM_LONG=1 tries more, PIPESIM_SEED=n others. */
#include "sim/cli.h"
#include "sim/resolve.h"
#include "tests/unit/random_program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char IDEAL[] = "gpu:1 fabric:ideal";
static const char *const clusters[] = {
    "h100",
    "gpu:4 nic:4x200Gbps fabric:star",
    "gpu:4 nic:2x200Gbps leaf:2",
    "gpu:2 nic:2x100Gbps leaf:4 oversub:4",
    "gpu:2 nic:2x100Gbps leaf:4 routing:static",
    "gpu:1 nic:1x100Gbps fabric:torus",
    "gpu:1 device:p100 nic:1x80Gbps fabric:dragonfly",
    "gpu:4 pcie:20GBps nic:1x100Gbps fabric:star",
};
enum { CLUSTERS = sizeof(clusters) / sizeof(clusters[0]), MAX_WORDS = 64 };

struct words {
    struct pp_arena *arena;
    char *word[MAX_WORDS];
    int count;
};

__attribute__((format(printf, 3, 4))) static void say(struct words *w, const char *option,
                                                      const char *format, ...)
{
    char text[128];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    w->word[w->count++] = pp_arena_strdup(w->arena, option);
    if (text[0])
        w->word[w->count++] = pp_arena_strdup(w->arena, text);
}

static const char *one_of(struct rng *rng, const char *const *list, int count)
{
    return list[rng_int(rng, 0, count - 1)];
}

static void say_anything(struct words *w, struct rng *rng)
{
    static const char *const maps[] = {"tp,cp,dp,pp", "pp,tp,cp,dp", "tp,pp,cp,dp"};
    static const char *const p2p[] = {"rendezvous", "buffered:1", "buffered:2"};
    static const char *const posts[] = {"early", "jit", "batched", "sender"};
    static const char *const syncs[] = {"end", "eager", "eager-opt"};

    say(w, "--map", "%s", one_of(rng, maps, 3));
    say(w, "--p2p", "%s", one_of(rng, p2p, 3));
    say(w, "--post", "%s", one_of(rng, posts, 4));
    say(w, "--grad-sync", "%s", one_of(rng, syncs, 3));
    say(w, "--zero", "%d", rng_int(rng, 0, 1));
    if (rng_chance(rng, 40))
        say(w, "--collectives", "flows");
    if (rng_chance(rng, 30))
        say(w, "--buckets", "%d", rng_int(rng, 1, 4));
    if (rng_chance(rng, 20))
        say(w, "--steps", "2");
    if (rng_chance(rng, 20))
        say(w, "--collective-algorithm", "ring");
    if (rng_chance(rng, 20))
        say(w, "--link-bw", "network=0.5");
}

static struct words random_words(struct pp_arena *arena, const struct pp_schedule *schedule,
                                 const char *cluster, uint64_t seed)
{
    struct rng rng = {.state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u};
    struct words w = {.arena = arena, .word = {"pipesim"}, .count = 1};
    const int pp = 2 << rng_int(&rng, 0, 2), dp = 1 << rng_int(&rng, 0, 2);

    rng_next(&rng);
    say(&w, "--schedule", "%s", schedule->name);
    say(&w, "--model", "gpt2-64");
    say(&w, "--cluster", "%s", cluster);
    say(&w, "--pp", "%d", pp);
    say(&w, "--dp", "%d", dp);
    say(&w, "--tp", "%d", strcmp(cluster, IDEAL) ? rng_int(&rng, 1, 2) : 1);
    say(&w, "--cp", "%d", strcmp(cluster, IDEAL) && rng_chance(&rng, 20) ? 2 : 1);
    say(&w, "--mbs", "4");
    say(&w, "--micro-batches", "%d", pp * rng_int(&rng, 1, 3));
    say(&w, "--recompute", "none");
    say_anything(&w, &rng);
    return w;
}

static const char *line_of(const struct words *w)
{
    const char *line = "pipesim";

    for (int i = 1; i < w->count; i++)
        line = pp_arena_printf(w->arena, strchr(w->word[i], ' ') ? "%s '%s'" : "%s %s", line,
                               w->word[i]);
    return line;
}

/* False when pipesim refuses the command line. */
static bool run(struct words w, const char *engine, bool is_folded, struct pp_result *result)
{
    struct pp_parsed *parsed = PP_NEW(w.arena, struct pp_parsed);
    struct pp_request *request = PP_NEW(w.arena, struct pp_request);
    struct pp_config config;
    struct pp_error err = {0};
    char **argv;

    say(&w, "--engine", "%s", engine);
    if (!is_folded)
        say(&w, "--no-fold", "%s", "");
    argv = (char **)PP_ARRAY(w.arena, char *, w.count + 1);
    memcpy(argv, w.word, sizeof(char *) * (size_t)w.count);
    cr_assert_eq(pp_options_parse(w.arena, &pp_sim_cli, w.count, argv, parsed, &err), PP_OK,
                 "%s: %s", line_of(&w), err.message);
    cr_assert_eq(pp_request_open(w.arena, &pp_sim_cli, pp_presets, parsed, request, &err), PP_OK,
                 "%s", err.message);
    const struct pp_schedule *schedule = pp_schedule_find(pp_request_text(request, "schedule", ""));
    const struct pp_subject subject = {.schedule = schedule, .name = schedule->name};
    if (pp_resolve(w.arena, request, &subject, &config, &err) != PP_OK)
        return false;
    cr_assert_eq(pp_simulate(w.arena, &config, PP_FULL, result, &err), PP_OK, "%s: %s", line_of(&w),
                 err.message);
    return true;
}

static double makespan_s(const struct pp_result *r)
{
    double latest_s = 0;

    for (int i = 0; i < r->trace->count; i++)
        latest_s = fmax(latest_s, r->trace->events[i].end_s);
    return latest_s;
}

/* All replicas of `all` are the one of `folded`. */
static void expect_folded(const struct words *w, const struct pp_result *folded,
                          const struct pp_result *all, double slack_s)
{
    const int count = folded->trace->count;

    if (folded->trace->replicas == all->trace->replicas)
        return;
    cr_assert_eq(all->trace->count, count * all->trace->replicas);
    for (int i = 0; i < all->trace->count; i++) {
        const struct pp_trace_event *a = &all->trace->events[i],
                                    *b = &folded->trace->events[i % count];
        cr_assert(fabs(a->end_s - b->end_s) <= slack_s,
                  "%s: %s of rank %d.%d ends at %.15g, folded at %.15g", line_of(w), a->cell,
                  a->rank, a->replica, a->end_s, b->end_s);
    }
}

static int folded_cases, shared_cases; /* that say something */

static bool check(int schedule, const char *cluster, uint64_t seed, bool is_ideal)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct words w = random_words(arena, pp_schedules[schedule], cluster, seed);
    struct pp_result dag, all_dag, simgrid, all;

    if (!run(w, "dag", true, &dag) || !run(w, "simgrid", true, &simgrid))
        return false;
    cr_assert(run(w, "dag", false, &all_dag) && run(w, "simgrid", false, &all));
    const double dag_s = makespan_s(&dag), slack_s = 1e-9 * dag_s;
    folded_cases += simgrid.trace->replicas < all.trace->replicas;
    shared_cases += makespan_s(&all) > dag_s * (1 + 1e-6);
    expect_folded(&w, &dag, &all_dag, 0);
    expect_folded(&w, &simgrid, &all, slack_s);
    cr_assert_leq(dag_s, makespan_s(&all) + slack_s, "%s: dag %.15g, simgrid %.15g", line_of(&w),
                  dag_s, makespan_s(&all));
    cr_assert_leq(makespan_s(&all_dag), makespan_s(&all) + slack_s, "%s", line_of(&w));
    for (int i = 0; is_ideal && i < all.trace->count; i++) {
        const struct pp_trace_event *a = &all.trace->events[i], *b = &all_dag.trace->events[i];
        cr_assert(fabs(a->start_s - b->start_s) <= 1e-9 && fabs(a->end_s - b->end_s) <= 1e-9,
                  "%s: %s of rank %d.%d from %.15g to %.15g, dag %.15g to %.15g", line_of(&w),
                  a->cell, a->rank, a->replica, a->start_s, a->end_s, b->start_s, b->end_s);
    }
    return true;
}

static void check_many(bool is_ideal, int count)
{
    struct pp_error err = {0};
    const struct pp_engine *engine;
    const char *text = getenv("PIPESIM_SEED");
    const uint64_t seed = 1 + 1000000 * (text ? strtoull(text, NULL, 10) : 0);
    int schedules = 0, ran = 0;

    if (pp_engine_find("simgrid", &engine, &err) != PP_OK)
        cr_skip_test("this build has no SimGrid");
    while (pp_schedules[schedules])
        schedules++;
    count *= getenv("PIPESIM_LONG") ? 20 : 1;
    for (int k = 0; k < count; k++) {
        const int cluster = (k + k / schedules) % CLUSTERS;
        ran += check(k % schedules, is_ideal ? IDEAL : clusters[cluster], seed + (uint64_t)k,
                     is_ideal);
    }
    cr_assert_gt(ran, count / 3, "only %d of %d ran", ran, count);
    cr_assert_gt(folded_cases, ran / 10, "only %d of %d folded", folded_cases, ran);
    cr_assert(is_ideal || shared_cases > ran / 10, "in %d of %d links mattered", shared_cases, ran);
}

Test(laws_runs, on_ideal_links)
{
    check_many(true, 21);
}

Test(laws_runs, on_clusters)
{
    check_many(false, 42);
}
