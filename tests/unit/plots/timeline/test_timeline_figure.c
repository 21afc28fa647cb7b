/* What the script of a timeline holds, against the trace: the time of each rank and kind is the
 * area that its colour takes. */
#include "plots/plot.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pp_arena *arena;
static char folder[64];
static const struct pp_plot_timeline ALL = {
    .title = "t", .first_rank = -1, .last_rank = -1, .from_s = NAN, .to_s = NAN};

static void setup(void)
{
    arena = pp_arena_create();
    snprintf(folder, sizeof(folder), "/tmp/test_timeline.XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

static void teardown(void)
{
    cr_assert(system(pp_arena_printf(arena, "rm -r %s", folder)) == 0);
    pp_arena_destroy(arena);
}

TestSuite(timeline_figure, .init = setup, .fini = teardown);

/* ---- traces ---------------------------------------------------------------------------------- */

enum { RANKS = 5, KINDS = 4 };
static const uint8_t KIND[KINDS] = {PP_F, PP_I, PP_W, PP_R};

/* Ops one after another with gaps, of random lengths and kinds. */
static struct pp_trace random_trace(int ops, unsigned random)
{
    struct pp_trace trace = {.program = "random", .ranks = RANKS, .replicas = 1, .steps = 1};

    trace.events = PP_ARRAY(arena, struct pp_trace_event, RANKS * ops);
    for (int r = 0; r < RANKS; r++) {
        double now_s = 0;
        for (int i = 0; i < ops; i++) {
            random = random * 1103515245 + 12345;
            const int kind = KIND[random >> 8 & 3];
            const double start_s = now_s + (random >> 12 & 7) / 8.0;
            now_s = start_s + 0.25 + (random >> 20 & 15) / 8.0;
            trace.events[trace.count++] = (struct pp_trace_event){
                .rank = r,
                .kind = (uint8_t)kind,
                .stream = PP_STREAM_COMPUTE,
                .cell = pp_arena_printf(arena, "%d%s%d", r, pp_op_kinds[kind].text, i),
                .start_s = start_s,
                .end_s = now_s,
                .waits_for = -1};
        }
    }
    return trace;
}

static double busy_s(const struct pp_trace *trace, int rank, int kind)
{
    double sum_s = 0;

    for (int i = 0; i < trace->count; i++)
        if (trace->events[i].rank == rank && trace->events[i].kind == kind)
            sum_s += trace->events[i].end_s - trace->events[i].start_s;
    return sum_s;
}

/* ---- scripts --------------------------------------------------------------------------------- */

static char *script_of(const struct pp_trace *trace, const struct pp_plot_timeline *options,
                       bool is_paper)
{
    static char text[8 << 20];
    struct pp_plot_target target = {0};
    struct pp_error err = {0};
    const char *path = pp_arena_printf(arena, "%s/a.gp", folder);

    cr_assert(pp_plot_target_parse(path, &target, &err) == PP_OK);
    target.is_paper = is_paper;
    cr_assert(pp_plot_timeline(arena, trace, options, &target, &err) == PP_OK, "%s", err.message);
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL);
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    cr_assert(length < sizeof(text) - 1);
    text[length] = '\0';
    fclose(file);
    return text;
}

/* The kind whose range of colours this one lies in. */
static int kind_of(unsigned rgb)
{
    for (int k = 0; k < KINDS; k++)
        for (int shade = 0; shade <= 100; shade++)
            if (pp_style_op_rgb(KIND[k], shade / 100.0) == rgb)
                return k;
    cr_assert(false, "colour %06x", rgb);
    return 0;
}

/* Areas of a data block, in the unit of its axis. */
static void sum_areas(char *script, const char *block, double area[RANKS][KINDS])
{
    char *line = strstr(script, block);

    memset(area, 0, sizeof(double) * RANKS * KINDS);
    cr_assert(line != NULL, "no %s", block);
    for (line = strchr(line, '\n') + 1; strncmp(line, "EOD", 3) != 0;
         line = strchr(line, '\n') + 1) {
        int row;
        double start, end, low = 0, high = 1;
        unsigned rgb;
        if (strncmp(block, "$bins", 5) == 0)
            cr_assert(
                sscanf(line, "%d %lf %lf %lf %lf %x", &row, &start, &end, &low, &high, &rgb) == 6);
        else
            cr_assert(sscanf(line, "%d %lf %lf %x", &row, &start, &end, &rgb) == 4);
        cr_assert(row >= 0 && row < RANKS && start <= end && low < high && high <= 1);
        area[row][kind_of(rgb)] += (end - start) * (high - low);
    }
}

Test(timeline_figure, boxes_take_the_time_of_their_ops)
{
    const struct pp_trace trace = random_trace(40, 1);
    double area[RANKS][KINDS];

    sum_areas(script_of(&trace, &ALL, false), "$ops0", area);
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < KINDS; k++)
            cr_assert(epsilon_eq(dbl, area[r][k], busy_s(&trace, r, KIND[k]), 1e-4));
}

