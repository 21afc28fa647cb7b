#define _GNU_SOURCE /* open_memstream */
#include "plots/plot.h"
#include "schedules/order/concat.h"
#include "schedules/order/schedule.h"
#include "schedules/program/program.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A chart of compute alone, from an evaluator of its own. It sweeps over the ranks until no op
 * moves, and starts each op as soon as its rank and its input are there. */
struct chart {
    struct pp_arena *arena;
    struct pp_program *program;
    struct pp_trace *trace;
    struct pp_plot_timeline options;
    double f_s, b_s, i_s, w_s;
    double *done_s; /* [(is backward * stages + stage) * ids + id] */
};

static double *done(struct chart *c, bool is_backward, int stage, int id)
{
    const int ids = c->program->micro_batches * c->program->granules;
    return &c->done_s[((is_backward ? c->program->stages : 0) + stage) * ids + id];
}

static double input_s(struct chart *c, struct pp_op op)
{
    double latest_s = 0;

    for (int id = op.mb; id < op.mb + op.granules; id++) {
        double ready_s = 0;
        if (op.kind == PP_F && op.stage > 0)
            ready_s = *done(c, false, op.stage - 1, id);
        else if ((op.kind == PP_B || op.kind == PP_I) && op.stage < c->program->stages - 1)
            ready_s = *done(c, true, op.stage + 1, id);
        latest_s = fmax(latest_s, ready_s);
    }
    return latest_s;
}

static double duration_s(const struct chart *c, struct pp_op op)
{
    const double whole_s = op.kind == PP_F   ? c->f_s
                           : op.kind == PP_B ? c->b_s
                           : op.kind == PP_I ? c->i_s
                                             : c->w_s;
    return whole_s * op.granules / c->program->granules;
}

static void evaluate(struct chart *c, struct pp_trace *trace)
{
    const struct pp_program *p = c->program;
    double *clock_s = PP_ARRAY(c->arena, double, p->ranks);
    int *next = PP_ARRAY(c->arena, int, p->ranks);
    bool moved = true;

    memcpy(next, p->begin, sizeof(*next) * (size_t)p->ranks);
    while (moved) {
        moved = false;
        for (int r = 0; r < p->ranks; r++)
            for (; next[r] < p->begin[r + 1]; next[r]++, moved = true) {
                const struct pp_op op = pp_program_op(p, next[r]);
                const double ready_s = input_s(c, op);
                if (isinf(ready_s))
                    break;
                struct pp_trace_event *event = &trace->events[next[r]];
                char text[PP_OP_TEXT_BYTES];
                pp_op_print(&op, pp_program_style(p), text);
                *event = (struct pp_trace_event){.rank = r,
                                                 .kind = op.kind,
                                                 .stream = PP_STREAM_COMPUTE,
                                                 .cell = pp_arena_strdup(c->arena, text),
                                                 .start_s = fmax(ready_s, clock_s[r]),
                                                 .waits_for = -1};
                clock_s[r] = event->end_s = event->start_s + duration_s(c, op);
                if (op.kind != PP_W)
                    for (int id = op.mb; id < op.mb + op.granules; id++)
                        *done(c, op.kind != PP_F, op.stage, id) = event->end_s;
            }
    }
    for (int r = 0; r < p->ranks; r++)
        cr_assert_eq(next[r], p->begin[r + 1], "rank %d is stuck", r);
}

static void set_up(struct chart *c, const char *schedule, struct pp_shape shape)
{
    struct pp_error err = {0};
    struct pp_trace *trace = PP_NEW(c->arena, struct pp_trace);

    cr_assert_eq(
        pp_schedule_program(c->arena, pp_schedule_find(schedule), &shape, NULL, &c->program, &err),
        PP_OK, "%s", err.message);
    const int ids = c->program->micro_batches * c->program->granules;
    c->done_s = PP_ARRAY(c->arena, double, 2 * c->program->stages * ids);
    for (int i = 0; i < 2 * c->program->stages * ids; i++)
        c->done_s[i] = INFINITY;
    *trace = (struct pp_trace){.ranks = c->program->ranks,
                               .replicas = 1,
                               .steps = 1,
                               .count = pp_program_size(c->program)};
    trace->events = PP_ARRAY(c->arena, struct pp_trace_event, trace->count);
    evaluate(c, trace);
    c->trace = trace;
    c->options = pp_plot_timeline_whole("units", c->program->granules);
}

static char *draw(const struct chart *c, struct pp_terminal terminal)
{
    char *text = NULL;
    size_t bytes;
    struct pp_error err = {0};
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_eq(pp_gantt_print(c->trace, &c->options, terminal, out, &err), PP_OK, "%s",
                 err.message);
    fclose(out);
    char *kept = pp_arena_strdup(c->arena, text);
    free(text);
    return kept;
}

