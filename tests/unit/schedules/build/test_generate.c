/* Generating programs: makespans by closed forms in unit time, proofs, buffers, text, faults. */
#include "core/units.h"
#include "schedules/evaluate/evaluate.h"
#include "tests/unit/schedules/build/build_of.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

struct generated {
    int ranks, groups, pieces, passes;
    double prompt; /* time of a group's prompt; a token takes 1 */
};

static struct pp_program *build_of(struct pp_arena *arena, struct generated g, int recv_slots,
                                   const struct pp_costs *costs)
{
    struct pp_build build = of("generate", g.groups);
    struct pp_program *program = NULL;
    struct pp_error err = {0};

    build.shape = (struct pp_shape){
        .ranks = g.ranks, .chunks = g.passes, .micro_batches = g.groups, .granules = g.pieces};
    build.wishes.recv_slots = recv_slots;
    build.costs = costs;
    cr_assert_eq(pp_build(arena, &build, &program, &err), PP_OK, "%s", err.message);
    return program;
}

static struct pp_costs *costs_of(struct pp_arena *arena, struct generated g, double message)
{
    const struct pp_unit_costs unit = {.f = 1, .p = g.prompt, .has_p = true, .c = message};
    struct pp_costs *costs = pp_costs_unit(arena, &unit, g.ranks, g.ranks * g.passes, 1, g.pieces);

    pp_costs_unit_prompts(&unit, g.ranks, costs);
    return costs;
}

static double makespan_of(struct pp_arena *arena, struct generated g, int recv_slots,
                          double message)
{
    struct pp_costs *costs = costs_of(arena, g, message);
    const struct pp_eval_options options = {.is_buffered = true};
    struct pp_eval *eval;
    struct pp_error err = {0};

    cr_assert_eq(
        pp_eval_create(arena, build_of(arena, g, recv_slots, costs), costs, &options, &eval, &err),
        PP_OK, "%s", err.message);
    return (double)pp_eval_run(arena, eval, 1, NULL, PP_TIMES_MAKESPAN)->makespan_ps / 1e12;
}

/* T = N + P - 1 + (G-1) max(N, P), whatever the buffers; the row's closed form agrees. */
Test(generate, unit_time_by_closed_form)
{
    for (int ranks = 1; ranks <= 8; ranks++)
        for (int groups = 1; groups <= 16; groups++)
            for (int passes = 1; passes <= 9; passes += passes < 3 ? 1 : 3) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const struct generated g = {ranks, groups, 1, passes, 1};
                const int most = groups > ranks ? groups : ranks;
                const double expected = groups + ranks - 1 + (passes - 1) * most;
                const struct pp_shape shape = {ranks, passes, groups, 1, 1, 1, 0, 0, {0}, NULL};
                const struct pp_unit_costs unit = {.f = 1};
                const double bubble =
                    pp_schedule_find("generate")->bubble_frac.value(&shape, &unit, 0);

                cr_assert_eq(makespan_of(arena, g, groups % 3, 0), expected,
                             "P=%d N=%d T=%d: not %g", ranks, groups, passes, expected);
                cr_assert_float_eq(bubble, 1 - groups * passes / expected, 1e-12);
            }
}

/* N f0 + (P-1) max(f0/q, f) + (G-1) N f for N >= P, f0 >= f. */
Test(generate, pieces_of_prompts_by_closed_form)
{
    static const double prompts[] = {1, 2, 4, 5, 8, 16};

    for (int ranks = 1; ranks <= 8; ranks++)
        for (int groups = ranks; groups <= 16; groups += groups < ranks + 2 ? 1 : 5)
            for (int pieces = 1; pieces <= 8; pieces++)
                for (size_t k = 0; k < PP_COUNT(prompts); k++) {
                    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                    const int passes = 2 + groups % 3;
                    const struct generated g = {ranks, groups, pieces, passes, prompts[k]};
                    const double expected = groups * prompts[k] +
                                            (ranks - 1) * fmax(prompts[k] / pieces, 1) +
                                            (passes - 1.0) * groups;

                    cr_assert_float_eq(makespan_of(arena, g, 2, 0), expected, 1e-9,
                                       "P=%d N=%d q=%d f0=%g T=%d: not %g", ranks, groups, pieces,
                                       prompts[k], passes, expected);
                }
}

