#define _GNU_SOURCE
#include "core/text/file.h"
#include "core/text/output.h"
#include "traces/formats/formats.h"
#include "traces/trace.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char folder[] = "/tmp/pipesim-trace-XXXXXX";

static void enter(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static int files_here(void)
{
    DIR *here = opendir(".");
    int count = 0;

    for (struct dirent *entry; (entry = readdir(here)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(here);
    return count;
}

static void leave(void)
{
    cr_assert_eq(chdir("/"), 0);
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(trace, .init = enter, .fini = leave);

static struct pp_trace_event event(int rank, const char *cell, double posted_s, double start_s,
                                   double end_s)
{
    struct pp_op ops[2];
    int count;

    cr_assert_eq(pp_op_parse(cell, ops, &count, NULL), PP_OK);
    return (struct pp_trace_event){.rank = rank,
                                   .kind = ops[0].kind,
                                   .target = ops[0].kind == PP_WAIT ? ops[0].aux : 0,
                                   .is_fused = count == 2,
                                   .stream = (uint8_t)pp_op_kinds[ops[0].kind].stream,
                                   .cell = cell,
                                   .posted_s = posted_s,
                                   .matched_s = posted_s,
                                   .start_s = start_s,
                                   .end_s = end_s,
                                   .forward_frac = NAN,
                                   .waits_for = -1};
}

static struct pp_trace *example(struct pp_arena *arena)
{
    struct pp_trace *trace = PP_NEW(arena, struct pp_trace);
    const struct pp_trace_event events[] = {
        event(0, "0F0", NAN, 0, 1.0 / 3),
        event(0, "0SEND_F0", 1.0 / 3, 1.0 / 3, 0.1 + 0.3),
        event(0, "0RECV_B0[0]", 1.0 / 3, 2, 2.5),
        event(0, "(0RECV_B0)WAIT", NAN, 1.0 / 3, 2.5),
        event(0, "0B0", NAN, 2.5, 3),
        event(0, "0RECV_B1[1]", 3, 4, 5),
        event(0, "(0RECV_B1)WAIT", NAN, 3, 5),
        event(1, "1RECV_F0[0]", 0, 1.0 / 3, 0.1 + 0.3),
        event(1, "(1RECV_F0)WAIT", NAN, 0, 0.1 + 0.3),
        event(1, "(1F0;1B1)OVERLAP_F_B", NAN, 0.1 + 0.3, 1e-7 + 1.25),
        event(1, "1SEND_B0", 1.5, 2, 2.5),
    };

    *trace = (struct pp_trace){.program = "example \"1\"",
                               .program_hash = 0x0123456789abcdef,
                               .engine = "test",
                               .ranks = 2,
                               .replicas = 1,
                               .steps = 1,
                               .count = sizeof(events) / sizeof(*events)};
    trace->events = PP_ARRAY(arena, struct pp_trace_event, trace->count);
    memcpy(trace->events, events, sizeof(events));
    trace->events[1].bytes = trace->events[7].bytes = 1e9 / 7;
    return trace;
}

static const char *contents(struct pp_arena *arena, const char *path)
{
    struct pp_error err = {0};
    char *text;
    size_t length;

    cr_assert_eq(pp_file_read(arena, path, &text, &length, &err), PP_OK, "%s", err.message);
    return text;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

Test(trace, csv_written_read_and_written_again_is_the_same)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_trace *trace = example(arena);
    struct pp_trace *again;
    struct pp_error err = {0};

    cr_assert_eq(pp_trace_write(trace, "one.csv", &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_trace_read(arena, "one.csv", &again, &err), PP_OK, "%s", err.message);
    cr_assert_eq(again->count, trace->count);
    cr_assert_eq(again->ranks, 2);
    cr_assert_eq(again->replicas, 1);
    cr_assert_eq(again->steps, 1);
    cr_assert_eq(again->program_hash, trace->program_hash);
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *a = &trace->events[i], *b = &again->events[i];
        cr_assert_str_eq(a->cell, b->cell);
        cr_assert(a->kind == b->kind && a->target == b->target && a->is_fused == b->is_fused &&
                  a->rank == b->rank && a->stream == b->stream && a->bytes == b->bytes);
        cr_assert(same(a->start_s, b->start_s) && same(a->end_s, b->end_s) &&
                      same(a->posted_s, b->posted_s) && same(a->matched_s, b->matched_s),
                  "%s", a->cell);
        cr_assert_eq(b->waits_for, i == 3 ? 2 : i == 6 ? 5 : i == 8 ? 7 : -1, "%s", b->cell);
    }
    cr_assert_eq(pp_trace_write(again, "two.csv.gz", &err), PP_OK, "%s", err.message);
    cr_assert_str_eq(contents(arena, "one.csv"), contents(arena, "two.csv.gz"));
    cr_assert_eq(files_here(), 2);
}

Test(trace, csv_has_the_columns_and_rows_of_the_contract)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace = example(arena);

    trace->count = 4;
    trace->events[1].end_s = 1;
    cr_assert_eq(pp_trace_write(trace, "t.csv", NULL), PP_OK);
    cr_assert_str_eq(
        contents(arena, "t.csv"),
        "step,rank,replica,stream,cell,posted_s,matched_s,start_s,end_s,duration_s,bytes,"
        "program_hash\n"
        "0,0,0,compute,0F0,,,0,0.33333333333333331,0.33333333333333331,0,0123456789abcdef\n"
        "0,0,0,channel,0SEND_F0,0.33333333333333331,0.33333333333333331,0.33333333333333331,1,"
        "0.66666666666666674,142857142.85714287,0123456789abcdef\n"
        "0,0,0,channel,0RECV_B0[0],0.33333333333333331,0.33333333333333331,2,2.5,0.5,0,"
        "0123456789abcdef\n"
        "0,0,0,control,(0RECV_B0)WAIT,0.33333333333333331,,2.5,2.5,0,0,0123456789abcdef\n");
}

#define HEADER                                                                                     \
    "step,rank,replica,stream,cell,posted_s,matched_s,start_s,end_s,duration_s,bytes,"             \
    "program_hash\n"
#define GOOD "0,0,0,compute,0F0,,,0,1,1,0,0123456789abcdef\n"

static const struct {
    const char *text, *message;
} broken[] = {
    {"", "t.csv:1: empty"},
    {"a,b\n", "t.csv:1: column 1 is 'a', expected 'step'"},
    {HEADER, "t.csv:1: a header without rows"},
    {HEADER "0,0,0\n", "t.csv:2: 3 fields, expected 12"},
    {HEADER GOOD "x,0,0,compute,0F0,,,0,1,1,0,0123456789abcdef\n", "t.csv:3: step"},
    {HEADER GOOD "0,-1,0,compute,0F0,,,0,1,1,0,0123456789abcdef\n", "t.csv:3: rank"},
    {HEADER GOOD "0,0,99999999999,compute,0F0,,,0,1,1,0,0123456789abcdef\n", "t.csv:3: replica"},
    {HEADER "0,0,0,reduce,0F0,,,0,1,1,0,0123456789abcdef\n", "stream 'reduce' of 0F0"},
    {HEADER "0,0,0,weights,0F0,,,0,1,1,0,0123456789abcdef\n", "stream 'weights' of 0F0"},
    {HEADER "0,0,0,compute,0X0,,,0,1,1,0,0123456789abcdef\n", "t.csv:2: "},
    {HEADER "0,0,0,compute,0F0,,,,1,1,0,0123456789abcdef\n", "start_s ''"},
    {HEADER "0,0,0,compute,0F0,,,0,nan,1,0,0123456789abcdef\n", "end_s 'nan'"},
    {HEADER "0,0,0,compute,0F0,,,0,1e999,1,0,0123456789abcdef\n", "end_s '1e999'"},
    {HEADER "0,0,0,compute,0F0,,,0,0x1,1,0,0123456789abcdef\n", "end_s '0x1'"},
    {HEADER "0,0,0,compute,0F0,,,2,1,1,0,0123456789abcdef\n", "lies before"},
    {HEADER "0,0,0,compute,0F0,,,0,1,2,0,0123456789abcdef\n", "duration_s 2 is not"},
    {HEADER "0,0,0,compute,0F0,,,0,1,1,0,123\n", "program_hash '123'"},
    {HEADER GOOD "0,0,0,compute,0F1,,,1,2,1,0,0123456789abcdee\n", "t.csv:3: program_hash"},
    {HEADER "0,1,0,compute,0F0,,,0,1,1,0,0123456789abcdef\n" GOOD, "rank 0 of replica 0 after"},
    {HEADER "0,0,0,control,(0RECV_F0)WAIT,0,,1,1,0,0,0123456789abcdef\n", "not posted before"},
    {HEADER "0,0,0,control,(0RECV_F0)WAIT,,,1,1,0,0,0123456789abcdef\n", "a control op"},
    {HEADER "0,2000000000,2000000000,compute,0F0,,,0,1,1,0,0123456789abcdef\n", "exceed"},
};

Test(trace, broken_csv_is_refused_with_file_and_line)
{
    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_error err = {0};
        struct pp_trace *trace;
        FILE *file = fopen("t.csv", "w");
        fputs(broken[i].text, file);
        fclose(file);
        cr_expect_eq(pp_trace_read(arena, "t.csv", &trace, &err), PP_EINVAL, "case %zu", i);
        cr_expect(strncmp(err.message, "t.csv:", 6) == 0 &&
                      strstr(err.message, broken[i].message) != NULL,
                  "case %zu: '%s' lacks '%s'", i, err.message, broken[i].message);
    }
}

Test(trace, unknown_suffixes_are_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};

    cr_assert_eq(pp_trace_write(example(arena), "t.txt", &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, ".csv.gz"));
    cr_assert_eq(pp_trace_write(example(arena), ".csv", &err), PP_EINVAL);
    cr_assert_eq(files_here(), 0);
}

Test(trace, failed_writing_leaves_nothing_and_keeps_the_old_file)
{
    static const char *const names[] = {"t.csv", "t.csv.gz", "t.json", "t.json.gz"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace = example(arena);
    struct pp_error err = {0};

    cr_assert_eq(pp_trace_write(trace, "nowhere/t.csv", &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "nowhere/t.csv"));
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pp_trace_write(trace, names[i], &err), PP_OK, "%s", err.message);
    const char *before = contents(arena, "t.csv.gz");
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit none = {.rlim_cur = 40, .rlim_max = 40};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    for (int i = 0; i < 4; i++) {
        err = (struct pp_error){0};
        cr_expect_eq(pp_trace_write(trace, names[i], &err), PP_EFAIL, "%s", names[i]);
        cr_expect_not_null(strstr(err.message, names[i]), "%s", err.message);
    }
    cr_expect_eq(files_here(), 4);
    cr_expect_str_eq(contents(arena, "t.csv.gz"), before);
}

Test(trace, devices_pipes_and_links_stay_what_they_are)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace = example(arena);
    struct pp_error err = {0};
    struct stat info;
    char text[16] = "";

    cr_assert_eq(mkfifo("pipe.csv", 0600), 0);
    const int pipe = open("pipe.csv", O_RDWR); /* a reader: opening for writing does not block */
    cr_assert_eq(pp_trace_write(trace, "pipe.csv", &err), PP_OK, "%s", err.message);
    cr_assert_eq(read(pipe, text, 4), 4);
    cr_assert_str_eq(text, "step");
    close(pipe);
    cr_assert_eq(lstat("pipe.csv", &info), 0);
    cr_assert(S_ISFIFO(info.st_mode));
    cr_assert_eq(pp_trace_write(trace, "t.csv", &err), PP_OK);
    cr_assert_eq(symlink("t.csv", "link.csv"), 0);
    trace->events[0].bytes = 31415926;
    cr_assert_eq(pp_trace_write(trace, "link.csv", &err), PP_OK);
    cr_assert_eq(lstat("link.csv", &info), 0);
    cr_assert(S_ISLNK(info.st_mode));
    cr_assert_not_null(strstr(contents(arena, "t.csv"), "31415926"));
    cr_assert_eq(files_here(), 3);
}

