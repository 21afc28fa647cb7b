/* Pictures of memory: bars by component, and what ranks hold over time. */
#define _GNU_SOURCE /* open_memstream */
#include "schedules/registry.h"
#include "tests/unit/plots/memory/drawn.h"
#include "tests/unit/support/sim_run.h"

#include "plots/memory/report.h"
#include "sim/figure/figure.h"
#include "sim/report/report.h"

#include <math.h>

static const char REAL[] = "--schedule 1f1b --model gpt2-64 --gpus 4 --pp 4 --tp 1 --gbs 8 --mbs 1 "
                           "--recompute none --zero 0 --engine dag";
static const char UNIT[] = "--schedule chimera --pp 4 --micro-batches 4 --unit F=1,B=2";
static const char OVER[] = "--schedule gpipe --gpus 2048 --pp 16 --tp 8 --recompute none "
                           "--zero 0 --engine dag";

static struct pp_result run(struct pp_arena *arena, const char *line)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

/* ---- bars ------------------------------------------------------------------------------------ */

static const char *draw_memory(struct pp_arena *arena, const struct pp_plot_memory *memory,
                               bool is_script)
{
    struct drawn d;
    struct pp_error err = {0};

    drawn_open(&d, is_script);
    cr_assert_eq(pp_plot_memory(arena, memory, &d.target, &err), PP_OK, "%s", err.message);
    return drawn_text(arena, &d);
}

static int count_of(const char *text, const char *what)
{
    int count = 0;

    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

Test(plot_memory, bars_are_the_ranks_of_a_run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r = run(arena, REAL);
    struct pp_plot_memory memory;

    memory = pp_figure_memory(arena, &r, 1);
    cr_assert_eq(memory.count, 4);
    cr_assert_eq(memory.capacity_bytes, r.config.cluster.device.memory_bytes);
    for (int rank = 0; rank < 4; rank++) {
        double sum = 0;
        for (int k = 0; k < PP_PLOT_MEMORY_PARTS; k++)
            sum += memory.bars[rank].part_bytes[k];
        cr_assert_float_eq(sum, r.memory[rank].peak_bytes, 1);
    }
    drawn_is(arena, draw_memory(arena, &memory, true), "memory.gp");
    drawn_is(arena, draw_memory(arena, &memory, false), "memory.txt");
}

Test(plot_memory, unit_mode_shows_activations)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r = run(arena, UNIT);
    struct pp_plot_memory memory;

    memory = pp_figure_memory(arena, &r, 1);
    cr_assert_not(memory.has_bytes);
    drawn_is(arena, draw_memory(arena, &memory, true), "memory_unit.gp");
    drawn_is(arena, draw_memory(arena, &memory, false), "memory_unit.txt");
}

Test(plot_memory, what_does_not_fit_is_marked)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r = run(arena, OVER);
    struct pp_plot_memory memory;

    cr_assert_not(r.fits);
    memory = pp_figure_memory(arena, &r, 1);
    int over = 0;
    for (int rank = 0; rank < 16; rank++)
        over += r.memory[rank].peak_bytes > memory.capacity_bytes;
    cr_assert_gt(over, 0);
    cr_assert_eq(count_of(draw_memory(arena, &memory, false), " OVER\n"), over);
    const char *script = draw_memory(arena, &memory, true);
    cr_assert_eq(count_of(script, "does not fit"), 1);
    cr_assert_eq(count_of(script, " NaN\n"), 16 - over);
}

/* Lines fit the terminal, whatever the number of ranks. */
Test(plot_memory, many_bars_are_thinned_out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    enum { BARS = 500, PEAK = 333 };
    struct pp_plot_bar bars[BARS] = {0};

    for (int i = 0; i < BARS; i++) {
        bars[i].part_bytes[3] = i == PEAK ? 2e9 : 1e9;
        bars[i].label = pp_arena_printf(arena, "%d", i);
    }
    const struct pp_plot_memory memory = {.axis = "pipeline rank",
                                          .bars = bars,
                                          .count = BARS,
                                          .has_bytes = true,
                                          .capacity_bytes = 3e9};
    const char *text = draw_memory(arena, &memory, false);
    cr_assert(strstr(text, "333 A") != NULL, "%s", text);
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
        cr_assert_leq(end - line, 80, "%.*s", (int)(end - line), line);
}

