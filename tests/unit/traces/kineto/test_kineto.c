#include "traces/kineto/kineto.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST_FILES = 8 };

/* Slices, times in microseconds. */
#define SLICE(cat, name, tid, ts, dur, args)                                                       \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts \
    ",\"dur\":" dur ",\"args\":{" args "}},"
#define RANGE(name, ts, dur)         SLICE("user_annotation", name, "1", ts, dur, "")
#define DRAWN(name, stream, ts, dur) SLICE("gpu_user_annotation", name, stream, ts, dur, "")
#define LAUNCH(id, thread, ts)                                                                     \
    SLICE("cuda_runtime", "launch", thread, ts, "1", "\"correlation\":" id)
#define KERNEL(id, stream, ts, dur)                                                                \
    SLICE("kernel", "k", stream, ts, dur, "\"correlation\":" id ",\"stream\":" stream)
#define FILE_OF(rank, events)                                                                      \
    "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":" rank "},\"traceEvents\":[" events        \
    "{\"ph\":\"M\",\"name\":\"process_name\"}]}"

static enum pp_status parse(struct pp_arena *arena, const char *const *texts, struct pp_kineto *run,
                            struct pp_error *err)
{
    static const char *const NAMES[MOST_FILES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct pp_bytes *bytes = PP_ARRAY(arena, struct pp_bytes, MOST_FILES);
    int count = 0;

    for (; texts[count]; count++)
        bytes[count] = (struct pp_bytes){(char *)texts[count], strlen(texts[count])};
    return pp_kineto_read(arena, NAMES, bytes, count, run, err);
}

static struct pp_kineto read_all(struct pp_arena *arena, const char *const *texts)
{
    struct pp_error err = {0};
    struct pp_kineto run;

    cr_assert_eq(parse(arena, texts, &run, &err), PP_OK, "%s", err.message);
    return run;
}

static const struct pp_trace_event *find(const struct pp_trace *trace, const char *cell,
                                         int replica)
{
    for (int k = 0; k < trace->count; k++)
        if (!strcmp(trace->events[k].cell, cell) && trace->events[k].replica == replica)
            return &trace->events[k];
    cr_assert_fail("no %s", cell);
    return NULL;
}

static void check_us(const struct pp_trace_event *e, double start_us, double end_us)
{
    cr_assert_float_eq(e->start_s * 1e6, start_us, 1e-6, "%s: %g", e->cell, e->start_s * 1e6);
    cr_assert_float_eq(e->end_s * 1e6, end_us, 1e-6, "%s: %g", e->cell, e->end_s * 1e6);
}

static bool has_note(const struct pp_kineto *run, const char *part)
{
    for (int k = 0; k < run->note_count; k++)
        if (strstr(run->notes[k], part))
            return true;
    return false;
}

/* Launches of autograd's thread during a backward belong to the backward, though the profiler has
 * not drawn them so. Kernels of another stream, and launches between ranges, do not. */
Test(kineto, a_backward_is_what_was_launched_while_it_lasted)
{
    static const char *const texts[] = {
        FILE_OF("0",
                RANGE("PP:0F0", "100", "50") RANGE("PP:0B0", "160", "40") LAUNCH("1", "1", "110")
                    LAUNCH("2", "1", "155") LAUNCH("3", "1", "161") LAUNCH("4", "9", "170") LAUNCH(
                        "5", "9", "199.5") LAUNCH("6", "9", "180") KERNEL("5", "7", "400", "20")
                        KERNEL("1", "7", "200", "100") KERNEL("3", "7", "310", "5")
                            KERNEL("4", "7", "320", "70") KERNEL("2", "7", "301", "500") KERNEL(
                                "6", "8", "1", "150") DRAWN("PP:0F0", "7", "200", "100")
                                DRAWN("PP:0B0", "7", "310", "5") RANGE("PP:0SEND_F9", "205", "1")
                                    RANGE("nccl:send", "205", "1")),
        NULL};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_kineto run = read_all(arena, texts);

    cr_assert(run.trace->count == 2 && run.trace->ranks == 1 && run.trace->steps == 1);
    check_us(find(run.trace, "0F0", 0), 0, 100);
    check_us(find(run.trace, "0B0", 0), 110, 220);
    cr_assert(has_note(&run, "1 ranges without work on the device"));
    cr_assert(run.trace->is_partial && run.trace->clock_error_s == 0 && !run.is_of_host);
}

/* Two processes whose clocks are 1000 us apart: a message goes each way, and takes 10 us more to
 * end at its receiver. */
#define SENT(id, name, post, kernel, dur)                                                          \
    RANGE(name, post, "1") LAUNCH(id, "1", post) KERNEL(id, "20", kernel, dur)
static const char *const two[] = {
    FILE_OF("0", RANGE("PP:0F0", "0", "2") LAUNCH("1", "1", "1") KERNEL("1", "7", "100", "50")
                     SENT("2", "PP:0SEND_F0", "3", "160", "30")
                         SENT("3", "PP:0RECV_B0", "5", "191", "109") RANGE("PP:0B0", "8", "2")
                             LAUNCH("4", "1", "9") KERNEL("4", "7", "310", "50")),
    FILE_OF("1",
            SENT("1", "PP:1RECV_F0", "1000", "1020", "180") RANGE("PP:1F0", "1002", "2")
                LAUNCH("2", "1", "1003") KERNEL("2", "7", "1210", "20") RANGE("PP:1B0", "1005", "2")
                    LAUNCH("3", "1", "1006") KERNEL("3", "7", "1231", "40")
                        SENT("4", "PP:1SEND_B0", "1008", "1271", "19")),
    NULL};

Test(kineto, messages_tell_clocks_and_waits)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_kineto run = read_all(arena, two);
    const struct pp_trace_event *receive = find(run.trace, "1RECV_F0", 0),
                                *send = find(run.trace, "0SEND_F0", 0),
                                *back = find(run.trace, "0RECV_B0", 0);

