/* A run that generates on a cluster with linear placement, for tests of costs. */
#ifndef PP_TESTS_GENERATION_INPUTS_H
#define PP_TESTS_GENERATION_INPUTS_H

#include "core/cost/generation/cache.h"
#include "core/cost/generation/generation.h"
#include "tests/unit/support/cost_inputs.h"

struct serving {
    const char *model, *cluster;
    int tp, pp, batch, groups, prompt_groups, prompt, passes;
};

/* The inputs and all that they point to. */
struct served {
    struct pp_arena *arena;
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_generation generation;
    struct pp_cost_inputs in;
};

static inline void serve(struct pp_arena *arena, struct serving s, struct served *out)
{
    *out = (struct served){.arena = arena,
                           .generation = {.passes = s.passes,
                                          .batch = s.batch,
                                          .groups = s.groups,
                                          .prompt_groups = s.prompt_groups,
                                          .prompt_tokens = s.prompt}};
    out->in = inputs_of(
        arena, (struct setting){s.model, s.cluster, s.tp, s.pp, 1, 1, s.batch / s.groups, s.prompt},
        &out->model, &out->cluster);
    out->in.granules = pp_generation_pieces(&out->generation);
    out->in.generation = &out->generation;
}

static inline struct pp_costs *served_costs(const struct served *s)
{
    struct pp_error err = {0};
    struct pp_costs *costs = NULL;

    cr_assert_eq(pp_costs_generation(s->arena, &s->in, &costs, &err), PP_OK, "%s", err.message);
    return costs;
}

#endif
