/* What pipeexec derives from flags: blocks of stages, wires, batches, programs. */
#include "exec/cli.h"
#include "exec/plan/plan.h"
#include "exec/report/report.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct pp_arena *arena;

static void start(void)
{
    arena = pp_arena_create();
}

static void finish(void)
{
    pp_arena_destroy(arena);
}

TestSuite(exec_front, .init = start, .fini = finish);

/* ---- blocks ---------------------------------------------------------------------------------- */

Test(exec_front, every_block_is_placed_and_ends_give_way)
{
    struct pp_error err = {0};
    int *blocks;

    for (int layers = 1; layers <= 12; layers++)
        for (int stages = 1; stages <= 32; stages++) {
            int sum = 0, most = 0, inner_empty = 0;
            cr_assert_eq(pp_exec_blocks(arena, layers, stages, &blocks, &err), PP_OK);
            for (int s = 0; s < stages; s++) {
                cr_assert_geq(blocks[s], 0);
                sum += blocks[s];
                most = blocks[s] > most ? blocks[s] : most;
                inner_empty += s > 0 && s < stages - 1 && blocks[s] == 0;
            }
            cr_assert_eq(sum, layers, "%d layers, %d stages", layers, stages);
            cr_assert_eq(most, (layers + stages - 1) / stages, "%d layers, %d stages", layers,
                         stages);
            /* embedding and head stand alone before an inner stage is empty */
            if (inner_empty > 0)
                cr_assert_eq(blocks[0] + blocks[stages - 1], 0, "%d layers, %d stages", layers,
                             stages);
        }
}

/* ---- wires ----------------------------------------------------------------------------------- */

Test(exec_front, wires_are_read_in_any_order)
{
    struct pp_exec_wires usual, wires;
    struct pp_error err = {0};

    cr_assert_eq(pp_wires_parse(NULL, &usual, &err), PP_OK);
    cr_assert_eq(pp_wires_parse("bandwidth:1GBps latency:3us", &wires, &err), PP_OK);
    cr_assert_float_eq(wires.alpha_s, 3e-6, 1e-18);
    cr_assert_float_eq(wires.bytes_per_s, 1e9, 1);
    cr_assert_eq(pp_wires_parse("latency:0us", &wires, &err), PP_OK);
    cr_assert_eq(wires.alpha_s, 0);
    cr_assert_eq(wires.bytes_per_s, usual.bytes_per_s);
    cr_assert_eq(pp_wires_parse("bandwidth:1Bps", &wires, &err), PP_OK);
    cr_assert_eq(wires.bytes_per_s, 1);
    cr_assert_eq(pp_wires_parse("bandwidth:1e6TBps", &wires, &err), PP_OK);
    cr_assert_eq(wires.bytes_per_s, 1e18);
}

Test(exec_front, a_wire_out_of_range_is_told_the_range)
{
    static const char *const BAD[][2] = {
        {"bandwidth:0.99Bps", "bandwidth:0.99Bps is out of range: 1Bps to 1e6TBps;"},
        {"bandwidth:0Bps", "bandwidth:0Bps is out of range: 1Bps to 1e6TBps;"},
        {"bandwidth:1e7TBps", "bandwidth:1e7TBps is out of range: 1Bps to 1e6TBps;"},
        {"latency:11s", "latency:11s is out of range: 0s to 10s;"}};
    struct pp_exec_wires wires;

    for (size_t i = 0; i < sizeof(BAD) / sizeof(*BAD); i++) {
        struct pp_error err = {0};
        cr_assert_eq(pp_wires_parse(BAD[i][0], &wires, &err), PP_EINVAL, "%s", BAD[i][0]);
        cr_assert_not_null(strstr(err.message, BAD[i][1]), "%s", err.message);
    }
}

