/* Schedule options of a run, and its number of steps. */
#include "sim/resolve/mode.h"
#include "sim/resolve/resolve.h"

/* Takes one step between two barriers, unless the schedule needs no barrier and times are real.
 * Frameworks end a step on all ranks before the next one begins. */
static enum pp_status take_steps(const struct pp_wish *wish, const struct pp_schedule *schedule,
                                 struct pp_config *config, struct pp_error *err)
{
    enum { USUAL_STEPS = 4 };
    struct pp_eval_options *plan = &config->engine_options.eval;
    const bool has_barrier = wish->given.step_barrier.count;
    const bool is_free =
        schedule && schedule->is_barrier_free && !config->is_unit &&
        !(config->tool && pp_schedule_runs_in(schedule, &config->shape, config->tool));
    const int usual =
        is_free && schedule->default_steps > 1 ? schedule->default_steps : USUAL_STEPS;

    plan->is_barrier_free = has_barrier ? wish->step_barrier == 1 : is_free;
    if (is_free && !wish->steps && !has_barrier)
        config->origin.chosen |= PP_CHOSE_STEPS;
    else
        config->origin.chosen &= ~(unsigned)PP_CHOSE_STEPS;
    plan->steps = wish->steps ? wish->steps : plan->is_barrier_free ? usual : 1;
    if (has_barrier && plan->is_barrier_free && plan->steps == 1)
        return pp_error_set(err, PP_EINVAL,
                            "--step-barrier off has no effect with --steps 1; give --steps 4");
    return PP_OK;
}

static enum pp_status check_barrier(const struct pp_wish *wish, const struct pp_schedule *schedule,
                                    struct pp_error *err)
{
    return wish->update_barrier == 1 && pp_schedule_update_every(schedule, 1) > 0
               ? pp_error_set(err, PP_EINVAL,
                              "--update-barrier on has no effect with %s, whose stages update "
                              "their weights without a flush; nearest: 1f1b",
                              schedule->name)
               : PP_OK;
}

static unsigned chosen_bits(unsigned options)
{
    return (options & PP_SIZE_CHUNKS ? PP_CHOSE_VP : 0) |
           (options & PP_SIZE_SPLITS ? PP_CHOSE_SPLITS : 0) |
           (options / PP_CHOSEN_OPTION * PP_CHOSE_OPTION & PP_CHOSE_OPTIONS);
}

/* Costs of a model are those of as many stages on each rank. */
static enum pp_status check_stages(const struct pp_wish *wish, const struct pp_program *file,
                                   struct pp_error *err)
{
    if (!file || wish->unit || wish->cost || file->stages % file->ranks == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s: %d stages on %d ranks: for the costs of a model, each rank must hold "
                        "as many stages as any other; nearest: %d or %d stages, or --unit",
                        file->file, file->stages, file->ranks,
                        file->stages / file->ranks * file->ranks,
                        (file->stages / file->ranks + 1) * file->ranks);
}

enum pp_status pp_resolve_shape(const struct pp_wish *wish, const struct pp_subject *subject,
                                struct pp_config *config, struct pp_error *err)
{
    struct pp_selection selection;

    config->schedule = subject->schedule;
    config->file_program = subject->file;
    config->schedule_name = subject->name;
    config->origin.trials = NULL;
    PP_TRY(pp_resolve_subject_mode(wish, subject, err));
    PP_TRY(check_stages(wish, subject->file, err));
    PP_TRY(check_barrier(wish, subject->schedule, err));
    PP_TRY(pp_select_shape(&wish->request, subject, &selection, err));
    config->shape = selection.shape;
    config->order = selection.order;
    config->origin.chosen |= chosen_bits(selection.chosen);
    PP_TRY(pp_resolve_passes(wish, config, err));
    return take_steps(wish, subject->schedule, config, err);
}