    /* The ends by their own clocks are 190 and 1200, 1290 and 300. The lags are 1010 and -990 us,
     * so the clock is 1000 ahead, give or take 10. The first event is the RECV_F, at 20 on the
     * first clock. */
    cr_assert(has_note(&run, "clocks of 1 of 2 processes were moved, by up to 1e+03 us"), "%s",
              run.notes[0]);
    cr_assert_float_eq(run.trace->clock_error_s, 20e-6, 1e-12);
    check_us(send, 140, 170);
    check_us(receive, 140, 180);
    cr_assert_float_eq(receive->posted_s, 0, 1e-12);
    cr_assert_float_eq(receive->matched_s * 1e6, 140, 1e-6);
    check_us(back, 251, 280);
    cr_assert_float_eq(back->posted_s * 1e6, 171, 1e-6);
    check_us(find(run.trace, "1F0", 0), 190, 210);
}

/* A rank of a V holds the first and the last stage. Two processes of the same stages are replicas,
 * in the order of their ranks. A third one without the others is ignored. */
Test(kineto, stages_tell_ranks)
{
    static const char *const texts[] = {
        FILE_OF("5", RANGE("PP:1F0", "10", "5") RANGE("PP:2F0", "20", "4")),
        FILE_OF("4", RANGE("PP:1F0", "10", "6") RANGE("PP:2F0", "20", "4")),
        FILE_OF("1", RANGE("PP:0F0", "0", "7") RANGE("PP:3F0", "30", "4")),
        FILE_OF("0", RANGE("PP:0F0", "0", "8") RANGE("PP:3F0", "30", "4")),
        FILE_OF("2", RANGE("PP:0F0", "0", "9") RANGE("PP:3F0", "30", "4")),
        NULL};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_kineto run = read_all(arena, texts);

    cr_assert(run.trace->ranks == 2 && run.trace->replicas == 2 && run.is_of_host);
    check_us(find(run.trace, "0F0", 0), 0, 8);
    check_us(find(run.trace, "0F0", 1), 0, 7);
    check_us(find(run.trace, "1F0", 0), 10, 16);
    check_us(find(run.trace, "1F0", 1), 10, 15);
    cr_assert_eq(find(run.trace, "2F0", 0)->rank, 1);
    cr_assert(has_note(&run, "1 files are of replicas of which other pipeline ranks are missing"));
}