Test(plot_memory, nothing_to_draw_is_said)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_plot_bar empty = {.label = "0"};
    const struct pp_plot_memory memory = {.bars = &empty, .count = 1, .has_bytes = true};
    struct drawn d;
    struct pp_error err = {0};

    drawn_open(&d, false);
    cr_assert_eq(pp_plot_memory(arena, &memory, &d.target, &err), PP_EINVAL);
    cr_assert_str_eq(drawn_text(arena, &d), "");
}

/* ---- over time ------------------------------------------------------------------------------- */

static double most_of(const struct pp_plot_held *held, int rank)
{
    double most = 0;

    for (int i = 0; i < held->curves[rank].count; i++) {
        most = fmax(most, held->curves[rank].held[i]);
        cr_assert_leq(held->curves[rank].time_s[i], held->end_s);
        cr_assert(i == 0 || held->curves[rank].time_s[i] >= held->curves[rank].time_s[i - 1]);
    }
    return most;
}

/* Every schedule, real and unit costs: the greatest value of each rank's curve is its peak; of a
 * trace alone, its peak of activations. */
static int check_curves(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result r;
    struct pp_plot_held held, counted, guessed;
    struct pp_error err = {0};

    if (sim_run(arena, line, &r, &err) != PP_OK) {
        cr_log_warn("%s: %s", line, err.message);
        return 0;
    }
    cr_assert_eq(pp_figure_held(arena, &r, &held, &err), PP_OK, "%s: %s", line, err.message);
    cr_assert_eq(pp_plot_held_trace(arena, r.trace, r.program->granules, &counted, &err), PP_OK,
                 "%s: %s", line, err.message);
    cr_assert_eq(pp_plot_held_trace(arena, r.trace, 0, &guessed, &err), PP_OK);
    for (int rank = 0; rank < r.program->ranks; rank++) {
        const struct pp_rank_memory *m = &r.memory[rank];
        if (held.is_bytes)
            cr_assert_float_eq(most_of(&held, rank), m->peak_bytes, 1, "%s: rank %d", line, rank);
        cr_assert_float_eq(most_of(&counted, rank), m->peak_activations, 1e-9, "%s: rank %d: %g %g",
                           line, rank, most_of(&counted, rank), m->peak_activations);
        cr_assert_float_eq(most_of(&guessed, rank), m->peak_activations, 1e-9, "%s: rank %d: %g %g",
                           line, rank, most_of(&guessed, rank), m->peak_activations);
    }
    return 1;
}

Test(plot_memory, curves_reach_the_peaks_of_every_schedule)
{
    static const char *const COSTS[] = {
        "--unit F=1,B=2", "--unit F=1,I=1,W=1,C=0.1",
        "--model gpt2-64 --tp 1 --dp 2 --mbs 2 --recompute none --zero 1 --engine dag",
        "--model gpt2-64 --tp 1 --dp 1 --mbs 2 --recompute full --zero 0 --engine dag --steps 3 "
        "--step-barrier on"};
    int checked = 0, all = 0;

    for (int s = 0; pp_schedules[s]; s++)
        for (size_t c = 0; c < sizeof(COSTS) / sizeof(*COSTS); c++, all++) {
            char line[256];
            snprintf(line, sizeof(line), "--schedule %s --pp 4 --micro-batches 8 %s",
                     pp_schedules[s]->name, COSTS[c]);
            checked += check_curves(line);
        }
    cr_assert_eq(checked, all, "%d of %d", checked, all);
}

