/* core/options_table.h — what the parser, the help and the completions ask of one table entry.
 * Internal to core. */
#ifndef PP_CORE_OPTIONS_TABLE_H
#define PP_CORE_OPTIONS_TABLE_H

#include "core/options.h"

#include <string.h>

static inline bool pp_option_is_in(const struct pp_option *option, int command)
{
    return command < 0 || (option->commands >> command & 1u);
}

static inline bool pp_option_has_argument(const struct pp_option *option)
{
    return option->type != PP_OPTION_FLAG;
}

/* The one-letter spelling besides a longer name, or NULL. */
static inline const char *pp_option_letter(const struct pp_option *option)
{
    for (const char *const *alias = option->aliases; alias && *alias; alias++)
        if (strlen(*alias) == 1)
            return *alias;
    return !strcmp(option->name, "output") ? "o" : NULL;
}

static inline const char *pp_option_dashes(const char *name)
{
    return name[1] ? "--" : "-";
}

enum { PP_CHOICES_MAX = 64, PP_CHOICES_BYTES = 1024 };
/* Cut "a|b|c" into names (NULL-terminated, stored in `text`); returns how many. */
int pp_choices_split(const char *choices, char text[PP_CHOICES_BYTES],
                     const char *names[PP_CHOICES_MAX + 1]);

#endif
