/* core/cli/table.h — properties of one option for parser, help, completions. Internal to core. */
#pragma once

#include "core/cli/options.h"

#include <string.h>

/* ---- core/cli/foreign.c ---------------------------------------------------------------------- */

/* Appends what the programs have in place of an option of a trainer; false if that is not known. */
bool pp_cli_name_ours(const struct pp_cli *cli, const char *theirs, struct pp_error *err);

/* ---- core/cli/other.c ------------------------------------------------------------------------ */

/* Each appends that the other program has this option or command; false if it has none. */
bool pp_cli_name_other_option(const struct pp_cli *cli, const char *name, struct pp_error *err);
bool pp_cli_name_other_command(const struct pp_cli *cli, const char *name, struct pp_error *err);

/* ---- core/cli/find.c ------------------------------------------------------------------------- */

/* Is true if the option has this name, of `length` characters. */
bool pp_cli_is_option_name(const struct pp_option *option, const char *typed, size_t length);
/* Returns the index of the option of that name in the command (-1: in any), or -1. */
int pp_cli_option(const struct pp_cli *cli, int command, const char *name, size_t length);
/* Is true for a word that names an option, and is no number. */
bool pp_cli_is_option(const char *word);
/* Returns where the command is: the first word that is neither an option nor its argument. 0: there
 * is none. */
int pp_cli_find_command(const struct pp_cli *cli, int argc, char *const *argv);

/* ---- rows of the table ----------------------------------------------------------------------- */

/* Returns the index of a command, or -1. */
static inline int pp_cli_command(const struct pp_cli *cli, const char *name)
{
    for (int i = 0; i < cli->command_count; i++)
        if (!strcmp(cli->commands[i].name, name))
            return i;
    return -1;
}

static inline bool pp_option_is_in(const struct pp_option *option, int command)
{
    return command < 0 || (option->commands >> command & 1u);
}

static inline bool pp_option_has_argument(const struct pp_option *option)
{
    return option->type != PP_OPTION_FLAG;
}

/* Returns the one-letter spelling of an option with a longer name, or NULL. */
static inline const char *pp_option_letter(const struct pp_option *option)
{
    for (const char *const *alias = option->aliases; alias && *alias; alias++)
        if (strlen(*alias) == 1)
            return *alias;
    return !strcmp(option->name, "output") ? "o" : NULL;
}

/* ---- core/cli/words.c ------------------------------------------------------------------------ */
/* Is true for the spelling that words follow. */
bool pp_option_takes_words(const struct pp_option *option, const char *typed);
/* Returns the value that `first` and the words from argv[*next] on name; advances `next`. */
const char *pp_option_join_words(struct pp_arena *arena, const struct pp_option *option,
                                 const char *first, char *const *argv, int argc, int *next);
/* Words and the value that they belong to may both be given, in either order. Returns the words
 * then and forgets the earlier one; else returns `text`. */
const char *pp_option_refine(const struct pp_option *option, const char *typed, const char *text,
                             struct pp_option_value *value);

static inline const char *pp_option_dashes(const char *name)
{
    return name[1] ? "--" : "-";
}

enum { PP_CHOICES_MAX = 64, PP_CHOICES_BYTES = 1024 };
/* Splits "a|b|c" into names (NULL-terminated, stored in `text`); returns their number. */
int pp_choices_split(const char *choices, char text[PP_CHOICES_BYTES],
                     const char *names[PP_CHOICES_MAX + 1]);

enum { PP_TEXT_BYTES = 4096 };
struct pp_option_text {
    char bytes[PP_TEXT_BYTES]; /* cut when full */
    size_t length;
};
/* Writes "-o, --output FILE". */
void pp_option_spell(const struct pp_option *option, struct pp_option_text *text);
/* Writes help, kind of value, default, repetition; the second also other names. */
void pp_option_describe(const struct pp_option *option, struct pp_option_text *text);
void pp_option_describe_all(const struct pp_option *option, struct pp_option_text *text);
/* Appends "[only sweep, plot]" for an option that the default command lacks. */
void pp_option_describe_commands(const struct pp_cli *cli, const struct pp_option *option,
                                 struct pp_option_text *text);
/* Returns "--schedule zbv" if an option of the command offers that name, or with `may_differ` one
 * near it; else NULL. A list that is given precedes it: "--schedule 1f1b,zbv". */
const char *pp_cli_suggest_value(struct pp_arena *arena, const struct pp_parsed *parsed,
                                 const char *word, bool may_differ);
/* Prints help on the options of a name; false if there is none. */
bool pp_option_help(const struct pp_cli *cli, const char *name, FILE *out, int width);
const char *pp_option_group(const struct pp_option *option);
/* Is true for the first option of its group that the command has. */
bool pp_option_opens_group(const struct pp_cli *cli, int command, int index);
/* Is true if the example's second word names the command; without a name: the default one. */
bool pp_example_is_of(const struct pp_cli *cli, const struct pp_example *example, int command);