/* Steps by their windows, the k-th without; those that are not there in whole are not read. */
Test(kineto, steps)
{
    static const char *const texts[] = {
        FILE_OF("0", RANGE("PP:0F0", "5", "1") RANGE("ProfilerStep#7", "10", "90") RANGE("PP:0F0",
                                                                                         "20", "1")
                         RANGE("PP:0B0", "30", "1") RANGE("Optimizer.step#AdamW.step", "40", "6")
                             RANGE("ProfilerStep#8", "100", "100") RANGE("PP:0F0", "120", "2")
                                 RANGE("PP:0B0", "130", "1") RANGE("ProfilerStep#9", "200", "10")
                                     RANGE("PP:0F0", "205", "1")),
        NULL};
    static const char *const without[] = {
        FILE_OF("0", RANGE("PP:0F0", "20", "1") RANGE("PP:0B0", "30", "1")
                         RANGE("PP:0F0", "120", "2") RANGE("PP:0B0", "130", "1")),
        NULL};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_kineto run = read_all(arena, texts), other = read_all(arena, without);

    cr_assert(run.trace->steps == 2 && run.trace->count == 5);
    check_us(find(run.trace, "0U", 0), 20, 26);
    cr_assert(run.trace->events[3].step == 1);
    check_us(&run.trace->events[3], 100, 102);
    cr_assert(has_note(&run, "1 steps that are not there in whole"));
    cr_assert(other.trace->steps == 2 && other.trace->count == 4 && other.note_count == 1);
}

/* One optimizer for each stage, or one for both. */
Test(kineto, updates_of_several_stages)
{
    static const char *const each[] = {FILE_OF("0",
                                               RANGE("PP:0F0", "0", "1") RANGE("PP:1F0", "2", "1")
                                                   RANGE("Optimizer.step#SGD.step", "10", "6")
                                                       RANGE("Optimizer.step#SGD.step", "20", "8")),
                                       NULL};
    static const char *const both[] = {FILE_OF("0",
                                               RANGE("PP:0F0", "0", "1") RANGE("PP:1F0", "2", "1")
                                                   RANGE("Optimizer.step#SGD.step", "10", "6")),
                                       NULL};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_trace *two_updates = read_all(arena, each).trace,
                          *one = read_all(arena, both).trace;

    check_us(find(two_updates, "0U", 0), 10, 16);
    check_us(find(two_updates, "1U", 0), 20, 28);
    check_us(find(one, "0U", 0), 10, 13);
    check_us(find(one, "1U", 0), 13, 16);
}

/* The ranges of the device, where nothing else says when kernels ran. */
Test(kineto, what_the_profiler_drew)
{
    static const char *const texts[] = {
        FILE_OF("0", RANGE("PP:0F0", "0", "1") RANGE("PP:0F1", "2", "1") RANGE("PP:0F0", "4", "1")
                         DRAWN("PP:0F0", "7", "60", "5") DRAWN("PP:0F0", "7", "50", "6")
                             DRAWN("PP:0F1", "9", "70", "10") DRAWN("PP:0F1", "7", "70", "9")),
        NULL};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_kineto run = read_all(arena, texts);

    cr_assert(has_note(&run, "1 of 1 files have no launches"));
    cr_assert(has_note(&run, "1 steps that are not there in whole"));
    cr_assert_eq(run.trace->count, 2);
    check_us(find(run.trace, "0F0", 0), 0, 6);
    check_us(find(run.trace, "0F1", 0), 20, 29);
}

