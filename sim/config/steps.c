/* Steps of a continuous schedule in one list of instructions. */
#include "sim/config/steps.h"

#include "core/units.h"
#include "schedules/order/schedule.h"

#include <assert.h>

enum { MICRO_BATCHES_MAX = 1 << 24 };

bool pp_steps_in_list(const struct pp_config *config)
{
    const struct pp_eval_options *plan = &config->engine_options.eval;

    return config->schedule && config->schedule->is_continuous && plan->is_barrier_free &&
           plan->steps > 1;
}

enum pp_status pp_steps_shape(const struct pp_config *config, struct pp_shape *shape,
                              struct pp_error *err)
{
    const int steps = config->engine_options.eval.steps;

    *shape = config->shape;
    if (!pp_steps_in_list(config))
        return PP_OK;
    if (shape->micro_batches > MICRO_BATCHES_MAX / steps)
        return pp_error_set(err, PP_EINVAL,
                            "--steps %d of %d micro-batches without a flush are too many; at most "
                            "--steps %d",
                            steps, shape->micro_batches, MICRO_BATCHES_MAX / shape->micro_batches);
    shape->steps = steps;
    shape->micro_batches *= steps;
    return PP_OK;
}

struct pp_eval_options pp_steps_plan(const struct pp_config *config)
{
    struct pp_eval_options plan = config->engine_options.eval;

    if (pp_steps_in_list(config))
        plan.steps = 1;
    return plan;
}

int *pp_steps_of(struct pp_arena *arena, const struct pp_program *program, int micro_batches)
{
    const struct pp_program *p = program;
    const int granules = micro_batches * p->granules;
    int *step = PP_ARRAY(arena, int, pp_program_size(p) + 1);

    /* A cut leaves out the middle of each pipeline. From three steps on, ids of several pipelines
     * then mix the steps. Schedules that run steps as one list have one pipeline. */
    assert(!p->cut || p->pipelines == 1 || p->micro_batches < 3 * micro_batches);
    for (int r = 0; r < p->ranks; r++) {
        int latest = 0;
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            if (p->kind[i] == PP_WAIT && p->arg[i] >= 0)
                step[i] = step[p->begin[r] + p->arg[i]];
            else
                step[i] = p->mb[i] >= 0 ? p->mb[i] / granules : latest;
            if (p->kind[i] == PP_B || p->kind[i] == PP_W)
                latest = step[i];
        }
    }
    return step;
}

double pp_steps_iteration_s(struct pp_arena *arena, const struct pp_config *config,
                            const struct pp_program *program, const struct pp_times *times)
{
    const int steps = config->engine_options.eval.steps;
    const int *step = pp_steps_of(arena, program, program->micro_batches / steps);
    int64_t first_ps = 0;

    for (int i = 0; i < pp_program_size(program); i++)
        for (int k = 0; k < times->replicas; k++) {
            const int64_t end_ps = times->end_ps[(size_t)i * (size_t)times->replicas + (size_t)k];
            if (step[i] == 0 && program->kind[i] != PP_WAIT && end_ps > first_ps)
                first_ps = end_ps;
        }
    return pp_units_s(times->makespan_ps - first_ps) / (steps - 1);
}
