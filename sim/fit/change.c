/* Changes of a command, and the run of the changed command. */
#include "sim/fit/change.h"

#include "sim/cli/cli.h"
#include "sim/config/inputs.h"
#include "sim/inference/inference.h"
#include "sim/resolve/resolve.h"
#include "sim/run/simulate.h"

#include <string.h>

struct pp_parsed *pp_change_begin(struct pp_arena *arena, const struct pp_config *config)
{
    const struct pp_layout *l = &config->layout;
    struct pp_parsed *command = pp_inputs_command(arena, config, 0);
    const bool is_file = config->file_program, generates = config->generation.passes > 0,
               has_batch = is_file || pp_options_get(command, "micro-batches")->count ||
                           pp_options_get(command, "gbs")->count;
    const struct {
        const char *option;
        int64_t value;
        bool is_open; /* the shorter command would leave it to the tool, or to a file */
    } pins[] = {
        {"tp", l->tp, config->origin.chosen & PP_CHOSE_TP},
        {"pp", l->pp, is_file || config->origin.chosen & PP_CHOSE_PP},
        {"ep", l->ep, config->origin.chosen & PP_CHOSE_EP && config->model.experts.count},
        {"micro-batches", l->micro_batches, is_file && !generates},
        {"gbs", l->gbs, !has_batch && !generates},
        {"dp", l->dp, generates},
        {"batch", config->generation.batch, generates && !config->is_unit},
    };
    struct pp_error ignored; /* these values are legal */

    for (size_t i = 0; i < PP_COUNT(pins); i++)
        if (pins[i].is_open)
            pp_command_set_int(arena, command, pins[i].option, pins[i].value, &ignored);
    return command;
}

enum pp_status pp_change_schedule(struct pp_arena *arena, const struct pp_schedule *schedule,
                                  struct pp_parsed *command, struct pp_error *err)
{
    const struct pp_subject subject = {
        .schedule = schedule, .name = schedule->name, .is_listed = true};

    for (int i = 0; i < command->cli->option_count; i++)
        if (command->values[i].count && pp_select_drops(&subject, command->cli->options[i].name))
            command->values[i].count = 0;
    return pp_command_set(arena, command, "schedule", schedule->name, err);
}

enum pp_status pp_change_batch(struct pp_arena *arena, const struct pp_config *config, int factor,
                               struct pp_parsed *command, struct pp_error *err)
{
    const struct pp_layout *l = &config->layout;
    const bool has_number = pp_inputs_find(config, "micro-batches");

    if (has_number)
        PP_TRY(pp_command_set_int(arena, command, "micro-batches",
                                  (int64_t)factor * l->micro_batches, err));
    return has_number && !pp_inputs_find(config, "gbs")
               ? PP_OK
               : pp_command_set_int(arena, command, "gbs", factor * l->gbs, err);
}

enum pp_status pp_change_resolve(struct pp_arena *arena, const struct pp_parsed *command,
                                 struct pp_config *config, struct pp_prepared *prepared,
                                 struct pp_error *err)
{
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);
    struct pp_subject *subjects;
    int count;

    PP_TRY(pp_wish_open(arena, command, wish, err));
    PP_TRY(pp_subjects_open(arena, wish, &subjects, &count, err));
    return pp_resolve(arena, wish, &subjects[0], config, prepared, err);
}

const char *pp_change_state(struct pp_arena *arena, const struct pp_config *run,
                            const struct pp_config *other)
{
    const int zero = pp_state_zero(&other->state);
    char again[PP_RECOMPUTE_TEXT_BYTES], own[PP_RECOMPUTE_TEXT_BYTES];
    const char *text = "";

    if (other->origin.chosen & PP_CHOSE_ZERO && zero != pp_state_zero(&run->state))
        text = pp_arena_printf(arena, "ZeRO %d", zero);
    pp_recompute_print(other->costs.recompute, other->costs.again, again);
    pp_recompute_print(run->costs.recompute, run->costs.again, own);
    if (other->origin.chosen & PP_CHOSE_RECOMPUTE && strcmp(again, own) != 0)
        text = pp_arena_printf(arena, "%s%srecompute %s", text, *text ? ", " : "", again);
    return text;
}

static enum pp_status take_tokens(struct pp_arena *arena, const struct pp_result *result,
                                  struct pp_changed_run *change, struct pp_error *err)
{
    struct pp_inference *f;

    PP_TRY(pp_inference_find(arena, result, &f, err));
    change->first_token_s = f->first_token_s;
    change->token_s = f->token_s;
    change->tokens_per_s = f->tokens_per_s;
    return PP_OK;
}

enum pp_status pp_change_try(struct pp_arena *arena, const struct pp_config *run,
                             const struct pp_parsed *command, struct pp_changed_run *change,
                             struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_config config;
    struct pp_result result;

    PP_TRY(pp_change_resolve(scratch, command, &config, NULL, err));
    PP_TRY(pp_simulate(scratch, &config, PP_METRICS, NULL, &result, err));
    *change = (struct pp_changed_run){.outcome = pp_outcome_of(&result),
                                      .also = pp_change_state(arena, run, &config)};
    return config.generation.passes ? take_tokens(scratch, &result, change, err) : PP_OK;
}