/* What PyTorch waits for by itself is known, and no op of ours. */
Test(kineto, waits_are_passed_over)
{
    static const char *const texts[] = {
        FILE_OF("0", RANGE("PP:0UNSHARD", "10", "5") RANGE("PP:0F0", "100", "50")
                         RANGE("PP:0B0", "160", "40") RANGE("PP:0WAIT_SEND_F0", "200", "9")
                             RANGE("PP:0REDUCE_GRAD", "210", "5")
                                 RANGE("PP:0WAIT_REDUCE_GRAD", "215", "5")),
        NULL};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_kineto run = read_all(arena, texts);

    cr_assert(!has_note(&run, "name no op"));
    for (int k = 0; k < run.trace->count; k++)
        cr_assert(!strstr(run.trace->events[k].cell, "WAIT"), "%s", run.trace->events[k].cell);
}

Test(kineto, what_is_no_run_is_refused)
{
    static const struct {
        const char *texts[4], *why;
    } cases[] = {
        {{"[]"}, "a: byte 0: a JSON object is expected"},
        {{"{\"traceEvents\":[]}"}, "a: no \"traceEvents\" are in it"},
        {{"{\"traceEvents\":[{\"name\":\"x\"}]}"},
         "a: none of its 1 events is a range of the host"},
        {{FILE_OF("0", RANGE("PP:F0", "0", "1"))}, "'PP:F0' names no op"},
        {{"{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"PP:0F0\",}]}"}, "a: traceEvents[0]: "},
        {{"{\"traceEvents\":[[\"PP:\"]]}"}, "a: traceEvents[0]: is not an object"},
        {{FILE_OF("0", RANGE("PP:0F0", "\"\"", "1"))}, "traceEvents[0]: \"ts\" is not a number"},
        {{FILE_OF("0", RANGE("PP:0F0", "0", "-1"))}, "traceEvents[0]: \"dur\" is not a number"},
        {{FILE_OF("0", RANGE("PP:0F0", "1e300", "1"))}, "traceEvents[0]: \"ts\" is not a number"},
        {{FILE_OF("0", RANGE("ProfilerStep#x", "0", "1"))}, "has no number of a step"},
        {{FILE_OF("0", RANGE("PP:0F0", "0", "1") RANGE("PP:2F0", "2", "1"))},
         "stage 1 of 0 .. 2 is in none of the 1 files"},
        {{FILE_OF("0", RANGE("PP:0F0", "0", "1")), FILE_OF("0", RANGE("PP:0F0", "0", "1"))},
         "rank 0 is in a and in b"},
        {{FILE_OF("0", RANGE("PP:0F0", "0", "1")),
          FILE_OF("1", RANGE("PP:0F0", "0", "1") RANGE("PP:1F0", "2", "1"))},
         "stage 0 is in a and in b, which have other stages"},
        {{FILE_OF("0", RANGE("PP:0F0", "0", "1") RANGE("ProfilerStep#1", "0", "5")),
          FILE_OF("1", RANGE("PP:1F0", "0", "1"))},
         "only one of a and b has steps"},
        {{FILE_OF("0", RANGE("PP:0F0", "0", "1") RANGE("ProfilerStep#1", "0", "5")),
          FILE_OF("1", RANGE("PP:1F0", "0", "1") RANGE("ProfilerStep#2", "0", "5"))},
         "no step is in all 2 files in whole"},
        {{FILE_OF("0", RANGE("PP:0F0", "0", "1")), FILE_OF("1", RANGE("PP:1F0", "1e12", "1"))},
         "lie 1e+06 s apart"},
        {{FILE_OF("0",
                  RANGE("PP:0F0", "0", "1") LAUNCH("1", "1", "0") KERNEL("1", "1", "0", "-1"))},
         "traceEvents[2]: \"dur\" is not"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        struct pp_kineto run;
        cr_assert_eq(parse(arena, cases[k].texts, &run, &err), PP_EINVAL, "%zu", k);
        cr_assert_not_null(strstr(err.message, cases[k].why), "%zu: %s", k, err.message);
    }
}
