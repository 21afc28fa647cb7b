#define _GNU_SOURCE /* mkstemps */
#include "schedules/lower/lower.h"
#include "schedules/order/concat.h"
#include "schedules/registry.h"
#include "sim/simgrid/engines.h"
#include "traces/formats/formats.h"
#include "traces/metrics.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two ranks, one micro-batch, one message each way, an overlapped pair on its own. */
static struct pp_program *hand_made(struct pp_arena *arena)
{
    static const uint16_t rank_of[] = {0, 1}, pipe_of[] = {0, 0};
    const struct pp_program_head head = {.name = "hand-made",
                                         .level = PP_LEVEL_LOWERED,
                                         .ranks = 2,
                                         .stages = 2,
                                         .pipelines = 1,
                                         .micro_batches = 2,
                                         .granules = 1,
                                         .splits = 1,
                                         .versions = 1,
                                         .rank_of = rank_of,
                                         .pipe_of = pipe_of};
    static const char *const cells[2][18] = {
        {"0F0", "0SEND_F0", "0F1", "0SEND_F1", "0RECV_B0", "(0RECV_B0)WAIT", "0B0", "0RECV_B1",
         "(0RECV_B1)WAIT", "0B1", "(0SEND_F0)WAIT", "(0SEND_F1)WAIT"},
        {"1RECV_F0", "1RECV_F1", "(1RECV_F0)WAIT", "1F0", "(1RECV_F1)WAIT", "(1F1;1B0)OVERLAP_F_B",
         "1SEND_B0", "1B1", "1SEND_B1", "(1SEND_B0)WAIT", "(1SEND_B1)WAIT"}};
    struct pp_orders *lists = pp_orders_create(arena, 2);
    struct pp_program *program;
    struct pp_error err = {0};

    for (int r = 0; r < 2; r++)
        for (int i = 0; cells[r][i] != NULL; i++) {
            struct pp_op ops[2];
            int count;
            cr_assert_eq(pp_op_parse(cells[r][i], ops, &count, &err), PP_OK, "%s", err.message);
            for (int k = 0; k < count; k++)
                pp_orders_add(arena, lists, r, ops[k]);
        }
    cr_assert_eq(pp_program_freeze(arena, &head, lists, &program, &err), PP_OK, "%s", err.message);
    return program;
}

Test(engine, times_become_events)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *program = hand_made(arena);
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .c = 0.5, .fb = 2.5};
    const struct pp_costs *costs = pp_costs_unit(arena, &unit, 2, 2, 1, 1);
    const int size = pp_program_size(program);
    int64_t start[64], end[64], posted[64], matched[64];
    const struct pp_times times = {.replicas = 2,
                                   .start_ps = start,
                                   .end_ps = end,
                                   .posted_ps = posted,
                                   .matched_ps = matched};

    cr_assert_leq(2 * size, 64);
    for (int i = 0; i < 2 * size; i++) {
        start[i] = 1000 * i;
        end[i] = 1000 * i + 7;
        posted[i] = 1000 * i - 3;
        matched[i] = 1000 * i - 1;
    }
    const struct pp_trace *trace = pp_engine_trace(
        arena, &(const struct pp_engine_run){program, costs, &times, .engine = "test"});
    cr_assert_eq(trace->count, 2 * (size - 1)); /* the pair is one event */
    cr_assert_eq(trace->ranks, 2);
    cr_assert_eq(trace->replicas, 2);
    cr_assert_eq(trace->steps, 1);
    cr_assert_str_eq(trace->program, "hand-made");
    cr_assert_eq(trace->program_hash, pp_program_hash(program));
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *event = &trace->events[i];
        const int at = i % (size - 1);
        const int instruction = at > 17 ? at + 1 : at; /* after the pair */
        const int lane = 2 * instruction + event->replica;
        cr_assert_eq(event->replica, i / (size - 1));
        cr_assert_eq(event->rank, at >= 12);
        cr_assert_eq(event->start_s, (double)start[lane] * 1e-12, "%s", event->cell);
        cr_assert_eq(event->end_s, (double)end[lane] * 1e-12);
        const bool is_message = event->stream == PP_STREAM_CHANNEL;
        cr_assert_eq(isnan(event->posted_s), !is_message, "%s", event->cell);
        cr_assert_eq(isnan(event->matched_s), !is_message);
        if (event->kind == PP_WAIT) {
            char text[128];
            const struct pp_trace_event *target = &trace->events[event->waits_for];
            snprintf(text, sizeof(text), "(%s)WAIT", target->cell);
            cr_assert_str_eq(event->cell, text);
            cr_assert(target->rank == event->rank && target->replica == event->replica);
            cr_assert_eq(event->target, target->kind);
        } else {
            cr_assert_eq(event->waits_for, -1);
        }
    }
    const struct pp_trace_event *pair = &trace->events[17];
    cr_assert_str_eq(pair->cell, "(1F1;1B0)OVERLAP_F_B");
    cr_assert(pair->is_fused && pair->kind == PP_F);
    cr_assert_float_eq(pair->forward_frac, 1.0 / 3, 1e-12);
}

