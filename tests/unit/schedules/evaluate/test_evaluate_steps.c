/* Several steps. Without a barrier: the same as one step of a program whose lists are written out K
 * times, which the evaluator's oracle knows. With a barrier: every step is the first one, later. */
#include "tests/unit/support/random_program.h"

#include "schedules/evaluate/eval.h"
#include "schedules/evaluate/evaluate.h"
#include "schedules/lower/lower.h"
#include "schedules/registry.h"

enum { PROGRAMS = 150 };

/* ---- the lists written out K times ----------------------------------------------------------- */

static void *repeat(struct pp_arena *arena, const struct pp_program *p, const void *column,
                    size_t bytes, int steps)
{
    char *all = pp_arena_alloc(arena, bytes * (size_t)pp_program_size(p) * (size_t)steps + 1);
    size_t at = 0;

    for (int r = 0; r < p->ranks; r++) {
        const size_t length = bytes * (size_t)(p->begin[r + 1] - p->begin[r]);
        for (int step = 0; step < steps; step++, at += length)
            if (length > 0)
                memcpy(all + at, (const char *)column + bytes * (size_t)p->begin[r], length);
    }
    return all;
}

static int32_t later_message(const struct pp_program *p, int message, int step, int steps)
{
    for (int c = 0; c < p->channel_count; c++) {
        const struct pp_channel *channel = &p->channels[c];
        if (message >= channel->first && message < channel->first + channel->count)
            return channel->first * steps + step * channel->count + message - channel->first;
    }
    cr_assert_fail("message %d is in no channel", message);
    return -1;
}

static int32_t later_arg(const struct pp_program *p, int rank, int i, int step, int steps)
{
    const int kind = p->kind[i], arg = p->arg[i];

    if (arg < 0)
        return arg;
    if (kind == PP_WAIT)
        return arg + step * (p->begin[rank + 1] - p->begin[rank]);
    if (pp_op_is_collective(kind))
        return arg + step * p->collective_count;
    return later_message(p, arg, step, steps);
}

static void unroll_links(struct pp_arena *arena, const struct pp_program *p, int steps,
                         struct pp_program *all)
{
    all->arg = PP_ARRAY(arena, int32_t, pp_program_size(p) * steps + 1);
    for (int r = 0, at = 0; r < p->ranks; r++)
        for (int step = 0; step < steps; step++)
            for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
                all->arg[at++] = later_arg(p, r, i, step, steps);
    all->channels = PP_ARRAY(arena, struct pp_channel, p->channel_count);
    for (int c = 0; c < p->channel_count; c++) {
        all->channels[c] = p->channels[c];
        all->channels[c].first *= steps;
        all->channels[c].count *= steps;
    }
    all->message_count *= steps;
    all->collectives = PP_ARRAY(arena, struct pp_collective, p->collective_count * steps + 1);
    for (int step = 0; step < steps && p->collective_count > 0; step++)
        memcpy(all->collectives + step * p->collective_count, p->collectives,
               sizeof(*p->collectives) * (size_t)p->collective_count);
    all->collective_count *= steps;
}

static struct pp_program *unroll(struct pp_arena *arena, const struct pp_program *p, int steps)
{
    struct pp_program *all = PP_NEW(arena, struct pp_program);

    *all = *p;
    all->begin = PP_ARRAY(arena, int32_t, p->ranks + 1);
    for (int r = 0; r <= p->ranks; r++)
        all->begin[r] = p->begin[r] * steps;
#define REPEAT(field) all->field = repeat(arena, p, p->field, sizeof(*p->field), steps)
    REPEAT(kind);
    REPEAT(aux);
    REPEAT(split);
    REPEAT(granule_count);
    REPEAT(version);
    REPEAT(stage);
    REPEAT(pipe);
    REPEAT(peer);
    REPEAT(mb);
    REPEAT(slot);
#undef REPEAT
    unroll_links(arena, p, steps, all);
    return all;
}

