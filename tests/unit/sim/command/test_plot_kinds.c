/* Every kind of picture in every format, from files as the program writes them: drawn, and not
 * blank. */
#include "core/text/file.h"
#include "plots/figure.h"
#include "sim/command/commands.h"
#include "sim/command/plot_sources.h"
#include "tests/unit/support/gnuplot.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static struct pp_arena *arena;
static char folder[64];

static void setup(void)
{
    arena = pp_arena_create();
    setenv("LC_ALL", "C", 1);
    setenv("NO_COLOR", "1", 1);
    setenv("COLUMNS", "80", 1);
    if (!has_gnuplot())
        return;
    snprintf(folder, sizeof(folder), "/tmp/test_plot_kinds.XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    cr_assert(chdir(folder) == 0);
}

static void teardown(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (*folder)
        cr_assert(system(command) == 0);
    pp_arena_destroy(arena);
}

TestSuite(plot_kinds, .init = setup, .fini = teardown);

/* What the program prints for a command line of words. */
static const char *run(pp_command_function *command, const char *line)
{
    enum { WORDS = 40 };
    char *argv[WORDS] = {(char *)"pipesim"}, *words = pp_arena_strdup(arena, line), *text;
    struct pp_error err = {0};
    struct pp_parsed parsed;
    struct pp_wish wish = {.request = {.flags = &parsed}};
    size_t length;
    int argc = 1;

    for (char *word; (word = strsep(&words, " ")) && argc < WORDS - 1;)
        argv[argc++] = word;
    FILE *out = open_memstream(&text, &length);
    enum pp_status status = pp_options_parse(arena, &pp_sim_cli, argc, argv, &parsed, &err);
    if (status == PP_OK) {
        pp_wish_bind(arena, &wish.request);
        status = command(arena, &wish, out, &err);
    }
    fclose(out);
    cr_assert(status == PP_OK, "%s: %s", line, err.message);
    const char *copy = pp_arena_strdup(arena, text);
    free(text);
    return copy;
}

static void save(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* ---- is something there? --------------------------------------------------------------------- */

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Share of the bytes of the pixels, as filtered, that differ from their most frequent value: a
 * blank picture has next to none. */
static double ink_of_png(const unsigned char *png, size_t length)
{
    const size_t room = (size_t)64 << 20;
    unsigned char *pixels = malloc(room), *packed = malloc(length);
    size_t packed_length = 0, counts[256] = {0}, most = 0;
    uLongf size = room;

    cr_assert(length > 8 && !memcmp(png, "\x89PNG", 4));
    for (size_t at = 8; at + 12 <= length; at += 12 + big_endian(png + at))
        if (!memcmp(png + at + 4, "IDAT", 4)) {
            memcpy(packed + packed_length, png + at + 8, big_endian(png + at));
            packed_length += big_endian(png + at);
        }
    cr_assert(uncompress(pixels, &size, packed, packed_length) == Z_OK);
    for (size_t i = 0; i < size; i++)
        counts[pixels[i]]++;
    for (int value = 0; value < 256; value++)
        most = counts[value] > most ? counts[value] : most;
    free(pixels);
    free(packed);
    return 1 - (double)most / (double)size;
}

static int occurrences(const char *text, const char *words)
{
    int count = 0;

    for (; (text = strstr(text, words)); text++)
        count++;
    return count;
}

enum { LEAST_PATHS = 10, LEAST_BYTES = 2500, LEAST_TEXTS = 5 };
static const double LEAST_INK = 0.01;

static bool is_drawn(const char *path)
{
    struct pp_error err = {0};
    struct pp_bytes bytes;

    cr_assert(pp_file_read_limited(arena, path, (size_t)1 << 28, &bytes, &err) == PP_OK, "%s",
              err.message);
    if (pp_has_suffix(path, ".png"))
        return ink_of_png((const unsigned char *)bytes.data, bytes.length) > LEAST_INK;
    if (pp_has_suffix(path, ".svg"))
        return occurrences(bytes.data, "<path") > LEAST_PATHS;
    if (pp_has_suffix(path, ".tex"))
        return occurrences(bytes.data, "\\makebox") > LEAST_TEXTS;
    if (pp_has_suffix(path, ".pdf"))
        return !strncmp(bytes.data, "%PDF", 4) && bytes.length > LEAST_BYTES;
    return strstr(bytes.data, "plot ") != NULL;
}

/* ---- sources --------------------------------------------------------------------------------- */

/* In the order in which they are tried for a kind. */
static const struct {
    enum pp_plot_source source;
    const char *files;
} FILES[] = {{PP_FROM_TABLE, "sweep.csv"},
             {PP_FROM_TRACE, "trace.csv"},
             {PP_FROM_TRACES, "trace.csv measured.csv"},
             {PP_FROM_REPORT, "report.json"},
             {PP_FROM_LOG, "log.csv"}};
static const char SERVED[] = "throughput-latency"; /* needs a sweep of runs that generate */

static void make_sources(void)
{
    static const char RUN[] = "--schedule 1f1b --model gpt2 --gpus 8 --tp 1 --pp 4 --dp 2 "
                              "--micro-batches 8 --engine dag --json --no-alternatives";

    save("report.json", run(pp_command_run, RUN));
    save("log.csv", "step,loss,valid_loss,grad_norm,lr,tokens,tokens_per_s,time_s\n"
                    "1,5.5,,1.25,0.001,512,2048,0.25\n2,5.25,5.4,1,0.0005,1024,1024,0.75\n"
                    "3,5,,1,0.0001,1536,1024,1.25\n4,4.9,5.1,1,0.0001,2048,1024,1.75\n");
    run(pp_command_run, pp_arena_printf(arena, "%s --trace trace.csv", RUN));
    run(pp_command_run,
        pp_arena_printf(arena, "%s --jitter 5%% --steps 2 --trace measured.csv", RUN));
    save("sweep.csv",
         run(pp_command_sweep, "sweep --schedule 1f1b,gpipe --model gpt2 --gpus 8 --tp 1 --pp 4 "
                               "--micro-batches 2:8:x2 --engine dag --jobs 1"));
    save("served.csv", run(pp_command_sweep, "sweep --mode infer --model gpt2 --gpus 1 --tp 1 "
                                             "--batch 1:16:x2 --engine dag --jobs 1"));
}

static const char *files_of(const char *name, unsigned sources)
{
    if (strcmp(name, SERVED) == 0)
        return "served.csv";
    for (size_t i = 0; i < sizeof(FILES) / sizeof(*FILES); i++)
        if (sources & FILES[i].source)
            return FILES[i].files;
    return ""; /* a kind without a source: no file */
}

#define NAME(name, summary, sources, function)    name,
#define SOURCES(name, summary, sources, function) sources,
static const char *const NAMES[] = {PP_PLOT_KINDS(NAME)};
static const unsigned SOURCES_OF[] = {PP_PLOT_KINDS(SOURCES)};
enum { KINDS = sizeof(NAMES) / sizeof(*NAMES) };

static bool is_ascii(const char *text)
{
    for (; *text; text++)
        if (*text != '\n' && (*text < ' ' || *text > '~'))
            return false;
    return true;
}

Test(plot_kinds, all_are_drawn_in_all_formats)
{
    static const char *const SUFFIXES[] = {"png", "pdf", "svg", "tex", "gp"};

    if (!has_gnuplot())
        cr_skip_test("gnuplot is not installed");
    make_sources();
    for (int k = 0; k < KINDS; k++) {
        const char *line = pp_arena_printf(arena, "plot %s --kind %s",
                                           files_of(NAMES[k], SOURCES_OF[k]), NAMES[k]);
        for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(*SUFFIXES); i++)
            for (int is_paper = 0; is_paper < 2; is_paper++) {
                const char *file =
                    pp_arena_printf(arena, "%s%s.%s", NAMES[k], is_paper ? "p" : "", SUFFIXES[i]);
                run(pp_command_plot,
                    pp_arena_printf(arena, "%s -o %s%s", line, file, is_paper ? " --paper" : ""));
                cr_assert(is_drawn(file), "%s is blank", file);
            }
        const char *text = run(pp_command_plot, line);
        cr_assert(occurrences(text, "\n") > 4, "%s", text);
        cr_assert(is_ascii(text), "%s", text);
    }
}

Test(plot_kinds, a_blank_picture_would_be_seen)
{
    static const char *const BLANK[] = {"b.png", "b.pdf", "b.svg", "b.tex"};
    static const struct pp_figure_wish wish = {.width_in = 6, .height_in = 4};

    if (!has_gnuplot())
        cr_skip_test("gnuplot is not installed");
    for (size_t i = 0; i < sizeof(BLANK) / sizeof(*BLANK); i++) {
        struct pp_plot_target target = {0};
        struct pp_figure figure;
        struct pp_error err = {0};
        cr_assert(pp_plot_target_parse(BLANK[i], &target, &err) == PP_OK);
        pp_figure_open(arena, &target, &wish, &figure);
        fputs("unset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\nplot -1 notitle\n",
              figure.script);
        cr_assert(pp_figure_close(&figure, &err) == PP_OK, "%s", err.message);
        cr_assert(not(is_drawn(BLANK[i])), "%s", BLANK[i]);
    }
}
