/* Options whose parts are words after a name of their own, as argparse takes lists. */
#include "core/cli/table.h"

#include <string.h>

bool pp_option_takes_words(const struct pp_option *option, const char *typed)
{
    const char *name = typed + strspn(typed, "-"), *words = option->words_name;

    if (words == NULL)
        return false;
    while (*words && (*name == *words || (*name == '_' && *words == '-')))
        name++, words++;
    return !*name && !*words;
}

/* Words may also be joined with commas. */
const char *pp_option_join_words(struct pp_arena *arena, const struct pp_option *option,
                                 const char *first, char *const *argv, int argc, int *next)
{
    char *text = pp_arena_printf(arena, "%s=%s", option->words_of, first);

    for (; *next < argc && argv[*next][0] != '-'; ++*next)
        text = pp_arena_printf(arena, "%s+%s", text, argv[*next]);
    for (char *comma = text; (comma = strchr(comma, ',')) != NULL;)
        *comma = '+';
    return text;
}

const char *pp_option_refine(const struct pp_option *option, const char *typed, const char *text,
                             struct pp_option_value *value)
{
    if (value->count == 0)
        return text;
    const bool is_words = pp_option_takes_words(option, typed);
    const char *plain = is_words ? value->text : text;

    if (is_words == pp_option_takes_words(option, value->typed) ||
        strcmp(plain, option->words_of) != 0)
        return text;
    value->count--;
    return is_words ? text : value->text;
}
