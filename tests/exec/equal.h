/* tests/exec/equal.h — checks of a run with exact gradients. It has the bits of a loop over the
 * micro-batches on one rank, a replay without error, and memory as in its layout. */
#ifndef PP_TESTS_EXEC_EQUAL_H
#define PP_TESTS_EXEC_EQUAL_H

#include "schedules/registry.h"
#include "tests/exec/train.h"

static inline void check_run(struct pp_arena *arena, const struct exec_case *c,
                             const struct exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const char *name = exec_case_text(arena, c);

    cr_assert(r->is_checked && r->gradients.elements > 0 && r->weights.elements > 0, "%s", name);
    cr_assert_eq(r->gradients.differing, 0, "%s: %lld gradients differ, worst %s of layer %d by %g",
                 name, (long long)r->gradients.differing, r->gradients.worst,
                 r->gradients.worst_layer, r->gradients.max_abs);
    cr_assert_eq(r->weights.differing, 0, "%s: %lld weights differ", name,
                 (long long)r->weights.differing);
    cr_assert(r->is_loss_equal, "%s: losses differ", name);
    cr_assert(r->structural_error_s == 0, "%s: structural error %g s", name, r->structural_error_s);
    for (int rank = 0; rank < run->program->ranks; rank++)
        cr_assert(r->touched_bytes[rank] == (double)r->layout[rank].peak_bytes,
                  "%s: rank %d touched %.0f bytes, predicted %zu", name, rank,
                  r->touched_bytes[rank], r->layout[rank].peak_bytes);
}

/* Returns 0 for a case that is refused. */
static inline int run_and_check(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;

    if (!exec_run(arena, c, &run))
        return 0;
    check_run(arena, c, &run);
    return 1;
}

/* Is true if a rank holds a stage in two pipelines. */
static inline bool has_stage_twice(const struct pp_program *p)
{
    for (int place = p->stages; place < p->pipelines * p->stages; place++)
        for (int other = place % p->stages; other < place; other += p->stages)
            if (p->rank_of[place] == p->rank_of[other])
                return true;
    return false;
}

/* Returns `c` with exact gradients, clipped. */
static inline struct exec_case exact_case(struct exec_case c, int mbs, int steps)
{
    c.mbs = mbs;
    c.steps = steps;
    c.is_exact = true;
    c.clip = 0.5;
    return c;
}

/* A number of micro-batches near `wanted` that the schedule accepts. */
static inline bool find_shape(const struct pp_schedule *schedule, struct pp_shape *shape)
{
    for (int n = shape->micro_batches; n <= 4 * shape->micro_batches; n++) {
        struct pp_shape candidate = *shape;
        struct pp_error err = {0};

        candidate.micro_batches = n;
        if (pp_schedule_check(schedule, &candidate, &err) != PP_OK)
            continue;
        shape->micro_batches = n;
        return true;
    }
    return false;
}

/* Visits every executable schedule, each in a shape near that of `usual` and with another seed.
 * Returns the sum of the results of `visit`. */
static inline int each_schedule(const struct exec_case *usual,
                                int (*visit)(const struct exec_case *c))
{
    int sum = 0;

    for (int i = 0; pp_schedules[i]; i++) {
        struct exec_case c = *usual;

        if (pp_schedules[i]->is_simulated_only)
            continue;
        c.schedule = pp_schedules[i]->name;
        c.seed = (uint64_t)i;
        cr_assert(find_shape(pp_schedules[i], &c.shape), "%s: no shape for %d ranks", c.schedule,
                  c.shape.ranks);
        sum += visit(&c);
    }
    return sum;
}

#endif