Test(exec_front, other_wires_are_refused)
{
    static const char *const BAD[] = {
        "latency",     "latency:",  "latency:3",        "latency:20s",
        "bandwidth:0", "width:1us", "bandwidth:-1GBps", "latency:1us latency:1us",
        ":",           "1us"};
    struct pp_exec_wires wires;

    for (size_t i = 0; i < sizeof(BAD) / sizeof(*BAD); i++) {
        struct pp_error err = {0};
        cr_assert_eq(pp_wires_parse(BAD[i], &wires, &err), PP_EINVAL, "%s", BAD[i]);
        cr_assert_not_null(strstr(err.message, "latency:10us bandwidth:10GBps"), "%s", err.message);
    }
}

/* ---- plans ----------------------------------------------------------------------------------- */

struct outcome {
    enum pp_status status;
    struct pp_error err;
    struct pp_exec_run *run;
};

/* Resolve a command line, blanks between its words. */
static struct outcome resolve(const char *line)
{
    struct outcome o = {.run = PP_NEW(arena, struct pp_exec_run)};
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_exec_wish *wish = PP_NEW(arena, struct pp_exec_wish);
    char *words = pp_arena_strdup(arena, line), *argv[32] = {(char *)"pipeexec"};
    struct pp_subject subject = {0};
    int argc = 1;

    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    o.status = pp_options_parse(arena, &pp_exec_cli, argc, argv, parsed, &o.err);
    wish->request = (struct pp_request){.flags = parsed};
    if (o.status == PP_OK) {
        pp_wish_bind(arena, &wish->request);
        o.status = pp_exec_resolve(arena, wish, NULL, &o.run->config, &o.err);
    }
    const char *name = o.status == PP_OK ? wish->schedule : NULL;
    if (name)
        o.status = pp_subject_open(arena, &wish->request, name, &subject, &o.err);
    if (o.status == PP_OK)
        o.status = pp_exec_plan_make(arena, wish, &o.run->config, subject, &o.run->plan, &o.err);
    if (o.status == PP_OK)
        o.run->training = pp_exec_training(wish, &o.run->config, &o.run->plan);
    return o;
}

Test(exec_front, every_executable_schedule_gets_a_program_and_stages)
{
    for (int i = 0; pp_schedules[i]; i++)
        for (int ranks = 2; ranks <= 8; ranks *= 2) {
            const struct outcome o = resolve(pp_arena_printf(
                arena, "--schedule %s -np %d --dp 2 --clip 1", pp_schedules[i]->name, ranks));
            if (pp_schedules[i]->is_simulated_only) {
                cr_assert_eq(o.status, PP_EINVAL);
                cr_assert_not_null(strstr(o.err.message, "only simulated"));
                continue;
            }
            cr_assert_eq(o.status, PP_OK, "%s: %s", pp_schedules[i]->name, o.err.message);
            const struct pp_exec_plan *plan = &o.run->plan;
            int blocks = 0;
            for (int s = 0; s < plan->program->stages; s++) {
                const struct pp_stage_shape *shape = &plan->stages[s]->shape;
                cr_assert_eq(shape->first_block, blocks);
                cr_assert_eq(shape->has_embedding, s == 0);
                cr_assert_eq(shape->has_head, s == plan->program->stages - 1);
                cr_assert_eq(shape->rows * plan->batch.granules, plan->batch.mbs);
                cr_assert_eq(shape->tokens * plan->batch.splits, o.run->config.net.seq);
                blocks += shape->blocks;
            }
            cr_assert_eq(blocks, o.run->config.net.layers);
            cr_assert_eq(o.run->training.machine.program, plan->program);
        }
}

Test(exec_front, two_of_three_sizes_of_a_batch_give_the_third)
{
    static const struct {
        const char *line;
        int micro_batches, mbs;
    } ROWS[] = {{"", 8, 4},
                {"--micro-batches 12", 12, 4},
                {"--gbs 64", 16, 4},
                {"--gbs 64 --dp 2", 8, 4},
                {"--gbs 64 --mbs 2", 32, 2},
                {"--gbs 64 --micro-batches 8", 8, 8},
                {"--gbs 64 --micro-batches 8 --mbs 8", 8, 8}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        const struct outcome o = resolve(ROWS[i].line);
        cr_assert_eq(o.status, PP_OK, "%s: %s", ROWS[i].line, o.err.message);
        cr_assert_eq(o.run->plan.batch.micro_batches, ROWS[i].micro_batches, "%s", ROWS[i].line);
        cr_assert_eq(o.run->plan.batch.mbs, ROWS[i].mbs, "%s", ROWS[i].line);
    }
}

