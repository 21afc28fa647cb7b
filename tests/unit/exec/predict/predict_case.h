/* Programs of executable schedules, and stages that are nothing but numbers: for the tests of
 * calibration and prediction, which never run a stage. */
#ifndef PP_TESTS_PREDICT_CASE_H
#define PP_TESTS_PREDICT_CASE_H

#include "exec/predict/calibration.h"
#include "schedules/lower/lower.h"
#include "schedules/order/concat.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>

enum { CASE_LAYERS = 12, CASE_ROWS = 2 };

struct predict_case {
    struct pp_arena *arena;
    const struct pp_schedule *schedule;
    struct pp_program *program;
    struct pp_batch batch;
    const struct pp_stage **stages;
};

static inline const struct pp_stage **case_stages(struct pp_arena *arena,
                                                  const struct pp_program *p)
{
    static const struct pp_net net = {.layers = CASE_LAYERS};
    const struct pp_stage **stages = PP_ARRAY(arena, const struct pp_stage *, p->stages);

    for (int s = 0; s < p->stages; s++) {
        struct pp_stage *stage = PP_NEW(arena, struct pp_stage);
        const int first = CASE_LAYERS * s / p->stages, end = CASE_LAYERS * (s + 1) / p->stages;

        *stage = (struct pp_stage){.net = &net,
                                   .shape = {.first_block = first,
                                             .blocks = end - first,
                                             .has_embedding = s == 0,
                                             .has_head = s == p->stages - 1,
                                             .rows = CASE_ROWS,
                                             .splits = p->splits},
                                   .elements = 1000 + 16 * s,
                                   .kept_bytes = 256,
                                   .saved_bytes = 4096,
                                   .boundary_bytes = 2048,
                                   .scratch_bytes = 512};
        stages[s] = stage;
    }
    return stages;
}

static inline struct predict_case case_of(struct pp_arena *arena, struct pp_program *program,
                                          const struct pp_schedule *schedule, int replicas)
{
    return (struct predict_case){.arena = arena,
                                 .schedule = schedule,
                                 .program = program,
                                 .batch = {.replicas = replicas,
                                           .micro_batches = program->micro_batches,
                                           .mbs = CASE_ROWS * program->granules,
                                           .granules = program->granules,
                                           .splits = program->splits},
                                 .stages = case_stages(arena, program)};
}

/* False when the schedule does not accept the shape. */
static inline bool case_make(struct pp_arena *arena, const struct pp_schedule *schedule,
                             struct pp_shape shape, int replicas, bool is_recomputed,
                             struct predict_case *c)
{
    double *frac = PP_ARRAY(arena, double, 256);
    struct pp_program *program;
    struct pp_error err = {0};

    for (int s = 0; s < 256; s++)
        frac[s] = 1;
    if (schedule->is_simulated_only ||
        pp_schedule_program(arena, schedule, &shape, NULL, &program, &err) != PP_OK)
        return false;
    const struct pp_lower_options lower = {.recv_slots = 2,
                                           .has_sync = replicas * program->pipelines > 1,
                                           .has_optimizer = true,
                                           .has_clip = true,
                                           .recompute_frac = is_recomputed ? frac : NULL};
    cr_assert_eq(pp_lower(arena, program, &lower, &program, &err), PP_OK, "%s: %s", schedule->name,
                 err.message);
    *c = case_of(arena, program, schedule, replicas);
    return true;
}

static inline struct predict_case case_named(struct pp_arena *arena, const char *name,
                                             struct pp_shape shape, bool is_recomputed)
{
    struct predict_case c;

    cr_assert(case_make(arena, pp_schedule_find(name), shape, 1, is_recomputed, &c), "%s", name);
    return c;
}

/* Every executable schedule at a few shapes, with and without recomputation. */
static inline int for_each_predicted(void (*visit)(struct predict_case *c, int number))
{
    static const struct pp_shape shapes[] = {
        {.ranks = 2, .micro_batches = 4},
        {.ranks = 4, .micro_batches = 8},
        {.ranks = 4, .micro_batches = 8, .splits = 2},
        {.ranks = 4, .micro_batches = 8, .option[PP_CONCAT_AT] = PP_CONCAT_HALVING},
    };
    int count = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (size_t s = 0; s < 2 * sizeof(shapes) / sizeof(shapes[0]); s++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct predict_case c;
            /* sequence splits are recomputed nowhere */
            const bool is_recomputed = s % 2 == 1 && shapes[s / 2].splits < 2;
            if (!case_make(arena, pp_schedules[k], shapes[s / 2], 1 + count % 3, is_recomputed, &c))
                continue;
            visit(&c, count++);
        }
    return count;
}

static const struct pp_kernels case_kernels = {
    .name = "none", .element_bytes = 4, .gradient_bytes = 4};

static inline struct pp_costs *case_costs(const struct predict_case *c)
{
    const struct pp_exec_wires wires = {.alpha_s = 10e-6, .bytes_per_s = 1e9};

    return pp_exec_costs(c->arena, c->program, c->stages, &c->batch, &case_kernels, &wires, false);
}

#endif
