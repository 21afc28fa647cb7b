/* Tests of the fluid simulator that judges the engines. It is compared with the evaluator where
 * nothing is shared, and with shares worked out by hand elsewhere. */
#include "tests/oracle/fluid.h"
#include "tests/oracle/maxmin.h"
#include "tests/unit/support/random_program.h"

#include "schedules/evaluate/evaluate.h"

#include <math.h>
#include <stdlib.h>

/* Every instruction of `x` as in `t`. */
static void compare(const struct pp_program *p, const struct pp_times *t,
                    const struct fluid_times *x, unsigned long long seed)
{
    const size_t per_step = (size_t)pp_program_size(p) * (size_t)t->replicas;
    const double slack_s = 1e-14;

    for (size_t k = 0; k < per_step * (size_t)t->steps; k++) {
        const int i = (int)(k % per_step / (size_t)t->replicas);
        const bool is_posted = pp_op_is_posted(p->kind[i]);
        cr_assert(fabs((double)t->start_ps[k] * 1e-12 - x->start_s[k]) <= slack_s,
                  "seed %llu: start of %d: %lld ps, not %.17g s", seed, i,
                  (long long)t->start_ps[k], x->start_s[k]);
        cr_assert(fabs((double)t->end_ps[k] * 1e-12 - x->end_s[k]) <= slack_s,
                  "seed %llu: end of %d: %lld ps, not %.17g s", seed, i, (long long)t->end_ps[k],
                  x->end_s[k]);
        cr_assert(!is_posted || fabs((double)t->posted_ps[k] * 1e-12 - x->posted_s[k]) <= slack_s);
    }
    for (int step = 0; step < t->steps; step++)
        cr_assert(fabs((double)t->step_end_ps[step] * 1e-12 - x->step_end_s[step]) <= slack_s);
}

static bool check(uint64_t seed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *p, *compute;
    struct random_program *g = random_program(arena, seed, &p, &compute);
    struct rng *rng = &g->rng;
    const struct fluid_options options = {.is_buffered = rng_chance(rng, 50),
                                          .buffered = rng_int(rng, 0, 3),
                                          .replicas = rng_int(rng, 1, 4),
                                          .steps = rng_int(rng, 1, 3),
                                          .is_barrier_free = rng_chance(rng, 50)};
    const struct pp_eval_options plan_options = {.is_buffered = options.is_buffered,
                                                 .buffered = options.buffered,
                                                 .steps = options.steps,
                                                 .is_barrier_free = options.is_barrier_free};
    const struct pp_costs *costs = random_costs(g, options.replicas);
    const struct fluid_times *x = fluid_run(arena, p, costs, &options);
    struct pp_eval *plan;
    struct pp_error err = {0};
    const enum pp_status status = pp_eval_create(arena, p, costs, &plan_options, &plan, &err);

    cr_assert_eq(x->is_stuck, status == PP_EPROGRAM, "seed %llu: %s", (unsigned long long)seed,
                 err.message);
    if (status == PP_OK)
        compare(p, pp_eval_run(arena, plan, options.replicas, NULL, PP_TIMES_ALL), x, seed);
    return status == PP_OK;
}

Test(laws_oracle, is_the_evaluator_where_nothing_is_shared)
{
    const int programs = getenv("PIPESIM_LONG") ? 2000 : 200;
    int ran = 0;

    for (int seed = 1; seed <= programs; seed++)
        ran += check((uint64_t)seed + 7000);
    cr_assert_gt(ran, programs / 2);
    cr_assert_lt(ran, programs, "no deadlock was met");
}

/* ---- fair shares -------------------------------------------------------------------------- */

static void expect_rates(const struct fluid_link *links, struct fluid_flow *flows, int count,
                         const double *wanted)
{
    struct fluid_flow *list[8];
    double room[8];
    int users[8];

    for (int i = 0; i < count; i++)
        list[i] = &flows[i];
    fluid_share(links, list, count, room, users);
    for (int i = 0; i < count; i++)
        cr_assert_float_eq(flows[i].rate, wanted[i], 1e-12, "flow %d: %g", i, flows[i].rate);
}

/* Two flows on a link of 10, one of them goes on over a link of 4 and leaves 6 to the other. */
Test(laws_oracle, what_one_cannot_use_goes_to_the_others)
{
    const struct fluid_link links[] = {{10, false}, {4, false}, {3, true}};
    struct fluid_flow flows[] = {{.links = {0}, .link_count = 1},
                                 {.links = {0, 1}, .link_count = 2}};
    expect_rates(links, flows, 2, (const double[]){6, 4});
    /* A fat pipe bounds each by itself. */
    struct fluid_flow bounded[] = {{.links = {0, 2}, .link_count = 2},
                                   {.links = {2, 0}, .link_count = 2},
                                   {.links = {0, 1}, .link_count = 2}};
    expect_rates(links, bounded, 3, (const double[]){3, 3, 4});
    /* A chain: three on link 1 (4/3 each), the fourth gets what is left of link 0. */
    struct fluid_flow chain[] = {{.links = {1}, .link_count = 1},
                                 {.links = {1}, .link_count = 1},
                                 {.links = {0, 1}, .link_count = 2},
                                 {.links = {0}, .link_count = 1}};
    expect_rates(links, chain, 4, (const double[]){4. / 3, 4. / 3, 4. / 3, 10 - 4. / 3});
}

/* No flow can have more without taking from a flow that has no more than it. So every flow has a
 * full link on which no other flow has more. */
Test(laws_oracle, random_shares_are_fair)
{
    enum { LINKS = 12, FLOWS = 30 };
    struct rng rng = {.state = 99};

    for (int round = 0; round < 300; round++) {
        struct fluid_link links[LINKS];
        struct fluid_flow flows[FLOWS] = {0}, *list[FLOWS];
        double room[LINKS], used[LINKS] = {0}, most[LINKS] = {0};
        int users[LINKS];
        for (int k = 0; k < LINKS; k++)
            links[k] = (struct fluid_link){rng_int(&rng, 1, 50), rng_chance(&rng, 10)};
        for (int i = 0; i < FLOWS; i++) {
            const int first = rng_int(&rng, 0, LINKS - 1), count = rng_int(&rng, 1, 4);
            list[i] = &flows[i];
            flows[i].link_count = count;
            for (int k = 0; k < count; k++)
                flows[i].links[k] = (first + 3 * k) % LINKS;
        }
        fluid_share(links, list, FLOWS, room, users);
        for (int i = 0; i < FLOWS; i++)
            for (int k = 0; k < flows[i].link_count; k++) {
                used[flows[i].links[k]] += flows[i].rate;
                most[flows[i].links[k]] = fmax(most[flows[i].links[k]], flows[i].rate);
            }
        for (int i = 0; i < FLOWS; i++) {
            bool is_bound = false;
            for (int k = 0; k < flows[i].link_count; k++) {
                const int l = flows[i].links[k];
                const double bandwidth = links[l].bytes_per_s;
                cr_assert(links[l].is_fatpipe || used[l] <= bandwidth * (1 + 1e-9));
                is_bound |= links[l].is_fatpipe ? flows[i].rate >= bandwidth * (1 - 1e-9)
                                                : used[l] >= bandwidth * (1 - 1e-9) &&
                                                      flows[i].rate >= most[l] * (1 - 1e-9);
            }
            cr_assert(is_bound, "round %d flow %d", round, i);
        }
    }
}
