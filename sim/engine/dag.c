/* The engine dag: the longest path, without shared links. */
#include "schedules/evaluate/makespan.h"
#include "sim/engine/engine.h"

#include <limits.h>

/* Is true for a run that is not worth a plan: a single one, of which spans and posts are wanted. */
static bool is_played_once(const struct pp_program *program, const struct pp_costs *costs,
                           const struct pp_engine_options *options, enum pp_times_wanted wanted)
{
    const struct pp_perturbation *p = &options->perturbation;
    const bool is_known = pp_eval_is_known(program, costs, &options->eval);

    return !is_known && wanted != PP_TIMES_ALL && options->replicas <= 1 && !options->prepared &&
           p->jitter_frac == 0 && !p->slow && !p->compute_ps;
}

static enum pp_status run(struct pp_arena *arena, const struct pp_program *program,
                          const struct pp_costs *costs, const struct pp_engine_options *options,
                          enum pp_times_wanted wanted, struct pp_times **times,
                          struct pp_error *err)
{
    const int64_t replicas = options->replicas > 0 ? options->replicas : 1;
    const int64_t steps = options->eval.steps > 0 ? options->eval.steps : 1;
    const int64_t events = replicas * pp_program_size(program);
    const struct pp_eval *eval = options->prepared;
    struct pp_eval *made;

    if (options->sync_share > 0)
        return pp_error_set(err, PP_EINVAL,
                            "--sync-share %g: the dag engine does not slow compute down while a "
                            "gradient sum runs; --engine simgrid does",
                            options->sync_share);
    if (steps > INT_MAX / 2 / (events + 1) && steps > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%lld steps of %lld events are too many for a trace; at most --steps "
                            "%lld",
                            (long long)steps, (long long)events,
                            (long long)(INT_MAX / 2 / (events + 1)));
    if (events > INT_MAX / 2)
        return pp_error_set(err, PP_EINVAL,
                            "%lld events (%d instructions in each of %lld replicas) are too many "
                            "for a trace: run without --no-fold, or with fewer micro-batches",
                            (long long)events, pp_program_size(program), (long long)replicas);
    *times = is_played_once(program, costs, options, wanted)
                 ? pp_makespan_spans(arena, program, costs, &options->eval, wanted)
                 : NULL;
    if (*times)
        return PP_OK;
    if (!eval) {
        PP_TRY(pp_eval_create(arena, program, costs, &options->eval, &made, err));
        eval = made;
    }
    *times = pp_eval_run(arena, eval, (int)replicas, &options->perturbation, wanted);
    return PP_OK;
}

const struct pp_engine pp_engine_dag = {
    .name = "dag",
    .run = run,
};
