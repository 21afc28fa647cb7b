/* Lists of few micro-batches stand for those of all. */
#include "core/random.h"
#include "schedules/build/cut.h"
#include "schedules/memory/least.h"
#include "tests/unit/schedules/build/build_of.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { SHAPES = 12, SHAPES_LONG = 1500 };

/* Returns a number from `least` to `most` for each name. */
static int drawn(uint64_t seed, uint64_t name, int least, int most)
{
    return least + (int)(pp_random_stream(seed, name) % (uint64_t)(most - least + 1));
}

/* Any shape with up to 7 ranks, and any options. */
static struct pp_build drawn_build(const struct pp_schedule *schedule, uint64_t seed)
{
    struct pp_build b = of(schedule->name, 0);
    struct pp_shape *shape = &b.shape;

    shape->ranks = drawn(seed, 0, 2, 7);
    shape->micro_batches = drawn(seed, 1, 0, 1) ? drawn(seed, 2, 20, 80) * shape->ranks * 4
                                                : drawn(seed, 2, 100, 1500);
    shape->chunks = schedule->sizes & PP_SIZE_CHUNKS ? drawn(seed, 3, 1, 4) : 0;
    shape->splits = schedule->sizes & PP_SIZE_SPLITS ? drawn(seed, 4, 1, 3) : 0;
    shape->pipelines = schedule->sizes & PP_SIZE_PIPELINES ? 2 * drawn(seed, 5, 1, 2) : 0;
    shape->steps = schedule->is_continuous ? drawn(seed, 6, 1, 4) : 0;
    for (int i = 0; i < PP_SHAPE_OPTIONS && schedule->options[i]; i++)
        shape->option[i] = drawn(seed, 10 + i, 0, 1)
                               ? drawn(seed, 20 + i, 0, schedule->options[i]->max > 1 ? 12 : 1)
                               : 0;
    return b;
}

/* The same cut lists but for the weight versions, which the rule numbers anew. */
static bool is_same(const struct pp_build_list *a, const struct pp_build_list *b)
{
    const int ranks = a->head.ranks;

    if (a->head.micro_batches != b->head.micro_batches || a->head.versions != b->head.versions ||
        a->cut->periods != b->cut->periods ||
        memcmp(a->cut->begin, b->cut->begin, sizeof(int32_t) * (size_t)(ranks + 1)) ||
        memcmp(a->cut->places, b->cut->places,
               sizeof(*a->cut->places) * (size_t)a->cut->begin[ranks]) ||
        memcmp(a->head.pipe_of, b->head.pipe_of,
               sizeof(*a->head.pipe_of) * (size_t)a->head.micro_batches))
        return false;
    for (int r = 0; r < ranks; r++) {
        if (a->orders->count[r] != b->orders->count[r])
            return false;
        for (int i = 0; i < a->orders->count[r]; i++) {
            struct pp_op x = a->orders->ops[r][i], y = b->orders->ops[r][i];
            x.version = y.version = 0;
            if (memcmp(&x, &y, sizeof(x)))
                return false;
        }
    }
    return true;
}

/* Returns costs whose bytes are whole numbers, so that sums of them are exact. */
static struct pp_costs *drawn_costs(struct pp_arena *arena, const struct pp_shape *shape,
                                    uint64_t seed)
{
    const int stages = pp_shape_stages(shape);
    struct pp_costs *costs = pp_costs_unit(arena, &pp_unit_costs_usual, shape->ranks, stages,
                                           shape->splits, shape->granules);

    costs->memory = PP_ARRAY(arena, struct pp_stage_memory, stages);
    for (int s = 0; s < stages; s++)
        costs->memory[s] = (struct pp_stage_memory){.params_bytes = drawn(seed, 100 + s, 0, 9000),
                                                    .saved_bytes = drawn(seed, 300 + s, 0, 9000),
                                                    .forward_bytes = drawn(seed, 500 + s, 0, 9000),
                                                    .weight_grad_frac = 0.5};
    return costs;
}

/* The bound of a cut list is that of the whole one. */
static void least_is_same(const struct pp_build *build, const struct pp_build_list *cut,
                          const struct pp_build_list *whole)
{
    struct pp_build b = *build;

    for (int is_moved = 0; is_moved < 2; is_moved++) {
        b.state.home[PP_STATE_ACTIVATIONS] = is_moved ? PP_TIER_HOST : PP_TIER_DEVICE;
        const struct pp_least x = pp_build_least(&b, cut), y = pp_build_least(&b, whole);
        cr_assert(x.bytes == y.bytes && x.away_bytes == y.away_bytes,
                  "%s: %.17g %.17g, %.17g %.17g", b.schedule->name, x.bytes, y.bytes, x.away_bytes,
                  y.away_bytes);
    }
}

/* Is true if the schedule accepts the shape, and its lists are cut. */
static bool is_cut(const struct pp_schedule *schedule, uint64_t seed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_build b = drawn_build(schedule, seed);
    struct pp_build_list few, all, whole;

    if (pp_schedule_check(schedule, &b.shape, NULL) != PP_OK)
        return false;
    b.costs = drawn_costs(arena, &b.shape, seed);
    if (pp_build_list(arena, &b, &whole, NULL) != PP_OK)
        return false;
    b.may_cut = true;
    cr_assert_eq(pp_build_list(arena, &b, &few, NULL), PP_OK);
    all = whole;
    all.cut = pp_cut_lists(arena, b.shape.steps, 0, &all.orders, &all.head);
    cr_assert((!few.cut && !all.cut) || (few.cut && all.cut && is_same(&few, &all)), "%s, seed %d",
              schedule->name, (int)seed);
    if (few.cut)
        least_is_same(&b, &few, &whole);
    return few.cut;
}

/* The lists of a rule for few micro-batches are cut to those to which the lists for all are. */
Test(build_lists, few_micro_batches_stand_for_all)
{
    const uint64_t shapes = getenv("PIPESIM_LONG") ? SHAPES_LONG : SHAPES;

    for (int k = 0; pp_schedules[k]; k++) {
        int cuts = 0;
        for (uint64_t seed = 0; seed < shapes; seed++)
            cuts += is_cut(pp_schedules[k], seed);
        cr_assert(cuts > 0 || strcmp(pp_schedules[k]->name, "hanayo") == 0, "%s",
                  pp_schedules[k]->name);
    }
}