/* Where instruction i of a step stands in the written-out program. */
static int unrolled(const struct pp_program *p, int rank, int i, int step, int steps)
{
    const int length = p->begin[rank + 1] - p->begin[rank];

    return p->begin[rank] * steps + step * length + i - p->begin[rank];
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* Are four times of one instruction in a step those in the written-out program? */
static void compare_one(const struct pp_program *p, const struct pp_times *t,
                        const struct pp_times *whole, int i, size_t from, size_t to, uint64_t seed)
{
    const bool is_message = pp_op_kinds[p->kind[i]].stream == PP_STREAM_CHANNEL;
    const bool is_posted = is_message || pp_op_is_collective(p->kind[i]);

    cr_assert_eq(t->start_ps[from], whole->start_ps[to], "seed %d: start of %d", (int)seed, i);
    cr_assert_eq(t->end_ps[from], whole->end_ps[to], "seed %d: end of %d", (int)seed, i);
    if (is_posted)
        cr_assert_eq(t->posted_ps[from], whole->posted_ps[to], "seed %d: post %d", (int)seed, i);
    if (is_message)
        cr_assert_eq(t->matched_ps[from], whole->matched_ps[to], "seed %d: match", (int)seed);
}

static void compare(const struct pp_program *p, const struct pp_times *t,
                    const struct pp_times *whole, uint64_t seed)
{
    const int size = pp_program_size(p);

    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
            for (int step = 0; step < t->steps; step++)
                for (int k = 0; k < t->replicas; k++) {
                    const int to = unrolled(p, r, i, step, t->steps);
                    compare_one(p, t, whole, i, (size_t)((step * size + i) * t->replicas + k),
                                (size_t)(to * t->replicas + k), seed);
                }
    cr_assert_eq(t->makespan_ps, whole->makespan_ps);
}

static int64_t latest_end(const struct pp_times *t, int size, int step)
{
    const size_t count = (size_t)size * (size_t)t->replicas;
    int64_t latest = 0;

    for (size_t k = count * (size_t)step; k < count * (size_t)(step + 1); k++)
        latest = t->end_ps[k] > latest ? t->end_ps[k] : latest;
    return latest;
}

static struct pp_eval_options random_options(struct rng *rng)
{
    struct pp_eval_options options = {.is_buffered = rng_chance(rng, 50),
                                      .nic_fifo = rng_chance(rng, 25),
                                      .ring_flows = rng_chance(rng, 50)};

    if (options.is_buffered)
        options.buffered = rng_int(rng, 0, 9);
    options.always_packs = true; /* small as they are */
    return options;
}

static bool check_barrier_free(struct pp_arena *arena, uint64_t seed, bool is_compute_only)
{
    struct pp_program *p, *compute;
    struct random_program *g = random_program(arena, seed, &p, &compute);
    const int replicas = rng_chance(&g->rng, 30) ? 1 : rng_int(&g->rng, 2, 9);
    const int steps = rng_int(&g->rng, 2, 5);
    const struct pp_costs *costs = random_costs(g, replicas);
    struct pp_eval_options options = random_options(&g->rng);
    double *slow;
    struct pp_eval *once, *many;

    p = is_compute_only ? compute : p;
    slow = PP_ARRAY(arena, double, p->ranks *replicas);
    for (int k = 0; k < p->ranks * replicas; k++)
        slow[k] = rng_chance(&g->rng, 20) ? 0.5 : 1;
    const struct pp_perturbation uneven = {.slow = slow};
    const struct pp_program *all = unroll(arena, p, steps);
    if (is_compute_only || pp_eval_create(arena, all, costs, &options, &once, NULL) != PP_OK)
        once = NULL;
    options.steps = steps;
    options.is_barrier_free = true;
    const enum pp_status status = pp_eval_create(arena, p, costs, &options, &many, NULL);
    if (status != PP_OK)
        return false;
    const struct pp_times *t = NULL;
    for (const struct pp_eval_kernel *k = pp_kernels; k->name; k++) {
        if (!k->is_usable())
            continue;
        t = pp_eval_run_with(arena, many, replicas, &uneven, PP_TIMES_ALL, k);
        if (once)
            compare(p, t, pp_eval_run(arena, once, replicas, &uneven, PP_TIMES_ALL), seed);
        const struct pp_times *quick =
            pp_eval_run_with(arena, many, replicas, &uneven, PP_TIMES_MAKESPAN, k);
        for (int step = 0; step < steps; step++) {
            cr_assert_eq(t->step_end_ps[step], quick->step_end_ps[step]);
            cr_assert_eq(t->step_end_ps[step], latest_end(t, pp_program_size(p), step));
        }
    }
    cr_assert(once || is_compute_only, "seed %d: deadlock only when written out", (int)seed);
    return true;
}

Test(evaluate_steps, without_barrier_equals_the_lists_written_out)
{
    int ran = 0;

    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        ran += check_barrier_free(arena, seed, false);
    }
    cr_assert_gt(ran, PROGRAMS / 2);
}

