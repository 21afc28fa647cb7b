/* A command: a parsed command line that may be changed, written so that a shell reads it the same.
 */
#include "core/cli/options.h"

#include <string.h>

/* ---- changes --------------------------------------------------------------------------------- */

struct pp_parsed *pp_command_copy(struct pp_arena *arena, const struct pp_parsed *parsed)
{
    struct pp_parsed *command = PP_NEW(arena, struct pp_parsed);
    const size_t count = (size_t)parsed->cli->option_count;

    *command = *parsed;
    command->values = PP_ARRAY(arena, struct pp_option_value, count);
    memcpy(command->values, parsed->values, count * sizeof(*command->values));
    return command;
}

/* Returns the place of an option in the table, as pp_options_get() finds it. */
static ptrdiff_t place_of(const struct pp_parsed *command, const char *name)
{
    return pp_options_get(command, name) - command->values;
}

enum pp_status pp_command_set(struct pp_arena *arena, struct pp_parsed *command, const char *name,
                              const char *value, struct pp_error *err)
{
    const ptrdiff_t at = place_of(command, name);
    const struct pp_option *option = &command->cli->options[at];
    const char **all = PP_NEW(arena, const char *);
    struct pp_option_value new = {.count = 1, .all = all, .typed = option->dashed, .integer = 1};

    if (value) {
        *all = pp_arena_strdup(arena, value);
        PP_TRY(pp_option_read(option, *all, &new, err));
    }
    command->values[at] = new;
    return PP_OK;
}

enum pp_status pp_command_set_int(struct pp_arena *arena, struct pp_parsed *command,
                                  const char *name, int64_t value, struct pp_error *err)
{
    return pp_command_set(arena, command, name, pp_arena_printf(arena, "%lld", (long long)value),
                          err);
}

void pp_command_drop(struct pp_parsed *command, const char *name)
{
    command->values[place_of(command, name)] = (struct pp_option_value){.count = 0};
}

/* ---- text ------------------------------------------------------------------------------------ */

const char *pp_command_quoted(struct pp_arena *arena, const char *text)
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

struct words {
    struct pp_arena *arena;
    const char **list;
    int count, capacity;
};

static void add(struct words *w, const char *word)
{
    *PP_PUSH(w->arena, w->list, w->count, w->capacity) = word;
}

static void add_option(struct words *w, const struct pp_option *option,
                       const struct pp_option_value *value, bool is_repeatable)
{
    const int values = is_repeatable ? value->count : value->count > 0;

    for (int i = 0; i < values && option->type != PP_OPTION_FLAG; i++)
        add(w, pp_arena_printf(
                   w->arena, "--%s %s", option->name,
                   pp_command_quoted(w->arena, is_repeatable ? value->all[i] : value->text)));
    if (option->type == PP_OPTION_FLAG && value->count)
        add(w, pp_arena_printf(w->arena, "--%s", option->name));
}

const char *const *pp_command_words(struct pp_arena *arena, const struct pp_parsed *command)
{
    const struct pp_cli *cli = command->cli;
    struct words w = {.arena = arena};

    add(&w, cli->program);
    if (command->command != 0)
        add(&w, cli->commands[command->command].name);
    for (int i = 0; i < command->operand_count; i++)
        add(&w, pp_command_quoted(arena, command->operands[i]));
    for (int i = 0; i < cli->option_count; i++)
        if (cli->options[i].commands & 1U << command->command)
            add_option(&w, &cli->options[i], &command->values[i],
                       cli->options[i].is_repeatable ||
                           cli->commands[command->command].takes_lists);
    add(&w, NULL);
    return w.list;
}

const char *pp_command_text(struct pp_arena *arena, const struct pp_parsed *command)
{
    return pp_command_lines(arena, pp_command_words(arena, command), INT32_MAX, 0);
}

const char *pp_command_lines(struct pp_arena *arena, const char *const *words, int width,
                             int indent)
{
    const char *lines = "", *gap = "";
    int column = indent;

    for (; *words; words++, gap = " ") {
        const int length = (int)strlen(*words), end = words[1] ? 2 : 0; /* of " \" */
        if (*gap && column + 1 + length + end > width) {
            gap = pp_arena_printf(arena, " \\\n%*s", indent, "");
            column = indent - 1;
        }
        lines = pp_arena_printf(arena, "%s%s%s", lines, gap, *words);
        column += (*gap ? 1 : 0) + length;
    }
    return lines;
}
