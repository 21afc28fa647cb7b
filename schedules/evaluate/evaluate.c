/* Compiles programs into plans of the evaluator, and runs the plans. */
#include "schedules/evaluate/evaluate.h"

#include "core/units.h"
#include "schedules/evaluate/eval.h"

enum { MAX_INSTRUCTIONS = 1 << 29, MAX_STEPS = 1 << 20 };

enum pp_status pp_eval_create(struct pp_arena *arena, const struct pp_program *program,
                              const struct pp_costs *costs, const struct pp_eval_options *options,
                              struct pp_eval **eval, struct pp_error *err)
{
    const int size = pp_program_size(program);

    if (size > MAX_INSTRUCTIONS)
        return pp_error_set(err, PP_EFAIL, "%d instructions are too many to evaluate, at most %d",
                            size, MAX_INSTRUCTIONS);
    if (options->steps < 0 || options->steps > MAX_STEPS)
        return pp_error_set(err, PP_EFAIL, "%d steps: must be between 1 and %d", options->steps,
                            MAX_STEPS);
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_graph g = {.arena = scratch,
                         .eval_arena = arena,
                         .program = program,
                         .costs = costs,
                         .options = options,
                         .node_of = PP_ARRAY(scratch, int32_t, size),
                         .entry_of = PP_ARRAY(scratch, int32_t, program->ranks)};
    g.capacity = size + 16;
    g.nodes = pp_arena_alloc_raw(scratch, sizeof(*g.nodes) * (size_t)g.capacity);
    pp_graph_add(&g, (struct pp_node){.owner = PP_NO_OWNER});
    PP_TRY(program->level == PP_LEVEL_LOWERED ? pp_graph_lowered(&g, err)
                                              : pp_graph_compute_only(&g, err));
    *eval = PP_NEW(arena, struct pp_eval);
    (*eval)->program = program;
    (*eval)->steps = options->steps > 1 ? options->steps : 1;
    (*eval)->is_barrier_free = options->is_barrier_free;
    return pp_eval_order(arena, &g, *eval, err);
}

struct pp_times *pp_eval_run(struct pp_arena *arena, const struct pp_eval *eval, int replicas,
                             const struct pp_perturbation *perturbation,
                             enum pp_times_wanted wanted)
{
    const struct pp_eval_kernel *kernel = pp_kernels;

    /* A single replica runs through scalar code, several through the widest usable kernel. */
    while (kernel[1].name && ((kernel->lanes > 1) != (replicas > 1) || !kernel->is_usable()))
        kernel++;
    return pp_eval_run_with(arena, eval, replicas, perturbation, wanted, kernel);
}

double pp_times_iteration_s(const struct pp_times *times)
{
    if (times->steps == 1)
        return pp_units_s(times->makespan_ps);
    return pp_units_s(times->makespan_ps - times->step_end_ps[0]) / (times->steps - 1);
}
