/* The boxes of a trace against the program that it is of, and messages against a list by hand. */
#include "plots/timeline/timeline.h"
#include "schedules/order/concat.h"
#include "schedules/program/program.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pp_arena *arena;

static void setup(void)
{
    arena = pp_arena_create();
}

static void teardown(void)
{
    pp_arena_destroy(arena);
}

TestSuite(timeline, .init = setup, .fini = teardown);

/* ---- every schedule -------------------------------------------------------------------------- */

/* The k-th op of a rank takes from k to k + 1; a fused pair is one event. */
static struct pp_trace *trace_of(const struct pp_program *p)
{
    struct pp_trace *trace = PP_NEW(arena, struct pp_trace);

    *trace = (struct pp_trace){.program = "t", .ranks = p->ranks, .replicas = 1, .steps = 1};
    trace->events = PP_ARRAY(arena, struct pp_trace_event, pp_program_size(p));
    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            const struct pp_op op = pp_program_op(p, i);
            char text[PP_OP_TEXT_BYTES];
            pp_op_print(&op, pp_program_style(p), text);
            const char *cell = pp_arena_strdup(arena, text);
            if (op.aux == PP_FUSED_FIRST) {
                const struct pp_op second = pp_program_op(p, ++i);
                pp_op_print(&second, pp_program_style(p), text);
                cell = pp_arena_printf(arena, "(%s;%s)OVERLAP_F_B", cell, text);
            }
            trace->events[trace->count++] =
                (struct pp_trace_event){.rank = r,
                                        .kind = op.kind,
                                        .is_fused = op.aux == PP_FUSED_FIRST,
                                        .stream = PP_STREAM_COMPUTE,
                                        .cell = cell,
                                        .start_s = i,
                                        .end_s = i + 1,
                                        .forward_frac = 0.25,
                                        .waits_for = -1};
        }
    return trace;
}

/* Stages of the pipeline on that rank before this one. */
static int chunk_of(const struct pp_program *p, int pipe, int stage, int rank)
{
    int chunk = 0;

    for (int s = 0; s < stage; s++)
        chunk += pp_program_rank_of(p, pipe, s) == rank;
    return chunk;
}

static void check_op(const struct pp_program *p, const struct pp_timeline_op *op, struct pp_op real,
                     int rank)
{
    const int pipe = p->pipe_of[real.mb];

    cr_assert(eq(int, op->kind, real.kind));
    cr_assert(eq(int, op->mb, real.mb));
    cr_assert(eq(int, op->granules, real.granules));
    cr_assert(eq(int, op->split, real.split));
    cr_assert(eq(int, op->stage, real.stage));
    cr_assert(eq(int, op->pipe, pipe));
    cr_assert(eq(int, op->chunk, chunk_of(p, pipe, real.stage, rank)));
}

static void check_program(const struct pp_program *p)
{
    struct pp_timeline t;
    struct pp_error err = {0};
    int box = 0;

    cr_assert(pp_timeline_make(arena, trace_of(p), &t, &err) == PP_OK, "%s", err.message);
    cr_assert(eq(int, t.ids, p->micro_batches * p->granules));
    cr_assert(eq(int, t.splits, p->splits));
    cr_assert(eq(int, t.pipes, p->pipelines));
    cr_assert(eq(int, t.stages, p->stages));
    for (int r = 0; r < p->ranks; r++) {
        cr_assert(eq(int, t.begin[r], box));
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++, box++) {
            const struct pp_timeline_box *b = &t.boxes[box];
            const struct pp_op op = pp_program_op(p, i);
            check_op(p, &b->op, op, r);
            cr_assert(b->rank == r && b->is_fused == (op.aux == PP_FUSED_FIRST));
            if (b->is_fused)
                check_op(p, &b->second, pp_program_op(p, ++i), r);
            cr_assert(b->end_s - b->start_s == 1);
        }
    }
    cr_assert(t.begin[p->ranks] == box && t.count == box);
    for (int i = 0; i < p->pipelines * p->stages; i++)
        cr_assert(eq(int, t.rank_of[i], p->rank_of[i]));
}

