/* Saved reports: a second run gives the same figures, whatever its output options. Changes are
 * measured against the right whole, and unreadable reports are refused. */
#define _GNU_SOURCE /* open_memstream */
#include "tests/unit/support/sim_run.h"

#include "schedules/order/schedule.h"
#include "schedules/registry.h"
#include "sim/check/baseline.h"
#include "sim/command/commands.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* ---- the same run ---------------------------------------------------------------------------- */

static struct pp_parsed parse(struct pp_arena *arena, const char *line)
{
    enum { WORDS = 64 };
    char *text = pp_arena_printf(arena, "pipesim %s", line), *words[WORDS];
    struct pp_error err = {0};
    struct pp_parsed parsed;
    int count = 0;

    for (char *word = strtok(text, " "); word && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    cr_assert_eq(pp_options_parse(arena, &pp_sim_cli, count, words, &parsed, &err), PP_OK, "%s: %s",
                 line, err.message);
    return parsed;
}

static const char *report_of(struct pp_arena *arena, const char *line,
                             const struct pp_parsed *parsed)
{
    const struct pp_wish wish = {.request = {.flags = parsed}};
    struct pp_error err = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    cr_assert_eq(pp_command_run(arena, &wish, out, &err), PP_OK, "%s: %s", line, err.message);
    fclose(out);
    const char *copy = pp_arena_strdup(arena, text);
    free(text);
    return copy;
}

static struct pp_baseline read_report(struct pp_arena *arena, const char *line, const char *text)
{
    struct pp_baseline baseline;
    struct pp_error err = {0};

    cr_assert_eq(pp_baseline_parse(arena, "f", text, strlen(text), &baseline, &err), PP_OK,
                 "%s: %s", line, err.message);
    return baseline;
}

static struct pp_changes diff(struct pp_arena *arena, const char *before, const char *after,
                              double tolerance_frac)
{
    const struct pp_baseline a = read_report(arena, "before", before),
                             b = read_report(arena, "after", after);
    struct pp_changes changes;

    pp_baseline_diff(arena, a.json.root, b.json.root, tolerance_frac, &changes);
    return changes;
}

static bool is_unmoved(const struct pp_changes *c)
{
    return !c->count && !c->largest.path && !c->words && !c->added;
}

/* The report of `line`, the one of its inputs alone, and that again. */
static void check_again(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_parsed parsed = parse(arena, line), json = parse(arena, "--json");
    const char *first = report_of(arena, line, &parsed);
    const struct pp_baseline baseline = read_report(arena, line, first);
    const struct pp_parsed again = pp_baseline_under(arena, &baseline, &json);
    const struct pp_changes changes = diff(arena, first, report_of(arena, line, &again), 0);

    cr_assert(is_unmoved(&changes), "%s: %d of %d figures, %d texts, %d new; %s", line,
              changes.count, changes.figures, changes.words, changes.added,
              changes.count ? changes.list[0].path : "");
    cr_assert_gt(changes.figures, 20, "%s", line);
}

Test(baseline, a_report_says_all_that_its_run_was_asked)
{
    static const char *const LINES[] = {
        "--schedule 1f1b,chimera,gems --pp 4 --micro-batches 6 --unit F=1,B=2 --json",
        "--schedule all --pp 4 --micro-batches 8 --unit F=1,I=1,W=1,C=0.1 --json",
        "--schedule 1f1b --model gpt2 --gpus 8 --pp 2 --tp 2 --engine dag --jitter 5% --seed 3 "
        "--slow 0=0.9 --slow 1.1=80% --link-bw network=0.5 --no-fold --json",
        "--schedule interleaved --group 4 --model llama3-8b --gpus 16 --pp 4 --vp 2 --engine dag "
        "--offload os=host --recompute selective=mlp+act --json",
        "--schedule zbv --model gpt2 --gpus 4 --pp 4 --micro-batches 8 --engine dag --require-fit "
        "--json",
        "--preset megatron-sc21-145b --engine dag --json",
        "--preset chimera-sc21 --engine dag --gbs 1024 --schedule chimera,1f1b --json",
        "--preset chimera-sc21 --engine dag --gpus 512 --json",
    };

    for (size_t i = 0; i < sizeof(LINES) / sizeof(*LINES); i++)
        check_again(LINES[i]);
    for (int s = 0; pp_schedules[s]; s++) {
        char line[160];
        snprintf(line, sizeof(line), "--schedule %s --pp 4 --micro-batches 8 --unit F=1,B=2 --json",
                 pp_schedules[s]->name);
        check_again(line);
    }
}

Test(baseline, flags_win_over_the_report)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *line = "--schedule gpipe --pp 4 --micro-batches 8 --unit F=1,B=2 --json";
    struct pp_parsed parsed = parse(arena, line),
                     flags = parse(arena, "--schedule zbv --micro-batches 12 --json"),
                     direct = parse(arena, "--schedule zbv --pp 4 --micro-batches 12 --unit "
                                           "F=1,B=2 --json");
    const struct pp_baseline baseline = read_report(arena, line, report_of(arena, line, &parsed));
    const struct pp_parsed both = pp_baseline_under(arena, &baseline, &flags);
    const struct pp_changes changes =
        diff(arena, report_of(arena, line, &direct), report_of(arena, line, &both), 0);