Test(plot_memory, curves_of_variants_reach_the_peaks)
{
    cr_assert(check_curves(
        "--schedule chimera --concat doubling --pp 4 --micro-batches 8 --unit F=1,B=2"));
    cr_assert(check_curves(
        "--schedule chimera --concat halving --pp 4 --micro-batches 8 --unit F=1,B=2"));
    cr_assert(
        check_curves("--schedule chimera --concat halving --pp 4 --micro-batches 8 --mbs 2 --tp 1 "
                     "--dp 1 --model gpt2-64 --engine dag"));
    cr_assert(
        check_curves("--schedule seq1f1b --splits 2 --pp 4 --micro-batches 8 --unit F=1,B=2"));
    cr_assert(
        check_curves("--schedule 1f1b --order eager --pp 4 --micro-batches 8 --unit F=1,B=2"));
    cr_assert(
        check_curves("--schedule pipedream --pp 4 --micro-batches 8 --unit F=1,B=2 --steps 3"));
}

static const char *draw_held(struct pp_arena *arena, const struct pp_plot_held *held,
                             bool is_script)
{
    struct drawn d;
    struct pp_error err = {0};

    drawn_open(&d, is_script);
    cr_assert_eq(pp_plot_held(arena, held, &d.target, &err), PP_OK, "%s", err.message);
    return drawn_text(arena, &d);
}

Test(plot_memory, curves_are_drawn)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result unit = run(arena, UNIT), real = run(arena, OVER);
    struct pp_plot_held held;

    cr_assert_eq(pp_figure_held(arena, &unit, &held, NULL), PP_OK);
    drawn_is(arena, draw_held(arena, &held, true), "held_unit.gp");
    drawn_is(arena, draw_held(arena, &held, false), "held_unit.txt");
    cr_assert_eq(pp_figure_held(arena, &real, &held, NULL), PP_OK);
    const char *script = draw_held(arena, &held, true);
    cr_assert(strstr(script, "all 16 ranks") && strstr(script, "device 79.6 GiB"));
    cr_assert_lt(strlen(script), 100000);
    drawn_is(arena, draw_held(arena, &held, false), "held.txt");
}

/* Instants between two ops at the same time are no dips, but a peak of no duration stays. */
Test(plot_memory, dips_of_no_duration_are_left_out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    double time_s[] = {0, 1, 1, 2, 2, 3}, values[] = {1, 0, 1, 5, 2, 1};
    const struct pp_held_curve curve = {time_s, values, 6};
    const struct pp_plot_held held = {
        .count = 1, .curves = &curve, .end_s = 4, .time_unit = "units"};
    const char *script = draw_held(arena, &held, true);

    cr_assert(strstr(script, "$rank0 << EOD\n0 1\n1 1\n2 5\n2 2\n3 1\n4 1\nEOD\n"), "%s", script);
}

Test(plot_memory, a_trace_that_frees_too_much_is_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static struct pp_trace_event events[] = {
        {.kind = PP_F, .cell = "0F0", .end_s = 1},
        {.kind = PP_B, .cell = "0B0", .start_s = 1, .end_s = 2},
        {.kind = PP_W, .cell = "0W0", .start_s = 2, .end_s = 3}};
    const struct pp_trace trace = {
        .program = "t.csv", .ranks = 1, .replicas = 1, .steps = 1, .events = events, .count = 3};
    struct pp_plot_held held;
    struct pp_error err = {0};

    cr_assert_eq(pp_plot_held_trace(arena, &trace, 0, &held, &err), PP_EINVAL);
    cr_assert(strstr(err.message, "t.csv: rank 0 frees an activation at 0W0"), "%s", err.message);
}

/* ---- reports --------------------------------------------------------------------------------- */

static struct pp_report read_back(struct pp_arena *arena, const struct pp_result *results,
                                  int count)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct pp_report report;
    struct pp_error err = {0};

    if (count == 1)
        pp_report_json(results, out);
    else
        pp_report_json_table(results, count, out);
    fclose(out);
    cr_assert_eq(pp_report_parse(arena, "r.json", text, length, &report, &err), PP_OK, "%s",
                 err.message);
    free(text);
    return report;
}

