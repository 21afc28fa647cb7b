/* The builder of programs: its steps agree, every field has its effect, and bad input is refused.
 */
#include "schedules/order/concat.h"
#include "tests/unit/schedules/build/build_of.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>

static struct pp_arena *arena;

static void open_arena(void)
{
    arena = pp_arena_create();
}

static void close_arena(void)
{
    pp_arena_destroy(arena);
}
TestSuite(build, .init = open_arena, .fini = close_arena);

static struct pp_build of_text(const char *text)
{
    struct pp_build build = of("1f1b", 1);
    struct pp_program *program;
    struct pp_error err = {0};

    cr_assert_eq(
        pp_program_parse(arena, "by-hand.csv", text, strlen(text), PP_DIALECT_2025, &program, &err),
        PP_OK, "%s", err.message);
    build.schedule = NULL;
    build.given = program;
    return build;
}

static struct pp_program *built(const struct pp_build *build)
{
    struct pp_program *program = NULL;
    struct pp_error err = {0};

    cr_assert_eq(pp_build(arena, build, &program, &err), PP_OK, "%s", err.message);
    return program;
}

static void order(struct pp_build *build)
{
    struct pp_error err = {0};

    cr_assert_eq(pp_build_order(arena, build, &err), PP_OK, "%s", err.message);
}

static int count(const struct pp_program *p, int kind, int purpose)
{
    int found = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        found += p->kind[i] == kind && p->purpose[i] == purpose;
    return found;
}

static void assert_same(const struct pp_program *a, const struct pp_program *b, const char *what)
{
    cr_assert_str_eq(pp_program_text(arena, a), pp_program_text(arena, b), "%s", what);
}

/* ---- steps ----------------------------------------------------------------------------------- */

Test(build, order_first_or_all_at_once_is_the_same)
{
    for (int k = 0; pp_schedules[k]; k++)
        for (int eager = 0; eager < 2; eager++) {
            struct pp_build build = of(pp_schedules[k]->name, 8);
            build.order.rule =
                eager && !pp_schedules[k]->is_continuous ? PP_ORDER_EAGER : PP_ORDER_STRICT;
            build.is_recomputed = k % 2;
            const struct pp_program *at_once = built(&build);
            order(&build);
            cr_assert_eq(build.given->level, PP_LEVEL_COMPUTE);
            assert_same(built(&build), at_once, pp_schedules[k]->name);
            build.schedule = pp_schedules[k]; /* a given program is lowered like the schedule's */
            build.shape = (struct pp_shape){0};
            assert_same(built(&build), at_once, pp_schedules[k]->name);
        }
}

Test(build, order_is_the_schedule_s)
{
    struct pp_build build = of("zbv", 8);
    struct pp_program *compute;

    cr_assert_eq(pp_schedule_program(arena, build.schedule, &build.shape, NULL, &compute, NULL),
                 PP_OK);
    order(&build);
    assert_same(build.given, compute, "zbv");
    order(&build); /* it is settled */
    assert_same(build.given, compute, "zbv");
}

Test(build, build_does_not_change_its_input)
{
    struct pp_build build = of("chimera", 4), before;

    build.order.rule = PP_ORDER_EAGER;
    build.is_recomputed = true;
    memcpy(&before, &build, sizeof before);
    built(&build);
    cr_assert_eq(memcmp(&before, &build, sizeof before), 0);
}

Test(build, a_program_without_slots_is_the_same_but_for_them)
{
    struct pp_build build = of("1f1b", 4);
    const struct pp_program *p = built(&build);

    build.no_slots = true;
    build.proves_result = false;
    const struct pp_program *bare = built(&build);
    cr_assert_eq(pp_program_size(bare), pp_program_size(p));
    for (int i = 0; i < pp_program_size(p); i++) {
        cr_assert_eq(bare->kind[i], p->kind[i]);
        cr_assert_eq(bare->slot[i], -1);
    }
}