    cr_assert(is_unmoved(&changes), "%d of %d", changes.count, changes.figures);
}

/* ---- what has moved -------------------------------------------------------------------------- */

#define INPUTS       "\"inputs\":{\"schedule\":\"1f1b\"}"
#define REPORT(body) "{\"schema\":\"pipesim.report/1\",\"schedule\":\"1f1b\"," body "," INPUTS "}"

Test(baseline, changes_are_parts_of_their_whole)
{
    static const struct {
        const char *before, *after, *path;
        enum pp_whole whole;
        double frac;
    } CASES[] = {
        {"\"iteration_s\":4.0", "\"iteration_s\":4.1", "iteration_s", PP_OF_ITSELF, 0.025},
        {"\"iteration_s\":4", "\"iteration_s\":4.5", "iteration_s", PP_OF_ITSELF, 0.125},
        {"\"bubble_frac\":0.25", "\"bubble_frac\":0.125", "bubble_frac", PP_OF_STEP, -0.125},
        {"\"time_frac\":{\"p2p\":0}", "\"time_frac\":{\"p2p\":0.5}", "time_frac.p2p", PP_OF_STEP,
         0.5},
        {"\"iteration_s\":4,\"ranks\":[{\"rank\":7,\"idle_s\":1}]",
         "\"iteration_s\":4,\"ranks\":[{\"rank\":7,\"idle_s\":2}]", "ranks[7].idle_s", PP_OF_STEP,
         0.25},
        {"\"peak_mem_bytes\":8,\"memory\":{\"grads_bytes\":1}",
         "\"peak_mem_bytes\":8,\"memory\":{\"grads_bytes\":3}", "memory.grads_bytes", PP_OF_PEAK,
         0.25},
        {"\"peak_mem_bytes\":8", "\"peak_mem_bytes\":6", "peak_mem_bytes", PP_OF_ITSELF, -0.25},
        {"\"mfu\":0.4", "\"mfu\":0.5", "mfu", PP_OF_ITSELF, 0.25},
        {"\"layout\":{\"pp\":4}", "\"layout\":{\"pp\":5}", "layout.pp", PP_EXACT, HUGE_VAL},
        {"\"fits\":true", "\"fits\":false", "fits", PP_EXACT, HUGE_VAL},
        {"\"mfu\":0.4", "\"mfu\":null", "mfu", PP_EXACT, HUGE_VAL},
        {"\"mfu\":0.4", "\"hfu\":0.4", "mfu", PP_EXACT, HUGE_VAL},
        {"\"x_s\":0", "\"x_s\":0.5", "x_s", PP_OF_ITSELF, HUGE_VAL},
        {"\"stages\":{\"layers\":[3,4]}", "\"stages\":{\"layers\":[3,5]}", "stages.layers[1]",
         PP_EXACT, HUGE_VAL},
        {"\"links\":[{\"name\":\"a\",\"x\":1.0},{\"name\":\"b\",\"x\":2.0}]",
         "\"links\":[{\"name\":\"b\",\"x\":2.0}]", "links[a]", PP_EXACT, HUGE_VAL},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *before = pp_arena_printf(arena, REPORT("%s"), CASES[i].before),
                   *after = pp_arena_printf(arena, REPORT("%s"), CASES[i].after);
        const struct pp_changes c = diff(arena, before, after, 0);
        cr_assert_eq(c.count, 1, "%s: %d", CASES[i].path, c.count);
        cr_assert_str_eq(c.list[0].path, CASES[i].path);
        cr_assert_eq(c.list[0].whole, CASES[i].whole, "%s", CASES[i].path);
        cr_assert(c.list[0].frac == CASES[i].frac || fabs(c.list[0].frac - CASES[i].frac) < 1e-12,
                  "%s: %g", CASES[i].path, c.list[0].frac);
        /* At the tolerance it has not moved, below it has. */
        const double size = fabs(CASES[i].frac);
        cr_assert(isinf(size) || diff(arena, before, after, size * 1.000001).count == 0, "%s",
                  CASES[i].path);
        cr_assert_eq(diff(arena, before, after, isinf(size) ? 1e9 : size * 0.999).count, 1, "%s",
                     CASES[i].path);
        const struct pp_changes none = diff(arena, before, before, 0);
        cr_assert(is_unmoved(&none) && none.figures > 0, "%s", CASES[i].path);
    }
}