/* With messages of c, a token that finds its rank idle comes later by (P-1) c and c back. */
Test(generate, messages_add_to_a_lone_group)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    cr_expect_float_eq(makespan_of(arena, (struct generated){4, 1, 1, 5, 1}, 2, 0.25),
                       5 * 4 + 5 * 3 * 0.25 + 4 * 0.25, 1e-9);
}

/* Buffers of activations do not grow with passes: a later pass proves that SENDs are over. */
Test(generate, buffers_are_reused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    int most[2] = {0, 0};

    for (int k = 0; k < 2; k++) {
        const struct generated g = {4, 6, 2, k ? 20 : 4, 4};
        const struct pp_program *p = build_of(arena, g, 2, costs_of(arena, g, 0));
        for (int i = 0; i < pp_program_size(p); i++)
            if (pp_op_is_send(p->kind[i]) && p->slot[i] > most[k])
                most[k] = p->slot[i];
    }
    cr_expect_eq(most[0], most[1]);
    cr_expect_lt(most[1], 12);
}

Test(generate, text_keeps_passes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct generated g = {3, 4, 2, 3, 4};
    const struct pp_program *p = build_of(arena, g, 2, costs_of(arena, g, 0));
    const char *text = pp_program_text(arena, p);
    struct pp_program *read;
    struct pp_error err = {0};

    cr_assert(strstr(text, "# passes: 3\n"));
    cr_assert(strstr(text, "# mode: infer\n"));
    cr_assert_eq(pp_program_parse(arena, "a.csv", text, strlen(text), PP_DIALECT_2025, &read, &err),
                 PP_OK, "%s", err.message);
    cr_expect_eq(read->passes, 3);
    cr_expect_eq(pp_program_hash(read), pp_program_hash(p));
}

/* A text of cells needs one line more; it is lowered and proved as the schedule's. */
Test(generate, cells_with_passes)
{
    static const char text[] = "# passes: 3\n"
                               "0F0,0F1,0F2,0F3,2F0-1,2F2-3,4F0-1,4F2-3\n"
                               "1F0,1F1,1F2,1F3,3F0-1,3F2-3,5F0-1,5F2-3\n";
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_build build = of("generate", 2);
    struct pp_program *given, *program;
    struct pp_error err = {0};

    cr_assert_eq(
        pp_program_parse(arena, "a.csv", text, strlen(text), PP_DIALECT_2025, &given, &err), PP_OK,
        "%s", err.message);
    cr_expect_eq(given->passes, 3);
    cr_expect_str_eq(pp_program_text(arena, given), text);
    build.given = given;
    cr_assert_eq(pp_build(arena, &build, &program, &err), PP_OK, "%s", err.message);
    const struct generated g = {2, 2, 2, 3, 1};
    const struct pp_program *own = build_of(arena, g, 2, costs_of(arena, g, 0));
    cr_assert_eq(pp_program_size(own), pp_program_size(program));
    for (int i = 0; i < pp_program_size(own); i++)
        cr_assert(own->kind[i] == program->kind[i] && own->mb[i] == program->mb[i] &&
                  own->slot[i] == program->slot[i]);
}

static void refuse(const char *text, const char *expected)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *program;
    struct pp_error err = {0};

    cr_assert_eq(
        pp_program_parse(arena, "a.csv", text, strlen(text), PP_DIALECT_2025, &program, &err),
        PP_EPROGRAM);
    cr_expect(strstr(err.message, expected), "%s", err.message);
}