/* ---- costs ----------------------------------------------------------------------------------- */

Test(build, usual_costs_are_units)
{
    struct pp_unit_costs parsed, slow = {.f = 1, .b = 8, .i = 7, .w = 1, .c = 3, .fb = 9};

    cr_assert_eq(pp_unit_costs_parse("F=1,I=1,W=1", &parsed, NULL), PP_OK);
    cr_assert(parsed.has_backward && !pp_unit_costs_usual.has_backward);
    parsed.has_backward = false; /* the usual ones are not given */
    cr_assert_eq(memcmp(&parsed, &pp_unit_costs_usual, sizeof parsed), 0);
    for (int k = 0; k < 2; k++) {
        struct pp_build usual = of(k ? "zb-auto" : "chimera", 8), given, costly, other;
        usual.order.rule = k ? PP_ORDER_STRICT : PP_ORDER_EAGER;
        given = costly = other = usual;
        given.unit = &parsed;
        costly.costs = pp_costs_unit(arena, &parsed, 4, 4, 1, 1);
        costly.unit = &slow; /* costs come first */
        other.unit = &slow;
        assert_same(built(&given), built(&usual), "the usual units, given");
        assert_same(built(&costly), built(&usual), "the usual units, as costs");
        cr_assert_str_neq(pp_program_text(arena, built(&other)),
                          pp_program_text(arena, built(&usual)));
    }
}

Test(build, recomputation_of_all_stages_or_of_some)
{
    static const double shares[] = {1, 0.5, 0, 0};
    struct pp_build build = of("1f1b", 4);

    cr_assert_eq(count(built(&build), PP_R, 0), 0);
    build.recompute_frac = shares;
    cr_assert_eq(count(built(&build), PP_R, 0), 2 * 4);
    build.is_recomputed = true;
    cr_assert_eq(count(built(&build), PP_R, 0), 4 * 4);
}

/* ---- sums and state -------------------------------------------------------------------------- */

Test(build, sums_need_copies)
{
    static const struct {
        const char *schedule;
        int replicas, sums;
    } rows[] = {{"1f1b", 0, 0},    {"1f1b", 1, 0},    {"1f1b", 2, 4}, {"1f1b", INT_MAX, 4},
                {"chimera", 0, 8}, {"chimera", 2, 8}, {"zbv", 1, 0},  {"zbv", 2, 8}};

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct pp_build build = of(rows[k].schedule, 8);
        order(&build);
        pp_build_take_zero(&build, 0, rows[k].replicas);
        const struct pp_program *p = built(&build);
        cr_expect_eq(count(p, PP_AR, 0), rows[k].sums, "%s %d", rows[k].schedule, (int)k);
        build.has_update = false;
        p = built(&build);
        cr_expect_eq(count(p, PP_AR, 0) + count(p, PP_U, 0), 0);
    }
}

Test(build, zero_stages_cut_more_and_more)
{
    for (int zero = 0; zero <= 3; zero++) {
        struct pp_build build = of("1f1b", 4);
        order(&build);
        pp_build_take_zero(&build, zero, 2);
        cr_expect_eq(pp_build_copies(&build), 2);
        const struct pp_program *p = built(&build);
        cr_expect_eq(count(p, PP_AR, PP_FOR_STEP), zero == 0 ? 4 : 0);
        cr_expect_eq(count(p, PP_RS, PP_FOR_STEP), zero == 1 || zero == 2 ? 4 : 0);
        cr_expect_eq(count(p, PP_AG, PP_FOR_STEP), zero == 1 || zero == 2 ? 4 : 0);
        cr_expect_eq(count(p, PP_RS, PP_FOR_PART) > 0, zero == 2);
        cr_expect_eq(count(p, PP_AG, PP_FOR_FORWARD) > 0, zero == 3);
        cr_expect_eq(count(p, PP_U, 0), 4);
    }
}

