/* A run as GOAL text, read by its grammar and run as by LogGOPSim and by ATLAHS' fork of it
 * (tests/oracle/loggopsim.c). It ends when the run did, except for the rounding of the text to
 * nanoseconds. */
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
    free(text);
    return graph;
}

/* All of it runs, and every message is received. */
static struct loggp_result check_result(const char *line, const struct loggp *graph,
                                        struct loggp_result r)
{
    cr_assert(!r.is_refused, "%s: a number does not fit", line);
    cr_assert_eq(r.stuck, 0, "%s: %d of %d tasks never ran", line, r.stuck, graph->count);
    cr_assert_eq(r.unmatched, 0, "%s: %d messages were not received", line, r.unmatched);
    return r;
}

static struct loggp_result run_goal(const char *line, struct loggp *graph, bool is_atlahs)
{
    return check_result(line, graph, loggopsim_run(graph, is_atlahs));
}

/* Each calc on a path may be off by half a nanosecond. */
static void check_fixed(struct pp_arena *arena, const char *line, const struct pp_result *result)
{
    struct loggp graph = read_goal(arena, line, result, PP_WIRES_FIXED);

    for (int is_atlahs = 0; is_atlahs < 2; is_atlahs++) {
        const struct loggp_result r = run_goal(line, &graph, is_atlahs);
        const double per_s = result->config.is_unit && strstr(line, "C=5") ? 1e8 : 1e9;
        const double step_ns = words_makespan_s(result) * per_s;
        const double bound_ns = result->config.is_unit ? 0 : 0.5 * r.calcs + 1e-12 * step_ns;
        cr_assert(fabs(r.end_ns - step_ns) <= bound_ns, "%s: %.3f ns, the run has %.3f", line,
                  r.end_ns, step_ns);
    }
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
    run_goal(words_line(w), &graph, true);
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

/* LogGP leaves a byte out of each message; its latency is rounded, as is what is beyond it. Returns
 * whether it had to be equal. */
static bool check_network(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_result result;

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    struct loggp graph = read_goal(arena, line, &result, PP_WIRES_NETWORK);
    const struct loggp_result r = run_goal(line, &graph, true);
    const double step_ns = 1e9 * words_makespan_s(&result);
    const double bound_ns = 0.5 * r.calcs + (1 + graph.ns_per_byte) * r.passed + 1e-12 * step_ns;
    const bool is_equal = !has_queues(result.trace);

    cr_assert_gt(r.passed, 0, "%s", line);
    cr_assert(r.end_ns <= step_ns + bound_ns, "%s: %.3f ns, the run has %.3f", line, r.end_ns,
              step_ns);
    cr_assert(!is_equal || r.end_ns >= step_ns - bound_ns, "%s: %.3f ns, the run has %.3f", line,
              r.end_ns, step_ns);
    return is_equal;
}

Test(laws_export, messages_under_loggp_take_what_they_take_buffered)
{
    static const char *const NETWORKS[] = {
        "--dp 1 --tp 1",                        /* one class of links */
        "--dp 1 --tp 4",                        /* in nodes, and between them */
        "--dp 1 --tp 4 --link-bw network=0.01", /* ... which are slow */
        "--dp 4 --tp 2",                        /* with sums, in nodes and between them */
    };
    int count = 0, equal = 0;

    for (int s = 0; pp_schedules[s]; s++)
        for (size_t k = 0; k < sizeof(NETWORKS) / sizeof(*NETWORKS); k++) {
            char line[256];
            snprintf(line, sizeof(line),
                     "--schedule %s --model llama2-13b --pp 4 --mbs 2 --micro-batches 8 "
                     "--recompute none --steps 1 --engine dag --p2p buffered:64 %s",
                     pp_schedules[s]->name, NETWORKS[k]);
            equal += check_network(line);
            count++;
        }
    cr_assert_gt(2 * equal, count, "%d of %d have no queues", equal, count);
}

/* A ring takes what the run's sum took, also where the ranks of a tied embedding, or of two
 * pipelines, are ready at different times. */
Test(laws_export, sums_are_rings_of_the_reader)
{
    check_network("--schedule 1f1b --model gpt2 --pp 1 --tp 1 --dp 6 --mbs 1 --micro-batches 2 "
                  "--zero 0 --recompute none --engine dag --collective-algorithm ring");
    check_network("--schedule 1f1b --model gpt2 --pp 2 --tp 1 --dp 8 --mbs 1 --micro-batches 8 "
                  "--zero 0 --recompute none --engine dag --p2p buffered:64");
    check_network("--schedule chimera --model gpt2-64 --pp 4 --tp 4 --dp 4 --micro-batches 8 "
                  "--recompute none --engine dag --p2p buffered:64");
}

/* What the programs themselves answer; bench/goal.sh tries them. */
static const struct {
    const char *text;
    double loggopsim_ns, atlahs_ns; /* -1: refused */
} ANSWERS[] = {
    /* a calc frees the other cpu when it starts */
    {"// LogGOPSim -L 5 -o 0 -g 0 -O 0 -G 0\nnum_ranks 2\nrank 0 {\nl1: calc 10\n"
     "l2: send 1b to 1 tag 0 cpu 1\nl2 requires l1\n}\n"
     "rank 1 {\nl1: recv 1b from 0 tag 0 cpu 1\nl2: calc 20\nl2 requires l1\n}\n",
     20, 35},
    /* on one cpu it does not */
    {"// LogGOPSim -L 5 -o 0 -g 0 -O 0 -G 0\nnum_ranks 2\nrank 0 {\nl1: calc 10\n"
     "l2: send 1b to 1 tag 0\nl2 requires l1\n}\n"
     "rank 1 {\nl1: recv 1b from 0 tag 0\nl2: calc 20\nl2 requires l1\n}\n",
     35, 35},
    /* bytes keep the receiving cpu busy, or do not */
    {"// LogGOPSim -L 5 -o 0 -g 0 -O 0 -G 1\nnum_ranks 2\nrank 0 {\n"
     "l1: send 101b to 1 tag 0\n}\n"
     "rank 1 {\nl1: recv 101b from 0 tag 0\nl2: calc 50\n}\n",
     150, 105},
    /* 256 ports are none; a latency fits into an int */
    {"// LogGOPSim -L 5 -o 0 -g 0 -O 0 -G 0\nnum_ranks 2\nrank 0 {\n"
     "l1: send 1b to 1 tag 0 nic 255\n}\nrank 1 {\nl1: recv 1b from 0 tag 0 nic 255\n}\n",
     -1, -1},
    {"// LogGOPSim -L 3000000000 -o 0 -g 0 -O 0 -G 0\nnum_ranks 2\nrank 0 {\n"
     "l1: send 1b to 1 tag 0\n}\nrank 1 {\nl1: recv 1b from 0 tag 0\n}\n",
     -1, -1},
};

Test(laws_export, the_oracle_answers_as_the_programs)
{
    for (size_t k = 0; k < sizeof(ANSWERS) / sizeof(*ANSWERS); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct loggp graph;
        char message[256];
        cr_assert(goal_read(arena, ANSWERS[k].text, &graph, message), "%s", message);
        for (int is_atlahs = 0; is_atlahs < 2; is_atlahs++) {
            const struct loggp_result r = loggopsim_run(&graph, is_atlahs);
            const double end_ns = is_atlahs ? ANSWERS[k].atlahs_ns : ANSWERS[k].loggopsim_ns;
            cr_assert_eq(r.is_refused, end_ns < 0, "answer %zu", k);
            cr_assert(r.is_refused || r.end_ns == end_ns, "answer %zu: %.0f, not %.0f", k, r.end_ns,
                      end_ns);
        }
    }
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

TestSuite(laws_chakra, .init = enter, .fini = leave);

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

static struct loggp_result run_chakra(const char *line, struct loggp *graph)
{
    return check_result(line, graph, loggp_run(graph));
}

/* Communication one by one, as ASTRA-sim has it, is no deadlock. */
static void check_one_by_one(struct pp_arena *arena, const char *line,
                             const struct pp_result *result)
{
    struct loggp graph = read_chakra(arena, line, result);

    graph.is_one_by_one = true;
    run_chakra(line, &graph);
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
        const struct loggp_result r = run_chakra(line, &graph);
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
            run_chakra(line, &graph);
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
    run_chakra(words_line(w), &graph);
}

Test(laws_chakra, what_state_memory_and_sums_add_ends)
{
    law_for_each_line(60, check_drawn_chakra);
}
