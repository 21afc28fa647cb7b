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
    const char *const *meant;      /* CHOICE: pairs, a word and the choice that it may mean; NULL */
    const char *kind;              /* description of its values in help; NULL = from the type */
    const char *(*name_of)(int i); /* instead of `kind`: names of a table, NULL after the last */
    const char *(*offered)(int i); /* further names that a shell offers; help does not list them */
    int64_t min, max;              /* INT, LONG; 0, 0 = all values of the type */
    const char *default_text;      /* shown in help; NULL = none */
    const char *group;             /* heading in help */
    const char *help;              /* one or two sentences */
    unsigned commands;             /* bit mask of the program's enum of commands; it may use further
                                    * bits */
    const char *neutral;           /* value that changes nothing, as typed; NULL = none */
    const char *instead;           /* hint at what other commands have instead; NULL = none */
    bool is_repeatable;            /* may be given several times; all values are kept */
    bool takes_list;               /* a text of several values with commas */
    bool is_word;                  /* a text without commas: these separate values of a sweep */
    const char *words_name,
        *words_of;             /* "modules", "some": "--modules a b" is "--option some=a+b",
                                * also next to "--option some"; an alias, too; NULL = none */
    bool is_common;            /* shown by -h; if no option is marked, the first ones are */
    size_t value_at, given_at; /* offsets of its fields, core/cli/wish.h; 0 = no fields */
    const char *dashed;        /* "--micro-batches"; pp_wish_table() sets this and `usual` */
    const struct pp_option_value *usual; /* value if it is not given; NULL = none */
};

struct pp_command {
    const char *name;  /* "program"; the first command is the default one */
    const char *usage; /* "pipesim program --schedule S --pp D --micro-batches N [-o FILE]" */
    const char *summary;
    int min_operands, max_operands; /* file arguments; max -1 = any */
    bool takes_lists; /* arguments may be lists or ranges: kept as text, any option may be repeated.
                       * The caller splits them and reads the parts with pp_option_read() */
    const char *(*offered)(int i); /* names that a shell offers as operands, in addition to files */
    const char *lacks; /* why it lacks options of the first command, for messages; NULL = none */
};

struct pp_example { /* example of -h, help and the man page; a test runs each */
    const char *command, *comment;
};

struct pp_exit { /* exit status in the man page */
    int code;
    const char *meaning;
};

struct pp_topic { /* page of "help NAME"; printed before the help of a command of that name */
    const char *name, *title;
    const char *const *lines;           /* paragraphs, literal after a blank; NULL ends */
    void (*more)(FILE *out, int width); /* prints more after the lines; may be NULL */
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

/* For tables of options: a list of other names, and a bound for counts. */
#define PP_NAMES(...)                                                                              \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
enum { PP_OPTION_BIG = 1 << 20 };

/* Value of an option as typed; indexed like cli->options. */
struct pp_option_value {
    int count;         /* times given, 0 = not */
    const char *text;  /* last argument as typed */
    const char **all;  /* all arguments if repeatable, else only the last one */
    const char *typed; /* the spelling used, with dashes, for messages */
    int64_t integer;   /* INT, LONG; CHOICE: index; FLAG: 1 */
    double number;     /* COUNT, FRAC */
};
struct pp_parsed {
    const struct pp_cli *cli;
    int command;      /* index into cli->commands */
    bool has_command; /* the command was typed, not defaulted */
    struct pp_option_value *values;
    const char **operands;
    int operand_count;
    bool wants_short_help, wants_help, wants_version; /* -h, --help, --version */
};

/* Parses argv[1..]. The command stands anywhere before operands. "--name value", "--name=value",
 * one or two dashes, -o FILE as --output FILE,
 * "--" ends options. PP_EINVAL: an option of another command, an unknown one (with suggestion), a
 * missing or bad argument, a non-repeatable option given twice with different values. After -h,
 * --help or --version nothing is an error any more. */
enum pp_status pp_options_parse(struct pp_arena *arena, const struct pp_cli *cli, int argc,
                                char *const *argv, struct pp_parsed *parsed, struct pp_error *err);
/* Reads one argument by the option's type; sets text, integer or number of `value`. The message
 * does not name the option. */
enum pp_status pp_option_read(const struct pp_option *option, const char *text,
                              struct pp_option_value *value, struct pp_error *err);
/* Returns the value of an option by any of its names; asserts that it exists. If the table has the
 * name several times, it is the entry of the parsed command. */
const struct pp_option_value *pp_options_get(const struct pp_parsed *parsed, const char *name);

/* ---- core/cli/command.c: a command that may be changed, and its text for a shell --------------
 */
/* Returns a copy of a parsed command line, for changes. */
struct pp_parsed *pp_command_copy(struct pp_arena *arena, const struct pp_parsed *parsed);
/* Gives an option this value in place of all others; NULL for a flag. PP_EINVAL if the option does
 * not take the value. */
enum pp_status pp_command_set(struct pp_arena *arena, struct pp_parsed *command, const char *name,
                              const char *value, struct pp_error *err);
enum pp_status pp_command_set_int(struct pp_arena *arena, struct pp_parsed *command,
                                  const char *name, int64_t value, struct pp_error *err);
void pp_command_drop(struct pp_parsed *command, const char *name);
/* Returns the words of the command, NULL-terminated, with names and order of the table. Each is
 * quoted for a shell if needed; an option and its value are one word. */
const char *const *pp_command_words(struct pp_arena *arena, const struct pp_parsed *command);
/* Returns the words as lines of at most `width` columns where they allow it. Each line but the last
 * ends in a backslash. `indent` columns are already printed before the first line; the others are
 * indented so. */
const char *pp_command_lines(struct pp_arena *arena, const char *const *words, int width,
                             int indent);
/* Returns the command on one line. */
const char *pp_command_text(struct pp_arena *arena, const struct pp_parsed *command);
/* Returns the text, in single quotes unless a shell takes it literally. */
const char *pp_command_quoted(struct pp_arena *arena, const char *text);

/* `width` is in columns, 0 = unknown: 80. command -1: all commands. The short help of all commands
 * has at most 24 lines, that of a command at most 40. */
void pp_options_short_help(const struct pp_cli *cli, int command, FILE *out, int width);
void pp_options_help(const struct pp_cli *cli, int command, FILE *out, int width);
void pp_options_man(const struct pp_cli *cli, const char *version, FILE *out); /* roff, man(7) */
enum pp_shell { PP_SHELL_BASH, PP_SHELL_ZSH, PP_SHELL_FISH };
void pp_options_completion(const struct pp_cli *cli, enum pp_shell shell, FILE *out);

/* Answers -h, --help and the command "help". The operand of the latter is empty for everything, a
 * command, a topic, "man", or a shell's name for its completion. PP_EINVAL for other operands.
 * `*is_answered` is false if the command line asks for no help. */
enum pp_status pp_options_answer(const struct pp_parsed *parsed, FILE *out, int width,
                                 bool *is_answered, struct pp_error *err);

/* Returns the nearest entry of a NULL-terminated list (small edit distance, dashes and case
 * ignored), or NULL. */
const char *pp_suggest(const char *word, const char *const *names);
/* Appends "; did you mean NEAR?" to a message about an unknown word. Without a near name it appends
 * all names, as in "; known are A, B and C". Returns err->status. */
enum pp_status pp_suggest_or_list(struct pp_error *err, const char *word, const char *const *names);
/* Is true if names are equal without regard to case, dashes and underscores. */
bool pp_same_name(const char *a, const char *b);
/* Is true if `name` fits the pattern, where '*' stands for any run of characters. */
bool pp_name_fits(const char *pattern, const char *name);