static struct pp_trace *run_dag(struct pp_arena *arena, const struct pp_program *program,
                                const struct pp_costs *costs,
                                const struct pp_engine_options *options)
{
    struct pp_times *times = NULL;
    struct pp_error err = {0};

    cr_assert_eq(pp_engine_dag.run(arena, program, costs, options, PP_TIMES_POSTS, &times, &err),
                 PP_OK, "%s: %s", program->name, err.message);
    return pp_engine_trace(arena,
                           &(const struct pp_engine_run){program, costs, times, .engine = "dag"});
}

/* By hand: C = 0.5. Rank 0: F0 0-1, F1 1-2, B0 5.5-7.5 (message 5-5.5), B1 8-10 or later.
 * Rank 1: F0 1.5-2.5, pair 2.5-5, B1 5-7, so B1 of rank 0 may start at 7.5. */
Test(engine, dag_runs_the_program)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *program = hand_made(arena);
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .c = 0.5, .fb = 2.5};
    const struct pp_costs *costs = pp_costs_unit(arena, &unit, 2, 2, 1, 1);
    const struct pp_engine_options options = {.eval.is_buffered = true, .replicas = 1};
    struct pp_metrics metrics;
    struct pp_error err = {0};
    const struct pp_trace *trace = run_dag(arena, program, costs, &options);

    cr_assert_str_eq(trace->engine, "dag");
    cr_assert_eq(pp_metrics_compute(arena, trace, &metrics, &err), PP_OK, "%s", err.message);
    cr_assert_float_eq(metrics.iteration_s, 9.5, 1e-12);
    cr_assert_float_eq(metrics.ranks[0].busy_s, 6, 1e-12);
    cr_assert_float_eq(metrics.ranks[1].busy_s, 5.5, 1e-12);
    /* On the wire while waited for: 5-5.5 on rank 0; 1-1.5 and, the last send, 7-7.5 on rank 1. */
    cr_assert_float_eq(metrics.ranks[0].part_s[PP_TIME_P2P], 0.5, 1e-12);
    cr_assert_float_eq(metrics.ranks[1].part_s[PP_TIME_P2P], 1, 1e-12);
    cr_assert_float_eq(metrics.bubble_frac, 1 - 11.5 / 19, 1e-12);
    cr_assert_float_eq(metrics.span_bubble_frac, 1 - 6 / 9.5, 1e-12);
    cr_assert_float_eq(metrics.ranks[1].part_s[PP_TIME_FORWARD], 1 + 2.5 / 3, 1e-12);
}

Test(engine, the_table_has_a_default_and_names)
{
    cr_assert_not_null(pp_engines[0]);
    for (int i = 0; pp_engines[i] != NULL; i++)
        cr_assert(pp_engines[i]->name && pp_engines[i]->run);
}

/* ---- the whole chain: schedule, messages, evaluator, trace, figures ----------------------- */

struct chain {
    struct pp_arena *arena;
    struct pp_shape shape;
    struct pp_program *program;
    struct pp_trace *trace;
    struct pp_metrics metrics;
};

static bool run_chain(struct chain *c, const struct pp_schedule *schedule, double wire,
                      int recv_slots)
{
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .c = wire, .fb = 3};
    const struct pp_lower_options lower = {.recv_slots = recv_slots};
    const struct pp_engine_options options = {.eval.is_buffered = recv_slots == 0, .replicas = 1};
    struct pp_program *compute;
    struct pp_error err = {0};

    if (pp_schedule_check(schedule, &c->shape, &err) != PP_OK ||
        pp_schedule_program(c->arena, schedule, &c->shape, NULL, &compute, &err) != PP_OK)
        return false;
    const struct pp_costs *costs = pp_costs_unit(c->arena, &unit, compute->ranks, compute->stages,
                                                 compute->splits, compute->granules);
    cr_assert_eq(pp_lower(c->arena, compute, &lower, &c->program, &err), PP_OK, "%s: %s",
                 schedule->name, err.message);
    c->trace = run_dag(c->arena, c->program, costs, &options);
    cr_assert_eq(pp_metrics_compute(c->arena, c->trace, &c->metrics, &err), PP_OK, "%s: %s",
                 schedule->name, err.message);
    return true;
}

static double busy_of_all(const struct chain *c)
{
    double busy_s = 0;

    for (int r = 0; r < c->program->ranks; r++)
        busy_s += c->metrics.ranks[r].busy_s;
    return busy_s;
}

