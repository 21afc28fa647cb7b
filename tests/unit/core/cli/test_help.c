#include "core/cli/options.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUN = 1, SWEEP = 2, VERIFY = 4 };

static const struct pp_command commands[] = {
    {.name = "run",
     .usage = "toy [run] --pp D [--seed S] [--grad-sync WHEN] [--output FILE] [--slow RANK=FACTOR]",
     .summary = "Run it, don't walk."},
    {.name = "sweep",
     .usage = "toy sweep -o FILE",
     .summary = "Run many: a, b.",
     .takes_lists = true},
    {.name = "verify",
     .usage = "toy verify FILE...",
     .summary = "Check files.",
     .max_operands = -1},
};
static const char *const aliases[] = {"pipeline-model-parallel-size", "np", NULL};
/* Texts with what shells and roff treat specially. */
static const struct pp_option options[] = {
    {.name = "pp",
     .aliases = aliases,
     .type = PP_OPTION_INT,
     .argument = "D",
     .min = 1,
     .max = 64,
     .default_text = "8",
     .group = "Layout",
     .help = "Pipeline stages.",
     .commands = RUN | SWEEP,
     .is_common = true},
    {.name = "seed",
     .type = PP_OPTION_LONG,
     .argument = "S",
     .group = "Simulation",
     .help = "Seed of what is drawn by chance. The same seed gives the same numbers, whatever the "
             "machine, the number of cores, or the phase of the moon.",
     .commands = RUN | SWEEP},
    {.name = "output",
     .type = PP_OPTION_STRING,
     .argument = "FILE",
     .group = "Output",
     .help = "Where it's written; \"-\" is [stdout]: `ok` $HOME \\n.",
     .commands = RUN | SWEEP},
    {.name = "grad-sync",
     .type = PP_OPTION_CHOICE,
     .choices = "end|eager|eager-opt",
     .argument = "WHEN",
     .default_text = "end",
     .group = "Layout",
     .help = ".dotted start.",
     .commands = RUN,
     .is_common = true},
    {.name = "post",
     .type = PP_OPTION_CHOICE,
     .choices = "early|jit",
     .group = "Simulation",
     .help = "'quoted' start.",
     .commands = RUN},
    {.name = "params",
     .type = PP_OPTION_COUNT,
     .argument = "N",
     .help = "Parameters.",
     .commands = RUN},
    {.name = "jitter",
     .type = PP_OPTION_FRAC,
     .argument = "X",
     .help = "Noise.",
     .commands = RUN | SWEEP},
    {.name = "slow",
     .type = PP_OPTION_STRING,
     .argument = "RANK=FACTOR",
     .help = "Slow ranks.",
     .commands = RUN,
     .is_repeatable = true},
    {.name = "json", .type = PP_OPTION_FLAG, .help = "JSON.", .commands = RUN | VERIFY},
    {.name = "x",
     .type = PP_OPTION_STRING,
     .argument = "COL",
     .help = "Column.",
     .commands = SWEEP},
};
static const struct pp_example examples[] = {
    {"toy --pp 8", "the usual run"},
    {"toy sweep --pp 1:8:x2 -o sweep.csv", "many runs"},
    {"toy verify a.csv", "check a file"},
    {"toy verify b.csv", "check another"},
    {"toy --pp 4 --grad-sync 'eager'", "fifth, not on the first screen"},
};
static const struct pp_cli cli = {
    .program = "toy",
    .summary = "A toy.",
    .commands = commands,
    .command_count = 3,
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .examples = examples,
    .example_count = 5,
    .date = "2026-01-02",
};

enum page { SHORT, HELP, HELP_SWEEP, MAN, BASH, ZSH, FISH };

static char *print(enum page page, int width)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (page == SHORT)
        pp_options_short_help(&cli, -1, out, width);
    else if (page == HELP || page == HELP_SWEEP)
        pp_options_help(&cli, page == HELP ? -1 : 1, out, width);
    else if (page == MAN)
        pp_options_man(&cli, "0.1.0", out);
    else
        pp_options_completion(&cli, (enum pp_shell)(page - BASH), out);
    fclose(out);
    if (getenv("PP_SHOW"))
        fputs(text, stderr);
    return text;
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

Test(help, the_short_one_fits_a_screen)
{
    char *text = print(SHORT, 80);

    cr_assert_leq(count_lines(text), 24);
    cr_assert_not_null(strstr(text, "usage: toy [run]"));
    cr_assert_not_null(strstr(text, "commands: run sweep verify\n"));
    cr_assert_not_null(strstr(text, "toy verify b.csv"));
    cr_assert_null(strstr(text, "fifth"));
    cr_assert_not_null(strstr(text, "--grad-sync WHEN"));
    cr_assert_null(strstr(text, "--seed S  "), "only what is marked");
    cr_assert_not_null(strstr(text, "toy --help"));
    free(text);
}

