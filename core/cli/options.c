/* Parsing: the words of a command line become values of the table of options. */
#include "core/cli/table.h"

#include <assert.h>
#include <ctype.h>

struct parser {
    struct pp_arena *arena;
    const struct pp_cli *cli;
    int argc, next; /* index of the next argument */
    char *const *argv;
    struct pp_parsed *parsed;
    struct pp_error *err;
};

/* ---- names ----------------------------------------------------------------------------------- */

static const char *suggest_option(const struct parser *p, const char *name)
{
    const struct pp_cli *cli = p->cli;
    const char **names = NULL;
    int count = 0, capacity = 0;

    for (int i = 0; i < cli->option_count; i++) {
        if (!pp_option_is_in(&cli->options[i], p->parsed->command))
            continue;
        *PP_PUSH(p->arena, names, count, capacity) = cli->options[i].name;
        for (const char *const *alias = cli->options[i].aliases; alias && *alias; alias++)
            *PP_PUSH(p->arena, names, count, capacity) = *alias;
    }
    *PP_PUSH(p->arena, names, count, capacity) = "help";
    *PP_PUSH(p->arena, names, count, capacity) = "version";
    *PP_PUSH(p->arena, names, count, capacity) = NULL;
    return pp_suggest(name, names);
}

static const char *suggest_command(const struct parser *p, const char *word)
{
    const int count = p->cli->command_count;
    const char **names = PP_ARRAY(p->arena, const char *, count + 1);

    for (int i = 0; i < count; i++)
        names[i] = p->cli->commands[i].name;
    return pp_suggest(word, names);
}

static enum pp_status append_hint(const struct parser *p)
{
    const struct pp_cli *cli = p->cli;

    return pp_error_append(p->err, "\ntry: %s %s --help", cli->program,
                           cli->commands[p->parsed->command].name);
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Is true for equal values, also if spelled differently: "--pp 4 --pp 04". */
static bool is_same(const struct pp_option *option, const struct pp_option_value *a,
                    const struct pp_option_value *b)
{
    if (option->type == PP_OPTION_STRING)
        return !strcmp(a->text, b->text);
    return a->integer == b->integer && !(a->number < b->number) && !(a->number > b->number);
}

static enum pp_status store(const struct parser *p, int index, const char *typed, const char *text)
{
    const struct pp_option *option = &p->cli->options[index];
    const bool takes_lists = p->cli->commands[p->parsed->command].takes_lists;
    struct pp_option_value *value = &p->parsed->values[index];
    text = pp_option_refine(option, typed, text, value);
    struct pp_option_value fresh = {.text = text};

    if (!takes_lists || option->type == PP_OPTION_FLAG || !*text) {
        if (pp_option_read(option, text, &fresh, p->err) != PP_OK)
            return pp_error_prefix(p->err, "%s: ", typed);
    }
    const bool is_collected =
        option->is_repeatable || (takes_lists && pp_option_has_argument(option));
    if (value->count > 0 && !is_collected && !is_same(option, value, &fresh))
        return option->takes_list
                   ? pp_error_set(p->err, PP_EINVAL,
                                  "%s %s after %s %s: several are one list, --%s %s,%s", typed,
                                  text, value->typed, value->text, option->name, value->text, text)
                   : pp_error_set(p->err, PP_EINVAL,
                                  "%s %s contradicts %s %s before it: give --%s one value", typed,
                                  text, value->typed, value->text, option->name);
    if (!value->all)
        value->all = PP_ARRAY(p->arena, const char *, is_collected ? p->argc : 1);
    value->all[is_collected ? value->count : 0] = text;
    value->count++;
    value->text = text;
    value->typed = typed;
    value->integer = fresh.integer;
    value->number = fresh.number;
    return PP_OK;
}

/* ---- one option ------------------------------------------------------------------------------ */

/* Takes the option that "help --tp" asks about. */
static bool takes_topic(const struct parser *p)
{
    return p->parsed->has_command && !strcmp(p->cli->commands[p->parsed->command].name, "help");
}

static enum pp_status refuse_option(const struct parser *p, const char *typed, const char *name)
{
    const struct pp_cli *cli = p->cli;
    const int index = pp_cli_option(cli, -1, name, strlen(name));
    const char *command = cli->commands[p->parsed->command].name;