Test(timeline, every_schedule_is_found_in_its_trace)
{
    static const int SIZES[][3] = {{2, 2, 4}, {4, 2, 8}, {4, 3, 12}, {8, 2, 20}}; /* D V N */
    int programs = 0;

    for (int s = 0; pp_schedules[s]; s++)
        for (size_t i = 0; i < sizeof(SIZES) / sizeof(*SIZES); i++)
            for (int variant = 0; variant < 4; variant++) {
                struct pp_shape shape = {.ranks = SIZES[i][0],
                                         .chunks = variant % 2 ? SIZES[i][1] : 0,
                                         .micro_batches = SIZES[i][2],
                                         .pipelines = variant == 2 ? 4 : 0,
                                         .option[PP_CONCAT_AT] =
                                             variant == 3 ? PP_CONCAT_HALVING : PP_CONCAT_DIRECT};
                struct pp_program *program;
                struct pp_error err = {0};
                if (pp_schedule_program(arena, pp_schedules[s], &shape, NULL, &program, &err) !=
                    PP_OK)
                    continue;
                check_program(program);
                programs++;
            }
    cr_assert(programs > 60, "%d", programs);
}

/* ---- by hand --------------------------------------------------------------------------------- */

enum { COMPUTE = PP_STREAM_COMPUTE, CHANNEL = PP_STREAM_CHANNEL, CONTROL = PP_STREAM_CONTROL };

/* Two ranks, two steps numbered 3 and 5, two micro-batches of which the second goes the other way.
 */
static struct pp_trace_event EVENTS[] = {
    {.step = 3,
     .rank = 0,
     .kind = PP_F,
     .stream = COMPUTE,
     .cell = "0F0",
     .start_s = 1,
     .end_s = 2},
    {.step = 3,
     .rank = 0,
     .kind = PP_SEND_F,
     .stream = CHANNEL,
     .cell = "0SEND_F0",
     .start_s = 2,
     .end_s = 2.5},
    {.step = 3,
     .rank = 0,
     .kind = PP_F,
     .stream = COMPUTE,
     .cell = "1F1",
     .start_s = 6,
     .end_s = 7},
    {.step = 3,
     .rank = 0,
     .kind = PP_U,
     .stream = COMPUTE,
     .cell = "1U@1",
     .start_s = 7,
     .end_s = 8},
    {.step = 5,
     .rank = 0,
     .kind = PP_F,
     .stream = COMPUTE,
     .cell = "0F0",
     .start_s = 10,
     .end_s = 11},
    {.step = 5,
     .rank = 0,
     .kind = PP_SEND_F,
     .stream = CHANNEL,
     .cell = "0SEND_F0",
     .start_s = 11,
     .end_s = 12},
    {.step = 3,
     .rank = 1,
     .kind = PP_RECV_F,
     .stream = CHANNEL,
     .cell = "1RECV_F0",
     .start_s = 2,
     .end_s = 2.5},
    {.step = 3,
     .rank = 1,
     .kind = PP_F,
     .stream = COMPUTE,
     .cell = "0F1",
     .start_s = 1,
     .end_s = 3},
    {.step = 3,
     .rank = 1,
     .kind = PP_F,
     .stream = COMPUTE,
     .cell = "1F0",
     .start_s = 4,
     .end_s = 5},
    {.step = 3,
     .rank = 1,
     .kind = PP_BAR,
     .stream = CONTROL,
     .cell = "BAR",
     .start_s = 9,
     .end_s = 9},
    {.step = 5,
     .rank = 1,
     .kind = PP_RECV_F,
     .stream = CHANNEL,
     .cell = "1RECV_F0",
     .start_s = 11,
     .end_s = 12},
    {.step = 5,
     .rank = 1,
     .kind = PP_F,
     .stream = COMPUTE,
     .cell = "1F0",
     .start_s = 12,
     .end_s = 14},
};
enum { COUNT = sizeof(EVENTS) / sizeof(*EVENTS) };