Test(timeline_figure, narrow_ops_become_shares_of_the_same_area)
{
    const struct pp_trace trace = random_trace(8000, 7);
    char *script = script_of(&trace, &ALL, true);
    double area[RANKS][KINDS];

    cr_assert(strlen(script) < 500000, "%zu bytes", strlen(script));
    cr_assert(strstr(script, "$ops0") == NULL);
    sum_areas(script, "$bins0", area);
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < KINDS; k++) {
            const double expected = busy_s(&trace, r, KIND[k]);
            cr_assert(fabs(area[r][k] - expected) < 0.02 * expected, "rank %d kind %d: %g, %g", r,
                      k, area[r][k], expected);
        }
}

Test(timeline_figure, a_part_is_cut_at_its_borders)
{
    const struct pp_trace trace = random_trace(40, 3);
    struct pp_plot_timeline part = ALL;
    double area[RANKS][KINDS], expected = 0, sum = 0;

    part.from_s = 5;
    part.to_s = 17.5;
    part.first_rank = 1;
    part.last_rank = 2;
    sum_areas(script_of(&trace, &part, false), "$ops0", area);
    for (int i = 0; i < trace.count; i++) {
        const struct pp_trace_event *e = &trace.events[i];
        const double inside = fmin(e->end_s, 17.5) - fmax(e->start_s, 5);
        expected += (e->rank == 1 || e->rank == 2) && inside > 0 ? inside : 0;
    }
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < KINDS; k++)
            sum += area[r][k];
    cr_assert(epsilon_eq(dbl, sum, expected, 1e-4));
}

Test(timeline_figure, kinds_differ_in_grey)
{
    static const uint8_t ALL_KINDS[] = {PP_U, PP_B, PP_I, PP_W, PP_F, PP_R}; /* dark to light */
    double lightest = -1;

    for (int k = 0; k < 6; k++)
        for (int end = 0; end <= 1; end++) {
            const unsigned rgb = pp_style_op_rgb(ALL_KINDS[k], end);
            const double grey =
                (0.2126 * (rgb >> 16) + 0.7152 * (rgb >> 8 & 0xff) + 0.0722 * (rgb & 0xff)) / 255;
            cr_assert(grey > lightest + (end == 0 ? 0.04 : 0.03), "kind %d: %g after %g",
                      ALL_KINDS[k], grey, lightest);
            lightest = grey;
        }
}

Test(timeline_figure, nothing_to_draw_is_said)
{
    struct pp_trace trace = random_trace(2, 1);
    struct pp_plot_target target = {.format = PP_PLOT_SCRIPT,
                                    .path = pp_arena_printf(arena, "%s/b.gp", folder)};
    struct pp_plot_timeline options = ALL;
    struct pp_error err = {0};

    options.from_s = 1e6;
    cr_assert(pp_plot_timeline(arena, &trace, &options, &target, &err) == PP_EINVAL);
    options = ALL;
    options.first_rank = 3;
    options.last_rank = 9;
    cr_assert(pp_plot_timeline(arena, &trace, &options, &target, &err) == PP_EINVAL);
    cr_assert(strstr(err.message, "0 to 4") != NULL, "%s", err.message);
    for (int i = 0; i < trace.count; i++)
        trace.events[i].start_s = trace.events[i].end_s = 0;
    cr_assert(pp_plot_timeline(arena, &trace, &ALL, &target, &err) == PP_EINVAL);
    trace.events[0].end_s = NAN;
    cr_assert(pp_plot_timeline(arena, &trace, &ALL, &target, &err) == PP_EINVAL);
    trace.count = 0;
    cr_assert(pp_plot_timeline(arena, &trace, &ALL, &target, &err) == PP_EINVAL);
    cr_assert(access(target.path, F_OK) != 0);
}

/* ---- two of them ----------------------------------------------------------------------------- */

