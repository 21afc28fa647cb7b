/* Pictures of links: bytes over time add up to the bytes of the step, and are drawn. */
#define _GNU_SOURCE /* open_memstream */
#include "tests/unit/plots/memory/drawn.h"
#include "tests/unit/support/sim_run.h"

#include "plots/memory/report.h"
#include "sim/figure/figure.h"
#include "sim/report/report.h"
#include "sim/run/links.h"

#include <limits.h>
#include <math.h>

static struct pp_result run(struct pp_arena *arena, const char *line)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static double sum_of(const struct pp_link_row *row, int bins)
{
    double sum = 0;

    for (int k = 0; k < bins; k++) {
        cr_assert_geq(row->bytes[k], 0);
        sum += row->bytes[k];
    }
    return sum;
}

/* Every link: its bins are its use of the report, and those of a class the bytes of the class. */
static void check_sums(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r = run(arena, line);
    const struct pp_link_inputs in = pp_link_inputs_of(&r);
    const struct pp_link_loads loads = pp_link_loads(arena, &in);
    const struct pp_link_times times =
        pp_link_times(arena, &in, r.trace, (struct pp_link_choice){37, INT_MAX, INT_MAX});
    const int steps =
        r.config.engine_options.eval.steps > 1 ? r.config.engine_options.eval.steps : 1;
    double *bytes = PP_ARRAY(arena, double, loads.count);
    int *members = PP_ARRAY(arena, int, loads.count);

    cr_assert_gt(times.count, 0, "%s", line);
    for (int i = 0; i < times.count; i++) {
        const struct pp_link_row *row = &times.rows[i];
        const double sum = sum_of(row, times.bins),
                     mean_frac = sum / (steps * row->bytes_per_s * in.iteration_s);
        cr_assert(i == 0 || row->class >= row[-1].class);
        cr_assert_float_eq(mean_frac, row->mean_frac, 1e-9 * row->mean_frac, "%s: %s: %g %g", line,
                           row->name, mean_frac, row->mean_frac);
        bytes[row->class] += sum;
        members[row->class]++;
    }
    for (int c = 0; c < loads.count; c++) {
        cr_assert_eq(members[c], loads.classes[c].count);
        cr_assert_float_eq(bytes[c], steps * loads.classes[c].bytes,
                           1e-9 * steps * loads.classes[c].bytes, "%s: %s", line,
                           loads.classes[c].name);
    }
}

Test(plot_heat, bins_add_up_to_the_bytes_of_every_link)
{
    static const char SMALL[] = "--model gpt2-64 --pp 4 --tp 2 --dp 4 --mbs 1 --micro-batches 8 "
                                "--recompute none";
    static const char *const LINES[] = {
        "--schedule chimera --zero 0 --engine dag",
        "--schedule chimera --zero 1 --engine dag --no-fold",
        "--schedule 1f1b --zero 0 --engine dag --buckets 4 --grad-sync eager",
        "--schedule 1f1b --zero 0 --engine dag --collectives flows",
        "--schedule dualpipev --zero 1 --engine dag",
        "--schedule zbv --zero 1 --engine dag --steps 3 --step-barrier off",
        "--schedule pipedream --zero 0 --engine dag --steps 3",
        "--schedule gpipe --zero 0 --engine dag --steps 2 --step-barrier on --no-fold",
    };

    for (size_t i = 0; i < sizeof(LINES) / sizeof(*LINES); i++) {
        char line[512];
        snprintf(line, sizeof(line), "%s %s", LINES[i], SMALL);
        check_sums(line);
    }
}

/* A message of a second over one link fills the bins of that second, in proportion. */
Test(plot_heat, busy_bins_are_where_the_messages_are)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r =
        run(arena, "--schedule gpipe --model gpt2-64 --pp 2 --tp 1 --dp 1 --mbs 1 --micro-batches "
                   "1 --recompute none --zero 0 --engine dag");
    const struct pp_link_inputs in = pp_link_inputs_of(&r);
    enum { BINS = 1000 };
    const struct pp_link_times times =
        pp_link_times(arena, &in, r.trace, (struct pp_link_choice){BINS, INT_MAX, INT_MAX});
    int sends = 0;

    for (int k = 0; k < r.trace->count; k++) {
        const struct pp_trace_event *e = &r.trace->events[k];
        if (!pp_op_is_send(e->kind))
            continue;
        const int first = (int)(e->start_s / times.end_s * BINS);
        const int last = (int)(e->end_s / times.end_s * BINS);
        bool is_found = false;
        for (int i = 0; i < times.count; i++) {
            double inside = 0;
            for (int b = first; b <= last && b < BINS; b++)
                inside += times.rows[i].bytes[b];
            is_found |= fabs(inside - e->bytes) < 1e-6 * e->bytes;
        }
        cr_assert(is_found, "%s", e->cell);
        sends++;
    }
    cr_assert_eq(sends, 2);
}

