/* Stores values of options in the fields that their rows declare. */
#include "core/cli/wish.h"

#include "core/cli/table.h"

/* Returns the default of an option if it is a value; that of a text in help is prose. */
static const struct pp_option_value *usual_of(struct pp_arena *arena,
                                              const struct pp_option *option)
{
    const char *text = option->neutral                    ? option->neutral
                       : option->type != PP_OPTION_STRING ? option->default_text
                                                          : NULL;
    struct pp_option_value *value = PP_NEW(arena, struct pp_option_value);
    struct pp_error ignored;

    return text && pp_option_read(option, text, value, &ignored) == PP_OK ? value : NULL;
}

void pp_wish_table(struct pp_arena *arena, struct pp_option *options, int count)
{
    for (int i = 0; i < count; i++) {
        struct pp_option *option = &options[i];
        char *dashed = pp_arena_printf(arena, "--%s", option->name);

        for (char *at = dashed; (at = strchr(at, '_'));)
            *at = '-';
        option->dashed = dashed;
        option->name = dashed + 2;
        option->usual = usual_of(arena, option);
    }
}

static void put_value(const struct pp_option *option, const struct pp_option_value *value,
                      void *field)
{
    switch (option->type) {
    case PP_OPTION_FLAG:
        *(bool *)field = value->integer != 0;
        break;
    case PP_OPTION_STRING:
        *(const char **)field = value->text;
        break;
    case PP_OPTION_CHOICE:
    case PP_OPTION_INT:
        *(int *)field = (int)value->integer;
        break;
    case PP_OPTION_LONG:
        *(int64_t *)field = value->integer;
        break;
    case PP_OPTION_COUNT:
    case PP_OPTION_FRAC:
        *(double *)field = value->number;
        break;
    }
}

static const char *typed(struct pp_arena *arena, const struct pp_option *option,
                         const struct pp_option_value *value)
{
    char text[PP_REQUEST_TYPED_BYTES];

    if (!value->text)
        return option->dashed;
    snprintf(text, sizeof(text), "%s %s", value->typed, value->text);
    return pp_arena_strdup(arena, text);
}

void pp_wish_forget(struct pp_request *request, const struct pp_option *option)
{
    static const struct pp_option_value NONE = {.count = 0};
    const struct pp_option_value *usual = option->usual ? option->usual : &NONE;
    char *wish = (char *)request;

    put_value(option, usual, wish + option->value_at);
    const struct pp_given given = {
        .option = option, .text = usual->text, .spelled = option->dashed, .typed = option->dashed};
    memcpy(wish + option->given_at, &given, sizeof(given));
}

/* Sets defaults of the options of a command; -1: of all options. */
static void bind_usual(const struct pp_cli *cli, int command, struct pp_request *request)
{
    for (int i = 0; i < cli->option_count; i++) {
        const struct pp_option *option = &cli->options[i];

        if (option->value_at && pp_option_is_in(option, command))
            pp_wish_forget(request, option);
    }
}

static void bind(struct pp_arena *arena, const struct pp_parsed *parsed, enum pp_origin origin,
                 char *wish)
{
    for (int i = 0; parsed->values && i < parsed->cli->option_count; i++) {
        const struct pp_option *option = &parsed->cli->options[i];
        const struct pp_option_value *value = &parsed->values[i];

        if (!option->value_at || !value->count)
            continue;
        put_value(option, value, wish + option->value_at);
        const struct pp_given given = {.option = option,
                                       .origin = origin,
                                       .count = value->count,
                                       .text = value->text,
                                       .all = value->all,
                                       .spelled = value->typed,
                                       .typed = typed(arena, option, value)};
        memcpy(wish + option->given_at, &given, sizeof(given));
    }
}

void pp_wish_bind(struct pp_arena *arena, struct pp_request *request)
{
    const struct pp_parsed *flags = request->flags;
    char *wish = (char *)request;

    bind_usual(flags->cli, -1, request);
    bind_usual(flags->cli, flags->command, request);
    bind(arena, &request->preset, PP_FROM_PRESET, wish);
    bind(arena, flags, PP_FROM_FLAG, wish);
}