/* Without marks the first options are shown, as many as the screen has room for. */
Test(help, the_short_one_fits_whatever_the_table_holds)
{
    struct pp_option many[60];
    struct pp_cli big = cli;
    char *text = NULL;
    size_t length = 0;

    for (int i = 0; i < 60; i++) {
        many[i] = options[1];
        many[i].is_common = false;
    }
    big.options = many;
    big.option_count = 60;
    FILE *out = open_memstream(&text, &length);
    pp_options_short_help(&big, -1, out, 60);
    fclose(out);
    cr_assert_eq(count_lines(text), 24);
    cr_assert_not_null(strstr(text, "--seed S                Seed of what is drawn by chance"));
    for (char *copy = text, *line; (line = strsep(&copy, "\n"));)
        cr_assert_leq(strlen(line), 60, "%s", line);
    free(text);
}

/* Every word of every help text appears, in order, and no line is wider than asked for. */
Test(help, the_long_one_is_complete_and_wrapped)
{
    static const int widths[] = {40, 60, 80, 120, 1000};

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        char *text = print(HELP, widths[i]);
        const char *place = text;

        char *lines = strdup(text);

        for (char *copy = lines, *line; (line = strsep(&copy, "\n"));) {
            const bool is_unbreakable =
                strstr(line, "  toy ") == line || !strchr(line + strspn(line, " "), ' ');
            cr_assert(strlen(line) <= (size_t)widths[i] || is_unbreakable, "%d: %s", widths[i],
                      line);
            cr_assert(!*line || line[strlen(line) - 1] != ' ', "blank at the end: '%s'", line);
        }
        free(lines);
        for (const char *word = options[1].help; *word;) {
            const size_t length = strcspn(word, " ");
            char *wanted = strndup(word, length);
            place = strstr(place, wanted);
            cr_assert_not_null(place, "%s", wanted);
            word += length + (word[length] == ' ');
            free(wanted);
        }
        free(text);
    }
}

Test(help, says_defaults_ranges_units_aliases_and_commands)
{
    char *text = print(HELP, 1000);

    cr_assert_not_null(strstr(text, "(1 to 64; default 8)"));
    cr_assert_not_null(strstr(text, "Other names of options"));
    cr_assert_not_null(strstr(text, "-o, --output FILE"));
    cr_assert_not_null(strstr(text, "(end, eager or eager-opt; default end)"));
    cr_assert_not_null(strstr(text, "--post early|jit"));
    cr_assert_not_null(strstr(text, "(a number such as 7.5e9 or 175B)"));
    cr_assert_not_null(strstr(text, "(a fraction: 5% or 0.05)"));
    cr_assert_not_null(strstr(text, "(may be repeated)"));
    cr_assert_not_null(strstr(text, "-x COL"));
    cr_assert_null(strstr(text, "--x "));
    cr_assert_not_null(strstr(text, "[only sweep]"));
    cr_assert(strstr(text, "Layout:") < strstr(text, "Simulation:"));
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        cr_assert_not_null(strstr(text, options[i].help));
    free(text);
}

Test(help, of_a_command_has_only_its_options)
{
    char *text = print(HELP_SWEEP, 80);

    cr_assert_not_null(strstr(text, "usage: toy sweep -o FILE"));
    cr_assert_not_null(strstr(text, "-x COL"));
    cr_assert_not_null(strstr(text, "sweep.csv"));
    cr_assert_null(strstr(text, "--grad-sync"));
    cr_assert_null(strstr(text, "toy verify"));
    cr_assert_null(strstr(text, "[only"));
    free(text);
}

/* Run `command` with `text` as a file "$F"; returns its output and exit status. */
static char *filter(const char *text, const char *command, int *status)
{
    char path[] = "/tmp/pp_help_XXXXXX", *output = NULL, line[8192];
    const int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    size_t length = 0;

    fputs(text, file);
    fclose(file);
    snprintf(line, sizeof(line), "F=%s; %s", path, command);
    FILE *pipe = popen(line, "r"), *out = open_memstream(&output, &length);
    for (int c; (c = fgetc(pipe)) != EOF;)
        fputc(c, out);
    fclose(out);
    *status = pclose(pipe);
    unlink(path);
    return output;
}

static bool has_tool(const char *name)
{
    char line[128];

    snprintf(line, sizeof(line), "command -v %s >/dev/null 2>&1", name);
    return system(line) == 0;
}

