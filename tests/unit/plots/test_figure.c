/* Where a figure goes, how its text is escaped, and what happens when gnuplot is not there. */
#include "plots/figure.h"
#include "tests/unit/support/gnuplot.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pp_arena *arena;
static char folder[64], old_path[4096];

static void setup(void)
{
    arena = pp_arena_create();
    snprintf(folder, sizeof(folder), "/tmp/test_figure.XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(old_path, sizeof(old_path), "%s", getenv("PATH"));
}

static void teardown(void)
{
    char command[128];

    setenv("PATH", old_path, 1);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert(system(command) == 0);
    pp_arena_destroy(arena);
}

TestSuite(figure, .init = setup, .fini = teardown);

static const char *in_folder(const char *name)
{
    return pp_arena_printf(arena, "%s/%s", folder, name);
}

static bool exists(const char *name)
{
    struct stat info;

    return stat(in_folder(name), &info) == 0 && info.st_size > 0;
}

/* Begins a figure that plots one line; `body` is its only plot command. */
static enum pp_status draw(const char *name, const char *body, struct pp_error *err)
{
    static const struct pp_figure_wish wish = {.width_in = 6, .height_in = 4, .title = "A_title"};
    struct pp_plot_target target = {0};
    struct pp_figure figure;

    cr_assert(pp_plot_target_parse(in_folder(name), &target, err) == PP_OK);
    pp_figure_open(arena, &target, &wish, &figure);
    fprintf(figure.script, "$d << EOD\n1 2\n2 3\nEOD\n%s\n", body);
    return pp_figure_close(&figure, err);
}

Test(figure, format_follows_the_name)
{
    static const struct {
        const char *path;
        enum pp_plot_format format;
    } CASES[] = {{NULL, PP_PLOT_TERMINAL},  {"-", PP_PLOT_TERMINAL},  {"none", PP_PLOT_TERMINAL},
                 {"a.png", PP_PLOT_PNG},    {"x/b.pdf", PP_PLOT_PDF}, {"c.svg", PP_PLOT_SVG},
                 {"d.v2.tex", PP_PLOT_TEX}, {"e.gp", PP_PLOT_SCRIPT}};
    static const char *const BAD[] = {"a.jpg", ".png", "png", "dir/.pdf", "a.png.gz", ""};
    struct pp_plot_target target;
    struct pp_error err = {0};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        cr_assert(pp_plot_target_parse(CASES[i].path, &target, &err) == PP_OK);
        cr_assert(eq(int, target.format, CASES[i].format));
    }
    for (size_t i = 0; i < sizeof(BAD) / sizeof(*BAD); i++)
        cr_assert(pp_plot_target_parse(BAD[i], &target, &err) == PP_EINVAL, "%s", BAD[i]);
}

Test(figure, text_is_escaped)
{
    struct pp_plot_target target = {.format = PP_PLOT_PDF};
    struct pp_figure figure = {.arena = arena, .target = &target};

    cr_assert(eq(str, (char *)pp_figure_quote(&figure, "it's 5 %_\t"), "'it'.\"'\".'s 5 %_ '"));
    cr_assert(eq(str, (char *)pp_figure_quote(&figure, "a\nb"), "'a'.\"\\n\".'b'"));
    target.format = PP_PLOT_TEX;
    cr_assert(eq(str, (char *)pp_figure_quote(&figure, "a_b 5% <&> it's \\"),
                 "'a\\_b 5\\% \\textless{}\\&\\textgreater{} it'.\"'\".'s \\textbackslash{}'"));
}

Test(figure, every_format_is_drawn)
{
    static const char *const NAMES[] = {"a.png", "a.pdf", "a.svg", "b.tex"};
    struct pp_error err = {0};

    if (!has_gnuplot())
        cr_skip_test("gnuplot is not installed");
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        cr_assert(draw(NAMES[i], "plot $d with lines linestyle 1 title 'x'", &err) == PP_OK, "%s",
                  err.message);
        cr_assert(exists(NAMES[i]));
    }
    cr_assert(exists("b-graphics.pdf"));
    char command[256];
    snprintf(command, sizeof(command),
             "grep -q '{b-graphics}' %s/b.tex && [ $(ls %s | wc -l) = 5 ]", folder, folder);
    cr_assert(system(command) == 0); /* LaTeX finds the graphics, and nothing else is left */
}

Test(figure, a_script_runs_as_it_is)
{
    struct pp_error err = {0};
    char command[256];

    cr_assert(draw("fig.gp", "plot $d with lines", &err) == PP_OK);
    if (!has_gnuplot())
        cr_skip_test("gnuplot is not installed");
    snprintf(command, sizeof(command), "cd %s && gnuplot fig.gp", folder);
    cr_assert(system(command) == 0);
    cr_assert(exists("fig.pdf"));
}

Test(figure, without_gnuplot_the_script_is_kept)
{
    struct pp_error err = {0};

    setenv("PATH", folder, 1);
    cr_assert(not(has_gnuplot()));
    cr_assert(draw("fig.pdf", "plot $d", &err) == PP_EFAIL);
    cr_assert(strstr(err.message, "not installed") && strstr(err.message, "fig.pdf.gp"), "%s",
              err.message);
    cr_assert(exists("fig.pdf.gp") && !exists("fig.pdf"));
}

Test(figure, a_failure_of_gnuplot_is_told)
{
    struct pp_error err = {0};

    if (!has_gnuplot())
        cr_skip_test("gnuplot is not installed");
    cr_assert(draw("fig.svg", "plot $nothing", &err) == PP_EFAIL);
    cr_assert(strstr(err.message, "gnuplot failed:") && strstr(err.message, "fig.svg.gp"), "%s",
              err.message);
    cr_assert(exists("fig.svg.gp") && !exists("fig.svg"));
}

Test(figure, a_folder_that_is_not_there_is_told_before_drawing)
{
    struct pp_error err = {0};

    cr_assert(draw("no/fig.pdf", "plot $d", &err) == PP_EFAIL);
    cr_assert(strstr(err.message, "no/fig.pdf") != NULL, "%s", err.message);
}

Test(figure, long_text_is_wrapped_at_spaces_and_cut)
{
    static const struct {
        const char *text;
        int characters, lines;
        const char *want;
    } CASES[] = {
        {"short", 20, 2, "short"},
        {"one two three four", 10, 2, "one two\nthree four"},
        {"one two three four five", 10, 2, "one two\nthree..."},
        {"first\nsecond", 10, 2, "first\nsecond"},
        {"first\nsecond\nthird", 10, 2, "first\nsecond"},
        {"withoutanyspaces", 10, 3, "withoutany\nspaces"},
        {"abcdefgh\xc3\xa4z", 9, 1, "abcdef..."},
        {"", 10, 2, ""},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        cr_expect_str_eq(pp_figure_wrap(arena, CASES[i].text, CASES[i].characters, CASES[i].lines),
                         CASES[i].want);
}
