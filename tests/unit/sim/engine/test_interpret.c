/* The interpreter alone, without links: semantics that only it has. */
#include "core/units.h"
#include "sim/engine/interpret.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { STAGES = 2, REPLICAS = 2 };

/* One rank holds two stages: F takes 1 s, B 4 s, the sum of gradients as given, U nothing. */
static struct pp_costs costs_of(struct pp_arena *arena, double sum_s)
{
    const struct {
        int kind;
        double s;
    } rows[] = {{PP_F, 1}, {PP_B, 4}, {PP_AR, sum_s}, {PP_U, 0}};
    struct pp_costs c = {.stages = STAGES,
                         .splits = 1,
                         .granules = 1,
                         .ranks = STAGES,
                         .links = 1,
                         .sync_ranks = REPLICAS,
                         .alpha_ps = PP_ARRAY(arena, int64_t, 1),
                         .s_per_byte = PP_ARRAY(arena, double, 1)};

    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        c.op[rows[k].kind] = PP_ARRAY(arena, struct pp_cost, STAGES);
        for (int s = 0; s < STAGES; s++)
            c.op[rows[k].kind][s].ps = pp_units_ps(rows[k].s);
    }
    return c;
}

static enum pp_status run(struct pp_arena *arena, const char *text, int steps, double sum_s,
                          double share, double *end_s, struct pp_error *err)
{
    const struct pp_costs costs = costs_of(arena, sum_s);
    const struct pp_engine_options options = {.replicas = REPLICAS, .sync_share = share};
    struct pp_network_stats stats;
    int64_t executed = 0;
    struct pp_times times = {0};
    struct pp_program *p;

    PP_TRY(pp_program_parse(arena, "text", text, strlen(text), PP_DIALECT_2025, &p, err));
    pp_job_place(p, REPLICAS, steps, pp_arena_alloc(arena, pp_job_bytes(p, REPLICAS, steps)),
                 &times);
    struct pp_job job = {.program = p,
                         .costs = &costs,
                         .options = &options,
                         .times = &times,
                         .stats = &stats,
                         .executed = &executed};
    bool needs_solver;
    PP_TRY(pp_interpret_go(pp_interpret_begin(arena, &job), NULL, &needs_solver, err));
    cr_assert(!needs_solver);
    *end_s = pp_units_s(times.step_end_ps[steps - 1]);
    return PP_OK;
}

/* The sum of stage 1 overlaps with the backward of stage 0. */
static const char sums[] = "0F0,1F0,1B0,1AR,0B0,0AR,(1AR)WAIT,(0AR)WAIT,1U,0U\n";

Test(interpret, a_collective_takes_its_share_of_compute)
{
    static const struct {
        double sum_s, share, end_s;
    } rows[] = {
        {2, 0, 2 + 4 + 4 + 2},            /* overlaps with the backward, but for the last */
        {2, 0.25, 2 + 4 + (4 + 0.5) + 2}, /* 2 s at 3/4 of the speed cost half a second */
        {2, 0.5, 2 + 4 + (4 + 1) + 2},    /* 2 s at half speed cost one */
        {100, 0.5, 2 + 4 + 100 + 100},    /* all of the backward at half speed: 8 s, hidden */
        {6, 0.5, 2 + 4 + (6 + 1) + 6},    /* 3 s of work in the 6 s of the sum, 1 s after it */
        {8, 0.5, 2 + 4 + 8 + 8},          /* both end together */
    };

    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_error err = {0};
        double end_s = 0;
        cr_assert_eq(run(arena, sums, 1, rows[k].sum_s, rows[k].share, &end_s, &err), PP_OK, "%s",
                     err.message);
        cr_assert_float_eq(end_s, rows[k].end_s, 1e-9, "row %zu: %.12g s", k, end_s);
    }
}

Test(interpret, a_wait_for_what_comes_later_is_a_deadlock)
{
    static const char stuck[] = "0F0,0RECV_B0,(0RECV_B0)WAIT,0SEND_F0,0B0,(0SEND_F0)WAIT\n"
                                "1RECV_F0,(1RECV_F0)WAIT,1F0,1B0,1SEND_B0,(1SEND_B0)WAIT\n";
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    double end_s;

    cr_assert_eq(run(arena, stuck, 1, 1, 0, &end_s, &err), PP_EPROGRAM);
    cr_assert(strstr(err.message, "rank 0 of replica 0 stands at position 2: (0RECV_B0)WAIT"), "%s",
              err.message);
}

Test(interpret, times_that_cannot_be_counted_are_an_error)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    double end_s;

    cr_assert_eq(run(arena, sums, 1, 2e6, 0, &end_s, &err), PP_OK, "%s", err.message);
    cr_assert_float_eq(end_s, 2 + 4 + 2e6 + 2e6, 1e-3);
    for (int steps = 2; steps <= 9; steps++)
        cr_assert_eq(run(arena, sums, steps, 2e6, 0.5, &end_s, &err), PP_EFAIL);
    cr_assert(strstr(err.message, "the steps take more than 4.61e+06 s"), "%s", err.message);
}
