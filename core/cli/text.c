/* Pieces of help that the screen, the man page and the completions share. */
#include "core/cli/table.h"

#include <inttypes.h>
#include <stdarg.h>

static void add(struct pp_option_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct pp_option_text *text, const char *format, ...)
{
    va_list args;
    const size_t room = sizeof(text->bytes) - text->length;

    va_start(args, format);
    const int wanted = vsnprintf(text->bytes + text->length, room, format, args);
    va_end(args);
    if (wanted > 0)
        text->length += (size_t)wanted < room ? (size_t)wanted : room - 1;
}

static const char *argument_of(const struct pp_option *option)
{
    return option->argument                   ? option->argument
           : option->type == PP_OPTION_CHOICE ? option->choices
                                              : "X";
}

void pp_option_spell(const struct pp_option *option, struct pp_option_text *text)
{
    const char *letter = option->name[1] ? pp_option_letter(option) : NULL;

    *text = (struct pp_option_text){.length = 0};
    if (letter)
        add(text, "-%s, ", letter);
    add(text, "%s%s", pp_option_dashes(option->name), option->name);
    if (pp_option_has_argument(option))
        add(text, " %s", argument_of(option));
}

static void add_range(const struct pp_option *option, struct pp_option_text *text)
{
    const bool has_range = option->min != 0 || option->max != 0;
    const bool is_open = option->max >= INT32_MAX;

    if (has_range && is_open)
        add(text, "an integer from %" PRId64, option->min);
    else if (has_range)
        add(text, "%" PRId64 " to %" PRId64, option->min, option->max);
    else
        add(text, "an integer");
}

static void add_names(const char *(*name_of)(int i), struct pp_option_text *text)
{
    for (int i = 0; name_of(i); i++)
        add(text, "%s%s", i == 0 ? "" : name_of(i + 1) ? ", " : " or ", name_of(i));
}

static void add_kind(const struct pp_option *option, struct pp_option_text *text)
{
    char copy[PP_CHOICES_BYTES];
    const char *names[PP_CHOICES_MAX + 1];

    if (option->name_of)
        add_names(option->name_of, text);
    else if (option->kind)
        add(text, "%s", option->kind);
    else if (option->type == PP_OPTION_INT || option->type == PP_OPTION_LONG)
        add_range(option, text);
    else if (option->type == PP_OPTION_COUNT)
        add(text, "a number such as 7.5e9 or 175B");
    else if (option->type == PP_OPTION_FRAC)
        add(text, "a fraction: 5%% or 0.05");
    else if (option->type == PP_OPTION_CHOICE && option->argument) {
        const int count = pp_choices_split(option->choices, copy, names);

        for (int i = 0; i < count; i++)
            add(text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
    }
}

/* Adds the other names of more than a letter, after "(" or what else is in brackets. */
static const char *add_aliases(const struct pp_option *option, const char *separator,
                               struct pp_option_text *text)
{
    const char *before = "also ";

    for (const char *const *alias = option->aliases; alias && *alias; alias++) {
        if (!(*alias)[1])
            continue;
        add(text, "%s%s--%s", *before == ',' ? "" : separator, before, *alias);
        before = ", ";
        separator = "; ";
    }
    return separator;
}

static void describe(const struct pp_option *option, bool has_aliases, struct pp_option_text *text)
{
    const char *separator = " (";
    struct pp_option_text kind = {.length = 0};

    *text = (struct pp_option_text){.length = 0};
    add(text, "%s", option->help ? option->help : "");
    add_kind(option, &kind);
    if (kind.length > 0) {
        add(text, "%s%s", separator, kind.bytes);
        separator = "; ";
    }
    if (option->default_text) {
        add(text, "%sdefault %s", separator, option->default_text);
        separator = "; ";
    }
    if (option->is_repeatable) {
        add(text, "%smay be repeated", separator);
        separator = "; ";
    }
    if (has_aliases)
        separator = add_aliases(option, separator, text);
    if (!strcmp(separator, "; "))
        add(text, ")");
}

void pp_option_describe(const struct pp_option *option, struct pp_option_text *text)
{
    describe(option, false, text);
}

void pp_option_describe_all(const struct pp_option *option, struct pp_option_text *text)
{
    describe(option, true, text);
}

void pp_option_describe_commands(const struct pp_cli *cli, const struct pp_option *option,
                                 struct pp_option_text *text)
{
    const char *separator = text->length > 0 ? " [only " : "[only ";

    if (pp_option_is_in(option, 0))
        return;
    for (int i = 0; i < cli->command_count; i++)
        if (pp_option_is_in(option, i)) {
            add(text, "%s%s", separator, cli->commands[i].name);
            separator = ", ";
        }
    add(text, "]");
}

const char *pp_option_group(const struct pp_option *option)
{
    return option->group ? option->group : "Options";
}

bool pp_option_opens_group(const struct pp_cli *cli, int command, int index)
{
    for (int i = 0; i < index; i++)
        if (pp_option_is_in(&cli->options[i], command) &&
            !strcmp(pp_option_group(&cli->options[i]), pp_option_group(&cli->options[index])))
            return false;
    return pp_option_is_in(&cli->options[index], command);
}

bool pp_example_is_of(const struct pp_cli *cli, const struct pp_example *example, int command)
{
    const char *word = example->command + strcspn(example->command, " ");
    int found = 0;

    word += strspn(word, " ");
    const size_t length = strcspn(word, " ");
    for (int i = 0; i < cli->command_count; i++)
        if (strlen(cli->commands[i].name) == length &&
            !strncmp(cli->commands[i].name, word, length))
            found = i;
    return command < 0 || command == found;
}