Test(engine, bubbles_are_those_of_the_closed_forms)
{
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    int compared = 0, runs = 0;

    for (int i = 0; pp_schedules[i] != NULL; i++)
        for (int at = 0; at < 8 * 24 * PP_CONCAT_AUTO; at++) {
            const int ranks = 1 + at % 8, n = 1 + at / 8 % 24;
            const struct pp_schedule *schedule = pp_schedules[i];
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct chain c = {
                .arena = arena,
                .shape = {.ranks = ranks,
                          .chunks = schedule->chunks                   ? schedule->chunks
                                    : schedule->sizes & PP_SIZE_CHUNKS ? 2
                                                                       : 1,
                          .micro_batches = n,
                          .splits = 1,
                          .pipelines = schedule->placement == PP_PLACE_TWO_WAY ? 2 : 1}};
            c.shape.option[PP_CONCAT_AT] = at / (8 * 24);
            if (!run_chain(&c, schedule, 0, 0))
                continue;
            runs++;
            /* Every micro-batch costs 3 on every stage. */
            cr_assert_float_eq(busy_of_all(&c), 3.0 * n * c.program->stages, 1e-9);
            cr_assert_float_eq(c.metrics.bubble_frac, c.metrics.time_frac[PP_TIME_BUBBLE], 0);
            const double wanted = schedule->bubble_frac.value && schedule->bubble_frac.is_exact
                                      ? schedule->bubble_frac.value(&c.shape, &unit, 0)
                                      : (double)NAN;
            if (isnan(wanted))
                continue;
            cr_assert_float_eq(c.metrics.bubble_frac, wanted, 1e-12, "%s D=%d N=%d: %g, not %g",
                               schedule->name, ranks, n, c.metrics.bubble_frac, wanted);
            compared++;
        }
    cr_assert_gt(runs, 200);
    cr_assert_gt(compared, 100);
}

Test(engine, figures_of_a_file_are_those_of_the_run)
{
    int runs = 0;

    for (int i = 0; pp_schedules[i] != NULL; i++)
        for (int at = 0; at < 2 * PP_CONCAT_AUTO; at++) {
            const int slots = 2 * (at % 2);
            const struct pp_schedule *schedule = pp_schedules[i];
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct chain c = {
                .arena = arena,
                .shape = {.ranks = 4,
                          .chunks = schedule->chunks                   ? schedule->chunks
                                    : schedule->sizes & PP_SIZE_CHUNKS ? 2
                                                                       : 1,
                          .micro_batches = 8,
                          .splits = 1,
                          .pipelines = schedule->placement == PP_PLACE_TWO_WAY ? 2 : 1}};
            c.shape.option[PP_CONCAT_AT] = at / 2;
            char path[] = "/tmp/pipesim-engine-XXXXXX.csv";
            struct pp_trace *again;
            struct pp_metrics metrics;
            struct pp_error err = {0};
            if (!run_chain(&c, schedule, 0.3, slots))
                continue;
            runs++;
            close(mkstemps(path, 4));
            cr_assert_eq(pp_trace_write(c.trace, path, &err), PP_OK, "%s", err.message);
            cr_assert_eq(pp_trace_read(arena, path, &again, &err), PP_OK, "%s", err.message);
            unlink(path);
            cr_assert_eq(pp_metrics_compute(arena, again, &metrics, &err), PP_OK, "%s",
                         err.message);
            for (int part = 0; part < PP_TIME_PARTS; part++)
                cr_assert_eq(metrics.time_frac[part], c.metrics.time_frac[part], "%s: %s",
                             schedule->name, pp_time_part_names[part]);
            cr_assert_gt(metrics.time_frac[PP_TIME_P2P], 0);
            cr_assert_eq(metrics.span_bubble_frac, c.metrics.span_bubble_frac);
            for (int e = 0; e < again->count; e++)
                cr_assert_eq(again->events[e].waits_for, c.trace->events[e].waits_for, "%s",
                             again->events[e].cell);
        }
    cr_assert_gt(runs, 6);
}

Test(engine, is_found_by_name)
{
    const struct pp_engine *engine;
    struct pp_error err = {0};

    for (int i = 0; pp_engines[i]; i++) {
        cr_assert_eq(pp_engine_find(pp_engines[i]->name, &engine, &err), PP_OK);
        cr_assert_eq(engine, pp_engines[i]);
    }
    cr_assert_eq(pp_engine_default(true), &pp_engine_dag);
    cr_assert_eq(pp_engine_default(false), pp_engines[0]);
    cr_assert_eq(pp_engine_find("abacus", &engine, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "--engine abacus: this build does not have it");
}
