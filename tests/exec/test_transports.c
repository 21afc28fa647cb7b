/* The place of workers does not change their results. A worker that dies, hangs or stops is named,
 * and all others end. */
#define _GNU_SOURCE /* usleep */
#include "core/clock.h"
#include "exec/machine/parts.h"
#include "exec/tcp/tcp.h"
#include "schedules/registry.h"
#include "tests/exec/train.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct pp_transport *const PROCESSES[] = {&pp_transport_shm, &pp_transport_tcp};
enum { PROCESSES_COUNT = sizeof(PROCESSES) / sizeof(*PROCESSES) };

static void check_no_children(const char *name)
{
    cr_assert(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "%s: processes are left", name);
}

static bool run_on(struct pp_arena *arena, const struct exec_case *base,
                   const struct pp_transport *transport, struct exec_run *run)
{
    struct exec_case c = *base;

    c.transport = transport;
    return exec_run(arena, &c, run);
}

static void check_same(const struct exec_case *c, const struct pp_transport *transport)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *name = exec_case_text(arena, c);
    struct exec_run threads, run;

    if (!run_on(arena, c, &pp_transport_local, &threads))
        return;
    cr_assert(run_on(arena, c, transport, &run));
    const struct pp_training_result *a = &threads.result, *b = &run.result;
    cr_assert(memcmp(a->losses, b->losses, sizeof(double) * (size_t)c->steps) == 0, "%s", name);
    cr_assert(memcmp(a->grad_norms, b->grad_norms, sizeof(double) * (size_t)c->steps) == 0, "%s",
              name);
    cr_assert(b->is_checked && b->weights.elements > 0, "%s", name);
    cr_assert_eq(a->is_loss_equal, b->is_loss_equal, "%s", name);
    cr_assert_eq(a->weights.differing, b->weights.differing, "%s", name);
    cr_assert_eq(a->gradients.differing, b->gradients.differing, "%s", name);
    cr_assert(!c->is_exact ||
                  (b->is_loss_equal && b->gradients.differing + b->weights.differing == 0),
              "%s", name);
    cr_assert_eq(b->structural_error_s, 0, "%s: %g s", name, b->structural_error_s);
    cr_assert_eq(a->trace->count, b->trace->count, "%s", name);
    for (int rank = 0; rank < run.program->ranks; rank++)
        cr_assert_eq(b->touched_bytes[rank], a->touched_bytes[rank], "%s rank %d", name, rank);
    check_no_children(name);
}

static int every_schedule(const struct pp_transport *transport, int replicas, bool is_exact,
                          int zero)
{
    int runs = 0;

    for (int i = 0; pp_schedules[i]; i++) {
        const struct exec_case c = {.schedule = pp_schedules[i]->name,
                                    .shape = {.ranks = 4, .micro_batches = 4},
                                    .replicas = replicas,
                                    .mbs = 1,
                                    .steps = 2,
                                    .is_exact = is_exact,
                                    .clip = 1,
                                    .zero = zero,
                                    .seed = (uint64_t)i};
        if (pp_schedules[i]->is_simulated_only)
            continue;
        check_same(&c, transport);
        runs++;
    }
    return runs;
}

/* PIPESIM_LONG=1: also without copies of the stages. */
Test(transports, every_schedule_trains_to_the_bits_of_threads)
{
    for (int t = 0; t < PROCESSES_COUNT; t++) {
        if (getenv("PIPESIM_LONG"))
            cr_assert_geq(every_schedule(PROCESSES[t], 1, true, 0), 15);
        cr_assert_geq(every_schedule(PROCESSES[t], 2, false, 0), 15);
        cr_assert_geq(every_schedule(PROCESSES[t], 2, false, 1), 15);
    }
}

/* With the wall clock, too, nothing ends before it begins, whichever side reports it. Sums that run
 * concurrently with compute are correct. */
