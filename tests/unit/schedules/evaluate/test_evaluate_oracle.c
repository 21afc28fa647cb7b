/* The evaluator against an independent one (evaluate_naive.h): random programs, costs and options.
 */
#include "tests/unit/schedules/evaluate/evaluate_naive.h"

enum { PROGRAMS = 400 };

/* ---- comparison ------------------------------------------------------------------------------ */

static int64_t compare(const struct naive *x, const struct pp_times *t, unsigned long long seed)
{
    int64_t latest = 0;

    for (int i = 0; i < pp_program_size(x->p); i++)
        for (int k = 0; k < x->replicas; k++) {
            const int kind = x->p->kind[i];
            const bool is_message = pp_op_kinds[kind].stream == PP_STREAM_CHANNEL;
            const int c = pp_op_is_collective(kind) ? x->p->arg[i] : -1;
            const int64_t start = c >= 0 ? x->meet_start[c] : *at(x, x->start, i, k);
            const int64_t end = c >= 0 ? x->meet_end[c] : *at(x, x->end, i, k);
            cr_assert_eq(*at(x, t->start_ps, i, k), start, "seed %llu: start of %d.%d", seed, i, k);
            cr_assert_eq(*at(x, t->end_ps, i, k), end, "seed %llu: end of %d.%d", seed, i, k);
            if (c >= 0 || is_message)
                cr_assert_eq(*at(x, t->posted_ps, i, k), *at(x, x->posted, i, k),
                             "seed %llu: post of %d.%d", seed, i, k);
            if (is_message)
                cr_assert_eq(*at(x, t->matched_ps, i, k),
                             max64(*at(x, x->posted, x->send[x->p->arg[i]], k),
                                   *at(x, x->posted, x->recv[x->p->arg[i]], k)),
                             "seed %llu: match of %d.%d", seed, i, k);
            latest = max64(latest, end);
        }
    return latest;
}

static struct pp_eval_options random_options(struct rng *rng)
{
    struct pp_eval_options options = {.is_buffered = rng_chance(rng, 50),
                                      .nic_fifo = rng_chance(rng, 25),
                                      .ring_flows = rng_chance(rng, 50)};

    if (options.is_buffered)
        options.buffered = rng_int(rng, 0, 3);
    options.always_packs = true; /* small as they are */
    return options;
}

/* A ring of `copies` devices for each rank of a stage and replica, in one of two orders. */
static struct pp_ring random_ring(struct random_program *g, const struct pp_program *p,
                                  const struct pp_group *group, int replicas)
{
    const int copies = rng_int(&g->rng, 1, 2), ranks = group->count;
    const bool is_rank_outer = rng_chance(&g->rng, 50), is_even = rng_chance(&g->rng, 20);
    struct pp_ring ring = {.positions = copies * ranks * replicas};

    ring.rank = PP_ARRAY(g->arena, uint16_t, ring.positions);
    ring.replica = PP_ARRAY(g->arena, int32_t, ring.positions);
    ring.hop_ps = PP_ARRAY(g->arena, int64_t, ring.positions);
    ring.alpha_ps = PP_ARRAY(g->arena, int64_t, ring.positions);
    if (rng_chance(&g->rng, 50))
        ring.gather_ps = PP_ARRAY(g->arena, int64_t, ring.positions);
    for (int i = 0; i < ring.positions; i++) {
        const int k = i / copies;
        ring.rank[i] = p->members[group->first + (is_rank_outer ? k / replicas : k % ranks)];
        ring.replica[i] = is_rank_outer ? k % replicas : k / ranks;
        ring.hop_ps[i] = i > 0 && is_even ? ring.hop_ps[0] : rng_int(&g->rng, 1, 50);
        ring.alpha_ps[i] =
            i > 0 && is_even ? ring.alpha_ps[0] : rng_int(&g->rng, 0, (int)ring.hop_ps[i]);
        if (ring.gather_ps)
            ring.gather_ps[i] = ring.alpha_ps[i] + (is_even ? 7 : rng_int(&g->rng, 0, 9));
    }
    return ring;
}