Test(timeline_figure, the_median_step_of_each_is_shown)
{
    static const double STEP_S[] = {4, 1, 2}; /* one op a rank; the median is the third step */
    struct pp_trace traces[2];
    struct pp_plot_target target = {.format = PP_PLOT_SCRIPT,
                                    .path = pp_arena_printf(arena, "%s/c.gp", folder)};
    struct pp_error err = {0};
    char line[512];
    bool has_above = false, has_below = false;

    for (int t = 0; t < 2; t++) {
        traces[t] = (struct pp_trace){.program = "t", .ranks = 2, .replicas = 1, .steps = 3};
        traces[t].events = PP_ARRAY(arena, struct pp_trace_event, 6);
        for (int i = 0; i < 6; i++) {
            const int step = i % 3;
            double begin_s = 0;
            for (int s = 0; s < step; s++)
                begin_s += STEP_S[s];
            traces[t].events[traces[t].count++] =
                (struct pp_trace_event){.step = step,
                                        .rank = i / 3,
                                        .kind = PP_F,
                                        .stream = PP_STREAM_COMPUTE,
                                        .cell = i / 3 ? "1F0" : "0F0",
                                        .posted_s = NAN,
                                        .matched_s = NAN,
                                        .start_s = begin_s,
                                        .end_s = begin_s + (t ? STEP_S[step] : 1.1 * STEP_S[step]),
                                        .waits_for = -1};
        }
    }
    for (int i = 0; i < 6; i++) /* the prediction is 10 % longer */
        traces[0].events[i].start_s *= 1.1,
            traces[0].events[i].end_s = traces[0].events[i].start_s + 1.1 * STEP_S[i % 3];
    cr_assert(pp_plot_timelines(arena, &traces[0], &traces[1], &ALL, &target, &err) == PP_OK, "%s",
              err.message);
    FILE *file = fopen(target.path, "r");
    while (fgets(line, sizeof(line), file)) {
        has_above |=
            strstr(line, "'predicted 2.20 s, bubble 0.0 %, error +10.0 %, step 3'") != NULL;
        has_below |= strstr(line, "'measured 2.00 s, bubble 0.0 %, step 3'") != NULL;
    }
    fclose(file);
    cr_assert(has_above && has_below);
}

/* ---- several panels -------------------------------------------------------------------------- */

static const struct pp_plot_timeline_panel *panels_of(const struct pp_trace *trace, double divisor)
{
    struct pp_plot_timeline_panel *panels = PP_ARRAY(arena, struct pp_plot_timeline_panel, 2);

    panels[0] = (struct pp_plot_timeline_panel){.trace = trace, .heading = "whole"};
    panels[1] =
        (struct pp_plot_timeline_panel){.trace = trace, .heading = "divided", .divisor = divisor};
    return panels;
}