static const struct pp_terminal plain = {.width = 80};

static struct pp_shape shape_of(int ranks, int chunks, int micro_batches, int pipelines)
{
    return (struct pp_shape){.ranks = ranks,
                             .chunks = chunks,
                             .micro_batches = micro_batches,
                             .splits = 1,
                             .granules = 1,
                             .pipelines = pipelines};
}

Test(gantt, chimera)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct chart c = {.arena = arena, .f_s = 1, .b_s = 2};

    set_up(&c, "chimera", shape_of(4, 1, 4, 2));
    cr_assert_str_eq(draw(&c, plain), "P0 |F0 F1  . F2 B2 b2 F3 B3 b3  . B0 b0  .  . B1 b1|\n"
                                      "P1 | . F0 F2 F1 F3  . B2 b2 B0 b0 B3 b3 B1 b1  .  .|\n"
                                      "P2 | . F2 F0 F3 F1  . B0 b0 B2 b2 B1 b1 B3 b3  .  .|\n"
                                      "P3 |F2 F3  . F0 B0 b0 F1 B1 b1  . B2 b2  .  . B3 b3|\n"
                                      "one column = 1 unit, 16 columns in all\n"
                                      "F forward, B backward, small letter: same op, . idle\n"
                                      "pipeline 0, P0 to P3: micro-batches 0-1\n"
                                      "pipeline 1, P3 to P0: micro-batches 2-3\n");
}

/* Two backwards of half a micro-batch: an op names its first granule, and none is lost. */
Test(gantt, halves_of_micro_batches)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct chart c = {.arena = arena, .f_s = 1, .b_s = 2};
    struct pp_shape shape = shape_of(4, 1, 4, 2);

    shape.granules = 0;
    shape.option[PP_CONCAT_AT] = PP_CONCAT_HALVING;
    set_up(&c, "chimera", shape);
    cr_assert_str_eq(draw(&c, plain), "P0 |F0 F2  . F4 B4 F6 B5 B0 B6 B1 B7 B2  . B3|\n"
                                      "P1 | . F0 F4 F2 F6 B4 B0 B5 B1 B6 B2 B7 B3  .|\n"
                                      "P2 | . F4 F0 F6 F2 B0 B4 B1 B5 B2 B6 B3 B7  .|\n"
                                      "P3 |F4 F6  . F0 B0 F2 B1 B4 B2 B5 B3 B6  . B7|\n"
                                      "one column = 1 unit, 14 columns in all\n"
                                      "F forward, B backward, small letter: same op, . idle\n"
                                      "numbers count 1/2 micro-batches; an op names its first\n"
                                      "pipeline 0, P0 to P3: numbers 0-3\n"
                                      "pipeline 1, P3 to P0: numbers 4-7\n");
}

Test(gantt, gaps_go_before_columns_do)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct chart c = {.arena = arena, .f_s = 1, .b_s = 2};

    set_up(&c, "1f1b", shape_of(4, 1, 8, 1));
    cr_assert_str_eq(draw(&c, plain),
                     "P0 |F0F1F2F3 . . . . . .B0b0F4B1b1F5B2b2F6B3b3F7B4b4 .B5b5 .B6b6 .B7b7|\n"
                     "P1 | .F0F1F2 . . . .B0b0F3B1b1F4B2b2F5B3b3F6B4b4F7B5b5 .B6b6 .B7b7 . .|\n"
                     "P2 | . .F0F1 . .B0b0F2B1b1F3B2b2F4B3b3F5B4b4F6B5b5F7B6b6 .B7b7 . . . .|\n"
                     "P3 | . . .F0B0b0F1B1b1F2B2b2F3B3b3F4B4b4F5B5b5F6B6b6F7B7b7 . . . . . .|\n"
                     "one column = 1 unit, 33 columns in all\n"
                     "F forward, B backward, small letter: same op, . idle\n");
}

