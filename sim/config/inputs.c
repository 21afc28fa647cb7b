/* The options that were given, and which of them ask "what if". */
#include "sim/config/inputs.h"

#include "sim/cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* Options of the tool's output change no figure. */
static bool is_output(const struct pp_option *option)
{
    return !strcmp(option->group, PP_GROUP_OUTPUT);
}

void pp_inputs_take(struct pp_arena *arena, const struct pp_request *request,
                    struct pp_config *config)
{
    config->inputs = PP_ARRAY(arena, struct pp_input, pp_sim_cli.option_count);
    config->input_count = 0;
    for (int i = 0; i < pp_sim_cli.option_count; i++) {
        const struct pp_option *option = &pp_sim_cli.options[i];
        enum pp_origin origin;
        const struct pp_option_value *value = pp_request_get(request, option->name, &origin);
        if (value && !is_output(option) && option->commands & 1U << request->flags->command)
            config->inputs[config->input_count++] =
                (struct pp_input){option, value, origin == PP_FROM_FLAG};
    }
}

/* What is not said of the layout, the model and the state, and the value that says nothing; NULL:
 * every one says something. */
static const struct {
    const char *option, *neutral;
} WHAT_IF[] = {
    {"link-bw", NULL},
    {"slow", NULL},
    {"jitter", "0"},
    {"seed", NULL},
    {"head", "last"},
    {"map", "tp,cp,dp,pp"},
    {"dp-overlap", NULL},
    {"buckets", "1"},
    {"bucket-size", NULL},
    {"sync-share", "0"},
    {"p2p", "rendezvous"},
    {"post", "early"},
    {"recv-slots", "2"},
    {"nic", "free"},
    {"collectives", "analytic"},
    {"collective-algorithm", "auto"},
    {"no-fold", NULL},
};

static bool is_neutral(const struct pp_config *config, const struct pp_input *input,
                       const char *neutral)
{
    if (!strcmp(input->option->name, "map"))
        return pp_map_is_default(config->map);
    switch (input->option->type) {
    case PP_OPTION_FRAC:
        return input->value->number == 0;
    case PP_OPTION_INT:
        return neutral && input->value->integer == strtol(neutral, NULL, 10);
    default:
        return neutral && !strcmp(input->value->text, neutral);
    }
}

const struct pp_input *pp_inputs_find(const struct pp_config *config, const char *name)
{
    for (int i = 0; i < config->input_count; i++)
        if (!strcmp(config->inputs[i].option->name, name))
            return &config->inputs[i];
    return NULL;
}

const char *pp_inputs_what_if(struct pp_arena *arena, const struct pp_config *config)
{
    const char *text = NULL;

    for (size_t i = 0; i < sizeof(WHAT_IF) / sizeof(*WHAT_IF); i++) {
        const char *name = WHAT_IF[i].option;
        const struct pp_input *input = pp_inputs_find(config, name);
        if (!input || is_neutral(config, input, WHAT_IF[i].neutral))
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