Test(plot_heat, classes_take_turns)
{
    const int class[] = {0, 0, 0, 1, 2, 2};
    bool is_taken[6] = {0};
    static const bool WANT[] = {true, true, false, true, true, false};

    pp_links_take_turns(class, 6, 4, is_taken);
    cr_assert_arr_eq(is_taken, WANT, sizeof(WANT));
    memset(is_taken, 0, sizeof(is_taken));
    pp_links_take_turns(class, 6, 100, is_taken);
    for (int i = 0; i < 6; i++)
        cr_assert(is_taken[i]);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static const double FRAC[] = {0, 0.05, 0.5, 1, 0.25, 1.5, 0.999, 0.1};
static const double MEAN[] = {0.3875, 0.712};
static const char *NAMES[] = {"node0.nic0.up", "leaf1.up"};
static const struct pp_plot_heat HEAT = {.title = "heat",
                                         .rows = NAMES,
                                         .mean_frac = MEAN,
                                         .frac = FRAC,
                                         .row_count = 2,
                                         .bins = 4,
                                         .end_s = 0.002};

static const char *draw_heat(struct pp_arena *arena, bool is_script)
{
    struct drawn d;
    struct pp_error err = {0};

    drawn_open(&d, is_script);
    cr_assert_eq(pp_plot_heat(arena, &HEAT, &d.target, &err), PP_OK, "%s", err.message);
    return drawn_text(arena, &d);
}

Test(plot_heat, maps_are_drawn)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    drawn_is(arena, draw_heat(arena, true), "heat.gp");
    drawn_is(arena, draw_heat(arena, false), "heat.txt");
}

Test(plot_heat, rows_of_a_run_differ)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r = run(arena, "--schedule chimera --gpus 2048 --engine dag");
    struct pp_plot_heat heat;

    cr_assert_eq(pp_figure_heat(arena, &r, &heat, NULL), PP_OK);
    cr_assert(heat.row_count > 4 && heat.row_count <= 40);
    for (int i = 1; i < heat.row_count; i++)
        cr_assert(memcmp(&heat.frac[i * heat.bins], &heat.frac[(i - 1) * heat.bins],
                         sizeof(double) * (size_t)heat.bins) != 0);
    struct drawn d;
    drawn_open(&d, false);
    cr_assert_eq(pp_plot_heat(arena, &heat, &d.target, NULL), PP_OK);
    for (const char *line = drawn_text(arena, &d), *end; (end = strchr(line, '\n')); line = end + 1)
        cr_assert_leq(end - line, 80, "%.*s", (int)(end - line), line);
}

Test(plot_heat, unit_mode_has_no_links)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r = run(arena, "--schedule 1f1b --pp 4 --micro-batches 8 --unit F=1");
    struct pp_plot_heat heat;
    struct pp_error err = {0};

    cr_assert_eq(pp_figure_heat(arena, &r, &heat, &err), PP_EINVAL);
    cr_assert(strstr(err.message, "unit mode"));
    const struct pp_result one = run(arena, "--schedule 1f1b --gpus 1 --model gpt2-64 --pp 1");
    cr_assert_eq(pp_figure_heat(arena, &one, &heat, &err), PP_EINVAL);
    cr_assert(strstr(err.message, "no link carries"));
}

Test(plot_heat, a_report_draws_its_classes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r =
        run(arena, "--schedule 1f1b --model gpt2-64 --gpus 16 --pp 8 --tp 1 --engine dag");
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct pp_report report;
    struct pp_plot_links links;

    pp_report_json(&r, out);
    fclose(out);
    cr_assert_eq(pp_report_parse(arena, "r.json", text, length, &report, NULL), PP_OK);
    free(text);
    cr_assert_eq(pp_report_links(arena, &report, &links, NULL), PP_OK);
    const struct pp_link_loads loads = pp_links_of(arena, &r);
    cr_assert_eq(links.count, loads.count);
    for (int i = 0; i < links.count; i++) {
        cr_assert_str_eq(links.links[i].name, loads.classes[i].name);
        cr_assert_eq(links.links[i].max_frac, loads.classes[i].max_frac);
    }
    struct drawn d;
    drawn_open(&d, true);
    cr_assert_eq(pp_plot_links(arena, &links, &d.target, NULL), PP_OK);
    drawn_is(arena, drawn_text(arena, &d), "links.gp");
    drawn_open(&d, false);
    cr_assert_eq(pp_plot_links(arena, &links, &d.target, NULL), PP_OK);
    drawn_is(arena, drawn_text(arena, &d), "links.txt");
}
