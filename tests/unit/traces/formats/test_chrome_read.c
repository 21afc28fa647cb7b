#define _GNU_SOURCE
#include "core/text/file.h"
#include "traces/formats/formats.h"
#include "traces/metrics.h"
#include "traces/trace.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/pipesim-chrome-XXXXXX";

static void enter(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void)
{
    cr_assert_eq(chdir("/"), 0);
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(chrome_read, .init = enter, .fini = leave);

#define HEADER                                                                                     \
    "step,rank,replica,stream,cell,posted_s,matched_s,start_s,end_s,duration_s,bytes,"             \
    "program_hash\n"
#define HASH ",0123456789abcdef\n"
/* Two replicas of two ranks; a wait that takes no time; times that are no sums of powers of two. */
static const char csv[] = HEADER
    "0,0,0,compute,0F0,,,0,0.2,0.2,0" HASH "0,0,0,channel,0SEND_F0,0.2,0.2,0.2,0.3,0.1,1000" HASH
    "0,0,0,control,(0SEND_F0)WAIT,0.3,,0.3,0.3,0,0" HASH "1,0,0,compute,0F0,,,0.7,0.9,0.2,0" HASH
    "0,1,0,channel,1RECV_F0,0,0.2,0.2,0.3,0.1,1000" HASH
    "0,1,0,control,(1RECV_F0)WAIT,0,,0.3,0.3,0,0" HASH
    "0,1,0,compute,(1F0;1B0)OVERLAP_F_B,,,0.3,0.7,0.4,0" HASH
    "1,1,0,compute,(1F0;1B0)OVERLAP_F_B,,,0.7,0.8,0.1,0" HASH "0,0,1,compute,0F0,,,0,0.6,0.6,0" HASH
    "1,0,1,compute,0F0,,,0.7,0.8,0.1,0" HASH "0,1,1,compute,(1F0;1B0)OVERLAP_F_B,,,0,0.1,0.1,0" HASH
    "1,1,1,compute,(1F0;1B0)OVERLAP_F_B,,,0.7,1,0.3,0" HASH;

static struct pp_trace *from_csv(struct pp_arena *arena)
{
    struct pp_error err = {0};
    struct pp_trace *trace;

    cr_assert_eq(pp_trace_parse_csv(arena, "csv", csv, strlen(csv), &trace, &err), PP_OK, "%s",
                 err.message);
    return trace;
}

static const struct pp_trace_event *find(const struct pp_trace *trace,
                                         const struct pp_trace_event *like)
{
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *e = &trace->events[i];
        if (e->step == like->step && e->rank == like->rank && e->replica == like->replica &&
            strcmp(e->cell, like->cell) == 0)
            return e;
    }
    return NULL;
}

/* How far clocks are apart is in the head of both forms, and only where there are several clocks.
 */
