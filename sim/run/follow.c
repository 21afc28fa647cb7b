/* Durations of the strict order, op by op, for other orders. */
#include "sim/run/follow.h"

#include "core/cluster/slow.h"
#include "schedules/evaluate/op_cost.h"
#include "schedules/evaluate/perturb.h"
#include "sim/config/steps.h"

#include <stdlib.h>

struct draw {
    const struct pp_costs *costs;
    struct pp_perturbation perturbation;
    int replicas;
};

static struct draw draw_of(const struct pp_config *config, const struct pp_follow *follow,
                           const struct pp_costs *costs)
{
    struct draw draw = {costs, config->engine_options.perturbation, follow->replicas};

    draw.perturbation.slow = follow->slow;
    return draw;
}

/* An instruction of a rank in a program. */
struct place {
    const struct pp_program *p;
    int rank, i;
};

/* Fills [replica] with the durations of an instruction, drawn as for row `row`. */
static void draw_op(const struct draw *d, struct place at, uint64_t row, int64_t *out)
{
    const struct pp_perturbation *p = &d->perturbation;
    const double *slow = p->slow ? p->slow + (size_t)at.rank * (size_t)d->replicas : NULL;
    const bool is_fused = at.p->aux[at.i] == PP_FUSED_FIRST;
    const int64_t nominal_ps = pp_program_ps(at.p, d->costs, at.i, is_fused);

    for (int r = 0; r < d->replicas; r++)
        out[r] = pp_perturb_ps(p, pp_perturb_stream(p, row), slow, r, (double)nominal_ps);
}

/* ---- the same ops in another order ----------------------------------------------------------- */

static bool is_timed(const struct pp_program *p, int i)
{
    return pp_op_is_compute(p->kind[i]) && p->aux[i] != PP_FUSED_SECOND;
}

/* An instruction by what it does; equal ones keep their order. */
struct same {
    uint64_t what, which;
    int32_t at;
};

static bool is_before(struct same x, struct same y)
{
    return x.what != y.what ? x.what < y.what : x.which < y.which;
}

static int by_what(const void *a, const void *b)
{
    const struct same *x = a, *y = b;

    return is_before(*x, *y) ? -1 : is_before(*y, *x) ? 1 : (x->at > y->at) - (x->at < y->at);
}

/* Lists the timed ops of a rank, sorted. */
static int list_ops(const struct pp_program *p, int rank, struct same *list)
{
    int count = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (is_timed(p, i))
            list[count++] = (struct same){.what = (uint64_t)p->kind[i] << 32 |
                                                  (uint64_t)p->stage[i] << 16 | p->pipe[i],
                                          .which = (uint64_t)(uint32_t)p->mb[i] << 16 |
                                                   (uint64_t)p->split[i] << 8 | p->granule_count[i],
                                          .at = i};
    qsort(list, (size_t)count, sizeof(*list), by_what);
    return count;
}

/* Draws the durations of a rank's ops in one step, each as for its place in the strict order. */
static void draw_rank(const struct draw *d, const struct pp_follow *follow,
                      const struct pp_program *program, int rank, int step, int64_t *compute_ps)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_program *strict = follow->strict;
    struct same *from = PP_ARRAY(scratch, struct same, pp_program_size(strict) + 1),
                *to = PP_ARRAY(scratch, struct same, pp_program_size(program) + 1);
    const int count = list_ops(strict, rank, from), others = list_ops(program, rank, to);
    const uint64_t first = (uint64_t)step * (uint64_t)pp_program_size(strict);

    for (int k = 0, m = 0; k < others; k++) {
        while (m < count && is_before(from[m], to[k]))
            m++;
        const bool is_there = m < count && !is_before(to[k], from[m]);
        draw_op(d, (struct place){program, rank, to[k].at},
                first + (uint64_t)(is_there ? from[m++].at : to[k].at),
                compute_ps + (size_t)to[k].at * (size_t)d->replicas);
    }
}

/* Returns the durations of `steps` steps, [(step * instructions + instruction) * replicas +
 * replica]; 0 for what does not compute. */
static const int64_t *draw_steps(struct pp_arena *arena, const struct draw *d,
                                 const struct pp_follow *follow, const struct pp_program *program,
                                 int steps)
{
    const size_t row = (size_t)pp_program_size(program) * (size_t)d->replicas;
    int64_t *ps = PP_ARRAY(arena, int64_t, (size_t)steps * row + 1);

    for (int step = 0; step < steps; step++)
        for (int r = 0; r < program->ranks; r++)
            draw_rank(d, follow, program, r, step, ps + (size_t)step * row);
    return ps;
}

/* ---- durations that an order follows --------------------------------------------------------- */

