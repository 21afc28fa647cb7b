/* core/cli/options.h — one table of options yields parsing, --help, the man page, shell completions
 * and "did you mean". A program has commands; each option says in which of them it exists. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum pp_option_type {
    PP_OPTION_FLAG, /* no argument */
    PP_OPTION_STRING,
    PP_OPTION_CHOICE, /* one of `choices`, "a|b|c" */
    PP_OPTION_INT,    /* 32-bit, [min, max] */
    PP_OPTION_LONG,   /* 64-bit, [min, max] */
    PP_OPTION_COUNT,  /* double with unit prefixes: 7.5e9, 175B */
    PP_OPTION_FRAC,   /* 5% or 0.05 */
};

struct pp_option_value;
struct pp_option {
    const char *name; /* canonical long name without dashes: "micro-batches" */
    const char *const
        *aliases; /* other long names (Megatron, torchtitan), NULL-terminated or NULL */
    enum pp_option_type type;
    const char *argument;          /* name in help: "N", "FILE" */
    const char *choices;           /* CHOICE: "end|eager|eager-opt" */
    const char *kind;              /* said of its values in help; NULL = what the type says */
    const char *(*name_of)(int i); /* in place of it: names of a table, NULL after the last */
    const char *(*offered)(int i); /* names that a shell offers, too; help does not list them */
    int64_t min, max;              /* INT, LONG; 0, 0 = all values of the type */
    const char *default_text;      /* shown in help; NULL = none */
    const char *group;             /* heading in help */
    const char *help;              /* one or two sentences */
    unsigned commands;             /* bit mask of enum of the program; bits beyond its commands are
                                    * its own */
    const char *neutral;           /* the value that changes nothing, as typed; NULL = none */
    const char *instead;           /* what other commands have for it; NULL = nothing */
    bool is_repeatable;            /* may be given several times (values are collected) */
    bool is_common;                /* shown by -h; when no option is marked, the first ones are */
    size_t value_at, given_at;     /* offsets of its fields, core/cli/wish.h; 0 = it has none */
    const char *dashed;            /* "--micro-batches"; this and `usual` by pp_wish_table() */
    const struct pp_option_value *usual; /* where it is not given; NULL = no value */
};

struct pp_command {
    const char *name;  /* "program"; the first command is the default one */
    const char *usage; /* "pipesim program --schedule S --pp D --micro-batches N [-o FILE]" */
    const char *summary;
    int min_operands, max_operands; /* file arguments; max -1 = any */
    bool takes_lists; /* arguments may be lists or ranges: kept as text, any option may be repeated;
                         the caller splits them and reads the parts with pp_option_read() */
    const char *(*offered)(int i); /* names that a shell offers as operands, in addition to files */
};

struct pp_example { /* for -h, help and the man page; a test runs each */
    const char *command, *comment;
};

struct pp_exit { /* of the man page */
    int code;
    const char *meaning;
};

struct pp_topic { /* topics of "help NAME"; a topic goes before the command of that name
                   */
    const char *name, *title;
    const char *const *lines;           /* paragraphs; from a blank on as it stands; NULL ends */
    void (*more)(FILE *out, int width); /* after them; may be NULL */
};

struct pp_preset;
struct pp_cli {
    const char *program, *summary;
    const struct pp_command *commands;
    int command_count;
    const struct pp_option *options;
    int option_count;
    const struct pp_example *examples;
    int example_count;
    const struct pp_topic *topics;   /* ends with a name of NULL; may be NULL */
    const struct pp_exit *exits;     /* ends with a meaning of NULL; may be NULL */
    const char *date;                /* of the man page, ISO; may be NULL */
    const struct pp_preset *presets; /* core/cli/request.h; ends with a name of NULL; may be NULL */
};

/* For tables of options: a list of other names, and a bound for counts of things. */
#define PP_NAMES(...)                                                                              \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
enum { PP_OPTION_BIG = 1 << 20 };

/* What was typed. Indexed like cli->options. */
struct pp_option_value {
    int count;         /* times given, 0 = not */
    const char *text;  /* last argument as typed */
    const char **all;  /* all arguments when repeatable, else just the last one */
    const char *typed; /* the spelling used, with dashes, for messages */
    int64_t integer;   /* INT, LONG; CHOICE: index; FLAG: 1 */
    double number;     /* COUNT, FRAC */
};
struct pp_parsed {
    const struct pp_cli *cli;
    int command;      /* index into cli->commands */
    bool has_command; /* it was typed, not defaulted */
    struct pp_option_value *values;
    const char **operands;
    int operand_count;
    bool wants_short_help, wants_help, wants_version; /* -h, --help, --version */
};

/* Parse argv[1..]. "--name value", "--name=value", one or two dashes, -o FILE as --output FILE,
 * "--" ends options. An option of another command, an unknown one (with suggestion), a missing or
 * bad argument, a non-repeatable option given twice with different values: PP_EINVAL. After -h,
 * --help or --version nothing is an error any more. */
enum pp_status pp_options_parse(struct pp_arena *arena, const struct pp_cli *cli, int argc,
                                char *const *argv, struct pp_parsed *parsed, struct pp_error *err);
/* Read one argument by the option's type into text, integer and number of `value` (the rest is left
 * alone). The message does not name the option. */
enum pp_status pp_option_read(const struct pp_option *option, const char *text,
                              struct pp_option_value *value, struct pp_error *err);
/* The value of an option by its name or one of its other names; asserts that it exists. Where the
 * table has the name several times, the entry of the parsed command. */
const struct pp_option_value *pp_options_get(const struct pp_parsed *parsed, const char *name);

/* ---- core/cli/command.c ---- */
/* The same command by the names of the table and in its order, quoted for a shell where it needs to
 * be. In the arena. */
const char *pp_options_command(struct pp_arena *arena, const struct pp_parsed *parsed);

/* `width` columns, 80 when unknown. command -1: all of them. */
void pp_options_short_help(const struct pp_cli *cli, FILE *out, int width);
void pp_options_help(const struct pp_cli *cli, int command, FILE *out, int width);
void pp_options_man(const struct pp_cli *cli, const char *version, FILE *out); /* roff, man(7) */
enum pp_shell { PP_SHELL_BASH, PP_SHELL_ZSH, PP_SHELL_FISH };
void pp_options_completion(const struct pp_cli *cli, enum pp_shell shell, FILE *out);

/* Answers -h, --help and the command "help". The operand of the latter is empty for everything, a
 * command, "man", or a shell's name for its completion. PP_EINVAL for other operands.
 * `*is_answered` is false when nothing was. */
enum pp_status pp_options_answer(const struct pp_parsed *parsed, FILE *out, int width,
                                 bool *is_answered, struct pp_error *err);

/* The entry of a NULL-terminated list that is nearest to `word` (small edit distance, dashes and
 * case ignored), or NULL when nothing is near. */
const char *pp_suggest(const char *word, const char *const *names);
/* Appends "; did you mean NEAR?" to a message of an unknown word. Without a near name it appends
 * all names, as in "; known are A, B and C". Returns err->status. */
enum pp_status pp_suggest_or_list(struct pp_error *err, const char *word, const char *const *names);
/* Names of presets, schedules: equal without regard to case, dashes and underscores. */
bool pp_same_name(const char *a, const char *b);
/* Does `name` fit the pattern, where '*' stands for any run of characters? */
bool pp_name_fits(const char *pattern, const char *name);
