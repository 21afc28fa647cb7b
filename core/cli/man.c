/* The man page, written from the table of options. */
#include "core/cli/table.h"

#include <ctype.h>

enum { LINE_COLUMNS = 72 };

/* Characters that roff would change or interpret. */
static const char *const escapes[256] = {
    ['\\'] = "\\e",  ['-'] = "\\-",   ['\''] = "\\(aq", ['^'] = "\\(ha",
    ['~'] = "\\(ti", ['`'] = "\\(ga", ['\n'] = " ",
};

static void print_letter(FILE *out, char letter)
{
    if (escapes[(unsigned char)letter])
        fputs(escapes[(unsigned char)letter], out);
    else
        fputc(letter, out);
}

/* Prints text on one line; a line must not begin with a request. */
static void print_roff(FILE *out, const char *text)
{
    if (*text == '.')
        fputs("\\&", out);
    for (; *text; text++)
        print_letter(out, *text);
}

/* Prints a paragraph, its source broken at blanks. */
static void print_filled(FILE *out, const char *text)
{
    int column = 0;

    for (; *text; text++, column++) {
        if (*text == ' ' && column + (int)strcspn(text + 1, " ") >= LINE_COLUMNS) {
            fputs(text[1] == '.' ? "\n\\&" : "\n", out);
            column = 0;
        } else if (column == 0 && *text == '.') {
            fputs("\\&.", out);
        } else {
            print_letter(out, *text);
        }
    }
    fputc('\n', out);
}

static void print_line(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    print_roff(out, text);
    fputs(after, out);
}

/* Prints a tagged paragraph: the option's spelling in bold, its argument in italics. */
static void print_option(const struct pp_cli *cli, const struct pp_option *option, FILE *out)
{
    struct pp_option_text text;

    pp_option_spell(option, &text);
    char *argument = pp_option_has_argument(option) ? strrchr(text.bytes, ' ') : NULL;
    if (argument)
        *argument = '\0';
    print_line(out, ".TP\n\\fB", text.bytes, "\\fR");
    if (argument)
        print_line(out, " \\fI", argument + 1, "\\fR");
    pp_option_describe_all(option, &text);
    pp_option_describe_commands(cli, option, &text);
    fputc('\n', out);
    print_filled(out, text.length > 0 ? text.bytes : "No description.");
}

static void print_options(const struct pp_cli *cli, FILE *out)
{
    fputs(".SH OPTIONS\n", out);
    fputs("One dash does for two, and\n.BI \\-\\-name= value\nfor\n.BI \\-\\-name \" value\" .\n",
          out);
    for (int i = 0; i < cli->option_count; i++) {
        if (!pp_option_opens_group(cli, -1, i))
            continue;
        print_line(out, ".SS ", pp_option_group(&cli->options[i]), "\n");
        for (int j = i; j < cli->option_count; j++)
            if (!strcmp(pp_option_group(&cli->options[i]), pp_option_group(&cli->options[j])))
                print_option(cli, &cli->options[j], out);
    }
    fputs(".SS Help\n.TP\n\\fB\\-h\\fR\nOne screen of help.\n.TP\n\\fB\\-\\-help\\fR\n"
          "All options, or those of a command.\n.TP\n\\fB\\-\\-version\\fR\nThe version.\n",
          out);
}

static void print_head(const struct pp_cli *cli, const char *version, FILE *out)
{
    fputs(".TH ", out);
    for (const char *letter = cli->program; *letter; letter++)
        fputc(toupper((unsigned char)*letter), out);
    fprintf(out, " 1 \"%s\" \"", cli->date ? cli->date : "");
    print_line(out, "", cli->program, " ");
    print_line(out, "", version, "\"\n");
    print_line(out, ".SH NAME\n", cli->program, " \\- ");
    /* NAME is one phrase, without the full stop of a sentence. */
    const size_t length = strlen(cli->summary);
    char summary[512];
    snprintf(summary, sizeof(summary), "%.*s",
             (int)(length > 0 && cli->summary[length - 1] == '.' ? length - 1 : length),
             cli->summary);
    print_line(out, "", summary, "\n.SH SYNOPSIS\n.nf\n");
    for (int i = 0; i < cli->command_count; i++)
        print_line(out, "", cli->commands[i].usage, "\n");
    fputs(".fi\n", out);
}

void pp_options_man(const struct pp_cli *cli, const char *version, FILE *out)
{
    char summary[512];

    print_head(cli, version, out);
    fputs(".SH DESCRIPTION\n", out);
    print_filled(out, cli->summary);
    fputs(".SH COMMANDS\n", out);
    for (int i = 0; i < cli->command_count; i++) {
        print_line(out, ".TP\n\\fB", cli->commands[i].name, "\\fR\n");
        snprintf(summary, sizeof(summary), "%s%s", cli->commands[i].summary,
                 i == 0 ? "; the default command" : "");
        print_filled(out, summary);
    }
    if (cli->topics)
        fprintf(out, ".SH TOPICS\nExplained by\n.BI \"%s help \" TOPIC :\n", cli->program);
    for (const struct pp_topic *topic = cli->topics; topic && topic->name; topic++) {
        print_line(out, ".TP\n\\fB", topic->name, "\\fR\n");
        print_filled(out, topic->title);
    }
    print_options(cli, out);
    if (cli->exits)
        fputs(".SH EXIT STATUS\n", out);
    for (const struct pp_exit *e = cli->exits; e && e->meaning; e++) {
        fprintf(out, ".TP\n%d\n", e->code);
        print_filled(out, e->meaning);
    }
    if (cli->example_count > 0)
        fputs(".SH EXAMPLES\n", out);
    for (int i = 0; i < cli->example_count; i++) {
        const char *comment = cli->examples[i].comment;

        print_line(out, i ? ".PP\n" : "", comment ? comment : "", comment ? ":\n" : "");
        print_line(out, ".PP\n.nf\n.RS\n", cli->examples[i].command, "\n.RE\n.fi\n");
    }
}