Test(help, man_page_is_clean_roff)
{
    int status;
    char *text = print(MAN, 0);

    cr_assert_not_null(strstr(text, ".TH TOY 1 \"2026-01-02\" \"toy 0.1.0\""));
    if (!has_tool("mandoc"))
        cr_skip_test("mandoc is not installed");
    char *complaints = filter(text, "mandoc -Tlint -W style $F 2>&1", &status);
    cr_assert_str_eq(complaints, "");
    char *page = filter(text, "mandoc -Tascii -O width=300 $F | col -b", &status);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        cr_assert_not_null(strstr(page, options[i].help), "%s\n%s", options[i].help, page);
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        cr_assert_not_null(strstr(page, examples[i].command));
    free(page);
    free(complaints);
    free(text);
}

Test(help, completions_are_valid_scripts)
{
    static const struct {
        enum page page;
        const char *tool, *command;
    } shells[] = {{BASH, "bash", "bash -n $F 2>&1"},
                  {ZSH, "zsh", "zsh -n $F 2>&1"},
                  {FISH, "fish",
                   "HOME=$F.d fish --no-execute $F 2>&1; status=$?; rm -rf $F.d; exit $status"}};

    for (size_t i = 0; i < 3; i++) {
        int status;
        char *text = print(shells[i].page, 0);

        if (has_tool(shells[i].tool)) {
            char *complaints = filter(text, shells[i].command, &status);
            cr_assert_eq(status, 0, "%s: %s", shells[i].tool, complaints);
            cr_assert_str_eq(complaints, "");
            free(complaints);
        }
        free(text);
    }
}

static const struct {
    const char *words, *offered; /* the last word is being completed */
} completed[] = {
    {"toy ''", "run sweep verify"},
    {"toy v", "verify"},
    {"toy --gr", "--grad-sync"},
    {"toy sweep --gr", ""},
    {"toy sweep -", "-h --help --version --pp --seed --output --jitter -x"},
    {"toy run --grad-sync ''", "end eager eager-opt"},
    {"toy --grad-sync e", "end eager eager-opt"},
    {"toy --grad-sync = ea", "eager eager-opt"},
    {"toy --grad-sync =", "end eager eager-opt"},
    {"toy -post j", "jit"},
    {"toy --pp ''", ""},
    {"toy run ''", ""},
    {"toy verify /etc/host", "/etc/host*"},
    {"toy -o /etc/host", "/etc/host*"},
    {"toy run --params ''", ""},
};

Test(help, bash_completes_commands_options_choices_and_files)
{
    char *text = print(BASH, 0);

    if (!has_tool("bash"))
        cr_skip_test("bash is not installed");
    for (size_t i = 0; i < sizeof(completed) / sizeof(completed[0]); i++) {
        char line[1024];
        int status;

        snprintf(line, sizeof(line),
                 "cat > $F.sh <<'EOF'\ncompopt() { :; }\n. $1\nCOMP_WORDS=(%s)\n"
                 "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_toy\nwanted=(%s)\n"
                 "got=($(printf '%%s\\n' \"${COMPREPLY[@]}\" | sort))\n"
                 "want=($(printf '%%s\\n' \"${wanted[@]}\" | sort))\n"
                 "echo \"${got[*]}\"; [ \"${got[*]}\" = \"${want[*]}\" ]\nEOF\n"
                 "bash $F.sh $F 2>&1; status=$?; rm $F.sh; exit $status",
                 completed[i].words, completed[i].offered);
        char *got = filter(text, line, &status);
        cr_assert_eq(status, 0, "%s offers %s", completed[i].words, got);
        free(got);
    }
    free(text);
}

Test(help, fish_completes_commands_options_and_choices)
{
    static const struct {
        const char *line, *offered;
    } lines[] = {{"toy v", "verify"},
                 {"toy --gr", "--grad-sync"},
                 {"toy sweep --gr", ""},
                 {"toy --grad-sync eager-", "eager-opt"},
                 {"toy verify --js", "--json"}};
    char *text = print(FISH, 0);

    if (!has_tool("fish"))
        cr_skip_test("fish is not installed");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char line[512];
        int status;

        snprintf(line, sizeof(line),
                 "HOME=$F.d fish -N -c \"source $F; complete -C '%s'\" | cut -f1 | tr '\\n' ' '; "
                 "rm -rf $F.d",
                 lines[i].line);
        char *got = filter(text, line, &status);
        const size_t length = strlen(got);
        if (length > 0)
            got[length - 1] = '\0';
        cr_assert_str_eq(got, lines[i].offered, "%s offers %s", lines[i].line, got);
        free(got);
    }
    free(text);
}