Test(exec_front, what_was_not_given_is_known)
{
    enum {
        RANKS = PP_EXEC_CHOSE_RANKS,
        COUNT = PP_EXEC_CHOSE_MICRO_BATCHES,
        MBS = PP_EXEC_CHOSE_MBS
    };
    static const struct {
        const char *line;
        unsigned chosen;
    } ROWS[] = {
        {"", RANKS | COUNT | MBS},
        {"--np 4", COUNT | MBS},
        {"--np 4 --micro-batches 8", MBS},
        {"--np 4 --mbs 2", COUNT},
        {"--np 4 --gbs 16", MBS},
        {"--np 4 --gbs 16 --mbs 2", 0},
        {"--np 4 --gbs 16 --micro-batches 8", 0},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        const struct outcome o = resolve(ROWS[i].line);
        cr_assert_eq(o.status, PP_OK, "%s: %s", ROWS[i].line, o.err.message);
        cr_assert_eq(o.run->plan.chosen & (RANKS | COUNT | MBS), ROWS[i].chosen, "%s",
                     ROWS[i].line);
    }
}

/* ---- spread ---------------------------------------------------------------------------------- */

Test(exec_front, the_spread_leaves_out_a_tenth_at_each_end)
{
    struct pp_exec_run *run = resolve("--steps 13").run;
    double steps_s[13] = {100, 100}; /* those before the judged ones do not count */

    for (int i = 0; i < 11; i++)
        steps_s[2 + i] = 10 + (i * 7) % 11;
    run->result.step_s = steps_s;
    run->result.steps_done = 13;
    run->result.first_judged = 2;
    const struct pp_exec_spread spread = pp_exec_spread(run);
    cr_assert_eq(spread.steps, 11);
    cr_assert_float_eq(spread.low_s, 11, 1e-12);
    cr_assert_float_eq(spread.high_s, 19, 1e-12);
    cr_assert_float_eq(spread.width_frac, 8.0 / 15, 1e-12);
    cr_assert_eq(steps_s[2], 10, "the steps keep their order");
    cr_assert_eq(steps_s[3], 17, "the steps keep their order");
}

/* ---- check ----------------------------------------------------------------------------------- */

Test(exec_front, gradients_are_judged_by_the_order_of_additions)
{
    struct outcome exact = resolve("--exact-grad"), plain = resolve("");
    const struct pp_difference none = {.elements = 10, .squares = 0, .reference_squares = 1};
    const struct pp_difference tiny = {
        .elements = 10, .differing = 1, .squares = 1e-14, .reference_squares = 1};
    const struct pp_difference wrong = {
        .elements = 10, .differing = 9, .squares = 1e-4, .reference_squares = 1};

    cr_assert_eq(pp_exec_check_bound(exact.run), 0);
    cr_assert_float_eq(pp_exec_check_bound(plain.run), 5e-7 * sqrt(8), 1e-12);
    for (int i = 0; i < 2; i++) {
        struct pp_exec_run *run = i ? plain.run : exact.run;
        run->result.is_checked = run->result.is_loss_equal = true;
        run->result.gradients = none;
        cr_assert(pp_exec_check_holds(run));
        run->result.gradients = tiny;
        cr_assert_eq(pp_exec_check_holds(run), i == 1);
        run->result.gradients = wrong;
        cr_assert_not(pp_exec_check_holds(run));
        run->result.is_checked = false;
        cr_assert(pp_exec_check_holds(run));
    }
}