/* What goes with uses of a stage has the replicas of one rank, the rest all copies. */
Test(build, pipelines_cut_state_over_their_own_replicas)
{
    for (int zero = 2; zero <= 3; zero++) {
        struct pp_build build = of("chimera", 4);
        order(&build);
        pp_build_take_zero(&build, zero, 3);
        cr_expect_eq(pp_build_copies(&build), 6);
        cr_expect_eq(pp_state_cut(&build.state, PP_STATE_GRADS), 3);
        const struct pp_program *p = built(&build);
        int of_pipe = 0;
        for (int c = 0; c < p->collective_count; c++) {
            const struct pp_collective *collective = &p->collectives[c];
            const int purpose = collective->purpose;
            const bool is_end = purpose == PP_FOR_STEP || purpose == PP_FOR_REST;

            cr_expect_eq(p->groups[collective->group].count, is_end ? 2 : 1);
            cr_expect_eq(collective->pipe < 0, is_end);
            of_pipe += !is_end;
        }
        cr_expect_gt(of_pipe, 0);
        cr_expect_eq(count(p, PP_AR, zero == 3 ? PP_FOR_STEP : PP_FOR_REST), 8);
    }
}

Test(build, zero_over_the_most_replicas_does_not_overflow)
{
    struct pp_build build = of("chimera", 4);

    order(&build);
    pp_build_take_zero(&build, 1, INT_MAX);
    cr_expect_eq(pp_build_copies(&build), INT_MAX);
    cr_expect_eq(count(built(&build), PP_RS, 0), 8);
    pp_build_take_zero(&build, 1, 0);
    cr_expect_eq(pp_build_copies(&build), 2);
    cr_expect_eq(count(built(&build), PP_RS, 0), 8);
}

Test(build, groups_of_shards_are_summed_too)
{
    struct pp_build build = of("1f1b", 4);

    build.state = pp_state_spec_zero(1, (struct pp_mesh){2, 1});
    cr_expect_eq(count(built(&build), PP_AR, PP_FOR_REST), 0);
    build.state.replicas = (struct pp_mesh){2, 4};
    cr_expect_eq(count(built(&build), PP_AR, PP_FOR_REST), 4);
}

/* The proof is the builder's own: wherever state lives, and however it is cut. */
Test(build, state_on_other_tiers_is_legal_for_every_cut)
{
    for (int at = 0; at < 4 * 2 * 3 * 2 * 4; at++) {
        struct pp_build build = of(at % 2 ? "interleaved" : "1f1b", 8);
        order(&build);
        pp_build_take_zero(&build, at / 2 % 4, 2);
        build.state.home[PP_STATE_PARAMS] = at / 8 % 3;
        build.state.home[PP_STATE_OPTIMIZER] = at / 24 % 2 ? PP_TIER_HOST : PP_TIER_DEVICE;
        build.state.is_cpu_update = build.state.home[PP_STATE_OPTIMIZER] && at / 48;
        build.state.has_early_update = at / 48 == 2;
        build.state.moved_frac[PP_STATE_OPTIMIZER] = at / 48 == 3 ? 0.4 : 0;
        build.state.home[PP_STATE_ACTIVATIONS] = at / 48 ? PP_TIER_HOST : PP_TIER_DEVICE;
        const struct pp_program *p = built(&build);
        cr_expect_eq(count(p, PP_MOVE, PP_FOR_LOAD) > 0, at / 8 % 3 > 0);
        cr_expect_eq(count(p, PP_MOVE, PP_FOR_UPDATE) > 0,
                     build.state.is_cpu_update && at / 48 > 1);
    }
}

Test(build, buckets_and_clipping)
{
    static const int buckets[] = {3, 1, 1, 2};
    struct pp_build build = of("1f1b", 4);

    build.buckets = buckets;
    build.wishes.has_clip = true;
    cr_expect_eq(count(built(&build), PP_AR, 0), 0);
    build.state.replicas = (struct pp_mesh){2, 1};
    const struct pp_program *p = built(&build);
    cr_expect_eq(count(p, PP_AR, 0), 3 + 1 + 1 + 2);
    cr_expect_eq(count(p, PP_BAR, 0), 4);
}

