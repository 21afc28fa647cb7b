/* The help of a program and of its commands, written from the table of options. */
#include "core/cli/table.h"
#include "core/text/terminal.h"

enum {
    COLUMN = 26,
    WIDTH_MIN = 40,
    WIDTH_DEFAULT = 80,
    SCREEN_LINES = 24,
    COMMAND_LINES = 40,
    SHORT_EXAMPLES = 4
};

/* Prints `left` indented by two blanks, and `right` wrapped in its own column. */
static void print_pair(FILE *out, const char *left, const char *right, int width)
{
    const int size = 2 + pp_text_columns(left, strlen(left));
    const int column = width < WIDTH_DEFAULT ? COLUMN * width / WIDTH_DEFAULT : COLUMN;

    fprintf(out, "  %s", left);
    if (size + 2 > column)
        fputc('\n', out);
    fprintf(out, "%*s", size + 2 > column ? column : column - size, "");
    pp_text_wrap(out, width, column, column, right);
}

static int fit_width(int width)
{
    return width <= 0 ? WIDTH_DEFAULT : width < WIDTH_MIN ? WIDTH_MIN : width;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void print_option(const struct pp_cli *cli, const struct pp_option *option, int command,
                         FILE *out, int width)
{
    struct pp_option_text left, right;

    pp_option_spell(option, &left);
    pp_option_describe(option, &right);
    if (command < 0)
        pp_option_describe_commands(cli, option, &right);
    print_pair(out, left.bytes, right.bytes, width);
}

bool pp_option_help(const struct pp_cli *cli, const char *name, FILE *out, int width)
{
    bool is_found = false;

    for (int i = 0; i < cli->option_count; i++) {
        bool is_it = pp_same_name(cli->options[i].name, name);
        for (const char *const *alias = cli->options[i].aliases; alias && *alias; alias++)
            is_it |= pp_same_name(*alias, name);
        if (is_it)
            print_option(cli, &cli->options[i], -1, out, fit_width(width));
        is_found |= is_it;
    }
    return is_found;
}

static void print_groups(const struct pp_cli *cli, int command, FILE *out, int width)
{
    bool has_aliases = false;

    for (int i = 0; i < cli->option_count; i++) {
        has_aliases |= cli->options[i].aliases && pp_option_is_in(&cli->options[i], command);
        if (!pp_option_opens_group(cli, command, i))
            continue;
        fprintf(out, "\n%s:\n", pp_option_group(&cli->options[i]));
        for (int j = i; j < cli->option_count; j++)
            if (pp_option_is_in(&cli->options[j], command) &&
                !strcmp(pp_option_group(&cli->options[i]), pp_option_group(&cli->options[j])))
                print_option(cli, &cli->options[j], command, out, width);
    }
    if (has_aliases) {
        struct pp_option_text text;
        snprintf(text.bytes, sizeof text.bytes,
                 "Other names of options, such as those of frameworks: %s help man", cli->program);
        fputc('\n', out);
        pp_text_wrap(out, width, 0, 0, text.bytes);
    }
    fprintf(out, "\nHelp:\n");
    print_pair(out, "-h", "one screen of help", width);
    print_pair(out, "--help", "this text", width);
    print_pair(out, "--version", "the version", width);
}

/* Prints a command for a shell, wrapped; an option stays with its arguments. Returns its lines. */
static int print_command(FILE *out, const char *text, int width)
{
    int at = fprintf(out, "  "), lines = 1;

    for (bool is_first = true; *text; is_first = false) {
        const char *words = text + strspn(text, " "), *next = strstr(words, " -");
        const size_t bytes = next ? (size_t)(next - words) : strlen(words);
        const int size = 1 + pp_text_columns(words, bytes), room = next ? width - 2 : width;

        text = words + bytes;
        if (!is_first && at + size > room) {
            at = fprintf(out, " \\\n     ") - 3;
            lines++;
        }
        fprintf(out, "%s%.*s", is_first ? "" : " ", (int)bytes, words);
        at += size - is_first;
    }
    fputc('\n', out);
    return lines;
}

/* Prints at most `most` examples; returns their number of lines. */
static int print_examples(const struct pp_cli *cli, int command, FILE *out, int most, int width)
{
    int count = 0, lines = 0;

    for (int i = 0; i < cli->example_count && count < most; i++) {
        if (!pp_example_is_of(cli, &cli->examples[i], command))
            continue;
        if (count++ == 0)
            fprintf(out, "\nExamples:\n"), lines = 2;
        if (cli->examples[i].comment)
            fprintf(out, "  # %s\n", cli->examples[i].comment), lines++;
        lines += print_command(out, cli->examples[i].command, width);
    }
    return lines;
}

/* Prints the first sentence of help, without its period, on one line cut after a word. */
static void print_option_line(const struct pp_option *option, FILE *out, int width)
{
    const char *help = option->help ? option->help : "", *end = strstr(help, ". ");
    struct pp_option_text left;

    pp_option_spell(option, &left);
    const int size = (int)left.length, at = size + 4 > COLUMN ? size + 4 : COLUMN;
    int length = end ? (int)(end - help) : (int)strlen(help);
    if (length > 0 && help[length - 1] == '.')
        length--;
    if (length > width - at) { /* cut after a word */
        length = width > at ? width - at : 0;
        while (length > 0 && help[length] != ' ')
            length--;
    }
    fprintf(out, "  %-*s%.*s\n", at - 2, left.bytes, length, help);
}

static int print_command_names(const struct pp_cli *cli, FILE *out, int width)
{
    struct pp_option_text names = {.length = 0};

    for (int i = 0; i < cli->command_count; i++) {
        const size_t room = sizeof(names.bytes) - names.length;
        const int wanted =
            snprintf(names.bytes + names.length, room, "%s%s", i ? " " : "", cli->commands[i].name);

        names.length += wanted < 0 || (size_t)wanted >= room ? 0 : (size_t)wanted;
    }
    fputs("commands: ", out);
    return pp_text_wrap(out, width, 10, 10, names.bytes);
}

static bool has_marked(const struct pp_cli *cli, int command)
{
    for (int i = 0; i < cli->option_count; i++)
        if (cli->options[i].is_common && pp_option_is_in(&cli->options[i], command))
            return true;
    return false;
}

/* Prints the options that -h marks, or all if none is; returns the lines that are left. */
static int print_marked(const struct pp_cli *cli, int command, FILE *out, int lines, int width)
{
    const bool has_common = has_marked(cli, command);

    for (int i = 0; i < cli->option_count && lines > 0; i++) {
        const struct pp_option *option = &cli->options[i];
        const bool is_shown = has_common ? option->is_common : command >= 0 || option->commands & 1;
        if (!is_shown || !pp_option_is_in(option, command))
            continue;
        print_option_line(option, out, width);
        lines--;
    }
    return lines;
}

/* Prints the unmarked options of a command that the default command lacks. */
static void print_own(const struct pp_cli *cli, int command, FILE *out, int lines, int width)
{
    for (int i = 0; i < cli->option_count && lines > 0; i++) {
        const struct pp_option *option = &cli->options[i];
        if (option->is_common || !pp_option_is_in(option, command) || pp_option_is_in(option, 0))
            continue;
        print_option_line(option, out, width);
        lines--;
    }
}

static void short_help_of_all(const struct pp_cli *cli, FILE *out, int width)
{
    int lines = SCREEN_LINES - 5; /* the title, two blank lines, a heading, the last line */

    fprintf(out, "%s: %s\nusage: ", cli->program, cli->summary);
    lines -= pp_text_wrap(out, width, 7, 11, cli->commands[0].usage);
    lines -= print_command_names(cli, out, width);
    lines -= print_examples(cli, -1, out, SHORT_EXAMPLES, width);
    fprintf(out, "\nThe most important options:\n");
    print_marked(cli, -1, out, lines, width);
    fprintf(out, "\nEverything: %s --help; one command: %s COMMAND -h\n", cli->program,
            cli->program);
}

void pp_options_short_help(const struct pp_cli *cli, int command, FILE *out, int width)
{
    const int columns_out = fit_width(width);
    const struct pp_command *c = command < 0 ? NULL : &cli->commands[command];
    int lines = COMMAND_LINES - 4; /* two blank lines, a heading, the last line */

    if (!c) {
        short_help_of_all(cli, out, columns_out);
        return;
    }
    fprintf(out, "%s %s: ", cli->program, c->name);
    lines -= pp_text_wrap(out, columns_out, (int)strlen(cli->program) + (int)strlen(c->name) + 3, 2,
                          c->summary);
    fputs("usage: ", out);
    lines -= pp_text_wrap(out, columns_out, 7, 11, c->usage);
    lines -= print_examples(cli, command, out, SHORT_EXAMPLES, columns_out);
    fprintf(out, "\nThe most important options:\n");
    lines = print_marked(cli, command, out, lines, columns_out);
    if (command > 0 && has_marked(cli, command))
        print_own(cli, command, out, lines, columns_out);
    fprintf(out, "\nEverything: %s %s --help\n", cli->program, c->name);
}

static void print_topics(const struct pp_cli *cli, FILE *out, int width)
{
    if (cli->topics)
        fprintf(out, "\nTopics (%s help TOPIC):\n", cli->program);
    for (const struct pp_topic *topic = cli->topics; topic && topic->name; topic++)
        print_pair(out, topic->name, topic->title, width);
}

void pp_options_help(const struct pp_cli *cli, int command, FILE *out, int width)
{
    const int columns_out = fit_width(width);
    const int first = command < 0 ? 0 : command,
              last = command < 0 ? cli->command_count : first + 1;

    if (command < 0)
        fprintf(out, "%s: %s\n\n", cli->program, cli->summary);
    for (int i = first; i < last; i++) {
        const char *lead = i == first ? "usage: " : "       ";

        fputs(lead, out);
        pp_text_wrap(out, columns_out, 7, 11, cli->commands[i].usage);
    }
    fputc('\n', out);
    if (command >= 0) {
        pp_text_wrap(out, columns_out, 0, 0, cli->commands[command].summary);
    } else {
        fprintf(out, "Commands:\n");
        for (int i = 0; i < cli->command_count; i++)
            print_pair(out, cli->commands[i].name, cli->commands[i].summary, columns_out);
        print_topics(cli, out, columns_out);
    }
    print_groups(cli, command, out, columns_out);
    print_examples(cli, command, out, cli->example_count, columns_out);
}