Test(evaluate_steps, compute_only_full_and_packed_agree)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        check_barrier_free(arena, seed, true);
    }
}

Test(evaluate_steps, with_a_barrier_every_step_is_the_first_one)
{
    enum { STEPS = 3 };

    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_program *p, *compute;
        struct random_program *g = random_program(arena, seed, &p, &compute);
        struct pp_eval_options options = random_options(&g->rng);
        const struct pp_costs *costs = random_costs(g, 2);
        struct pp_eval *once, *many;
        if (pp_eval_create(arena, p, costs, &options, &once, NULL) != PP_OK)
            continue;
        options.steps = STEPS;
        cr_assert_eq(pp_eval_create(arena, p, costs, &options, &many, NULL), PP_OK);
        const struct pp_times *a = pp_eval_run(arena, once, 2, NULL, PP_TIMES_ALL);
        const struct pp_times *b = pp_eval_run(arena, many, 2, NULL, PP_TIMES_ALL);
        for (int step = 0; step < STEPS; step++) {
            cr_assert_eq(b->step_end_ps[step], (step + 1) * a->makespan_ps);
            for (int i = 0; i < 2 * pp_program_size(p); i++) {
                const int j = step * 2 * pp_program_size(p) + i;
                cr_assert_eq(b->end_ps[j], a->end_ps[i] + step * a->makespan_ps);
                cr_assert_eq(b->start_ps[j], a->start_ps[i] + step * a->makespan_ps);
            }
        }
        cr_assert_float_eq(pp_times_iteration_s(b), pp_times_iteration_s(a),
                           1e-12 * pp_times_iteration_s(a));
    }
}

/* ---- jitter and folding ---------------------------------------------------------------------- */

Test(evaluate_steps, jitter_differs_from_step_to_step_and_not_from_lane_to_lane)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *p, *compute;
    struct random_program *g = random_program(arena, 4, &p, &compute);
    const struct pp_costs *costs = random_costs(g, 1);
    const struct pp_perturbation jitter = {.jitter_frac = 0.3, .seed = 7};
    struct pp_eval_options options = {.is_buffered = true};
    struct pp_eval *once, *many;

    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &once, NULL), PP_OK);
    options.steps = 2;
    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &many, NULL), PP_OK);
    const struct pp_times *first = pp_eval_run(arena, once, 1, &jitter, PP_TIMES_MAKESPAN);
    const struct pp_times *both = pp_eval_run(arena, many, 1, &jitter, PP_TIMES_MAKESPAN);
    cr_assert_eq(both->step_end_ps[0], first->makespan_ps);
    cr_assert_neq(both->step_end_ps[1], 2 * first->makespan_ps);
    for (const struct pp_eval_kernel *k = pp_kernels; k->name; k++)
        if (k->is_usable())
            cr_assert_eq(pp_eval_run_with(arena, many, 1, &jitter, PP_TIMES_ALL, k)->makespan_ps,
                         both->makespan_ps, "%s", k->name);
}

