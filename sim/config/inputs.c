/* The options that were given, and those of them that ask "what if". */
#include "sim/config/inputs.h"

#include "sim/cli/cli.h"

#include <string.h>

/* Is true for the options of a command that may change a prediction. */
static bool is_input(const struct pp_option *option, int command)
{
    return option->commands & 1U << command && strcmp(option->group, PP_GROUP_OUTPUT) != 0;
}

void pp_inputs_take(struct pp_arena *arena, const struct pp_wish *wish, struct pp_config *config)
{
    config->origin.inputs = PP_ARRAY(arena, struct pp_input, pp_sim_cli.option_count);
    config->origin.input_count = 0;
    for (int i = 0; i < pp_sim_cli.option_count; i++) {
        const struct pp_option *option = &pp_sim_cli.options[i];
        enum pp_origin origin;
        if (!is_input(option, wish->request.flags->command))
            continue;
        const struct pp_option_value *value = pp_request_get(&wish->request, option->name, &origin);
        if (value)
            config->origin.inputs[config->origin.input_count++] =
                (struct pp_input){option, value, origin == PP_FROM_FLAG};
    }
}

/* What-if options outside of layout, model and state; `is_said_always`: also if neutral. */
static const struct {
    const char *option;
    bool is_said_always;
} WHAT_IF[] = {
    {"link-bw", false},     {"slow", false},
    {"jitter", false},      {"seed", true},
    {"head", false},        {"map", false},
    {"dp-overlap", true},   {"buckets", false},
    {"bucket-size", false}, {"sync-share", false},
    {"p2p", false},         {"post", false},
    {"recv-slots", false},  {"nic", false},
    {"collectives", false}, {"collective-algorithm", false},
    {"no-fold", false},
};

static bool is_neutral(const struct pp_config *config, const struct pp_input *input)
{
    const struct pp_option_value *usual = input->option->usual;

    if (!strcmp(input->option->name, "map"))
        return pp_map_is_default(config->map);
    switch (input->option->type) {
    case PP_OPTION_FRAC:
        return input->value->number == 0;
    case PP_OPTION_INT:
        return usual && input->value->integer == usual->integer;
    default:
        return usual && !strcmp(input->value->text, usual->text);
    }
}

const struct pp_input *pp_inputs_find(const struct pp_config *config, const char *name)
{
    for (int i = 0; i < config->origin.input_count; i++)
        if (!strcmp(config->origin.inputs[i].option->name, name))
            return &config->origin.inputs[i];
    return NULL;
}

const char *pp_inputs_what_if(struct pp_arena *arena, const struct pp_config *config)
{
    const char *text = NULL;

    for (size_t i = 0; i < PP_COUNT(WHAT_IF); i++) {
        const char *name = WHAT_IF[i].option;
        const struct pp_input *input = pp_inputs_find(config, name);
        if (!input || (!WHAT_IF[i].is_said_always && is_neutral(config, input)))
            continue;
        for (int k = 0; k < input->value->count; k++) {
            const char *all = text ? text : "";
            text = input->option->type == PP_OPTION_FLAG
                       ? pp_arena_printf(arena, "%s%s--%s", all, text ? " " : "", name)
                       : pp_arena_printf(arena, "%s%s--%s~%s", all, text ? " " : "", name,
                                         input->value->all[k]);
            if (!input->option->is_repeatable)
                break;
        }
        if (!strcmp(name, "jitter") && !pp_inputs_find(config, "seed"))
            text = pp_arena_printf(arena, "%s (seed~0)", text);
    }
    return text;
}

struct pp_parsed *pp_inputs_command(struct pp_arena *arena, const struct pp_config *config,
                                    unsigned traits)
{
    const bool has_defaults = pp_inputs_find(config, "preset") || pp_inputs_find(config, "cost");
    struct pp_parsed *command = PP_NEW(arena, struct pp_parsed);

    *command = (struct pp_parsed){
        .cli = &pp_sim_cli,
        .command = PP_CMD_RUN,
        .values = PP_ARRAY(arena, struct pp_option_value, pp_sim_cli.option_count)};
    for (int i = 0; i < config->origin.input_count; i++) {
        const struct pp_input *input = &config->origin.inputs[i];
        if ((input->is_typed || !has_defaults) && input->option->commands & 1U << PP_CMD_RUN &&
            !(input->option->commands & traits))
            command->values[input->option - pp_sim_cli.options] = *input->value;
    }
    pp_command_drop(command, "from"); /* its options are among the inputs */
    return command;
}
