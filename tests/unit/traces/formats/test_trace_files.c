/* Traces of every schedule, written to files and read again. The figures are the same, a trace does
 * not differ from itself, and pictures are drawn of it. */
#include "tests/unit/support/sim_run.h"

#include "schedules/order/schedule.h"
#include "schedules/registry.h"
#include "sim/command/commands.h"
#include "traces/compare/compare.h"
#include "traces/formats/formats.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const COSTS[] = {
    "--unit F=1,B=2",
    "--model gpt2-64 --tp 1 --dp 2 --mbs 2 --recompute full --zero 1 --engine dag",
    "--model gpt2-64 --tp 1 --dp 1 --mbs 1 --recompute none --zero 0 --engine dag --jitter 5%",
};
static const char *const STEPS[] = {"--steps 1", "--steps 4 --step-barrier on",
                                    "--steps 4 --step-barrier off"};
static const char *const FILES[] = {"trace.csv", "trace.json"};
static const char *const PICTURES[] = {"timeline",
                                       "memory-time"}; /* each of one file: reading takes longest */

static char folder[] = "/tmp/pipesim-files-XXXXXX";

static void enter(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void)
{
    unlink("trace.csv");
    unlink("trace.json");
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(rmdir(folder), 0);
}

TestSuite(trace_files, .init = enter, .fini = leave);

static bool is_near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-9 * scale;
}

static void check_metrics(const char *what, const struct pp_metrics *run,
                          const struct pp_metrics *file, int ranks)
{
    const double *a = run->time_frac, *b = file->time_frac;

    cr_assert(is_near(run->iteration_s, file->iteration_s, run->iteration_s), "%s: %.17g, %.17g",
              what, run->iteration_s, file->iteration_s);
    cr_assert(is_near(run->bubble_frac, file->bubble_frac, 1), "%s", what);
    cr_assert(is_near(run->span_bubble_frac, file->span_bubble_frac, 1), "%s", what);
    /* How a fused pair divides is not in files. */
    cr_assert(is_near(a[PP_TIME_FORWARD] + a[PP_TIME_BACKWARD],
                      b[PP_TIME_FORWARD] + b[PP_TIME_BACKWARD], 1),
              "%s", what);
    for (int part = PP_TIME_BACKWARD + 1; part < PP_TIME_PARTS; part++)
        cr_assert(is_near(a[part], b[part], 1), "%s: %s %g, %g", what, pp_time_part_names[part],
                  a[part], b[part]);
    for (int r = 0; r < ranks; r++)
        cr_assert(is_near(run->ranks[r].busy_s, file->ranks[r].busy_s, run->iteration_s) &&
                      is_near(run->ranks[r].idle_s, file->ranks[r].idle_s, run->iteration_s) &&
                      is_near(run->ranks[r].span_s, file->ranks[r].span_s, run->iteration_s),
                  "%s: rank %d", what, r);
}

/* Waits that take no time are not in the JSON; all others lead to the same event. */
static void check_waits(const char *what, const struct pp_trace *run, const struct pp_trace *file)
{
    if (run->count == file->count)
        for (int i = 0; i < run->count; i++)
            cr_assert_eq(run->events[i].waits_for, file->events[i].waits_for, "%s: %s", what,
                         run->events[i].cell);
    for (int i = 0; i < run->count; i++)
        if (run->events[i].waits_for >= 0)
            cr_assert_eq(run->events[i].step, run->events[run->events[i].waits_for].step,
                         "%s: step %d: %s", what, run->events[i].step, run->events[i].cell);
}

static void check_compare(struct pp_arena *arena, const char *what, const struct pp_trace *p,
                          const struct pp_trace *q)
{
    const struct pp_compare_options options = {.worst = 4};
    struct pp_comparison c;
    struct pp_error err = {0};

    cr_assert_eq(pp_compare(arena, p, q, &options, &c, &err), PP_OK, "%s: %s", what, err.message);
    cr_assert(c.step_error_s == 0 && c.worst_count == 0 && c.missing.count == 0 &&
                  c.extra.count == 0 && c.is_pairwise,
              "%s: %g s, %d worst, %d missing, %d extra", what, c.step_error_s, c.worst_count,
              (int)c.missing.count, (int)c.extra.count);
    for (int i = 0; i < c.step_count; i++)
        cr_assert(c.steps[i].error_frac == 0 && c.steps[i].measured_s > 0, "%s: step %d", what, i);
    for (int part = 0; part < PP_TIME_PARTS; part++)
        cr_assert_eq(c.predicted.part_s[part], c.measured.part_s[part], "%s", what);
}

/* Drawn as by the command line, to text. */
static void check_picture(struct pp_arena *arena, const char *what, const char *file,
                          const char *kind)
{
    const char *words[] = {"pipesim", "plot", file, "--kind", kind};
    struct pp_parsed parsed;
    struct pp_wish wish = {.request = {.flags = &parsed}};
    struct pp_error err = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    cr_assert_eq(pp_options_parse(arena, &pp_sim_cli, 5, (char **)words, &parsed, &err), PP_OK,
                 "%s", err.message);
    pp_wish_bind(arena, &wish.request);
    cr_assert_eq(pp_command_plot(arena, &wish, out, &err), PP_OK, "%s: %s of %s: %s", what, kind,
                 file, err.message);
    fclose(out);
    cr_assert_gt(length, 200, "%s: %s", what, text);
    free(text);
}

static void check_run(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *file[2];
    struct pp_error err = {0};
    struct pp_result run;

    cr_assert_eq(sim_run(arena, line, &run, &err), PP_OK, "%s: %s", line, err.message);
    for (int f = 0; f < 2; f++) {
        struct pp_metrics metrics;
        const char *what = pp_arena_printf(arena, "%s, %s", line, FILES[f]);
        cr_assert_eq(pp_trace_write(run.trace, FILES[f], &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_trace_read(arena, FILES[f], &file[f], &err), PP_OK, "%s: %s", what,
                     err.message);
        cr_assert_eq(file[f]->steps, run.trace->steps, "%s", what);
        check_waits(what, run.trace, file[f]);
        cr_assert_eq(pp_metrics_compute(arena, file[f], &metrics, &err), PP_OK, "%s: %s", what,
                     err.message);
        check_metrics(what, &run.metrics, &metrics, run.trace->ranks);
        check_compare(arena, what, file[f], file[f]);
        check_picture(arena, what, FILES[f], PICTURES[f]);
    }
    check_compare(arena, line, file[0], file[1]);
}

static void check_schedules(const char *costs)
{
    for (int s = 0; pp_schedules[s]; s++)
        for (size_t k = 0; k < sizeof(STEPS) / sizeof(*STEPS); k++) {
            char line[256];
            snprintf(line, sizeof(line), "--schedule %s --pp 4 --micro-batches 8 %s %s",
                     pp_schedules[s]->name, costs, STEPS[k]);
            check_run(line);
        }
}

Test(trace_files, of_every_schedule_in_units)
{
    check_schedules(COSTS[0]);
}

Test(trace_files, of_every_schedule_with_a_model)
{
    check_schedules(COSTS[1]);
}

Test(trace_files, of_every_schedule_with_jitter)
{
    check_schedules(COSTS[2]);
}