    if (index >= 0) {
        const char *separator = "";

        pp_error_set(p->err, PP_EINVAL, "%s is not an option of \"%s %s\" but of ", typed,
                     cli->program, command);
        for (int i = 0; i < cli->command_count; i++)
            if (pp_cli_option(cli, i, name, strlen(name)) >= 0) {
                pp_error_append(p->err, "%s\"%s\"", separator, cli->commands[i].name);
                separator = ", ";
            }
        const char *lacks = cli->commands[p->parsed->command].lacks;
        if (lacks && pp_option_is_in(&cli->options[index], 0))
            pp_error_append(p->err, "; %s", lacks);
        if (cli->options[index].instead)
            pp_error_append(p->err, "; %s", cli->options[index].instead);
        return append_hint(p);
    }
    pp_error_set(p->err, PP_EINVAL, "unknown option %s", typed);
    if (pp_cli_name_ours(cli, name, p->err) || pp_cli_name_other_option(cli, name, p->err))
        return append_hint(p);
    const char *near = suggest_option(p, name);
    if (near)
        pp_error_append(p->err, "; did you mean %s%s?", pp_option_dashes(near), near);
    return append_hint(p);
}

static bool take_help(struct pp_parsed *parsed, const char *argument)
{
    const char *name = argument + 1 + (argument[1] == '-');

    if (!strcmp(argument, "-h"))
        return parsed->wants_short_help = true;
    if (!strcmp(name, "help"))
        return parsed->wants_help = true;
    if (!strcmp(name, "version"))
        return parsed->wants_version = true;
    return false;
}

/* Is true for a letter joined to its number: "-j8". */
static bool is_joined(const struct parser *p, const char *argument)
{
    const char *name = argument + 1;
    const int index = pp_cli_option(p->cli, p->parsed->command, name, 1);

    return isdigit((unsigned char)name[1]) && index >= 0 &&
           pp_option_has_argument(&p->cli->options[index]) &&
           pp_cli_option(p->cli, p->parsed->command, name, strlen(name)) < 0;
}

static const char *argument_of(const struct pp_option *option)
{
    return option->argument ? option->argument : "argument";
}

static void append_choices(const struct parser *p, const struct pp_option *option)
{
    char copy[PP_CHOICES_BYTES];
    const char *names[PP_CHOICES_MAX + 1];
    const int count = pp_choices_split(option->choices, copy, names);

    for (int i = 0; i < count; i++)
        pp_error_append(p->err, "%s%s",
                        i == 0          ? "; expected "
                        : i + 1 < count ? ", "
                                        : " or ",
                        names[i]);
}

/* Refuses the end, or another option, in place of a value. That may be meant, unless values are
 * words. */
static enum pp_status refuse_missing(const struct parser *p, const struct pp_option *option,
                                     const char *typed, const char *text)
{
    pp_error_set(p->err, PP_EINVAL, "%s needs its %s", typed, argument_of(option));
    if (text)
        pp_error_append(p->err, " but %s follows", text);
    if (option->type == PP_OPTION_CHOICE)
        append_choices(p, option);
    else if (text)
        pp_error_append(p->err, "; write %s=%s if that is meant", typed, text);
    return PP_EINVAL;
}

static const char *join_words(struct parser *p, const struct pp_option *option, const char *first)
{
    return pp_option_join_words(p->arena, option, first, p->argv, p->argc, &p->next);
}

static enum pp_status take_option(struct parser *p)
{
    const char *argument = p->argv[p->next++];
    if (is_joined(p, argument))
        return store(p, pp_cli_option(p->cli, p->parsed->command, argument + 1, 1),
                     pp_arena_printf(p->arena, "%.2s", argument), argument + 2);
    const char *name = argument + 1 + (argument[1] == '-'), *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const char *typed =
        pp_arena_printf(p->arena, "%.*s", (int)(name - argument + (long)length), argument);
    const int index = pp_cli_option(p->cli, p->parsed->command, name, length);

    if (index < 0 && take_help(p->parsed, argument))
        return PP_OK;
    if (index < 0 && takes_topic(p)) {
        p->parsed->operands[p->parsed->operand_count++] = typed + (name - argument);
        return PP_OK;
    }
    if (index < 0)
        return refuse_option(p, typed, typed + (name - argument));
    const struct pp_option *option = &p->cli->options[index];
    if (!pp_option_has_argument(option)) {
        if (equals)
            return pp_error_set(p->err, PP_EINVAL, "%s takes no argument (it has \"%s\")", typed,
                                equals + 1);
        return store(p, index, typed, "");
    }
    const bool takes_words = pp_option_takes_words(option, typed);
    if (equals)
        return store(p, index, typed, takes_words ? join_words(p, option, equals + 1) : equals + 1);
    if (p->next == p->argc)
        return refuse_missing(p, option, typed, NULL);
    const char *text = p->argv[p->next++];
    if (pp_cli_is_option(text))
        return refuse_missing(p, option, typed, text);
    return store(p, index, typed, takes_words ? join_words(p, option, text) : text);
}

/* ---- command line ---------------------------------------------------------------------------- */

static const char *suggest_value(const struct parser *p, const char *word, bool may_differ)
{
    return pp_cli_suggest_value(p->arena, p->parsed, word, may_differ);
}

/* Suggests an option with this value, a command near the word, or an option with a value near it.
 */
static enum pp_status refuse_word(const struct parser *p, const char *word)
{
    const char *near = suggest_value(p, word, false);

    if (!near)
        near = suggest_command(p, word);
    if (!near && pp_cli_option(p->cli, p->parsed->command, word, strlen(word)) >= 0)
        near = pp_arena_printf(p->arena, "%s%s", pp_option_dashes(word), word);
    if (!near)
        near = suggest_value(p, word, true);