Test(timeline_figure, times_of_a_panel_are_divided)
{
    static const int OPS[] = {30, 2000}; /* boxes, bins */
    double area[RANKS][KINDS];

    for (int i = 0; i < 2; i++) {
        const struct pp_trace trace = random_trace(OPS[i], 5);
        struct pp_plot_timeline options = ALL;
        struct pp_plot_target target = {.format = PP_PLOT_SCRIPT,
                                        .path = pp_arena_printf(arena, "%s/d.gp", folder)};
        struct pp_error err = {0};
        static char text[8 << 20];
        options.time_unit = "units"; /* one second */
        cr_assert(pp_plot_timeline_panels(arena, panels_of(&trace, 2), 2, &options, &target,
                                          &err) == PP_OK,
                  "%s", err.message);
        FILE *file = fopen(target.path, "r");
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
        for (int p = 0; p < 2; p++) {
            sum_areas(text, pp_arena_printf(arena, "%s%d", i ? "$bins" : "$ops", p), area);
            for (int r = 0; r < RANKS; r++) {
                double busy = 0, drawn = 0;
                for (int k = 0; k < KINDS; k++) {
                    busy += busy_s(&trace, r, KIND[k]) / (p + 1);
                    drawn += area[r][k];
                }
                cr_assert_float_eq(drawn, busy, 0.02 * busy, "panel %d, rank %d: %g, not %g", p, r,
                                   drawn, busy);
            }
        }
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Lines of the block of ops of kind `k`, and those of them with a number. */
static void count_numbers(char *script, int k, int *ops, int *numbers)
{
    char *line = strstr(script, "$ops0");

    *ops = *numbers = 0;
    for (line = strchr(line, '\n') + 1; strncmp(line, "EOD", 3) != 0;
         line = strchr(line, '\n') + 1) {
        unsigned rgb;
        cr_assert(sscanf(line, "%*d %*f %*f %x", &rgb) == 1);
        if (kind_of(rgb) != k)
            continue;
        ++*ops;
        *numbers += strstr(line, "\"\"") == NULL || strstr(line, "\"\"") > strchr(line, '\n');
    }
}

/* F takes a unit, I four. */
static struct pp_trace even_trace(int ops)
{
    struct pp_trace trace = {.program = "even", .ranks = 1, .replicas = 1, .steps = 1};
    double now_s = 0;

    trace.events = PP_ARRAY(arena, struct pp_trace_event, 2 * ops);
    for (int i = 0; i < 2 * ops; i++) {
        const int kind = i < ops ? PP_F : PP_I;
        trace.events[trace.count++] = (struct pp_trace_event){
            .kind = (uint8_t)kind,
            .stream = PP_STREAM_COMPUTE,
            .cell = pp_arena_printf(arena, "0%s%d", pp_op_kinds[kind].text, i % ops),
            .start_s = now_s,
            .end_s = now_s + (i < ops ? 1 : 4),
            .waits_for = -1};
        now_s = trace.events[i].end_s;
    }
    return trace;
}

Test(timeline_figure, a_kind_has_all_its_numbers_or_none)
{
    bool was_full = false, was_half = false, was_empty = false;

    for (int ops = 2; ops < 60; ops++) {
        const struct pp_trace trace = even_trace(ops);
        char *script = script_of(&trace, &ALL, true);
        int count[2], numbers[2];
        for (int k = 0; k < 2; k++) {
            count_numbers(script, k, &count[k], &numbers[k]);
            cr_assert(count[k] == ops);
            cr_assert(numbers[k] == 0 || numbers[k] == ops, "%d of %d", numbers[k], ops);
        }
        cr_assert(numbers[0] <= numbers[1]); /* never the narrow ones alone */
        was_full |= numbers[0] > 0;
        was_half |= numbers[0] == 0 && numbers[1] > 0;
        was_empty |= numbers[1] == 0;
    }
    cr_assert(was_full && was_half && was_empty);
}

/* ---- bins ------------------------------------------------------------------------------------ */

Test(timeline_figure, idle_time_that_can_be_seen_is_in_no_bin)
{
    struct pp_trace trace = even_trace(1000);
    const double begin_s = trace.events[999].end_s, gap_s = 40;
    char *script, *line;
    int ends = 0, begins = 0;

    for (int i = 1000; i < trace.count; i++) {
        trace.events[i].start_s += gap_s;
        trace.events[i].end_s += gap_s;
    }
    struct pp_plot_timeline options = ALL;
    options.time_unit = "units";
    script = script_of(&trace, &options, true);
    line = strstr(script, "$bins0");
    for (line = strchr(line, '\n') + 1; strncmp(line, "EOD", 3) != 0;
         line = strchr(line, '\n') + 1) {
        double start, end, low, high;
        cr_assert(sscanf(line, "%*d %lf %lf %lf %lf", &start, &end, &low, &high) == 4);
        cr_assert(end <= begin_s + 1e-3 || start >= begin_s + gap_s - 1e-3, "%g to %g", start, end);
        cr_assert(low == 0 && high == 1); /* no white within work that has no gaps */
        ends += fabs(end - begin_s) < 1e-2;
        begins += fabs(start - begin_s - gap_s) < 1e-2;
    }
    cr_assert(ends == 1 && begins == 1);
}

/* ---- two traces ------------------------------------------------------------------------------ */

Test(timeline_figure, different_programs_are_refused)
{
    struct pp_trace traces[] = {random_trace(30, 1), random_trace(30, 1)};
    struct pp_plot_target target = {.format = PP_PLOT_SCRIPT,
                                    .path = pp_arena_printf(arena, "%s/e.gp", folder)};
    struct pp_error err = {0};

    traces[1].program_hash = traces[0].program_hash + 1;
    cr_assert(pp_plot_timelines(arena, &traces[0], &traces[1], &ALL, &target, &err) == PP_EINVAL);
    cr_assert(strstr(err.message, "is of program") && !strstr(err.message, "--allow"), "%s",
              err.message);
}
