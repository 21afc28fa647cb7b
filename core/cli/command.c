/* Writes a parsed command line so that a shell reads it the same. */
#include "core/cli/options.h"

#include <string.h>

/* Returns the text unchanged if a shell takes it literally, else in single quotes. */
static const char *quoted(struct pp_arena *arena, const char *text)
{
    static const char PLAIN[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^";
    const char *line = "'";

    if (*text && strspn(text, PLAIN) == strlen(text))
        return text;
    for (;;) {
        const size_t length = strcspn(text, "'");
        line = pp_arena_printf(arena, "%s%.*s", line, (int)length, text);
        text += length;
        if (!*text)
            return pp_arena_printf(arena, "%s'", line);
        line = pp_arena_printf(arena, "%s'\\''", line);
        text++;
    }
}

static const char *with_option(struct pp_arena *arena, const char *line,
                               const struct pp_option *option, const struct pp_option_value *value)
{
    if (option->type == PP_OPTION_FLAG)
        return value->count ? pp_arena_printf(arena, "%s --%s", line, option->name) : line;
    const int values = option->is_repeatable ? value->count : value->count > 0;
    for (int i = 0; i < values; i++)
        line = pp_arena_printf(arena, "%s --%s %s", line, option->name,
                               quoted(arena, option->is_repeatable ? value->all[i] : value->text));
    return line;
}

const char *pp_options_command(struct pp_arena *arena, const struct pp_parsed *parsed)
{
    const struct pp_cli *cli = parsed->cli;
    const char *line = cli->program;

    if (parsed->command != 0)
        line = pp_arena_printf(arena, "%s %s", line, cli->commands[parsed->command].name);
    for (int i = 0; i < parsed->operand_count; i++)
        line = pp_arena_printf(arena, "%s %s", line, quoted(arena, parsed->operands[i]));
    for (int i = 0; i < cli->option_count; i++)
        if (cli->options[i].commands & 1U << parsed->command)
            line = with_option(arena, line, &cli->options[i], &parsed->values[i]);
    return line;
}
