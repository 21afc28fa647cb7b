/* Writes a choice of the planner as the command line of a run. */
#include "sim/plan/words.h"

#include "sim/config/inputs.h"

#include <string.h>

const char *pp_plan_add(struct pp_arena *arena, const char *text, const char *name,
                        const char *value)
{
    const char *quote = value && strpbrk(value, " ;*?<>|&()$") ? "'" : "";
    char *longer = pp_arena_printf(arena, "%s --%s%s%s%s%s", text, name, value ? "~" : "", quote,
                                   value ? value : "", quote);

    for (char *at = longer + strlen(text) + 1; *quote && (at = strchr(at, ' '));)
        *at = '~';
    return longer;
}

const char *pp_plan_add_int(struct pp_arena *arena, const char *text, const char *name,
                            int64_t value)
{
    return pp_plan_add(arena, text, name, pp_arena_printf(arena, "%lld", (long long)value));
}

const char *pp_plan_words(struct pp_arena *arena, const struct pp_config *config,
                          enum pp_sim_trait without)
{
    const char *text = "pipesim";

    for (int i = 0; i < config->origin.input_count; i++) {
        const struct pp_input *input = &config->origin.inputs[i];
        const struct pp_option *option = input->option;
        if (option->commands & (unsigned)(PP_SIM_OF_PLANNER | without))
            continue;
        for (int k = 0; k < input->value->count && (k == 0 || option->is_repeatable); k++)
            text = pp_plan_add(arena, text, option->name,
                               option->type == PP_OPTION_FLAG ? NULL
                               : option->is_repeatable        ? input->value->all[k]
                                                              : input->value->text);
    }
    return text;
}