Test(gantt, wide_charts_are_cropped_and_shown_whole_in_little)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct chart c = {.arena = arena, .f_s = 1, .b_s = 2};

    set_up(&c, "interleaved", shape_of(4, 2, 8, 1));
    cr_assert_str_eq(
        draw(&c, plain),
        "the whole step\n"
        "P0 |FFFFFFFFFFF...BBFBB.FBBFBBFBBFBBBB.BB.BB.BB.BB.BBBBBBBBBB|\n"
        "P1 |.FFFFFFFFF..BBFBBFBBFBBFBBFBBFBBFBB.BB.BB.BB.BBBBBBBBBB..|\n"
        "P2 |..FFFFFFF.BBFBBFBBFBBFBBFBBFBBFBBFBBFBB.BB.BBBBBBBBBB....|\n"
        "P3 |...FFFFFBBFBBFBBFBBFBBFBBFBBFBBFBBFBBFBBFBBBBBBBBBB......|\n"
        "one character = 1 unit; F forward, B backward, # both,\n"
        "f b + with idle parts, . more than half idle\n"
        "\n"
        "the beginning, op by op\n"
        "P0 |F0  F1  F2  F3  F0' F1' F2' F3' F4  F5  F6   .   .   .  B0' b0' F7  B1' ...\n"
        "P1 | .  F0  F1  F2  F3  F0' F1' F2' F3' F4   .   .  B0' b0' F5  B1' b1' F6  ...\n"
        "P2 | .   .  F0  F1  F2  F3  F0' F1' F2'  .  B0' b0' F3' B1' b1' F4  B2' b2' ...\n"
        "P3 | .   .   .  F0  F1  F2  F3  F0' B0' b0' F1' B1' b1' F2' B2' b2' F3' B3' ...\n"
        "... 39 more columns\n"
        "one column = 1 unit, 57 columns in all\n"
        "F forward, B backward, small letter: same op, . idle\n"
        "F3 is in a rank's first chunk, F3' in its second\n");
}

/* The longest line of a chart that belongs to a rank, in columns. */
static int widest_row(const char *text)
{
    int widest = 0;

    for (const char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        cr_assert_not_null(end);
        if (line[0] != 'P')
            continue;
        int columns = 0;
        for (const char *c = line; c < end; c++)
            columns += ((unsigned char)*c & 0xc0) != 0x80;
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

Test(gantt, rows_fit_the_terminal)
{
    static const int ranks[] = {1, 2, 4, 7, 16}, widths[] = {20, 40, 80, 133};

    for (int d = 0; d < 5; d++)
        for (int n = 1; n <= 120; n = 3 * n + 1)
            for (int w = 0; w < 4; w++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                struct chart c = {.arena = arena, .f_s = 1, .b_s = 2};
                set_up(&c, n % 2 ? "1f1b" : "gpipe", shape_of(ranks[d], 1, n, 1));
                const char *text =
                    draw(&c, (struct pp_terminal){.width = widths[w], .has_utf8 = n % 2 == 0});
                cr_assert(widest_row(text) <= widths[w], "%d ranks, %d wide:\n%s", ranks[d],
                          widths[w], text);
                cr_assert(strstr(text, "P0 |") || strstr(text, "P0  |"));
            }
}

Test(gantt, big_charts_stay_small)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct chart c = {.arena = arena, .f_s = 1, .b_s = 2};

    set_up(&c, "1f1b", shape_of(64, 1, 512, 1));
    const char *text = draw(&c, plain);
    cr_assert_eq(widest_row(text), 80);
    cr_assert_eq(count_lines(text), 32 + 3);
    cr_assert_not_null(strstr(text, "... 32 more ranks"));
    set_up(&c, "gpipe", shape_of(4, 1, 512, 1));
    text = draw(&c, plain);
    cr_assert_not_null(strstr(text, "\n... 498 more micro-batches, 1,531 more columns\n"));
}

/* One rank with every kind of letter. */
static char *draw_letters(struct pp_arena *arena, struct pp_terminal terminal)
{
    struct pp_trace_event events[] = {
        {.kind = PP_F, .cell = "0F0", .start_s = 0, .end_s = 2},
        {.kind = PP_R, .cell = "1R0", .start_s = 2, .end_s = 3},
        {.kind = PP_F,
         .cell = "(0F1;1B0)OVERLAP_F_B",
         .start_s = 3,
         .end_s = 6,
         .is_fused = 1,
         .forward_frac = 1.0 / 3},
        {.kind = PP_I, .cell = "0I2", .start_s = 7, .end_s = 9},
        {.kind = PP_W, .cell = "0W2", .start_s = 9, .end_s = 10},
        {.kind = PP_U, .cell = "0U", .start_s = 10, .end_s = 11},
        {.kind = PP_WAIT, .stream = PP_STREAM_CONTROL, .cell = "BAR", .start_s = 11, .end_s = 12}};
    struct pp_trace trace = {.ranks = 1, .replicas = 2, .steps = 1, .events = events, .count = 7};
    struct chart c = {
        .arena = arena, .trace = &trace, .options = pp_plot_timeline_whole("units", 0)};

    return draw(&c, terminal);
}

Test(gantt, every_letter)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    cr_assert_str_eq(draw_letters(arena, plain),
                     "P0 |F0  f0  R0' F1  B0' b0'  .  I2  i2  W2  U    . |\n"
                     "one column = 1 unit, 12 columns in all\n"
                     "F forward, B backward, I input gradient, W weight gradient, R recompute,\n"
                     "U optimizer, small letter: same op, . idle\n"
                     "an overlapped pair is drawn as its F, then its B; both run all the time\n"
                     "F3 is in a rank's first chunk, F3' in its second\n"
                     "replica 0 of 2\n");
}

