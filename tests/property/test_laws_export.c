/* A run as GOAL text, read by its grammar and run under LogGP by tests/oracle/loggp.c. It ends when
 * the run did, except for the rounding of the text to nanoseconds. */
#define _GNU_SOURCE /* open_memstream */
#include "schedules/order/schedule.h"
#include "schedules/registry.h"
#include "sim/export/export.h"
#include "sim/simgrid/engines.h"
#include "tests/oracle/loggp.h"
#include "tests/property/option_lines.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(laws_export, .timeout = 300);

static struct loggp read_goal(struct pp_arena *arena, const char *line,
                              const struct pp_result *result, enum pp_export_wires wires)
{
    struct pp_error err = {0};
    struct pp_export export;
    struct loggp graph;
    char message[256], *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    cr_assert_eq(pp_export_open(arena, result, wires, &export, &err), PP_OK, "%s: %s", line,
                 err.message);
    pp_export_goal(&export, out);
    fclose(out);
    cr_assert(goal_read(arena, text, &graph, message), "%s: %s", line, message);
    cr_assert_eq(graph.nodes, export.nodes, "%s", line);
    free(text);
    return graph;
}

/* All of it runs, and every message is received. */
static struct loggp_result run_goal(const char *line, struct loggp *graph)
{
    const struct loggp_result r = loggp_run(graph);

    cr_assert_eq(r.stuck, 0, "%s: %d of %d tasks never ran", line, r.stuck, graph->count);
    cr_assert_eq(r.unmatched, 0, "%s: %d messages were not received", line, r.unmatched);
    return r;
}

/* Each calc on a path may be off by half a nanosecond. */
static void check_fixed(struct pp_arena *arena, const char *line, const struct pp_result *result)
{
    struct loggp graph = read_goal(arena, line, result, PP_WIRES_FIXED);
    const struct loggp_result r = run_goal(line, &graph);
    const double step_ns = 1e9 * words_makespan_s(result);
    const double bound_ns = result->config.is_unit ? 0 : 0.5 * r.calcs + 1e-12 * step_ns;

    cr_assert(fabs(r.end_ns - step_ns) <= bound_ns, "%s: %.3f ns, the run has %.3f", line, r.end_ns,
              step_ns);
}

static void check_line(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_result result;

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    check_fixed(arena, line, &result);
}

/* In units there is nothing to round. */
Test(laws_export, every_schedule_in_units_ends_exactly_when_it_did)
{
    static const char *const COSTS[] = {"F=1,B=2", "F=1,I=1,W=1,C=0.25", "F=2,I=3,W=1,C=5"};

    for (int s = 0; pp_schedules[s]; s++)
        for (size_t k = 0; k < sizeof(COSTS) / sizeof(*COSTS); k++) {
            char line[256];
            snprintf(line, sizeof(line),
                     "--schedule %s --pp 4 --micro-batches 8 --steps 1 --unit %s",
                     pp_schedules[s]->name, COSTS[k]);
            check_line(line);
        }
}

Test(laws_export, every_schedule_under_every_rule_of_messages_ends_when_it_did)
{
    static const char *const RULES[] = {
        "--dp 1",
        "--dp 2 --zero 1 --p2p buffered:1 --nic fifo",
        "--dp 2 --post jit --recv-slots 1 --no-fold --jitter 10% --slow 1.0=0.7",
        "--dp 2 --post batched --p2p buffered:3 --buckets 3 --grad-sync eager",
        "--dp 4 --collectives flows --link-bw network=0.01 --p2p buffered:2",
    };

    for (int s = 0; pp_schedules[s]; s++)
        for (size_t k = 0; k < sizeof(RULES) / sizeof(*RULES); k++) {
            char line[256];
            snprintf(line, sizeof(line),
                     "--schedule %s --model gpt2-64 --tp 1 --pp 4 --mbs 2 --micro-batches 8 "
                     "--recompute none --steps 1 --engine dag %s",
                     pp_schedules[s]->name, RULES[k]);
            check_line(line);
        }
}

static void check_drawn(const struct words *w, const struct pp_result *result)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    if (result->trace->steps > 1)
        return;
    check_fixed(arena, words_line(w), result);
    struct loggp graph = read_goal(arena, words_line(w), result, PP_WIRES_NETWORK);
    run_goal(words_line(w), &graph);
}

Test(laws_export, what_state_memory_and_sums_add_ends_when_it_did)
{
    law_for_each_line(200, check_drawn);
}

/* ---- the reader's network -------------------------------------------------------------------- */

/* True if a message waits for another one of its channel. LogGP overlaps the latency of the next
 * message with it; the run does not. */
static bool has_queues(const struct pp_trace *trace)
{
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *e = &trace->events[i];
        if (pp_op_is_send(e->kind) && e->start_s > e->posted_s)
            return true;
    }
    return false;
}

