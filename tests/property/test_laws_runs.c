/* The same laws for whole runs, from a command line to a trace: costs, routes, lanes, rings and
 * folding as pipesim itself derives them. PIPESIM_LONG=1 tries more, PIPESIM_SEED=n others. */
#include "schedules/registry.h"
#include "sim/simgrid/engines.h"
#include "tests/property/words.h"

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
enum { CLUSTERS = sizeof(clusters) / sizeof(clusters[0]) };

static void say_anything(struct words *w, struct rng *rng)
{
    static const char *const maps[] = {"tp,cp,dp,pp", "pp,tp,cp,dp", "tp,pp,cp,dp", NULL};
    static const char *const p2p[] = {"rendezvous", "buffered:1", "buffered:2", NULL};
    static const char *const posts[] = {"early", "jit", "batched", "sender", NULL};
    static const char *const syncs[] = {"end", "eager", "eager-opt", NULL};

    words_say(w, "--map", "%s", words_one_of(rng, maps));
    words_say(w, "--p2p", "%s", words_one_of(rng, p2p));
    words_say(w, "--post", "%s", words_one_of(rng, posts));
    words_say(w, "--grad-sync", "%s", words_one_of(rng, syncs));
    words_say(w, "--zero", "%d", rng_int(rng, 0, 1));
    if (rng_chance(rng, 40))
        words_say(w, "--collectives", "flows");
    if (rng_chance(rng, 30))
        words_say(w, "--buckets", "%d", rng_int(rng, 1, 4));
    if (rng_chance(rng, 20))
        words_say(w, "--steps", "2");
    if (rng_chance(rng, 20))
        words_say(w, "--collective-algorithm", "ring");
    if (rng_chance(rng, 20))
        words_say(w, "--link-bw", "network=0.5");
}

static struct words random_words(struct pp_arena *arena, const struct pp_schedule *schedule,
                                 const char *cluster, uint64_t seed)
{
    struct rng rng = {.state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u};
    struct words w = words_begin(arena, schedule->name, cluster);
    const int pp = 2 << rng_int(&rng, 0, 2), dp = 1 << rng_int(&rng, 0, 2);

    rng_next(&rng);
    words_say(&w, "--model", "gpt2-64");
    words_say(&w, "--pp", "%d", pp);
    words_say(&w, "--dp", "%d", dp);
    words_say(&w, "--tp", "%d", strcmp(cluster, IDEAL) ? rng_int(&rng, 1, 2) : 1);
    words_say(&w, "--cp", "%d", strcmp(cluster, IDEAL) && rng_chance(&rng, 20) ? 2 : 1);
    words_say(&w, "--mbs", "4");
    words_say(&w, "--micro-batches", "%d", pp * rng_int(&rng, 1, 3));
    words_say(&w, "--recompute", "none");
    say_anything(&w, &rng);
    return w;
}

/* False when pipesim refuses the command line. */
static bool run(const struct words *w, const char *engine, bool is_folded, struct pp_result *result)
{
    struct pp_error err = {0};
    const struct words unfolded = words_with(w, "--no-fold", "");

    return words_run(is_folded ? w : &unfolded, engine, result, &err);
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
                  "%s: %s of rank %d.%d ends at %.15g, folded at %.15g", words_line(w), a->cell,
                  a->rank, a->replica, a->end_s, b->end_s);
    }
}

static int folded_cases, shared_cases; /* that say something */

static bool check(int schedule, const char *cluster, uint64_t seed, bool is_ideal)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct words w = random_words(arena, pp_schedules[schedule], cluster, seed);
    struct pp_result dag, all_dag, simgrid, all;

    if (!run(&w, "dag", true, &dag) || !run(&w, "simgrid", true, &simgrid))
        return false;
    cr_assert(run(&w, "dag", false, &all_dag) && run(&w, "simgrid", false, &all));
    const double dag_s = words_makespan_s(&dag), slack_s = 1e-9 * dag_s;
    folded_cases += simgrid.trace->replicas < all.trace->replicas;
    shared_cases += words_makespan_s(&all) > dag_s * (1 + 1e-6);
    expect_folded(&w, &dag, &all_dag, 0);
    expect_folded(&w, &simgrid, &all, slack_s);
    cr_assert_leq(dag_s, words_makespan_s(&all) + slack_s, "%s: dag %.15g, simgrid %.15g",
                  words_line(&w), dag_s, words_makespan_s(&all));
    cr_assert_leq(words_makespan_s(&all_dag), words_makespan_s(&all) + slack_s, "%s",
                  words_line(&w));
    for (int i = 0; is_ideal && i < all.trace->count; i++) {
        const struct pp_trace_event *a = &all.trace->events[i], *b = &all_dag.trace->events[i];
        cr_assert(fabs(a->start_s - b->start_s) <= 1e-9 && fabs(a->end_s - b->end_s) <= 1e-9,
                  "%s: %s of rank %d.%d from %.15g to %.15g, dag %.15g to %.15g", words_line(&w),
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