Test(trace, files_keep_their_mode_and_all_their_names)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace = example(arena);
    struct pp_error err = {0};
    struct stat info, other;

    cr_assert_eq(pp_trace_write(trace, "t.csv", &err), PP_OK);
    cr_assert_eq(chmod("t.csv", 0604), 0);
    trace->events[0].bytes = 31415926;
    cr_assert_eq(pp_trace_write(trace, "t.csv", &err), PP_OK, "%s", err.message);
    cr_assert_eq(stat("t.csv", &info), 0);
    cr_assert_eq(info.st_mode & 07777, 0604);
    cr_assert_not_null(strstr(contents(arena, "t.csv"), "31415926"));

    cr_assert_eq(link("t.csv", "same.csv"), 0);
    trace->events[0].bytes = 27182818;
    cr_assert_eq(pp_trace_write(trace, "same.csv", &err), PP_OK, "%s", err.message);
    cr_assert_eq(stat("t.csv", &info), 0);
    cr_assert_eq(stat("same.csv", &other), 0);
    cr_assert_eq(info.st_ino, other.st_ino);
    cr_assert_null(strstr(contents(arena, "t.csv"), "31415926"));
    cr_assert_eq(unlink("same.csv"), 0);

    cr_assert_eq(chmod("t.csv", 0444), 0);
    trace->events[0].bytes = 89101112;
    cr_assert_eq(pp_trace_write(trace, "t.csv", &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "Permission denied"), "%s", err.message);
    cr_assert_null(strstr(contents(arena, "t.csv"), "89101112"));
    cr_assert_eq(files_here(), 1);
}

