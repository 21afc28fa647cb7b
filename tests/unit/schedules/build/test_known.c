/* Programs and orders that are kept are those that would be built. */
#include "schedules/build/known.h"
#include "schedules/memory/memory.h"
#include "tests/unit/schedules/build/build_of.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
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
TestSuite(build_known, .init = open_arena, .fini = close_arena);

static const char *known_text(struct pp_known_programs *known, const struct pp_build *build)
{
    struct pp_program *kept, *made;
    struct pp_error err = {0};

    cr_assert_eq(pp_build_known(arena, known, build, &kept, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_build(arena, build, &made, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_program_size(kept), pp_program_size(made));
    for (int i = 0; i < pp_program_size(made); i++) {
        const struct pp_op x = pp_program_op(kept, i), y = pp_program_op(made, i);
        cr_assert_eq(memcmp(&x, &y, sizeof(x)), 0, "instruction %d", i);
    }
    return (const char *)kept;
}

/* A kept program is the one that would be built. It is found again for other degrees, costs and
 * meshes, and not for another shape, state, recomputation or number of buckets. */
Test(build_known, kept_programs_are_those_that_would_be_built)
{
    struct pp_known_programs known = {0};
    struct pp_build b = of("zbv", 8);
    double some[8] = {0, 0.5}, more[8] = {0, 0.25};
    const int buckets[8] = {1, 1, 1, 2, 1, 1, 1, 1};
    const struct pp_mesh eight = {8, 1}, sixteen = {8, 2};
    struct pp_unit_costs unit;
    struct pp_error err = {0};

    cr_assert_eq(pp_schedule_check(b.schedule, &b.shape, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_unit_costs_parse("F=1,B=2", &unit, NULL), PP_OK);
    b.costs = pp_costs_unit(arena, &unit, 4, 8, 1, 1);
    b.state = pp_state_spec_zero(1, eight);
    const char *first = known_text(&known, &b);
    b.costs = pp_costs_unit(arena, &unit, 4, 8, 1, 1);
    b.state = pp_state_spec_zero(1, sixteen);
    cr_assert_eq(known_text(&known, &b), first, "meshes of the same order");
    b.state.shard[PP_STATE_OPTIMIZER] = eight; /* a rest is summed */
    cr_assert_neq(known_text(&known, &b), first);
    b.state = pp_state_spec_zero(0, sixteen);
    cr_assert_neq(known_text(&known, &b), first);
    b.state = pp_state_spec_zero(1, eight);
    b.recompute_frac = some;
    const char *again = known_text(&known, &b);
    cr_assert_neq(again, first);
    b.recompute_frac = more;
    cr_assert_eq(known_text(&known, &b), again, "another share of the same stages");
    b.buckets = buckets;
    cr_assert_neq(known_text(&known, &b), again);
    b.recompute_frac = NULL;
    b.buckets = NULL;
    cr_assert_eq(known_text(&known, &b), first);
    b.shape.micro_batches = 9;
    cr_assert_neq(known_text(&known, &b), first);
    pp_known_programs_drop(&known);
}

/* Shares that live elsewhere are compared with one another and with all, and nothing else. */
Test(build_known, programs_depend_on_the_order_of_shares)
{
    struct pp_known_programs known = {0};
    struct pp_build b = of("interleaved", 8);
    struct pp_unit_costs unit;
    struct pp_error err = {0};

    b.shape.chunks = 2;
    cr_assert_eq(pp_schedule_check(b.schedule, &b.shape, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_unit_costs_parse("F=1,B=2", &unit, NULL), PP_OK);
    b.costs = pp_costs_unit(arena, &unit, 4, pp_shape_stages(&b.shape), 1, 1);
    b.has_update = true;
    b.state = pp_state_spec_zero(1, (struct pp_mesh){8, 1});
    b.state.home[PP_STATE_OPTIMIZER] = b.state.home[PP_STATE_GRADS] = PP_TIER_HOST;
    b.state.is_cpu_update = true;
    b.state.moved_frac[PP_STATE_OPTIMIZER] = 0.05;
    const char *some = known_text(&known, &b);
    for (int i = 2; i < 20; i++) {
        b.state.moved_frac[PP_STATE_OPTIMIZER] = i * 0.05;
        cr_assert_eq(known_text(&known, &b), some, "%d", i);
    }
    b.state.moved_frac[PP_STATE_GRADS] = 0.5; /* less than the optimizer state now */
    cr_assert_neq(known_text(&known, &b), some);
    b.state.moved_frac[PP_STATE_GRADS] = 0;
    b.state.moved_frac[PP_STATE_OPTIMIZER] = 0;
    cr_assert_neq(known_text(&known, &b), some, "all of it");
    pp_known_programs_drop(&known);
}

/* A searched order is found again for the same times, whatever the state and the recomputation, and
 * not for others. */
Test(build_known, searched_orders_are_kept_by_their_times)
{
    static const char *const names[] = {"v-half", "zb-auto", "hanayo"};
    struct pp_unit_costs unit;
    double fracs[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    for (size_t i = 0; i < PP_COUNT(names); i++) {
        struct pp_known_programs known = {.arena = arena, .list_arena = arena, .is_bounded = true};
        struct pp_error err = {0};
        struct pp_build b = of(names[i], 8);
        cr_assert_eq(pp_schedule_check(b.schedule, &b.shape, &err), PP_OK, "%s", err.message);
        const int stages = pp_shape_stages(&b.shape);
        cr_assert_eq(pp_unit_costs_parse("F=1,B=2", &unit, NULL), PP_OK);
        b.costs = pp_costs_unit(arena, &unit, 4, stages, 1, 1);
        const char *first = known_text(&known, &b);
        const struct pp_known_list *list = known.lists;
        b.costs = pp_costs_unit(arena, &unit, 4, stages, 1, 1);
        cr_assert_eq(known_text(&known, &b), first, "%s", names[i]);
        b.recompute_frac = fracs;
        cr_assert_neq(known_text(&known, &b), first);
        cr_assert_eq(known.lists, list, "%s: the order does not depend on it", names[i]);
        cr_assert_eq(pp_unit_costs_parse("F=1,I=0.3,W=3", &unit, NULL), PP_OK);
        b.costs = pp_costs_unit(arena, &unit, 4, stages, 1, 1);
        b.recompute_frac = NULL;
        cr_assert_neq(known_text(&known, &b), first);
        cr_assert_neq(known.lists, list, "%s: other times", names[i]);
    }
}

/* Without room for more orders, each lies with its caller. Its program is not that of the next one
 * at the same place. */
Test(build_known, programs_of_orders_that_end_are_not_kept)
{
    static const char *const texts[] = {"F=1,B=2", "F=1,I=0.3,W=3"};
    struct pp_known_programs known = {.ops = INT64_MAX / 2};
    struct pp_build b = of("v-half", 8);
    const struct pp_costs *costs[PP_COUNT(texts)];

    cr_assert_eq(pp_schedule_check(b.schedule, &b.shape, NULL), PP_OK);
    for (size_t i = 0; i < PP_COUNT(texts); i++) {
        struct pp_unit_costs unit;
        cr_assert_eq(pp_unit_costs_parse(texts[i], &unit, NULL), PP_OK);
        costs[i] = pp_costs_unit(arena, &unit, 4, 8, 1, 1);
    }
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    for (size_t i = 0; i < PP_COUNT(texts); i++) {
        b.costs = costs[i];
        known_text(&known, &b);
        pp_arena_release(arena, mark);
    }
    pp_known_programs_drop(&known);
}

/* Finds the peak of a program, and that of saved activations in host memory. */
static double peaks_of(const struct pp_build *b, double *away)
{
    struct pp_program *program;
    struct pp_error err = {0};
    double peak = 0;

    *away = 0;

    cr_assert_eq(pp_build(arena, b, &program, &err), PP_OK, "%s", err.message);
    cr_assert_not_null(program);
    const struct pp_rank_memory *memory = pp_memory_peaks(arena, program, b->costs);
    for (int r = 0; r < program->ranks; r++) {
        peak = fmax(peak, memory[r].peak_bytes);
        *away = fmax(*away, memory[r].away_bytes[PP_TIER_HOST]);
    }
    return peak;
}

/* The bound of an order's memory is no more than the memory of its program. That holds for split
 * backwards, two pipelines, several versions of weights, recomputation, waste and saved activations
 * in host memory. The order is kept for other bounds. One beyond the limit has no program. */
Test(build_known, orders_beyond_a_limit_are_not_lowered)
{
    static const char *const names[] = {"1f1b", "hanayo",  "v-half",   "zbv",
                                        "bfs",  "chimera", "dualpipe", "pipedream"};
    static const double fracs[8] = {1, 1, 0, 1, 1, 1, 1, 1};
    struct pp_known_programs known = {.is_bounded = true};
    struct pp_unit_costs unit;
    struct pp_program *program;
    struct pp_least least;
    struct pp_error err = {0};

    cr_assert_eq(pp_unit_costs_parse("F=1,B=2", &unit, NULL), PP_OK);
    for (size_t i = 0; i < 3 * PP_COUNT(names); i++) {
        const char *name = names[i / 3];
        const bool is_moved = i % 3 == 2; /* activations wait in host memory */
        struct pp_build b = of(name, 8);
        cr_assert_eq(pp_schedule_check(b.schedule, &b.shape, &err), PP_OK, "%s", err.message);
        const int stages = pp_shape_stages(&b.shape);
        struct pp_costs *costs = pp_costs_unit(arena, &unit, 4, stages, 1, 1);
        costs->memory = PP_ARRAY(arena, struct pp_stage_memory, stages);
        costs->stuck_frac = 0.05;
        costs->fragment_frac = 0.2;
        costs->capacity_bytes = 3500;
        for (int s = 0; s < stages; s++)
            costs->memory[s] = (struct pp_stage_memory){.params_bytes = 1000,
                                                        .saved_bytes = 100 + s,
                                                        .checkpoint_bytes = 30 + s,
                                                        .forward_bytes = 10,
                                                        .backward_bytes = 45,
                                                        .resting_frac = 1,
                                                        .moved_frac = i % 2 ? 0.7 : 0,
                                                        .inner_frac = is_moved && i % 4 ? 0.77 : 0,
                                                        .away_bytes[PP_TIER_HOST] = 11,
                                                        .weight_grad_frac = 0.5};
        b.costs = costs;
        b.recompute_frac = i % 3 == 1 ? fracs : NULL;
        b.state.home[PP_STATE_ACTIVATIONS] = is_moved ? PP_TIER_HOST : PP_TIER_DEVICE;
        costs->saved_home = b.state.home[PP_STATE_ACTIVATIONS];
        double away, same;
        const double peak = peaks_of(&b, &away);
        b.most_bytes = peak;
        cr_assert_eq(peaks_of(&b, &same), peak, "%s", name);
        cr_assert_eq(pp_build_known_least(arena, &known, &b, &least, &err), PP_OK, "%s",
                     err.message);
        cr_assert_geq(peak, least.bytes);
        cr_assert_geq(away, least.away_bytes);
        if (is_moved && !strcmp(name, "bfs")) /* it holds most; the last ones are not counted */
            cr_assert_gt(least.away_bytes, 0.7 * away);
        b.most_bytes = peak * (is_moved ? 0.5 : 0.97); /* buffers count nothing here */
        cr_assert_eq(pp_build(arena, &b, &program, &err), PP_OK, "%s", err.message);
        cr_assert_null(program, "%s %zu", name, i % 3);
    }
    pp_known_programs_drop(&known);
}