/* LogGP leaves a byte out of each message; its latency is rounded, as is what is beyond it. Two
 * pipelines have sums, which are rings there. Returns whether it had to be equal. */
static bool check_network(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_result result;

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    struct loggp graph = read_goal(arena, line, &result, PP_WIRES_NETWORK);
    const struct loggp_result r = run_goal(line, &graph);
    const double step_ns = 1e9 * words_makespan_s(&result);
    const double bound_ns = 0.5 * r.calcs + (1 + graph.ns_per_byte) * r.passed + 1e-12 * step_ns;
    const bool is_equal = !has_queues(result.trace) && result.program->collective_count == 0;

    cr_assert_gt(r.passed, 0, "%s", line);
    cr_assert(result.program->collective_count > 0 || r.end_ns <= step_ns + bound_ns,
              "%s: %.3f ns, the run has %.3f", line, r.end_ns, step_ns);
    cr_assert(!is_equal || r.end_ns >= step_ns - bound_ns, "%s: %.3f ns, the run has %.3f", line,
              r.end_ns, step_ns);
    return is_equal;
}

Test(laws_export, messages_under_loggp_take_what_they_take_buffered)
{
    static const char *const NETWORKS[] = {
        "--tp 1",                        /* one class of links */
        "--tp 4",                        /* in nodes, and between them */
        "--tp 4 --link-bw network=0.01", /* ... which are slow */
    };
    int count = 0, equal = 0;

    for (int s = 0; pp_schedules[s]; s++)
        for (size_t k = 0; k < sizeof(NETWORKS) / sizeof(*NETWORKS); k++) {
            char line[256];
            snprintf(line, sizeof(line),
                     "--schedule %s --model llama2-13b --pp 4 --dp 1 --mbs 2 --micro-batches 8 "
                     "--recompute none --steps 1 --engine dag --p2p buffered:64 %s",
                     pp_schedules[s]->name, NETWORKS[k]);
            equal += check_network(line);
            count++;
        }
    cr_assert_gt(2 * equal, count, "%d of %d have neither queues nor sums", equal, count);
}

/* A ring of n replicas, whose gradients are complete together: 2 (n - 1) steps of latency and a
 * share. All other parts take less time. */
Test(laws_export, sums_are_rings_of_the_reader)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *line =
        "--schedule 1f1b --model gpt2 --pp 1 --tp 1 --dp 6 --mbs 1 --micro-batches 2 "
        "--zero 0 --recompute none --engine dag --collective-algorithm ring";
    struct pp_error err = {0};
    struct pp_result result;
    double bytes = 0, backward_s = 0, update_s = 0;

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s", err.message);
    for (int i = 0; i < result.trace->count; i++) {
        const struct pp_trace_event *e = &result.trace->events[i];
        if (e->kind == PP_AR)
            bytes = e->bytes;
        if (e->kind == PP_B)
            backward_s = fmax(backward_s, e->end_s);
        if (e->kind == PP_U)
            update_s = e->end_s - e->start_s;
    }
    struct loggp graph = read_goal(arena, line, &result, PP_WIRES_NETWORK);
    graph.latency_ns = 3000;
    graph.ns_per_byte = 0.04;
    const struct loggp_result r = run_goal(line, &graph);
    const double ring_ns = 10 * (3000 + 0.04 * (ceil(bytes / 6) - 1));
    cr_assert_eq(graph.nodes, 6);
    cr_assert_gt(bytes, 1e6);
    cr_assert_float_eq(r.end_ns, 1e9 * (backward_s + update_s) + ring_ns, 0.5 * r.calcs + 1, "%.3f",
                       r.end_ns);
}

/* By the engine that shares links: what its transfers took is fixed. */
Test(laws_export, shared_links_are_fixed_as_they_were)
{
    if (pp_engines[1] == NULL)
        cr_skip_test("this build has the dag engine only");
    check_line("--schedule 1f1b --model gpt2-64 --tp 1 --pp 4 --dp 8 --mbs 2 --micro-batches 8 "
               "--zero 0 --recompute none --link-bw network=0.02 --no-fold");
    check_line("--schedule chimera --model gpt2-64 --tp 4 --pp 8 --dp 2 --mbs 2 --micro-batches 8 "
               "--zero 1 --recompute none --link-bw network=0.02");
    check_line("--schedule zbv --model gpt2-64 --tp 1 --pp 4 --dp 8 --mbs 2 --micro-batches 8 "
               "--zero 0 --recompute none --link-bw network=0.02 --steps 1 --collectives flows "
               "--buckets 4 --no-fold --jitter 10% --p2p buffered:2");
    check_line("--schedule interleaved --model gpt2-64 --tp 1 --pp 4 --dp 4 --mbs 2 "
               "--micro-batches 8 --zero 1 --recompute none --grad-sync eager --sync-share 0.2");
}