static struct pp_trace by_hand(void)
{
    struct pp_trace_event *events = PP_ARRAY(arena, struct pp_trace_event, COUNT);

    memcpy(events, EVENTS, sizeof(EVENTS));
    return (struct pp_trace){
        .program = "hand", .ranks = 2, .replicas = 1, .steps = 6, .events = events, .count = COUNT};
}

Test(timeline, steps_pipelines_and_messages)
{
    const struct pp_trace trace = by_hand();
    struct pp_timeline t;
    struct pp_error err = {0};
    int count;

    cr_assert(pp_timeline_make(arena, &trace, &t, &err) == PP_OK, "%s", err.message);
    cr_assert(t.count == 7 && t.step_count == 2 && t.pipes == 2 && t.ids == 2);
    cr_assert(t.steps[0].number == 3 && t.steps[0].end_s == 9);
    cr_assert(t.steps[1].number == 5 && t.steps[1].end_s == 14);
    cr_assert(t.begin_s == 1 && t.end_s == 14);
    cr_assert(t.boxes[2].op.kind == PP_U && t.boxes[2].op.pipe == 1 && t.boxes[2].op.mb == -1);
    cr_assert(t.boxes[3].step == 1 && t.boxes[4].rank == 1);
    const struct pp_timeline_message *m = pp_timeline_messages(arena, &t, 0, INFINITY, 100, &count);
    cr_assert(eq(int, count, 2));
    cr_assert(m[0].from == 0 && m[0].to == 1);
    cr_assert(m[0].made_s == 2 && m[0].start_s == 2 && m[0].end_s == 2.5 && m[0].used_s == 4);
    cr_assert(m[1].made_s == 11 && m[1].used_s == 12);
}

Test(timeline, what_is_no_trace_is_refused)
{
    static const struct {
        int event; /* changed */
        struct pp_trace_event to;
        const char *says;
    } CASES[] = {
        {0, {.stream = COMPUTE, .cell = "0F0", .start_s = NAN, .end_s = 2}, "no numbers"},
        {0, {.stream = COMPUTE, .cell = "0F0", .start_s = 1, .end_s = INFINITY}, "no numbers"},
        {0, {.stream = COMPUTE, .cell = "0F0", .start_s = 3, .end_s = 2}, "before its start"},
        {0, {.stream = COMPUTE, .cell = "0G0", .start_s = 1, .end_s = 2}, "0G0"},
        {0, {.stream = COMPUTE, .cell = "0SEND_F0", .start_s = 1, .end_s = 2}, "computes"},
        {0, {.stream = COMPUTE, .cell = NULL, .start_s = 1, .end_s = 2}, "computes"},
        {0, {.stream = COMPUTE, .cell = "0F2000000000", .start_s = 1, .end_s = 2}, "2000000000"},
        {3, {.rank = 1, .stream = COMPUTE, .cell = "0U", .start_s = 1, .end_s = 2}, "order"},
        {11, {.rank = 2, .stream = COMPUTE, .cell = "0U", .start_s = 1, .end_s = 2}, "order"},
    };
    struct pp_timeline t;

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct pp_trace trace = by_hand();
        struct pp_error err = {0};
        trace.events[CASES[i].event] = CASES[i].to;
        cr_assert(pp_timeline_make(arena, &trace, &t, &err) == PP_EINVAL, "case %zu", i);
        cr_assert(strstr(err.message, CASES[i].says) && strstr(err.message, "hand"), "%s",
                  err.message);
    }
    struct pp_trace trace = by_hand();
    struct pp_error err = {0};
    trace.ranks = 1000000;
    cr_assert(pp_timeline_make(arena, &trace, &t, &err) == PP_EINVAL);
    trace.count = 0;
    cr_assert(pp_timeline_make(arena, &trace, &t, &err) == PP_EINVAL);
}