/* Returns the replica that computes longest in a step of `ps`, with its time of all ranks. */
static int slowest_replica(const struct pp_program *p, int replicas, const int64_t *ps,
                           double *sum_ps)
{
    int slowest = 0;

    *sum_ps = 0;
    for (int k = 0; k < replicas; k++) {
        double sum = 0;
        for (int i = 0; i < pp_program_size(p); i++)
            sum += (double)ps[(size_t)i * (size_t)replicas + (size_t)k];
        slowest = sum > *sum_ps ? k : slowest;
        *sum_ps = sum > *sum_ps ? sum : *sum_ps;
    }
    return slowest;
}

static bool is_same_op(const struct pp_program *a, int i, const struct pp_program *b, int k)
{
    return a->kind[i] == b->kind[k] && a->stage[i] == b->stage[k] && a->mb[i] == b->mb[k] &&
           a->split[i] == b->split[k];
}

/* Durations of the ops of a compute-only program: all, and the part that is recomputation. */
struct durations {
    int64_t *unit_ps, *again_ps; /* [op] */
};

/* Returns the durations of the ops of `compute`, which `lowered` has in the same order with `ps`,
 * one in `stride`. Recomputation, and what else lowering adds before an op, counts with it. */
static struct durations durations_of(struct pp_arena *arena, const struct pp_program *compute,
                                     const struct pp_program *lowered, const int64_t *ps,
                                     int stride)
{
    const int count = pp_program_size(compute) + 1;
    const struct durations all = {PP_ARRAY(arena, int64_t, count), PP_ARRAY(arena, int64_t, count)};

    for (int r = 0; r < compute->ranks; r++) {
        int64_t before_ps = 0;
        int unit = compute->begin[r];
        for (int i = lowered->begin[r]; i < lowered->begin[r + 1]; i++) {
            if (!is_timed(lowered, i) || unit == compute->begin[r + 1])
                continue;
            const int64_t own_ps = ps[(size_t)i * (size_t)stride];
            before_ps += own_ps;
            all.again_ps[unit] += lowered->kind[i] == PP_R ? own_ps : 0;
            if (!is_same_op(lowered, i, compute, unit))
                continue;
            all.unit_ps[unit] = before_ps;
            before_ps = 0;
            unit += compute->aux[unit] == PP_FUSED_FIRST ? 2 : 1;
        }
    }
    return all;
}

enum pp_status pp_follow_begin(struct pp_arena *arena, const struct pp_config *config,
                               struct pp_build *build, struct pp_follow *follow,
                               struct pp_error *err)
{
    const int replicas = config->layout.dp;
    const struct pp_slow_machine machine = {config->shape.ranks, replicas, replicas};
    struct pp_build strict = *build;
    struct pp_program *lowered, *repeating;
    double *slow, sum_ps;

    *follow = (struct pp_follow){0};
    strict.order.rule = PP_ORDER_STRICT;
    strict.no_slots = true;
    strict.may_cut = strict.proves_given = strict.proves_result = false;
    strict.most_bytes = 0;
    if (!pp_order_follows(build->order) ||
        (build->given && build->given->level != PP_LEVEL_COMPUTE)) /* refused by the order */
        return PP_OK;
    PP_TRY(pp_slow_table(arena, config->slow, config->slow_count, &machine, &slow, err));
    PP_TRY(pp_build_order(arena, &strict, err));
    PP_TRY(pp_build(arena, &strict, &lowered, err));
    repeating = lowered;
    if (strict.wishes.again.is_skipped) { /* another order may have an R where this one has none */
        strict.wishes.again.is_skipped = false;
        PP_TRY(pp_build(arena, &strict, &repeating, err));
    }
    const struct pp_follow found = {lowered, replicas, slow};
    const struct draw draw = draw_of(config, &found, build->costs);
    const int64_t *ps = draw_steps(arena, &draw, &found, repeating, 1);
    const int replica = slowest_replica(repeating, replicas, ps, &sum_ps);
    if (sum_ps >= (double)(INT64_MAX / 2)) /* simulate.c refuses the run */
        return PP_OK;
    *follow = found;
    build->given = strict.given;
    const struct durations all =
        durations_of(arena, strict.given, repeating, ps + replica, replicas);
    build->unit_ps = all.unit_ps;
    build->again_ps = all.again_ps;
    return PP_OK;
}

const int64_t *pp_follow_durations(struct pp_arena *arena, const struct pp_config *config,
                                   const struct pp_follow *follow, const struct pp_costs *costs,
                                   const struct pp_program *program)
{
    const int steps = pp_steps_plan(config).steps > 1 ? pp_steps_plan(config).steps : 1;

    if (!follow->strict || config->engine_options.perturbation.jitter_frac == 0)
        return NULL;
    const struct draw draw = draw_of(config, follow, costs);
    return draw_steps(arena, &draw, follow, program, steps);
}