Test(gantt, color_is_by_micro_batch_and_changes_nothing_else)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *bare = draw_letters(arena, plain);
    char *colored = draw_letters(arena, (struct pp_terminal){.width = 80, .has_color = true});

    cr_assert_null(strchr(bare, '\033'));
    cr_assert_not_null(strstr(colored, "\033[30;48;5;153mF0 \033[0m"));
    cr_assert_null(strstr(colored, "\033[30;48;5;157m")); /* no forward of micro-batch 2 */
    char *to = colored;
    for (const char *from = colored; *from; from++)
        if (*from == '\033')
            from = strchr(from, 'm');
        else
            *to++ = *from;
    *to = '\0';
    cr_assert_str_eq(colored, bare);
}

Test(gantt, uneven_times_keep_their_place)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct chart c = {.arena = arena, .f_s = 1.0371, .b_s = 2.0013};

    set_up(&c, "1f1b", shape_of(2, 1, 3, 1));
    c.options.time_unit = NULL;
    cr_assert_str_eq(draw(&c, plain), "P0 |F0 F1  .  . B0 b0 F2 B1 b1  . B2 b2|\n"
                                      "P1 | . F0 B0 b0 F1 B1 b1 F2 B2 b2  .  .|\n"
                                      "one column = 1.04 s, 12 columns in all\n"
                                      "F forward, B backward, small letter: same op, . idle\n");
}

Test(gantt, nothing_to_draw)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct chart c = {.arena = arena};

    set_up(&c, "1f1b", shape_of(2, 1, 2, 1));
    cr_assert_str_eq(draw(&c, plain), "nothing to draw: the step takes no time\n");
}

Test(gantt, a_pipe_is_eighty_columns_without_color)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = tmpfile();

    unsetenv("COLUMNS");
    setenv("TERM", "xterm", 1);
    struct pp_terminal terminal = pp_terminal_detect("auto", out);
    cr_assert_eq(terminal.width, 80);
    cr_assert_not(terminal.has_color);
    setenv("COLUMNS", "132", 1);
    setenv("LC_ALL", "C", 1);
    terminal = pp_terminal_detect("always", out);
    cr_assert_eq(terminal.width, 132);
    cr_assert(terminal.has_color);
    cr_assert_not(terminal.has_utf8);
    setenv("COLUMNS", "-5", 1);
    cr_assert_eq(pp_terminal_detect(NULL, out).width, 80);
    setenv("COLUMNS", "999999999999999999999", 1);
    cr_assert_eq(pp_terminal_detect("never", out).width, 1000);
    fclose(out);
    out = open_memstream(&text, &bytes); /* has no descriptor */
    cr_assert_not(pp_terminal_detect("auto", out).has_color);
    fclose(out);
    free(text);
}

/* The letters of a chart that begin an op. */
static int count_ops(const char *text)
{
    int ops = 0;

    for (const char *line = strchr(text, '|'); line != NULL; line = strchr(line + 1, '|'))
        for (; line[1] != '|' && line[1] != '\n' && line[1] != '\0'; line++)
            ops += line[1] == 'F' || line[1] == 'B';
    return ops;
}

Test(gantt, rounding_hides_no_op)
{
    unsigned random = 7;

    for (int trial = 0; trial < 200; trial++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct chart c = {.arena = arena};
        random = random * 1103515245 + 12345;
        c.f_s = 1 + (random >> 16 & 1023) / 300.0;
        c.b_s = 1 + (random >> 6 & 1023) / 300.0;
        set_up(&c, trial % 2 ? "1f1b" : "chimera",
               shape_of(4, 1, 4 + 4 * (trial % 3), trial % 2 ? 1 : 2));
        const char *text = draw(&c, (struct pp_terminal){.width = 1000});
        char *rows = pp_arena_strdup(arena, text);
        *strstr(rows, "one column") = '\0';
        cr_assert_eq(count_ops(rows), pp_program_size(c.program), "F=%g B=%g\n%s", c.f_s, c.b_s,
                     text);
    }
}
