/* Writes a choice of the planner as the command line of a run. */
#include "sim/plan/words.h"

#include "sim/config/inputs.h"
#include "sim/resolve/resolve.h"

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

/* Splits a command at blanks outside of single quotes, which are dropped; '~' is a blank. */
static char **split(struct pp_arena *arena, const char *command, int *count)
{
    char *text = pp_arena_strdup(arena, command), *to = text, **words = NULL;
    int capacity = 0;
    bool is_quoted = false, is_between = true;

    *count = 0;
    for (const char *at = command; *at; at++) {
        const char c = *at == '~' ? ' ' : *at;
        if (c == '\'') {
            is_quoted = !is_quoted;
            continue;
        }
        if (is_between && (is_quoted || c != ' '))
            *PP_PUSH(arena, words, *count, capacity) = to;
        is_between = c == ' ' && !is_quoted;
        *to++ = is_between ? '\0' : c;
    }
    *to = '\0';
    return words;
}

enum pp_status pp_plan_simulate(struct pp_arena *arena, const char *command,
                                struct pp_result *result, struct pp_error *err)
{
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);
    struct pp_config *config = PP_NEW(arena, struct pp_config);
    struct pp_subject *subjects;
    int count;
    char **words = split(arena, command, &count);

    PP_TRY(pp_options_parse(arena, &pp_sim_cli, count, words, parsed, err));
    PP_TRY(pp_wish_open(arena, parsed, wish, err));
    PP_TRY(pp_subjects_open(arena, wish, &subjects, &count, err));
    PP_TRY(pp_resolve(arena, wish, &subjects[0], config, NULL, err));
    return pp_simulate(arena, config, PP_METRICS, NULL, result, err);
}