Test(generate, bad_passes)
{
    refuse("# passes: 2\n0F0,2F0\n1F0\n", "passes: 2 does not divide the 3 stages");
    refuse("# passes: 2\n0F0,3F0\n1F0,2F0\n",
           "stages 0 and 2 have the same weights, but are on ranks 0 and 1");
    refuse("# passes: 2\n0F0,0B0,2F0,2B0\n1F0,1B0,3F0,3B0\n", "passes: 2, but the program has");
    refuse("# passes: x\n0F0\n", "expected a whole number");
    refuse("# passes: 0\n0F0\n", "expected a whole number");
}

Test(generate, too_many_tokens)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_build build = of("generate", 4);
    struct pp_program *program;
    struct pp_error err = {0};

    build.shape.chunks = 20000;
    cr_assert_eq(pp_build(arena, &build, &program, &err), PP_EINVAL);
    cr_expect(strstr(err.message, "at most --tokens 16383"), "%s", err.message);
}

/* Seconds of a later pass in the steady state, with messages of c: posted as usual, or as blocking
 * sends. */
static double round_s(struct pp_arena *arena, enum pp_post post, int ranks, int groups, double c)
{
    double span[2];

    for (int k = 0; k < 2; k++) {
        const struct generated g = {ranks, groups, 1, 6 + k, 1};
        const struct pp_costs *costs = costs_of(arena, g, c);
        const struct pp_eval_options options = {.is_buffered = post != PP_POST_BATCHED};
        struct pp_build build = of("generate", groups);
        struct pp_program *program;
        struct pp_eval *eval;
        struct pp_error err = {0};

        build.shape = (struct pp_shape){
            .ranks = ranks, .chunks = g.passes, .micro_batches = groups, .granules = 1};
        build.wishes.post = post;
        build.wishes.recv_slots = 2;
        build.costs = costs;
        cr_assert_eq(pp_build(arena, &build, &program, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_eval_create(arena, program, costs, &options, &eval, &err), PP_OK, "%s",
                     err.message);
        span[k] = (double)pp_eval_run(arena, eval, 1, NULL, PP_TIMES_MAKESPAN)->makespan_ps / 1e12;
    }
    return span[1] - span[0];
}

/* A round of N groups takes N (f + c) with blocking sends, and N f without: a gain of c/f. */
Test(generate, blocking_sends_cost_every_message)
{
    static const double messages[] = {0, 0.125, 0.5};

    for (int ranks = 2; ranks <= 4; ranks++)
        for (size_t k = 0; k < PP_COUNT(messages); k++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const int groups = 2 * ranks + 1;
            const double c = messages[k];

            cr_expect_float_eq(round_s(arena, PP_POST_EARLY, ranks, groups, c), groups, 1e-9);
            cr_expect_float_eq(round_s(arena, PP_POST_BATCHED, ranks, groups, c), groups * (1 + c),
                               1e-9);
        }
}

/* Builds from cells of two ranks and three passes, with a mistake. */
static void refuse_cells(const char *cells, const char *expected)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *text = pp_arena_printf(arena, "# passes: 3\n%s", cells);
    struct pp_build build = of("generate", 1);
    struct pp_program *given = NULL, *program;
    struct pp_error err = {0};
    enum pp_status status =
        pp_program_parse(arena, "a.csv", text, strlen(text), PP_DIALECT_2025, &given, &err);

    build.given = given;
    if (status == PP_OK)
        status = pp_build(arena, &build, &program, &err);
    cr_expect_eq(status, PP_EPROGRAM);
    cr_expect(strstr(err.message, expected), "%s", err.message);
}

Test(generate, mistakes_are_refused_with_their_place)
{
    refuse_cells("0F0,4F0,2F0\n1F0,3F0,5F0\n", "4F0");           /* swapped tokens */
    refuse_cells("0F0,2F0,2F0,4F0\n1F0,3F0,5F0\n", "a.csv:2:3"); /* a token twice */
    refuse_cells("0F0,2F0,4F0\n1F0,5F0\n", "a.csv:3:2: 5F0");    /* no token 1 */
}