/* The picture of a report is the one of the run. */
Test(plot_memory, a_report_draws_what_the_run_draws)
{
    static const char *const LINES[] = {REAL, UNIT, OVER};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int i = 0; i < 3; i++) {
        const struct pp_result r = run(arena, LINES[i]);
        const struct pp_report report = read_back(arena, &r, 1);
        struct pp_plot_memory a, b;
        a = pp_figure_memory(arena, &r, 1);
        cr_assert_eq(pp_report_memory(arena, &report, &b, NULL), PP_OK);
        cr_assert_str_eq(draw_memory(arena, &a, true), draw_memory(arena, &b, true));
        cr_assert_eq(report.runs[0].peak_rank, r.config.is_unit ? 1 : r.peak_rank);
    }
}

Test(plot_memory, refused_runs_of_a_comparison_are_skipped)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result results[] = {run(arena, REAL), run(arena, OVER), run(arena, REAL)};
    struct pp_plot_memory a, b;

    results[2].status = PP_EINVAL;
    results[2].refusal = "no";
    const struct pp_report report = read_back(arena, results, 3);
    cr_assert_eq(report.count, 2);
    cr_assert_eq(pp_report_memory(arena, &report, &b, NULL), PP_OK);
    a = pp_figure_memory(arena, results, 2);
    cr_assert_eq(a.count, 2);
    cr_assert_eq(b.count, 2);
    for (int i = 0; i < 2; i++) /* the report is ranked */
        for (int k = 0; k < PP_PLOT_MEMORY_PARTS; k++)
            cr_assert_float_eq(a.bars[i].part_bytes[k],
                               b.bars[strcmp(a.bars[i].label, b.bars[0].label) != 0].part_bytes[k],
                               1);
}