/* A list of several steps is updated as often as each of them alone. */
Test(build, continuous_steps_are_updated_each)
{
    for (int steps = 0; steps <= 3; steps++) {
        struct pp_build build = of("pipedream-2bw", 4 * (steps ? steps : 1));
        build.shape.steps = steps;
        cr_expect_eq(count(built(&build), PP_U, 0), 4 * (steps ? steps : 1));
    }
}

Test(build, inference_has_no_training)
{
    struct pp_build build = of_text("0F0,0F1\n1F0,1F1\n");

    build.state.replicas = (struct pp_mesh){2, 1};
    build.has_tied = build.is_recomputed = build.wishes.has_clip = true;
    const struct pp_program *p = built(&build);
    cr_expect_eq(p->mode, PP_MODE_INFER);
    cr_expect_eq(count(p, PP_AR, 0) + count(p, PP_U, 0) + count(p, PP_R, 0), 0);
    cr_expect_eq(count(p, PP_SEND_F, 0), 2);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void assert_refused(const struct pp_build *build, enum pp_status status, const char *text)
{
    struct pp_program *program = NULL;
    struct pp_error err = {0};

    cr_expect_eq(pp_build(arena, build, &program, &err), status, "%s", text);
    cr_expect(strstr(err.message, text), "%s: %s", text, err.message);
}

Test(build, shapes_are_refused)
{
    struct pp_build none = of("1f1b", 0), odd = of("chimera", 4), open = of("chimera", 8),
                    chunks = of("zb-auto", 4);

    assert_refused(&none, PP_EINVAL, "--micro-batches 0");
    odd.shape.ranks = 3;
    assert_refused(&odd, PP_EINVAL, "--pp 3");
    open.shape.option[PP_CONCAT_AT] = PP_CONCAT_AUTO;
    assert_refused(&open, PP_EINVAL, "--concat auto: chimera needs one choice");
    open.order.rule = PP_ORDER_EAGER;
    assert_refused(&open, PP_EINVAL, "--concat auto: chimera needs one choice");
    chunks.shape.chunks = 3; /* a search, too, sees only shapes that are accepted */
    assert_refused(&chunks, PP_EINVAL, "--vp 3");
}

Test(build, eager_orders_are_refused)
{
    struct pp_build lowered = of("1f1b", 4), full = of_text("0F0,1F0,0F1,1F1,1B1,0B1,1B0,0B0\n"
                                                            "2F0,2F1,2B1,2B0\n");

    lowered.given = built(&lowered);
    assert_same(built(&lowered), lowered.given, "a complete program stays as it is");
    lowered.order.rule = PP_ORDER_EAGER;
    assert_refused(&lowered, PP_EINVAL, "is a lowered program; its order is fixed");
    full.order.rule = PP_ORDER_EAGER;
    full.order.limit = 1;
    assert_refused(&full, PP_EPROGRAM, "--order eager:1 deadlocks");
    full.order.limit = 2;
    built(&full);
}

/* Before lowering a message shows the cells of the file, afterwards those that were added, too. */
Test(build, illegal_programs_are_refused_in_their_own_cells)
{
    struct pp_build build = of_text("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n");
    struct pp_error err = {0};

    assert_refused(&build, PP_EPROGRAM, "by-hand.csv: DEADLOCK after 1 of 8 instructions");
    cr_expect_eq(pp_build_order(arena, &build, &err), PP_EPROGRAM);
    cr_expect(strstr(err.message, "rank 1 | 1F1 1B1   1F0 1B0"), "%s", err.message);
    build.proves_given = false;
    cr_expect_eq(pp_build_order(arena, &build, &err), PP_OK);
    build.proves_result = false;
    built(&build);
}