Test(transports, wall_clock_is_causal)
{
    for (int t = 0; t <= PROCESSES_COUNT; t++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct exec_case c = {.schedule = "zbv",
                                    .shape = {.ranks = 4, .micro_batches = 8},
                                    .replicas = 2,
                                    .mbs = 1,
                                    .steps = 4,
                                    .is_exact = true,
                                    .zero = t % 2,
                                    .buckets = 3,
                                    .grad_sync = PP_SYNC_EAGER,
                                    .clock = PP_CLOCK_WALL};
        struct exec_run run;

        cr_assert(
            run_on(arena, &c, t < PROCESSES_COUNT ? PROCESSES[t] : &pp_transport_local, &run));
        cr_assert_eq(run.result.gradients.differing + run.result.weights.differing, 0);
        for (int i = 0; i < run.result.trace->count; i++) {
            const struct pp_trace_event *e = &run.result.trace->events[i];
            cr_assert(e->start_s <= e->end_s, "%s", e->cell);
            if (pp_op_is_collective(e->kind))
                cr_assert(e->posted_s <= e->start_s, "%s", e->cell);
            if (pp_op_is_send(e->kind) || pp_op_is_recv(e->kind))
                cr_assert(e->posted_s <= e->matched_s && e->matched_s <= e->start_s, "%s", e->cell);
        }
    }
}

/* ---- faults ---------------------------------------------------------------------------------*/

static enum pp_status run_with(struct pp_arena *arena, const struct pp_transport *transport,
                               const char *fault, double timeout_s, struct pp_error *err)
{
    const struct exec_case c = {.schedule = "chimera",
                                .shape = {.ranks = 4, .micro_batches = 4},
                                .replicas = 2,
                                .mbs = 1,
                                .steps = 3,
                                .transport = transport};
    struct exec_run run;

    cr_assert_eq(exec_run_make(arena, &c, &run, err), PP_OK, "%s", err->message);
    run.training.machine.timeout_s = timeout_s;
    cr_assert_eq(pp_inject_parse(fault, 0, &run.training.machine.inject, err), PP_OK, "%s",
                 err->message);
    return pp_train(arena, &run.training, &run.result, err);
}

static int list_length(int rank)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct exec_case c = {.schedule = "chimera",
                                .shape = {.ranks = 4, .micro_batches = 4},
                                .replicas = 2,
                                .mbs = 1,
                                .steps = 3};
    struct pp_error err = {0};
    struct exec_run run;

    cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK, "%s", err.message);
    return run.program->begin[rank + 1] - run.program->begin[rank];
}

static void check_killed(const struct pp_transport *transport, int rank, int replica, int op)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *fault =
        pp_arena_printf(arena, "kill rank:%d replica:%d op:%d step:2", rank, replica, op);
    const char *place = /* what the dead has said of itself may be a moment old */
        transport->remote ? pp_arena_printf(arena, "step 2: rank %d of replica %d ", rank, replica)
                          : pp_arena_printf(arena, "step 2: rank %d of replica %d at op %d of ",
                                            rank, replica, op);
    struct pp_error err = {0};

    cr_assert_eq(run_with(arena, transport, fault, 0, &err), PP_EFAIL, "%s", fault);
    cr_assert(strstr(err.message, place) == err.message &&
                  strstr(err.message, "was ended by signal 9"),
              "%s: %s", fault, err.message);
    cr_assert_null(
        strstr(err.message, pp_arena_printf(arena, "\n  rank %d of replica %d ", rank, replica)),
        "a dead rank waits for no other: %s", err.message);
    check_no_children(fault);
}

Test(transports, a_killed_rank_is_named_wherever_it_dies)
{
    int at = 0;

    for (int t = 0; t < PROCESSES_COUNT; t++)
        for (int rank = 0; rank < 4; rank++)
            for (int op = rank; op < list_length(rank); op += 7)
                check_killed(PROCESSES[t], rank, at++ % 2, op);
    cr_assert_geq(at, 40);
}

/* Op 6 of rank 1 stands before what its neighbours wait for. */
static void check_stall(const struct pp_transport *transport, const char *fault, double timeout_s,
                        const char *place, const char *how)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};

    cr_assert_eq(run_with(arena, transport, fault, timeout_s, &err), PP_EFAIL, "%s", fault);
    cr_assert(strstr(err.message, "step 2: no rank has made progress for "), "%s", err.message);
    const char *named = strstr(err.message, place);
    cr_assert(named && strstr(named, how), "%s, %s: %s", place, how, err.message);
    cr_assert(strstr(err.message, "waits for message ") &&
                  strstr(err.message, "of channel rank 1 -> rank "),
              "%s", err.message);
    check_no_children(fault);
}