Test(baseline, order_of_lists_hosts_and_words_are_no_figures)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_changes turned =
        diff(arena, REPORT("\"ranks\":[{\"rank\":0,\"a_s\":1},{\"rank\":1,\"a_s\":2}]"),
             REPORT("\"ranks\":[{\"rank\":1,\"a_s\":2},{\"rank\":0,\"a_s\":1}]"), 0);
    const struct pp_changes host = diff(arena, REPORT("\"a_s\":1,\"meta\":{\"wall_s\":1}"),
                                        REPORT("\"a_s\":1,\"meta\":{\"wall_s\":2}"), 0);
    const struct pp_changes word = diff(arena, REPORT("\"a_s\":1,\"source\":\"x\""),
                                        REPORT("\"a_s\":1,\"source\":\"y\",\"b_s\":3"), 0);

    cr_assert(is_unmoved(&turned) && turned.figures == 4);
    cr_assert(is_unmoved(&host) && host.figures == 1);
    cr_assert(word.count == 0 && word.words == 1 && word.added == 1);
}

/* ---- what is no baseline --------------------------------------------------------------------- */

Test(baseline, other_files_are_refused_in_words)
{
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"[1]", "f: expected what pipesim --json prints"},
        {"{", "f:1:1:"},
        {"{}", "f: \"schema\" is missing"},
        {"{\"schema\":\"pipesim.report/2\"}", "'pipesim.report/2'; expected 'pipesim.report/1'"},
        {"{\"schema\":\"pipesim.compare/1\"}", "'pipesim.compare/1'"},
        {"{\"schema\":\"pipesim.report/1\"}", "\"inputs\" is missing"},
        {"{\"schema\":\"pipesim.comparison/1\",\"runs\":[{\"refused\":\"x\"}]}", "\"inputs\""},
        {"{\"schema\":\"pipesim.report/1\",\"inputs\":{\"schedule\":1}}", "'schedule' is neither"},
        {"{\"schema\":\"pipesim.report/1\",\"inputs\":{\"warp\":\"1\"}}", "'warp' is no option"},
        {"{\"schema\":\"pipesim.report/1\",\"inputs\":{\"trace\":\"/etc/passwd\"}}",
         "'trace' is no option"},
        {"{\"schema\":\"pipesim.report/1\",\"inputs\":{\"pp\":\"many\"}}", "f: inputs: --pp"},
        {"{\"schema\":\"pipesim.report/1\",\"inputs\":{\"preset\":\"mine\"}}", "unknown preset"},
        {"{\"schema\":\"pipesim.report/1\",\"inputs\":{\"from\":\"f\"}}", "'from' is no option"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_baseline baseline;
        struct pp_error err = {0};
        cr_assert_eq(
            pp_baseline_parse(arena, "f", CASES[i].text, strlen(CASES[i].text), &baseline, &err),
            PP_EINVAL, "%s", CASES[i].text);
        cr_assert(strstr(err.message, CASES[i].message), "%s: %s", CASES[i].text, err.message);
    }
}