/* ---- Chakra ---------------------------------------------------------------------------------- */

static char folder[] = "/tmp/pipesim-chakra-XXXXXX";

static void enter(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void)
{
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(rmdir(folder), 0);
}

TestSuite(laws_chakra, .init = enter, .fini = leave, .timeout = 300);

/* Written, read and removed. */
static struct loggp read_chakra(struct pp_arena *arena, const char *line,
                                const struct pp_result *result)
{
    struct loggp graph = {0};
    struct pp_export export;
    struct pp_error err = {0};
    char message[256] = "";

    cr_assert_eq(pp_export_open(arena, result, PP_WIRES_COLLECTIVES, &export, &err), PP_OK,
                 "%s: %s", line, err.message);
    cr_assert_eq(pp_export_chakra(&export, "et", &err), PP_OK, "%s: %s", line, err.message);
    graph.latency_ns = 1e-3 * (double)export.latency_ps;
    graph.ns_per_byte = 1e9 * export.s_per_byte;
    cr_assert(chakra_read(arena, "et", &graph, message), "%s: %s", line, message);
    cr_assert_eq(graph.nodes, export.nodes, "%s", line);
    cr_assert_eq(pp_export_chakra(&export, "et", &err), PP_EFAIL, "the folder is written over");
    for (int node = 0; node < export.nodes; node++)
        unlink(pp_arena_printf(arena, "et/step.%d.et", node));
    unlink("et/groups.json");
    cr_assert_eq(rmdir("et"), 0, "something else lies in the folder");
    return graph;
}

/* Communication one by one, as ASTRA-sim has it, is no deadlock. */
static void check_one_by_one(struct pp_arena *arena, const char *line,
                             const struct pp_result *result)
{
    struct loggp graph = read_chakra(arena, line, result);

    graph.is_one_by_one = true;
    run_goal(line, &graph);
}

/* On one class of links. Each calc is rounded to a microsecond. */
Test(laws_chakra, messages_under_loggp_take_what_they_take_buffered)
{
    int equal = 0;

    for (int s = 0; pp_schedules[s]; s++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_error err = {0};
        struct pp_result result;
        const char *line = pp_arena_printf(
            arena,
            "--schedule %s --model llama2-13b --pp 4 --dp 1 --tp 1 --mbs 2 --micro-batches 8 "
            "--recompute none --steps 1 --engine dag --p2p buffered:64",
            pp_schedules[s]->name);
        cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
        struct loggp graph = read_chakra(arena, line, &result);
        const struct loggp_result r = run_goal(line, &graph);
        const double step_ns = 1e9 * words_makespan_s(&result), bound_ns = 500 * r.calcs + r.passed;
        check_one_by_one(arena, line, &result);
        if (has_queues(result.trace) || result.program->collective_count > 0)
            continue;
        equal++;
        cr_assert(fabs(r.end_ns - step_ns) <= bound_ns, "%s: %.3f ns, the run has %.3f", line,
                  r.end_ns, step_ns);
    }
    cr_assert_gt(equal, 8, "%d", equal);
}

/* All replicas and their sums. Also one by one, at the end of the step, without concurrent
 * messages. */
Test(laws_chakra, collectives_meet)
{
    static const char *const STATE[] = {"--zero 0", "--zero 1", "--zero 3 --gather chunk"};

    for (int s = 0; pp_schedules[s]; s++)
        for (size_t k = 0; k < sizeof(STATE) / sizeof(*STATE); k++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_error err = {0};
            struct pp_result result;
            const char *line = pp_arena_printf(
                arena,
                "--schedule %s --model gpt2-64 --pp 4 --dp 3 --tp 1 --mbs 2 --micro-batches "
                "8 --recompute none --steps 1 --engine dag %s",
                pp_schedules[s]->name, STATE[k]);
            if (sim_run(arena, line, &result, &err) != PP_OK)
                continue; /* several copies of its weights are not cut */
            struct loggp graph = read_chakra(arena, line, &result);
            int meetings = 0;
            run_goal(line, &graph);
            for (int i = 0; i < graph.count; i++)
                meetings += graph.tasks[i].kind == LOGGP_MEET;
            cr_assert_gt(meetings, 0, "%s", line);
            if (k < 2)
                check_one_by_one(arena, line, &result);
        }
}

/* Under one class of links or several, the reader's network decides: it has to end. */
static void check_drawn_chakra(const struct words *w, const struct pp_result *result)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    if (result->trace->steps > 1)
        return;
    struct loggp graph = read_chakra(arena, words_line(w), result);
    run_goal(words_line(w), &graph);
}

Test(laws_chakra, what_state_memory_and_sums_add_ends)
{
    law_for_each_line(60, check_drawn_chakra);
}