Test(transports, a_rank_that_hangs_is_named)
{
    static const char *const AT = "stuck: rank 1 of replica 0 at op 6 of ",
                             *const SOMEWHERE = "stuck: rank 1 of replica 0 ",
                             *const SILENT = " at 127.0.0.1 has said nothing for 1.";

    check_stall(&pp_transport_local, "hang rank:1 op:6 step:2", 0.3, AT, "");
    for (int t = 0; t < PROCESSES_COUNT; t++) {
        check_stall(PROCESSES[t], "hang rank:1 op:6 step:2", 0.3, AT, "");
        /* a stopped process reports no progress to other hosts, nor that it lives */
        if (PROCESSES[t]->remote)
            check_stall(PROCESSES[t], "stop rank:1 op:6 step:2", 1.5, SOMEWHERE, SILENT);
        else
            check_stall(PROCESSES[t], "stop rank:1 op:6 step:2", 0.3, AT, " is stopped");
    }
}

/* Both ends live: it is told which connection it was. */
Test(transports, a_dropped_connection_is_named)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};

    cr_assert_eq(run_with(arena, &pp_transport_tcp, "drop rank:1 op:6 step:2", 20, &err), PP_EFAIL);
    cr_assert(strstr(err.message, "step 2: rank ") == err.message &&
                  strstr(err.message, ": its connection to process ") &&
                  strstr(err.message, " at 127.0.0.1 was closed"),
              "%s", err.message);
    check_no_children("drop");
    cr_assert_eq(run_with(arena, &pp_transport_shm, "drop rank:1 op:6 step:2", 20, &err), PP_OK,
                 "nothing to drop: %s", err.message);
}

static struct pp_machine *machine_of(struct pp_arena *arena, const struct pp_transport *transport,
                                     const char *fault, struct exec_run *run)
{
    const struct exec_case c = {.schedule = "1f1b",
                                .shape = {.ranks = 4, .micro_batches = 4},
                                .replicas = 1,
                                .mbs = 1,
                                .steps = 2,
                                .transport = transport};
    struct pp_machine *m = NULL;
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, &c, run, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_inject_parse(fault, 0, &run->training.machine.inject, &err), PP_OK);
    cr_assert_eq(pp_machine_create(arena, &run->training.machine, &m, &err), PP_OK, "%s",
                 err.message);
    return m;
}

/* Killed while it reports a failure: no other rank may report, and no step is complete. */
Test(transports, a_rank_that_dies_while_it_reports_ends_the_step)
{
    for (int t = 0; t < PROCESSES_COUNT; t++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_step_result result;
        struct pp_error err = {0};
        struct exec_run run;
        struct pp_machine *m = machine_of(arena, PROCESSES[t], "kill rank:1 op:3", &run);

        atomic_flag_test_and_set(&m->is_reported);
        for (int step = 0; step < 2; step++) {
            cr_assert_eq(pp_machine_step(m, &run.training.text, step, &result, &err), PP_EFAIL);
            cr_assert(strstr(err.message, "was ended by signal 9"), "%s", err.message);
        }
        pp_machine_destroy(m);
        check_no_children("dies while it reports");
    }
}

Test(transports, a_stopped_process_does_not_keep_the_others)
{
    for (int t = 0; t < PROCESSES_COUNT; t++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_run run;
        struct pp_machine *m = machine_of(arena, PROCESSES[t], "", &run);

        cr_assert_eq(kill(m->processes[1], SIGSTOP), 0);
        pp_machine_destroy(m);
        check_no_children("stopped");
    }
}

static void check_at_end(const struct pp_machine *m)
{
    for (int k = 0; k < m->worker_count; k++)
        cr_assert_eq(m->workers[k].at, m->p->begin[m->workers[k].rank + 1]);
}