Test(plot_memory, bad_reports_are_refused_with_file_and_key)
{
    static const struct {
        const char *text, *want;
    } CASES[] = {
        {"", "r.json:1:"},
        {"[1]", "r.json: an object with \"schema\""},
        {"{\"schema\": \"x\"}", "r.json: \"schema\" is \"x\", expected \"pipesim.report/1\""},
        {"{\"schema\": \"pipesim.report/1\"}", "r.json: \"schedule\" is missing"},
        {"{\"schema\": \"pipesim.report/1\", \"schedule\": \"a\", \"engine\": \"dag\", "
         "\"iteration_s\": -1}",
         "r.json: \"iteration_s\" is -1"},
        {"{\"schema\": \"pipesim.report/1\", \"schedule\": \"a\", \"engine\": \"dag\", "
         "\"iteration_s\": 1, \"ranks\": []}",
         "r.json: \"ranks\" has 0 entries"},
        {"{\"schema\": \"pipesim.report/1\", \"schedule\": \"a\", \"engine\": \"dag\", "
         "\"iteration_s\": 1, \"ranks\": [{\"rank\": 1}]}",
         "r.json: ranks[0]: \"rank\" is 1"},
        {"{\"schema\": \"pipesim.report/1\", \"schedule\": \"a\", \"engine\": \"dag\", "
         "\"iteration_s\": 1, \"device_mem_bytes\": 1, \"ranks\": [{\"rank\": 0, "
         "\"peak_activations\": 1}]}",
         "r.json: ranks[0]: \"memory\" is missing"},
        {"{\"schema\": \"pipesim.report/1\", \"schedule\": \"a\", \"engine\": \"dag\", "
         "\"iteration_s\": 1, \"device_mem_bytes\": 1, \"ranks\": [{\"rank\": 0, "
         "\"peak_activations\": 1, \"memory\": {\"params_bytes\": \"x\"}}]}",
         "r.json: ranks[0]: memory: \"params_bytes\" must be a number"},
        {"{\"schema\": \"pipesim.comparison/1\", \"runs\": 3}", "r.json: \"runs\" must be a list"},
        {"{\"schema\": \"pipesim.comparison/1\", \"runs\": [{\"schema\": \"pipesim.report/1\", "
         "\"refused\": \"no\"}]}",
         "r.json: all runs were refused"},
        {"{\"schema\": \"pipesim.comparison/1\", \"runs\": [4]}", "r.json: runs[0]: an object"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_report report;
        struct pp_error err = {0};
        cr_assert_eq(
            pp_report_parse(arena, "r.json", CASES[i].text, strlen(CASES[i].text), &report, &err),
            PP_EINVAL, "%s", CASES[i].text);
        cr_assert(!strncmp(err.message, CASES[i].want, strlen(CASES[i].want)), "%s: %s",
                  CASES[i].text, err.message);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define COLUMNS                                                                                    \
    "schedule,pp,iteration_s,params_bytes,grads_bytes,optimizer_bytes,activations_bytes,buffers_"  \
    "bytes,"                                                                                       \
    "other_bytes,peak_activations,device_mem_bytes,fits,status\n"

static enum pp_status from_table(struct pp_arena *arena, const char *text, const char *by,
                                 struct pp_plot_memory *memory, struct pp_error *err)
{
    const struct pp_curves options = {.by = by};
    struct pp_table table;

    PP_TRY(pp_table_parse(arena, "s.csv", text, strlen(text), &table, err));
    return pp_plot_memory_table(arena, &table, &options, memory, err);
}

Test(plot_memory, a_sweep_has_a_bar_for_each_row)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char TEXT[] = COLUMNS "a,4,1,1,2,3,4,5,6,2,20,false,ok\n"
                                       "a,8,1,1,2,3,4,5,4,2,20,true,ok\n"
                                       "b,8,,,,,,,,,,,refused\n"
                                       "b,4,1,1,2,3,4,5,3,2,20,true,ok\n";
    struct pp_plot_memory memory;
    struct pp_error err = {0};

    cr_assert_eq(from_table(arena, TEXT, NULL, &memory, &err), PP_OK, "%s", err.message);
    cr_assert_eq(memory.count, 3);
    cr_assert_str_eq(memory.axis, "");
    cr_assert_str_eq(memory.bars[1].label, "a, pp 8");
    cr_assert_str_eq(memory.bars[2].label, "b, pp 4");
    cr_assert_eq(memory.bars[2].part_bytes[4], 0); /* the file is older than the column */
    cr_assert_eq(memory.bars[2].part_bytes[6], 3);
    cr_assert_eq(memory.capacity_bytes, 20);
    cr_assert(memory.bars[0].is_over && !memory.bars[1].is_over);
    cr_assert_eq(from_table(arena, TEXT, "pp", &memory, &err), PP_OK);
    cr_assert_str_eq(memory.bars[2].label, "4");
}

Test(plot_memory, bad_sweeps_are_refused)
{
    static const struct {
        const char *text, *by, *want;
    } CASES[] = {
        {"schedule,pp\na,1\n", NULL, "s.csv has no column params_bytes"},
        {COLUMNS "a,4,1,x,2,3,4,5,6,2,20,true,ok\n", NULL, "s.csv:2: params_bytes 'x' is not"},
        {COLUMNS "a,4,1,-1,2,3,4,5,6,2,20,true,ok\n", NULL, "s.csv:2: params_bytes '-1' is not"},
        {COLUMNS "a,4,1,1,2,3,4,5,6,2,20,true,ok\na,8,1,,,,,,,2,,,ok\n", NULL,
         "s.csv:3: some rows have bytes"},
        {COLUMNS "a,4,1,1,2,3,4,5,6,2,20,true,ok\n", "scheduel", "--by: s.csv has no column"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_plot_memory memory;
        struct pp_error err = {0};
        cr_assert_eq(from_table(arena, CASES[i].text, CASES[i].by, &memory, &err), PP_EINVAL);
        cr_assert(strstr(err.message, CASES[i].want), "%s", err.message);
    }
}