Test(chrome_read, the_clock_error_is_kept)
{
    static const double ERRORS[] = {0, 1.7e-5, 1.0000123};
    static const char *const PATHS[] = {"clock.csv", "clock.json"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_trace *trace = from_csv(arena), *again;

    cr_assert_eq(trace->clock_error_s, 0);
    for (size_t k = 0; k < 6; k++) {
        const char *path = PATHS[k % 2];

        trace->clock_error_s = ERRORS[k / 2];
        cr_assert_eq(pp_trace_write(trace, path, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_trace_read(arena, path, &again, &err), PP_OK, "%s", err.message);
        cr_assert_eq(again->clock_error_s, ERRORS[k / 2], "%s: %g", path, again->clock_error_s);
    }
}

Test(chrome_read, a_clock_error_that_is_no_time_is_refused)
{
    static const char *const WORDS[] = {"-1", "1e400", "soon", ""};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace;

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        const char *text = pp_arena_printf(arena, "# clock_error_s: %s\n%s", WORDS[i], csv);
        struct pp_error err = {0};

        cr_assert_eq(pp_trace_parse_csv(arena, "t.csv", text, strlen(text), &trace, &err),
                     PP_EINVAL, "%s", WORDS[i]);
        cr_assert(strstr(err.message, "t.csv:1: clock_error_s"), "%s", err.message);
    }
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

/* Times that are no whole picoseconds, or too many for the digits of "ts", keep every bit. */
Test(chrome_read, times_are_kept_to_the_bit)
{
    static const double TIMES[][2] = {{0, 0.1 + 0.2},
                                      {1.0 / 3, 1},
                                      {7, 7069.215624},
                                      {7062.215624123457, 9876.543210987654},
                                      {1e-13, 3e-13},
                                      {5e-324, 1e-300},
                                      {123456.789012345678, 3999999.987654321}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_trace *trace = from_csv(arena), *again;

    for (size_t k = 0; k < PP_COUNT(TIMES); k++) {
        for (int i = 0; i < trace->count; i++)
            if (trace->events[i].stream == PP_STREAM_COMPUTE) {
                trace->events[i].start_s = TIMES[k][0];
                trace->events[i].end_s = TIMES[k][1];
            }
        cr_assert_eq(pp_trace_write(trace, "bits.json", &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_trace_read(arena, "bits.json", &again, &err), PP_OK, "%s", err.message);
        int kept = 0;
        for (int i = 0; i < trace->count; i++) {
            const struct pp_trace_event *a = &trace->events[i], *b = find(again, a);
            if (a->stream == PP_STREAM_CONTROL && a->start_s == a->end_s)
                continue;
            kept++;
            cr_assert(b && b->start_s == a->start_s && b->end_s == a->end_s &&
                          same(b->posted_s, a->posted_s) && same(b->matched_s, a->matched_s),
                      "%.17g %.17g: %s", a->start_s, a->end_s, a->cell);
        }
        cr_assert_eq(again->count, kept);
    }
}

/* Picoseconds beyond 64 bits are refused by formats that hold them; no file is left. */
Test(chrome_read, times_that_a_format_cannot_hold_are_refused)
{
    static const char *const PATHS[] = {"long.json", "long.json.gz", "long.paje"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_trace *trace = from_csv(arena), *again;

    trace->events[trace->count - 1].end_s = 4.5e6;
    for (size_t i = 0; i < PP_COUNT(PATHS); i++) {
        cr_assert_eq(pp_trace_write(trace, PATHS[i], &err), PP_EFAIL);
        cr_assert(strstr(err.message, "is at 4.5e+06 s, and this format ends at 4e+06 s; .csv"),
                  "%s", err.message);
        cr_assert_neq(access(PATHS[i], F_OK), 0);
    }
    cr_assert_eq(pp_trace_write(trace, "long.csv", &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_trace_read(arena, "long.csv", &again, &err), PP_OK, "%s", err.message);
    cr_assert_eq(again->events[trace->count - 1].end_s, 4.5e6);
}

static bool near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-12;
}

static void assert_same_metrics(struct pp_arena *arena, const struct pp_trace *a,
                                const struct pp_trace *b)
{
    struct pp_metrics m, n;

    cr_assert_eq(pp_metrics_compute(arena, a, &m, NULL), PP_OK);
    cr_assert_eq(pp_metrics_compute(arena, b, &n, NULL), PP_OK);
    cr_assert(near(m.iteration_s, n.iteration_s) && near(m.span_bubble_frac, n.span_bubble_frac));
    for (int part = 0; part < PP_TIME_PARTS; part++)
        cr_assert(near(m.time_frac[part], n.time_frac[part]), "%s", pp_time_part_names[part]);
}

Test(chrome_read, what_is_written_is_read_back)
{
    static const char *const names[] = {"t.json", "t.json.gz"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_trace *trace = from_csv(arena);
    struct pp_error err = {0};
    struct pp_trace *again;

    for (int n = 0; n < 2; n++) {
        cr_assert_eq(pp_trace_write(trace, names[n], &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_trace_read(arena, names[n], &again, &err), PP_OK, "%s", err.message);
        cr_assert_str_eq(again->program, names[n]);
        cr_assert_str_eq(again->engine, "file");
        cr_assert(again->program_hash == trace->program_hash && again->ranks == 2 &&
                  again->replicas == 2 && again->steps == 2);
        cr_assert_eq(again->count, trace->count - 1, "the wait that took no time");
        for (int i = 0; i < again->count; i++) {
            const struct pp_trace_event *a = &again->events[i], *b = find(trace, a);
            cr_assert_not_null(b, "%s", a->cell);
            cr_assert(a->kind == b->kind && a->target == b->target && a->stream == b->stream &&
                      a->is_fused == b->is_fused && a->bytes == b->bytes);
            cr_assert(near(a->start_s, b->start_s) && near(a->end_s, b->end_s), "%s", a->cell);
            cr_assert(near(a->posted_s, b->posted_s) && near(a->matched_s, b->matched_s), "%s",
                      a->cell);
            if (a->kind == PP_WAIT)
                cr_assert_str_eq(again->events[a->waits_for].cell, "1RECV_F0");
        }
        assert_same_metrics(arena, trace, again);
    }
}

/* A W that ran concurrently with other compute is told from one that did not. */
Test(chrome_read, what_ran_concurrently_is_told)
{
    static const char rows[] =
        HEADER "0,0,0,compute,0I0,,,0,1,1,0" HASH "0,0,0,weights,0W0,,,1,3,2,0" HASH
               "0,0,0,compute,0I1,,,1,2,1,0" HASH "0,0,0,compute,0W1,,,2,3,1,0" HASH;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace, *again;
    struct pp_error err = {0};
    char *text = NULL;
    size_t length = 0;

    cr_assert_eq(pp_trace_parse_csv(arena, "csv", rows, strlen(rows), &trace, &err), PP_OK, "%s",
                 err.message);
    for (int is_csv = 0; is_csv < 2; is_csv++) {
        FILE *out = open_memstream(&text, &length);
        (is_csv ? pp_trace_print_csv : pp_trace_print_chrome)(trace, out);
        fclose(out);
        cr_assert(is_csv || strstr(text, "\"name\":\"weights\""), "%s", text);
        cr_assert_eq((is_csv ? pp_trace_parse_csv : pp_trace_parse_chrome)(arena, "again", text,
                                                                           length, &again, &err),
                     PP_OK, "%s", err.message);
        free(text);
        cr_assert_eq(again->count, 4);
        for (int i = 0; i < 4; i++)
            cr_expect_eq(again->events[i].is_concurrent, strcmp(again->events[i].cell, "0W0") == 0,
                         "%s", again->events[i].cell);
    }
}

Test(chrome_read, content_tells_the_format)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_trace *trace = from_csv(arena);
    struct pp_error err = {0};
    struct pp_trace *again;

    cr_assert_eq(pp_trace_write(trace, "t.json", &err), PP_OK, "%s", err.message);
    cr_assert_eq(rename("t.json", "t.csv"), 0);
    cr_assert_eq(pp_trace_read(arena, "t.csv", &again, &err), PP_OK, "%s", err.message);
    cr_assert_eq(again->count, trace->count - 1);
    cr_assert_eq(pp_trace_write(trace, "u.csv", &err), PP_OK, "%s", err.message);
    cr_assert_eq(rename("u.csv", "u"), 0);
    cr_assert_eq(pp_trace_read(arena, "u", &again, &err), PP_OK, "%s", err.message);
    cr_assert_eq(again->count, trace->count);
    cr_assert_eq(pp_trace_read(arena, "nothing", &again, &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "nothing"));
}

#define FILE_OF(events)                                                                            \
    "{\"otherData\":{\"engine\":\"e\",\"program_hash\":\"0123456789abcdef\"},\"traceEvents\":"     \
    "[" events "]}"
#define PROCESS(pid, name)                                                                         \
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" #pid ",\"args\":{\"name\":\"" name "\"}}"
#define SLICE(pid, cell, rest)                                                                     \
    "{\"ph\":\"X\",\"name\":\"" cell "\",\"pid\":" #pid ",\"ts\":0,\"dur\":1" rest "}"
#define STEP ",\"args\":{\"step\":0}"

static const struct {
    const char *text, *message;
} broken[] = {
    {"{", "t:1:"},
    {"{}", "\"otherData\" and \"traceEvents\" are expected"},
    {"{\"otherData\":{},\"traceEvents\":[]}", "\"program_hash\" is missing"},
    {"{\"otherData\":{\"engine\":\"e\",\"program_hash\":\"12\"},\"traceEvents\":[]}",
     "'12' is not"},
    {FILE_OF(""), "no events"},
    {FILE_OF("1"), "traceEvents[0] is not an object"},
    {FILE_OF("{}"), "traceEvents[0]: \"ph\" is missing"},
    {FILE_OF("{\"ph\":\"B\"}"), "traceEvents[0]: \"ph\" 'B', expected X, M, s or f"},
    {FILE_OF(PROCESS(0, "python")), "process 'python', expected one such as 'P3'"},
    {FILE_OF(PROCESS(0, "P01")), "process 'P01', expected"},
    {FILE_OF(PROCESS(0, "P-1")), "process 'P-1', expected"},
    {FILE_OF(PROCESS(0, "P1 replica 2x")), "expected one such as"},
    {FILE_OF(PROCESS(0, "P1") "," PROCESS(1, "P0")), "traceEvents[1]: process 'P0' after rank 1"},
    {FILE_OF(SLICE(0, "PP:0F0", STEP)), "an event of process 0 that does not follow its name"},
    {FILE_OF(PROCESS(0, "P0") "," SLICE(1, "PP:0F0", STEP)), "an event of process 1"},
    {FILE_OF(PROCESS(0, "P0") "," SLICE(0, "0F0", STEP)), "does not begin with 'PP:'"},
    {FILE_OF(PROCESS(0, "P0") "," SLICE(0, "PP:0X0", STEP)), "t: traceEvents[1]: "},
    {FILE_OF(PROCESS(0, "P0") "," SLICE(0, "PP:0F0", "")), "\"args\" must be an object"},
    {FILE_OF(PROCESS(0, "P0") "," SLICE(0, "PP:0F0", ",\"args\":{}")), "\"step\" is missing"},
    {FILE_OF(PROCESS(0, "P0") "," SLICE(0, "PP:0F0", ",\"args\":{\"step\":-1}")), "\"step\" is -1"},
    {FILE_OF(PROCESS(0, "P0") "," SLICE(0, "PP:0F0", ",\"args\":{\"step\":0,\"bytes\":\"x\"}")),
     "\"bytes\" must be a number"},
    {FILE_OF(PROCESS(0, "P0") ",{\"ph\":\"X\",\"name\":\"PP:0F0\",\"pid\":0,\"dur\":1" STEP "}"),
     "\"ts\" is missing"},
    {FILE_OF(PROCESS(
         0, "P0") ",{\"ph\":\"X\",\"name\":\"PP:0F0\",\"pid\":0,\"ts\":1e300,\"dur\":1" STEP "}"),
     "\"ts\" is 1e+300, outside"},
    {FILE_OF(PROCESS(0, "P0") "," SLICE(0, "PP:(0RECV_F0)WAIT", STEP)), "not posted before"},
    {FILE_OF(PROCESS(0, "P9999999 replica 9999999") "," SLICE(0, "PP:0F0", STEP)), "exceed"},
};

Test(chrome_read, what_is_not_ours_is_refused_with_file_and_place)
{
    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_error err = {0};
        struct pp_trace *trace;
        cr_expect_eq(
            pp_trace_parse_chrome(arena, "t", broken[i].text, strlen(broken[i].text), &trace, &err),
            PP_EINVAL, "case %zu", i);
        cr_expect(strncmp(err.message, "t:", 2) == 0 &&
                      strstr(err.message, broken[i].message) != NULL,
                  "case %zu: '%s' lacks '%s'", i, err.message, broken[i].message);
    }
}

Test(chrome_read, a_run_says_what_it_was)
{
    static const char *const options[] = {"--schedule", "1f1b", "--pp", "2"};
    const struct pp_trace_about about = {.version = "9",
                                         .cpu = "A \"fast\" one",
                                         .backend = "cpu",
                                         .kernels = "avx2",
                                         .transport = "local",
                                         .clock = "virtual",
                                         .cores = 3,
                                         .options = options,
                                         .option_count = 4,
                                         .alpha_s = 1e-5,
                                         .bytes_per_s = 3e9,
                                         .value_bytes = 4,
                                         .gradient_bytes = 8};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace trace = *from_csv(arena), *again;
    struct pp_error err = {0};

    trace.about = &about;
    cr_assert_eq(pp_trace_write(&trace, "run.json", &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_trace_read(arena, "run.json", &again, &err), PP_OK, "%s", err.message);
    cr_assert(pp_trace_about_is_same_machine(again->about, &about));
    cr_assert_str_eq(again->about->what_if, "");
    cr_assert_str_eq(again->about->options[3], "2");
    cr_assert(again->about->option_count == 4 && again->about->alpha_s == 1e-5 &&
              again->about->bytes_per_s == 3e9 && again->about->value_bytes == 4 &&
              again->about->gradient_bytes == 8);
    struct pp_trace_about other = about;
    other.cores = 4;
    cr_assert(!pp_trace_about_is_same_machine(&other, &about));
    struct pp_trace_about changed[] = {about, about, about, about};
    changed[0].alpha_s = 2e-5;
    changed[1].bytes_per_s = 1e9;
    changed[2].gradient_bytes = 4;
    changed[3].value_bytes = 8;
    for (int k = 0; k < 4; k++)
        cr_assert(!pp_trace_about_is_same_machine(&changed[k], &about), "%d", k);
    trace.about = &other;
    other.cores = 0;
    cr_assert_eq(pp_trace_write(&trace, "run.json", &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_trace_read(arena, "run.json", &again, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "run: \"cores\" is 0"), "%s", err.message);
}

/* 1 / 1e-310 is infinite; a machine's name may hold what moves a terminal's cursor. */
Test(chrome_read, wires_without_end_and_names_that_are_none)
{
    static const struct {
        double alpha_s, bytes_per_s;
        const char *why; /* NULL: read */
    } cases[] = {
        {0, 1e-310, "\"bytes_per_s\" is 1e-310"},
        {0, 0.5, "\"bytes_per_s\" is 0.5"},
        {0, 1e19, "\"bytes_per_s\" is 1e+19"},
        {11, 1, "\"alpha_s\" is 11"},
        {0, 0, NULL},
        {10, 1e18, NULL},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace trace = *from_csv(arena), *again;

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        const struct pp_trace_about about = {.cpu = "a\x1b[2J\tb",
                                             .cores = 1,
                                             .alpha_s = cases[k].alpha_s,
                                             .bytes_per_s = cases[k].bytes_per_s,
                                             .value_bytes = 4,
                                             .gradient_bytes = 4};
        struct pp_error err = {0};
        trace.about = &about;
        cr_assert_eq(pp_trace_write(&trace, "run.json", &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_trace_read(arena, "run.json", &again, &err),
                     cases[k].why ? PP_EINVAL : PP_OK, "%zu: %s", k, err.message);
        if (cases[k].why)
            cr_assert_not_null(strstr(err.message, cases[k].why), "%s", err.message);
        else
            cr_assert_str_eq(again->about->cpu, "a\\x1b[2J\\x09b");
    }
}