/* It answers no request, and no process sees it die: it lives. */
Test(transports, a_process_that_is_silent_between_steps_is_named)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_step_result result;
    struct pp_error err = {0};
    struct exec_run run;
    struct pp_machine *m = machine_of(arena, &pp_transport_tcp, "", &run);

    cr_assert_eq(pp_machine_step(m, &run.training.text, 0, &result, &err), PP_OK, "%s",
                 err.message);
    check_at_end(m);
    cr_assert_eq(pp_machine_fetch(m, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_machine_step(m, &run.training.text, 1, &result, &err), PP_OK, "%s",
                 err.message);
    check_at_end(m);
    m->options.timeout_s = 0.5;
    const pid_t victim = m->processes[2];
    siginfo_t stopped; /* once all of its threads stand still */
    cr_assert_eq(kill(victim, SIGSTOP), 0);
    cr_assert_eq(waitid(P_PID, (id_t)victim, &stopped, WSTOPPED | WNOWAIT), 0);
    cr_assert_eq(pp_machine_fetch(m, &err), PP_EFAIL);
    cr_assert(strstr(err.message, "step 2: no answer for 0.") &&
                  strstr(err.message, "from\n  rank 2 after its last op, ") &&
                  strstr(err.message,
                         pp_arena_printf(arena, ", its process %d at 127.0.0.1", (int)victim)) &&
                  !strstr(err.message, "rank 1") && !strstr(err.message, "rank 3"),
              "%s", err.message);
    pp_machine_destroy(m); /* would not end if it waited for one that stands still */
    check_no_children("silent");
}

/* Of any host, however long it has been up. The clock begins in a whole second. */
Test(transports, the_wall_clock_begins_with_the_process)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;
    const double began_s = pp_clock_s();
    struct pp_machine *m = machine_of(arena, &pp_transport_shm, "", &run);
    const int64_t now_ps = pp_wall_ps();

    cr_assert(now_ps >= 0 && 1e-12 * (double)now_ps < pp_clock_s() - began_s + 1, "%g s",
              1e-12 * (double)now_ps);
    usleep(20000);
    cr_assert_geq(pp_wall_ps(), now_ps + (int64_t)20e9);
    pp_machine_destroy(m);
}

/* ---- clocks ---------------------------------------------------------------------------------*/

static const struct exec_case WALL = {.schedule = "zbv",
                                      .shape = {.ranks = 4, .micro_batches = 6},
                                      .replicas = 1,
                                      .mbs = 1,
                                      .steps = 5,
                                      .clock = PP_CLOCK_WALL,
                                      .transport = &pp_transport_tcp};

/* A rank continues when its awaited message has come, and that is after the message was sent. The
 * clocks of two processes show it, within their stated error. Returns the number of messages
 * checked. */
static int check_causes(const struct pp_trace *trace)
{
    int messages = 0;

    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *wait = &trace->events[i];
        if (wait->kind != PP_WAIT || wait->waits_for < 0)
            continue;
        const struct pp_trace_event *event = &trace->events[wait->waits_for];
        if (!pp_op_is_recv(event->kind))
            continue;
        messages++;
        cr_assert(event->matched_s >= event->posted_s && event->start_s >= event->matched_s &&
                      event->end_s >= event->start_s,
                  "%s of rank %d", event->cell, event->rank);
        cr_assert_geq(wait->end_s, event->matched_s - trace->clock_error_s,
                      "step %d, rank %d: %s goes on %g s before its message was sent", wait->step,
                      wait->rank, wait->cell, event->matched_s - wait->end_s);
    }
    return messages;
}

Test(transports, no_receive_ends_before_its_send_begins)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;

    cr_assert(exec_run(arena, &WALL, &run));
    const struct pp_trace *trace = run.result.trace;
    cr_assert(trace->clock_error_s > 0 && trace->clock_error_s < 0.1, "%g", trace->clock_error_s);
    cr_assert_eq(run.result.clock.jump_s, 0, "%g", run.result.clock.jump_s);
    cr_assert_geq(check_causes(trace), 36);
}

/* One clock jumps on while all are in a step: which one, how far, and what it means for the stamps.
 */