/* ---- closed forms ---------------------------------------------------------------------------- */

static double steady_s(const char *name, int ranks, int micro_batches, int steps, bool is_free)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_shape shape = {.ranks = ranks, .micro_batches = micro_batches};
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const struct pp_lower_options lower = {0};
    const struct pp_eval_options options = {
        .is_buffered = true, .steps = steps, .is_barrier_free = is_free};
    struct pp_program *program, *lowered;
    struct pp_eval *plan, *bare;

    cr_assert_eq(pp_schedule_program(arena, pp_schedule_find(name), &shape, NULL, &program, NULL),
                 PP_OK);
    const struct pp_costs *costs =
        pp_costs_unit(arena, &unit, ranks, program->stages, program->splits, program->granules);
    cr_assert_eq(pp_lower(arena, program, &lower, &lowered, NULL), PP_OK);
    cr_assert_eq(pp_eval_create(arena, lowered, costs, &options, &plan, NULL), PP_OK);
    cr_assert_eq(pp_eval_create(arena, program, costs, &options, &bare, NULL), PP_OK);
    const double step_s =
        pp_times_iteration_s(pp_eval_run(arena, plan, 1, NULL, PP_TIMES_MAKESPAN));
    cr_assert_eq(step_s,
                 pp_times_iteration_s(pp_eval_run(arena, bare, 1, NULL, PP_TIMES_MAKESPAN)));
    return step_s;
}

/* Rank 0 begins first and ends last: without a barrier the pipeline drains all the same. */
Test(evaluate_steps, flushed_pipelines_gain_nothing)
{
    for (int ranks = 1; ranks <= 6; ranks++)
        for (int n = 1; n <= 9; n++) {
            cr_assert_eq(steady_s("1f1b", ranks, n, 5, true), 3 * (n + ranks - 1));
            cr_assert_eq(steady_s("gpipe", ranks, n, 5, true), 3 * (n + ranks - 1));
            cr_assert_eq(steady_s("1f1b", ranks, n, 5, false), 3 * (n + ranks - 1));
        }
    for (int ranks = 2; ranks <= 8; ranks += 2) /* its ends both begin first and end last */
        cr_assert_eq(steady_s("chimera", ranks, ranks, 4, true), 5 * ranks - 4);
}

/* A list of two ranks similar to ZB-H2. The second rank begins and ends one unit later, so that no
 * rank idles between steps. */
Test(evaluate_steps, shifted_ranks_leave_no_bubble)
{
    static const char lists[] = "0F0,0F1,0F2,0I0,0W0,0I1,0W1,0I2,0W2\n"
                                "1F0,1I0,1F1,1I1,1F2,1I2,1W0,1W1,1W2\n";
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const struct pp_costs *costs = pp_costs_unit(arena, &unit, 2, 2, 1, 1);
    struct pp_eval_options options = {.is_buffered = true, .steps = 5};
    struct pp_program *program;
    struct pp_eval *plan;

    cr_assert_eq(
        pp_program_parse(arena, "lists", lists, sizeof(lists) - 1, PP_DIALECT_2025, &program, NULL),
        PP_OK);
    for (int is_free = 0; is_free < 2; is_free++) {
        options.is_barrier_free = is_free;
        cr_assert_eq(pp_eval_create(arena, program, costs, &options, &plan, NULL), PP_OK);
        const struct pp_times *t = pp_eval_run(arena, plan, 1, NULL, PP_TIMES_ALL);
        cr_assert_eq(pp_times_iteration_s(t), is_free ? 9 : 10);
        cr_assert_eq(t->step_end_ps[0], 10 * 1000000000000);
    }
}
