/* Finds the time of a step, of a cut program by a proof if possible, else by a play. */
#include "sim/run/quick.h"

#include "core/units.h"
#include "schedules/build/cut.h"
#include "schedules/build/drift.h"
#include "schedules/build/steady.h"
#include "schedules/evaluate/makespan.h"
#include "sim/config/steps.h"
#include "sim/run/lengthen.h"

/* Plays the whole program, also by means of a cut one. */
static bool play_time(struct pp_arena *arena, const struct pp_eval_options *options,
                      struct pp_result *result)
{
    struct pp_times ends = {.steps = options->steps,
                            .step_end_ps = PP_ARRAY(arena, int64_t, options->steps)};

    if (!pp_makespan(result->program, result->costs, options, ends.step_end_ps))
        return false;
    ends.makespan_ps = ends.step_end_ps[options->steps - 1];
    result->metrics.iteration_s = pp_times_iteration_s(&ends);
    return true;
}

/* Plays the whole program where the list has several steps. */
static bool list_time(struct pp_arena *arena, const struct pp_eval_options *options,
                      struct pp_result *result)
{
    const struct pp_program *p = result->program;
    const int steps = result->config.engine_options.eval.steps;
    const int *step_of = pp_steps_of(arena, p, p->micro_batches / steps);
    int64_t *end_ps = PP_ARRAY(arena, int64_t, steps), last_ps = 0;

    if (!pp_makespan_in_list(p, result->costs, options, step_of, steps, end_ps))
        return false;
    for (int k = 0; k < steps; k++)
        last_ps = end_ps[k] > last_ps ? end_ps[k] : last_ps;
    result->metrics.iteration_s = pp_units_s(last_ps - end_ps[0]) / (steps - 1);
    return true;
}

static double iteration_s(struct pp_arena *arena, const struct pp_config *config,
                          const struct pp_program *program, const struct pp_times *times)
{
    return pp_steps_in_list(config) ? pp_steps_iteration_s(arena, config, program, times)
                                    : pp_times_iteration_s(times);
}

/* Finds the time of the whole program from the steady state of a cut one, if need be after more
 * periods. */
static bool steady_time(struct pp_arena *arena, const struct pp_eval_options *options,
                        struct pp_result *result)
{
    const struct pp_program *cut = result->program, *p = cut;
    const bool is_together = pp_steady_may_tell(cut);
    const enum pp_times_wanted wanted = is_together ? PP_TIMES_SPANS : PP_TIMES_POSTS;

    if (!is_together && !pp_drift_may_tell(cut))
        return false;
    for (int periods = 0; p && p->cut;) {
        struct pp_times *times = pp_makespan_spans(arena, p, result->costs, options, wanted);
        if (times && (is_together ? pp_steady_lengthen(p, options, false, times)
                                  : pp_drift_lengthen(p, result->costs, options, times))) {
            result->metrics.iteration_s = iteration_s(arena, &result->config, p, times);
            return true;
        }
        periods = times ? pp_lengthen_more(cut, periods) : cut->cut->periods;
        p = periods < cut->cut->periods ? pp_cut_unfold(arena, cut, periods) : NULL;
    }
    return false;
}

enum pp_status pp_quick_time(struct pp_arena *arena, struct pp_prepared *prepared,
                             struct pp_result *result, struct pp_error *err)
{
    const bool is_in_list = pp_steps_in_list(&result->config), is_cut = result->program->cut;
    struct pp_eval_options options = pp_steps_plan(&result->config);
    const struct pp_eval *eval;

    if (!options.is_barrier_free || options.steps < 1) /* all steps are alike */
        options.steps = 1;
    if ((is_cut && steady_time(arena, &options, result)) ||
        (is_in_list ? list_time(arena, &options, result)
                    : is_cut && play_time(arena, &options, result)))
        return PP_OK;
    if (is_cut)
        PP_TRY(pp_prepare(arena, PP_MADE_BARE, prepared, result, err));
    if (!is_in_list && !pp_eval_is_known(result->program, result->costs, &options) &&
        play_time(arena, &options, result))
        return PP_OK;
    PP_TRY(pp_prepared_plan(arena, prepared, &options, &eval, err));
    const struct pp_times *times =
        pp_eval_run(arena, eval, 1, NULL, is_in_list ? PP_TIMES_SPANS : PP_TIMES_MAKESPAN);
    result->metrics.iteration_s = iteration_s(arena, &result->config, result->program, times);
    return PP_OK;
}