    pp_error_set(p->err, PP_EINVAL, "unknown command \"%s\"", word);
    if (pp_cli_name_other_command(p->cli, word, p->err))
        return PP_EINVAL;
    if (near)
        return pp_error_append(p->err, "; did you mean \"%s %s\"?", p->cli->program, near);
    pp_error_append(p->err, "; commands are");
    for (int i = 0; i < p->cli->command_count; i++)
        pp_error_append(p->err, "%s %s", i ? "," : "", p->cli->commands[i].name);
    return PP_EINVAL;
}

/* Is true if the first word seems to be meant as a command. It may be a file otherwise. */
static bool is_meant_as_command(const struct parser *p)
{
    const struct pp_parsed *parsed = p->parsed;
    const char *first = parsed->operand_count > 0 ? parsed->operands[0] : NULL;

    return first && !parsed->has_command && p->argv[1] == first && !strpbrk(first, "./") &&
           (p->cli->commands[parsed->command].max_operands == 0 || suggest_command(p, first));
}

static enum pp_status check_operands(const struct parser *p)
{
    const struct pp_cli *cli = p->cli;
    const struct pp_parsed *parsed = p->parsed;
    const struct pp_command *command = &cli->commands[parsed->command];
    const int count = parsed->operand_count;
    const char *first = count > 0 ? parsed->operands[0] : NULL;

    if (first && !parsed->has_command && pp_cli_command(cli, first) >= 0)
        return pp_error_set(p->err, PP_EINVAL, "the command comes first: %s %s ...", cli->program,
                            first);
    if (is_meant_as_command(p))
        return refuse_word(p, first);
    if (count < command->min_operands)
        return pp_error_set(p->err, PP_EINVAL, "%s %s needs %d operand%s, not %d\nusage: %s",
                            cli->program, command->name, command->min_operands,
                            command->min_operands == 1 ? "" : "s", count, command->usage);
    if (command->max_operands >= 0 && count > command->max_operands) {
        const char *word = parsed->operands[command->max_operands];
        const char *near = suggest_value(p, word, false);
        return pp_error_set(p->err, PP_EINVAL,
                            "\"%s\" is one operand too many for %s %s%s%s%s\nusage: %s", word,
                            cli->program, command->name, near ? "; did you mean " : "",
                            near ? near : "", near ? "?" : "", command->usage);
    }
    return PP_OK;
}

static bool wants_any_help(const struct pp_parsed *parsed)
{
    return parsed->wants_short_help || parsed->wants_help || parsed->wants_version;
}

/* Takes "--help sweep" as "sweep --help". */
static enum pp_status finish_help(const struct parser *p)
{
    struct pp_parsed *parsed = p->parsed;
    const int command =
        parsed->operand_count > 0 ? pp_cli_command(p->cli, parsed->operands[0]) : -1;

    if (!parsed->has_command && command >= 0) {
        parsed->command = command;
        parsed->has_command = true;
    }
    return PP_OK;
}

enum pp_status pp_options_parse(struct pp_arena *arena, const struct pp_cli *cli, int argc,
                                char *const *argv, struct pp_parsed *parsed, struct pp_error *err)
{
    struct pp_error unused;
    struct parser p = {arena, cli, argc, 1, argv, parsed, err ? err : &unused};
    const int command_at = pp_cli_find_command(cli, argc, argv);
    bool has_options = true;

    *parsed = (struct pp_parsed){
        .cli = cli,
        .command = command_at > 0 ? pp_cli_command(cli, argv[command_at]) : 0,
        .has_command = command_at > 0,
        .values = PP_ARRAY(arena, struct pp_option_value, cli->option_count + 1),
        .operands = PP_ARRAY(arena, const char *, argc + 1),
    };
    while (p.next < argc) {
        const char *argument = argv[p.next];

        if (p.next == command_at) {
            p.next++;
        } else if (has_options && !strcmp(argument, "--")) {
            has_options = false;
            p.next++;
        } else if (has_options && pp_cli_is_option(argument)) {
            const enum pp_status status = take_option(&p);
            if (status != PP_OK && wants_any_help(parsed))
                return finish_help(&p);
            if (status != PP_OK) /* options of an unknown command are unknown, too */
                return is_meant_as_command(&p) ? refuse_word(&p, parsed->operands[0]) : status;
        } else {
            parsed->operands[parsed->operand_count++] = argument;
            p.next++;
        }
    }
    return wants_any_help(parsed) ? finish_help(&p) : check_operands(&p);
}

const struct pp_option_value *pp_options_get(const struct pp_parsed *parsed, const char *name)
{
    const struct pp_cli *cli = parsed->cli;
    int found = -1;

    for (int i = 0; i < cli->option_count; i++) { /* the usual case: by its first name */
        const struct pp_option *option = &cli->options[i];

        if (option->name[0] == name[0] && !strcmp(option->name, name) &&
            pp_option_is_in(option, parsed->command))
            return &parsed->values[i];
    }
    for (int i = 0; i < cli->option_count; i++) {
        const struct pp_option *option = &cli->options[i];

        if (!pp_cli_is_option_name(option, name, strlen(name)))
            continue;
        if (found < 0 || pp_option_is_in(option, parsed->command))
            found = i;
        if (pp_option_is_in(option, parsed->command))
            break;
    }
    assert(found >= 0);
    return &parsed->values[found];
}