Test(trace, links_to_nothing_get_their_target_and_loops_are_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace = example(arena);
    struct pp_error err = {0};
    struct stat info;

    cr_assert_eq(mkdir("d", 0700), 0);
    cr_assert_eq(symlink("next.csv", "d/link.csv"), 0);
    cr_assert_eq(symlink("../t.csv", "d/next.csv"), 0);
    cr_assert_eq(pp_trace_write(trace, "d/link.csv", &err), PP_OK, "%s", err.message);
    cr_assert_eq(lstat("d/next.csv", &info), 0);
    cr_assert(S_ISLNK(info.st_mode));
    cr_assert_eq(lstat("t.csv", &info), 0);
    cr_assert(S_ISREG(info.st_mode));
    cr_assert_eq(symlink("loop.csv", "loop.csv"), 0);
    cr_assert_eq(pp_trace_write(trace, "loop.csv", &err), PP_EFAIL);
    cr_assert_eq(lstat("loop.csv", &info), 0);
    cr_assert(S_ISLNK(info.st_mode));
}

Test(trace, descriptors_are_written_where_they_stand)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_output output;
    const int fd = open("t.txt", O_WRONLY | O_CREAT | O_APPEND, 0600);

    cr_assert_eq(write(fd, "before\n", 7), 7);
    const char *path = pp_arena_printf(arena, "/dev/fd/%d", fd);
    cr_assert_eq(pp_output_open(arena, path, &output, &err), PP_OK, "%s", err.message);
    fputs("result\n", output.file);
    cr_assert_eq(pp_output_commit(&output, &err), PP_OK, "%s", err.message);
    cr_assert_eq(write(fd, "after\n", 6), 6);
    close(fd);
    cr_assert_str_eq(contents(arena, "t.txt"), "before\nresult\nafter\n");
    cr_assert_eq(pp_output_open(arena, "/dev/fd/1234567", &output, &err), PP_EFAIL);
}

