/* Text of others in pages, and commands as a shell reads them. */
#include "core/cli/options.h"
#include "core/text/html.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t bytes;

static FILE *page(void)
{
    return open_memstream(&text, &bytes);
}

static void expect(FILE *out, const char *wanted)
{
    fclose(out);
    cr_assert_str_eq(text, wanted);
    free(text);
}

Test(html, texts_are_escaped_and_formats_are_not)
{
    FILE *out = page();

    pp_html(out, "<a id=\"%s\">%s</a> %d %5.2f%% %.3g #%06x %c", "a\"'&", "<b>&amp;", -3, 4.5, 1e-9,
            0xabcu, 'x');
    expect(out, "<a id=\"a&quot;&#39;&amp;\">&lt;b&gt;&amp;amp;</a> -3  4.50% 1e-09 #000abc x");
}

Test(html, what_is_no_character_of_xml_is_seen)
{
    FILE *out = page();

    pp_html(out, "%s|%s|%s|%s", "\x01\n", "\xff\xc3", "\xc3\xa9 \xe2\x82\xac", "\xef\xbf\xbe");
    expect(out, "\\x01\\x0a|\\xff\\xc3|\xc3\xa9 \xe2\x82\xac|\xef\xbf\xbd");
}

Test(html, a_text_that_is_not_there_is_empty)
{
    FILE *out = page();

    const char *volatile nothing = NULL;

    pp_html(out, "<p>%s</p>", nothing);
    expect(out, "<p></p>");
}

Test(html, words_and_lines)
{
    FILE *out = page();

    pp_html_words(out, "a~b<c~~");
    pp_html_lines(out, "\n1 < 2\n\nx");
    expect(out, "a&#160;b&lt;c&#160;&#160;\n1 &lt; 2\n\nx");
}

Test(html, figures_have_their_whole_value)
{
    FILE *out = page();

    pp_html_figure(out, "a.b", 1.0 / 3, "33 %");
    pp_html_figure(out, "c", (double)NAN, "no number");
    pp_html_figure(out, "d", (double)INFINITY, "no number");
    expect(out, "<data data-key=\"a.b\" value=\"0.33333333333333331\">33 %</data>--");
}

/* ---- commands -------------------------------------------------------------------------------- */

static const struct pp_command COMMANDS[] = {{"run", "p run", "runs", 0, -1},
                                             {"see", "p see", "sees", 0, -1}};
static const struct pp_option OPTIONS[] = {
    {.name = "name", .type = PP_OPTION_STRING, .commands = 3, .group = "g", .help = "h"},
    {.name = "slow",
     .type = PP_OPTION_STRING,
     .commands = 1,
     .is_repeatable = true,
     .group = "g",
     .help = "h"},
    {.name = "loud", .type = PP_OPTION_FLAG, .commands = 3, .group = "g", .help = "h"},
    {.name = "count",
     .type = PP_OPTION_INT,
     .min = 0,
     .max = 9,
     .commands = 3,
     .group = "g",
     .help = "h"},
};
static const struct pp_cli CLI = {.program = "p",
                                  .commands = COMMANDS,
                                  .command_count = 2,
                                  .options = OPTIONS,
                                  .option_count = 4};

static const char *command_of(struct pp_arena *arena, char *const *argv)
{
    struct pp_parsed parsed;
    struct pp_error err = {0};
    int argc = 0;

    while (argv[argc])
        argc++;
    cr_assert_eq(pp_options_parse(arena, &CLI, argc, argv, &parsed, &err), PP_OK, "%s",
                 err.message);
    return pp_command_text(arena, &parsed);
}

Test(html, a_command_is_what_was_typed_in_order_and_quoted)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    cr_assert_str_eq(command_of(arena, (char *[]){"p", "--loud", "--slow=a b", "--count", "3",
                                                  "--slow", "1=0.5", "--name", "it's $HOME", NULL}),
                     "p --name 'it'\\''s $HOME' --slow 'a b' --slow 1=0.5 --loud --count 3");
    cr_assert_str_eq(command_of(arena, (char *[]){"p", "see", "x;y", "--name", "#1", NULL}),
                     "p see 'x;y' --name '#1'");
}
