/* Modes of a run, training and generation: options and schedules that only one of them has. */
#include "sim/resolve/mode.h"

#include "schedules/registry.h"
#include "sim/cli/cli.h"

#include <string.h>

/* Options that generation has in place of those of training, or why it needs none. */
static const struct {
    const char *option, *instead;
} INSTEAD[] = {
    {"micro-batches", "nearest: --groups"},
    {"mbs", "--batch counts the sequences of a replica, which --groups divides"},
    {"gbs", "nearest: --batch, the sequences of a replica"},
    {"seq", "nearest: --prompt and --tokens"},
    {"steps", "nearest: --tokens"},
    {"vp", "each rank holds one stage, and --tokens counts the passes through it"},
    {"cp", "a cache of keys and values is not cut by tokens; nearest: --tp"},
    {"zero", "there is no optimizer state; nearest: --tp, --pp or --offload p=host"},
    {"shard", "there is no optimizer state; nearest: --tp, --pp or --offload p=host"},
    {"recompute", "forwards alone save nothing"},
    {"collectives", "there are no sums of gradients"},
    {"sequence-parallel", "it is off here: a pass has two all-reduces a block"},
    {"cost", "durations of training do not tell those of passes with a cache"},
    {"emit", "frameworks of training do not generate"},
};

static const char *instead_of(const struct pp_option *option)
{
    for (size_t i = 0; i < PP_COUNT(INSTEAD); i++)
        if (!strcmp(option->name, INSTEAD[i].option))
            return INSTEAD[i].instead;
    return "there is no backward and no update; leave it out";
}

/* Is true for a value that training and generation have in common. */
static bool is_common(const struct pp_option *option, const struct pp_option_value *value)
{
    return (option->neutral && value->text && !strcmp(value->text, option->neutral)) ||
           (option->commands & PP_SIM_UNIT_ONE && value->integer == 1) ||
           (!strcmp(option->name, "vp") && value->integer == 1);
}

static enum pp_status check_option(const struct pp_wish *wish, int i, struct pp_error *err)
{
    const struct pp_option *option = &pp_sim_cli.options[i];
    const struct pp_option_value *value = &wish->request.flags->values[i];
    const bool generates = pp_wish_generates(wish);
    char typed[PP_REQUEST_TYPED_BYTES];

    if (!value->count)
        return PP_OK;
    if (generates && option->commands & PP_SIM_TRAINS && !is_common(option, value))
        return pp_error_set(err, PP_EINVAL, "%s is of training, not of --mode infer; %s",
                            pp_request_typed(&wish->request, option->name, typed),
                            instead_of(option));
    if (!generates && !strcmp(option->group, PP_GROUP_GENERATION))
        return pp_error_set(err, PP_EINVAL, "%s has no effect without --mode infer",
                            pp_request_typed(&wish->request, option->name, typed));
    return PP_OK;
}

enum pp_status pp_resolve_mode_check(const struct pp_wish *wish, struct pp_error *err)
{
    for (int i = 0; i < pp_sim_cli.option_count; i++)
        PP_TRY(check_option(wish, i, err));
    return PP_OK;
}

enum pp_status pp_resolve_mode(struct pp_wish *wish, struct pp_error *err)
{
    PP_TRY(pp_resolve_mode_check(wish, err));
    for (int i = 0; i < pp_sim_cli.option_count && pp_wish_generates(wish); i++) {
        const struct pp_option *option = &pp_sim_cli.options[i];
        const struct pp_given *given =
            (const struct pp_given *)(const void *)((const char *)wish + option->given_at);
        if (option->commands & PP_SIM_TRAINS && given->origin == PP_FROM_PRESET)
            pp_wish_forget(&wish->request, option);
    }
    return PP_OK;
}

enum pp_status pp_resolve_unit_costs(const struct pp_wish *wish, struct pp_unit_costs *unit,
                                     struct pp_error *err)
{
    const bool generates = pp_wish_generates(wish);

    PP_TRY(pp_unit_costs_parse(wish->unit, unit, err));
    if (unit->has_p && !generates)
        return pp_error_set(err, PP_EINVAL,
                            "--unit %s: P is the prompt of a group, which only --mode infer reads",
                            wish->unit);
    if (generates && (unit->has_backward || unit->has_r))
        return pp_error_set(err, PP_EINVAL,
                            "--unit %s: %s has no effect with --mode infer, whose passes go "
                            "forward alone; nearest: --unit F=%g,P=%g,C=%g",
                            wish->unit, unit->has_backward ? "a backward" : "R", unit->f,
                            unit->has_p ? unit->p : unit->f, unit->c);
    return PP_OK;
}

/* Names the schedules that generate. */
static enum pp_status add_generators(struct pp_error *err)
{
    for (int i = 0; pp_generators[i]; i++)
        pp_error_append(err, "%s%s", i ? ", " : "", pp_generators[i]->name);
    return err->status;
}

static enum pp_status check_file(const struct pp_subject *subject, bool generates,
                                 struct pp_error *err)
{
    const struct pp_program *file = subject->file;

    if (generates == (file->passes > 0))
        return PP_OK;
    return generates ? pp_error_set(err, PP_EINVAL,
                                    "%s states no passes, so it does not generate with --mode "
                                    "infer; its head needs a line such as '# passes: 4'",
                                    subject->name)
                     : pp_error_set(err, PP_EINVAL,
                                    "%s has %d passes, which generate tokens; give --mode infer",
                                    subject->name, file->passes);
}

enum pp_status pp_resolve_subject_mode(const struct pp_wish *wish, const struct pp_subject *subject,
                                       struct pp_error *err)
{
    const struct pp_schedule *s = subject->schedule;
    const bool generates = pp_wish_generates(wish);

    if (subject->file)
        return check_file(subject, generates, err);
    if (s->is_forward_only == generates)
        return PP_OK;
    if (!generates)
        return pp_error_set(err, PP_EINVAL,
                            "--schedule %s generates tokens and does not train; give --mode infer",
                            subject->name);
    pp_error_set(err, PP_EINVAL, "--schedule %s trains; --mode infer has the schedule ",
                 subject->name);
    return add_generators(err);
}

enum pp_status pp_resolve_file_batch(const struct pp_wish *wish, const struct pp_generation *g,
                                     struct pp_error *err)
{
    const int pieces = g->prompt_groups, below = g->batch / pieces * pieces;

    if (wish->given.groups.count || wish->given.prompt_groups.count || g->batch == below)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "%s: the program cuts prompts into %d pieces; nearest: --batch ",
                 wish->given.batch.typed, pieces);
    return below ? pp_error_append(err, "%d or %d", below, below + pieces)
                 : pp_error_append(err, "%d", pieces);
}