/* A full device, made here where that is allowed: a test must not risk the real one. */
Test(trace, a_full_device_is_reported_and_stays)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct stat info;

    if (mknod("full.csv", S_IFCHR | 0600, makedev(1, 7)) != 0)
        cr_skip_test("no right to make a device");
    const int fd = open("full.csv", O_WRONLY);
    if (fd < 0)
        cr_skip_test("devices do not work in this folder");
    close(fd);
    cr_assert_eq(pp_trace_write(example(arena), "full.csv", &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "No space left"), "%s", err.message);
    cr_assert_eq(lstat("full.csv", &info), 0);
    cr_assert(S_ISCHR(info.st_mode));
    cr_assert_eq(files_here(), 1);
}

/* ---- chrome ---------------------------------------------------------------------------------- */

static int64_t picoseconds(json_t *object, const char *key)
{
    return llround(json_number_value(json_object_get(object, key)) * 1e6);
}

static int integer(json_t *object, const char *key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

static bool is_phase(json_t *object, const char *phase)
{
    return strcmp(json_string_value(json_object_get(object, "ph")), phase) == 0;
}

static void assert_no_overlap(json_t *events)
{
    size_t i, k;
    json_t *a, *b;

    json_array_foreach(events, i, a)
        json_array_foreach(events, k, b) if (i < k && is_phase(a, "X") && is_phase(b, "X") &&
                                             integer(a, "pid") == integer(b, "pid") &&
                                             integer(a, "tid") == integer(b, "tid"))
            cr_assert(picoseconds(a, "ts") + picoseconds(a, "dur") <= picoseconds(b, "ts") ||
                      picoseconds(b, "ts") + picoseconds(b, "dur") <= picoseconds(a, "ts"));
}

static json_t *load(const char *path)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    json_error_t error;
    json_t *root = json_loads(contents(arena, path), JSON_REJECT_DUPLICATES, &error);

    cr_assert_not_null(root, "line %d: %s", error.line, error.text);
    return root;
}