static void add_rings(struct random_program *g, const struct pp_program *p, int replicas,
                      struct pp_costs *costs)
{
    costs->rings = PP_ARRAY(g->arena, struct pp_ring, costs->stages);
    for (int c = 0; c < p->collective_count; c++)
        if (!p->collectives[c].tied)
            costs->rings[p->collectives[c].stage] =
                random_ring(g, p, &p->groups[p->collectives[c].group], replicas);
    for (int s = 0; s < costs->stages; s++)
        if (costs->rings[s].positions < 2) { /* no ring for one device */
            costs->rings = NULL;
            return;
        }
}

/* Every kernel, makespan and all times, against the oracle. Returns whether it ran. */
static bool check(struct pp_arena *arena, uint64_t seed, bool is_perturbed)
{
    struct pp_program *p, *compute;
    struct random_program *g = random_program(arena, seed, &p, &compute);
    const int replicas = rng_chance(&g->rng, 30) ? 1 : rng_int(&g->rng, 2, 19);
    const struct pp_eval_options options = random_options(&g->rng);
    struct pp_costs *costs = random_costs(g, replicas);
    if (rng_chance(&g->rng, 50))
        add_rings(g, p, replicas, costs);
    struct naive x = {
        .arena = arena, .p = p, .costs = costs, .options = &options, .replicas = replicas};
    double *slow = PP_ARRAY(arena, double, p->ranks *replicas);
    struct pp_perturbation perturbation = {.jitter_frac = 0.3, .seed = seed, .slow = slow};
    struct pp_eval *plan;
    struct pp_error err = {0};

    for (int k = 0; k < p->ranks * replicas; k++)
        slow[k] = rng_chance(&g->rng, 20) ? 0.5 : 1;
    const enum pp_status status = pp_eval_create(arena, p, x.costs, &options, &plan, &err);
    if (status != PP_OK) {
        cr_assert_eq(status, PP_EPROGRAM);
        cr_assert_not_null(strstr(err.message, "waits for"), "%s", err.message);
        simulate(&x);
        cr_assert(x.is_stuck, "seed %llu: %s", (unsigned long long)seed, err.message);
        return false;
    }
    int64_t makespan = UNKNOWN;
    for (const struct pp_eval_kernel *k = pp_kernels; k->name; k++) {
        const struct pp_perturbation *used = is_perturbed ? &perturbation : NULL;
        if (!k->is_usable())
            continue;
        const struct pp_times *t = pp_eval_run_with(arena, plan, replicas, used, PP_TIMES_ALL, k);
        if (makespan == UNKNOWN) {
            x.durations = is_perturbed ? t : NULL;
            simulate(&x);
            cr_assert(!x.is_stuck, "seed %llu", (unsigned long long)seed);
        }
        makespan = compare(&x, t, seed);
        cr_assert_eq(t->makespan_ps, makespan, "seed %llu", (unsigned long long)seed);
        t = pp_eval_run_with(arena, plan, replicas, used, PP_TIMES_MAKESPAN, k);
        cr_assert_eq(t->makespan_ps, makespan, "seed %llu kernel %s", (unsigned long long)seed,
                     k->name);
    }
    if (!is_perturbed)
        cr_assert_eq(pp_eval_run(arena, plan, 1, NULL, PP_TIMES_MAKESPAN)->makespan_ps, makespan,
                     "seed %llu: one folded replica", (unsigned long long)seed);
    return true;
}

static void check_many(bool is_perturbed, uint64_t first)
{
    int ran = 0;

    for (uint64_t seed = first; seed < first + PROGRAMS; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        ran += check(arena, seed, is_perturbed);
    }
    cr_assert(ran > PROGRAMS / 2, "only %d ran", ran);
    cr_assert(ran < PROGRAMS, "no deadlock was met");
}

Test(evaluate_oracle, equal_replicas)
{
    check_many(false, 1);
}

Test(evaluate_oracle, jitter_and_slow_ranks)
{
    check_many(true, 100001);
}