Test(transports, a_clock_that_jumps_is_named)
{
    static const int RANKS[] = {1, 3};

    for (size_t k = 0; k < sizeof(RANKS) / sizeof(*RANKS); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_error err = {0};
        struct exec_run run;

        cr_assert_eq(exec_run_make(arena, &WALL, &run, &err), PP_OK, "%s", err.message);
        const char *fault = pp_arena_printf(arena, "jump rank:%d op:7 step:2", RANKS[k]);
        cr_assert_eq(pp_inject_parse(fault, 0, &run.training.machine.inject, &err), PP_OK);
        cr_assert_eq(pp_train(arena, &run.training, &run.result, &err), PP_OK, "%s", err.message);
        const struct pp_machine_clock *clock = &run.result.clock;
        cr_assert(clock->jump_s > 0.9 && clock->jump_s < 1.1, "%g s", clock->jump_s);
        cr_assert_eq(clock->jump_rank, RANKS[k]);
        cr_assert(clock->jump_step >= 2 && clock->jump_step <= WALL.steps, "%d", clock->jump_step);
        cr_assert(clock->error_s > 0.9 && clock->error_s < 1.2, "%g", clock->error_s);
        cr_assert_eq(run.result.trace->clock_error_s, clock->error_s);
        check_causes(run.result.trace);
    }
}

/* Alignment repeats from time to time between steps. Stamps after it are correct again. */
Test(transports, clocks_are_aligned_again_on_the_way)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_step_result result;
    struct pp_error err = {0};
    struct exec_run run;
    struct pp_machine *m;

    cr_assert_eq(exec_run_make(arena, &WALL, &run, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_inject_parse("jump rank:2 op:7 step:1", 0, &run.training.machine.inject, &err),
                 PP_OK);
    cr_assert_eq(pp_machine_create(arena, &run.training.machine, &m, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(pp_machine_step(m, &run.training.text, 0, &result, &err), PP_OK, "%s",
                 err.message);
    cr_assert_gt(result.step_s, result.wall_s, "the stamps of rank 2 are not wrong");
    pp_tcp_of(m)->aligned_ps -= 3600 * (int64_t)1000000000000; /* that was long ago */
    cr_assert_eq(pp_machine_step(m, &run.training.text, 1, &result, &err), PP_OK, "%s",
                 err.message);
    cr_assert_lt(result.step_s, result.wall_s, "the stamps of rank 2 are still wrong");
    cr_assert(m->clock.jump_rank == 2 && m->clock.jump_step == 1, "rank %d, step %d",
              m->clock.jump_rank, m->clock.jump_step);
    pp_machine_destroy(m);
}

/* Wherever workers are said to be: also after the end, and before the first op. */
Test(transports, a_standstill_is_told_of_any_places)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;
    struct pp_machine *m = machine_of(arena, &pp_transport_local, "", &run);
    const int *begin = m->p->begin;

    for (int at = 0; at <= begin[m->p->ranks]; at++) {
        struct pp_error err = {0};

        for (int k = 0; k < m->worker_count; k++)
            atomic_store(&m->workers[k].at, at <= begin[k + 1] ? at : begin[k + 1]);
        pp_stall_describe(m, 1, &err);
        for (int k = 0; k < m->worker_count; k++)
            cr_assert_eq(at < begin[k],
                         strstr(err.message, pp_arena_printf(arena, "stuck: rank %d before", k)) !=
                             NULL,
                         "at %d: %s", at, err.message);
    }
    pp_machine_destroy(m);
}

Test(transports, faults_are_read_or_refused)
{
    static const struct {
        const char *text, *message; /* NULL: accepted */
    } CASES[] = {
        {"kill", NULL},
        {"hang rank:3, op:17 step:2 replica:1", NULL},
        {"burn", "\"burn\" is none of drop (its connections to other ranks are closed), eio (the "
                 "next read of its tier nvme fails), flip (a bit flips in what it next reads from "
                 "its tier nvme), freeze (its thread"},
        {"kill now", "\"now\": expected rank:K, replica:K, tp:K, op:K, step:K"},
        {"kill step:0", "0"},
        {"kill op:-1", "-1"},
        {"kill op:", ""},
        {"kill rank:1x", "1x"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct pp_error err = {0};
        struct pp_inject inject;
        const enum pp_status status = pp_inject_parse(CASES[i].text, 0, &inject, &err);

        cr_assert_eq(status, CASES[i].message ? PP_EINVAL : PP_OK, "%s: %s", CASES[i].text,
                     err.message);
        cr_assert(!CASES[i].message || strstr(err.message, CASES[i].message), "%s: %s",
                  CASES[i].text, err.message);
    }
}