/* The slice on which an arrow's end lies. */
static const char *slice_of(json_t *events, json_t *end)
{
    size_t i;
    json_t *slice;

    json_array_foreach(
        events, i,
        slice) if (is_phase(slice, "X") && integer(slice, "pid") == integer(end, "pid") &&
                   integer(slice, "tid") == integer(end, "tid") &&
                   picoseconds(slice, "ts") <= picoseconds(end, "ts") &&
                   picoseconds(end, "ts") <=
                       picoseconds(slice, "ts") +
                           picoseconds(slice,
                                       "dur")) return json_string_value(json_object_get(slice,
                                                                                        "name"));
    return "none";
}

Test(trace, chrome_has_every_event_and_arrows_from_send_to_receive)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    size_t i;
    json_t *e;
    int slices = 0, starts = 0, ends = 0;

    cr_assert_eq(pp_trace_write(example(arena), "t.json.gz", &err), PP_OK, "%s", err.message);
    json_t *root = load("t.json.gz"), *events = json_object_get(root, "traceEvents");
    cr_assert_str_eq(json_string_value(json_object_get(root, "displayTimeUnit")), "ms");
    json_array_foreach(events, i, e)
    {
        slices += is_phase(e, "X");
        if (is_phase(e, "s")) {
            const char *name = slice_of(events, e);
            cr_assert(strcmp(name, "PP:0SEND_F0") == 0 || strcmp(name, "PP:1SEND_B0") == 0, "%s",
                      name);
            starts++;
        } else if (is_phase(e, "f")) {
            const char *name = slice_of(events, e);
            cr_assert(strcmp(name, "PP:1RECV_F0[0]") == 0 || strcmp(name, "PP:0RECV_B0[0]") == 0,
                      "%s", name);
            ends++;
        }
    }
    cr_assert_eq(slices, 11);
    cr_assert_eq(starts, 2);
    cr_assert_eq(ends, 2);
    assert_no_overlap(events);
    json_decref(root);
}

Test(trace, chrome_slices_of_one_thread_never_overlap)
{
    static const char *const cells[] = {"0SEND_F0", "0RECV_B0", "0SEND_F1", "0AR", "0COPY1"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace = example(arena);
    unsigned random = 1;

    trace->count = 300;
    trace->ranks = 3;
    trace->events = PP_ARRAY(arena, struct pp_trace_event, trace->count);
    for (int i = 0; i < trace->count; i++) {
        random = random * 1103515245 + 12345;
        const double start_s = (double)(random >> 8 & 1023) * 0.1,
                     end_s = start_s + (double)(random >> 20 & 31) / 7;
        trace->events[i] = event(i / 100, cells[i % 5], start_s, start_s, end_s);
    }
    cr_assert_eq(pp_trace_write(trace, "t.json", NULL), PP_OK);
    json_t *root = load("t.json");
    assert_no_overlap(json_object_get(root, "traceEvents"));
    json_decref(root);
}
