/* Lists of few micro-batches stand for those of all. */
#include "core/random.h"
#include "schedules/build/cut.h"
#include "schedules/memory/least.h"
#include "schedules/order/closed_form.h"
#include "tests/unit/schedules/build/build_of.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* All but one of our schedules have lists that are cut. */
enum { SHAPES = 8, SHAPES_LONG = 300, CUT_SCHEDULES = 21 };

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
                               ? drawn(seed, 20 + i, 0, PP_MIN(schedule->options[i]->max, 12))
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

static bool is_alike(const struct pp_op *a, const struct pp_op *b)
{
    return a->kind == b->kind && a->aux == b->aux && a->split == b->split && a->stage == b->stage &&
           a->pipe == b->pipe && a->granules == b->granules;
}

/* Is true if some ops of a cut list do what those of the whole one do from `at` on. */
static bool are_alike(const struct pp_op *ops, int count, const struct pp_build_list *whole,
                      int rank, int *at)
{
    for (int i = 0; i < count; i++, ++*at)
        if (*at == whole->orders->count[rank] || !is_alike(&ops[i], &whole->orders->ops[rank][*at]))
            return false;
    return true;
}

/* A cut list with the periods that it leaves out does what the whole one does. */
static bool is_whole(const struct pp_build_list *cut, const struct pp_build_list *whole)
{
    for (int r = 0; r < whole->head.ranks; r++) {
        const struct pp_op *ops = cut->orders->ops[r];
        int at = 0, from = 0;
        for (int k = cut->cut->begin[r]; k < cut->cut->begin[r + 1]; k++) {
            const struct pp_cut_place *place = &cut->cut->places[k];
            if (!are_alike(ops + from, place->at - from, whole, r, &at))
                return false;
            from = place->at;
            for (int period = 0; period < cut->cut->periods; period++)
                if (!are_alike(ops + from - place->length, place->length, whole, r, &at))
                    return false;
        }
        if (!are_alike(ops + from, cut->orders->count[r] - from, whole, r, &at) ||
            at < whole->orders->count[r])
            return false;
    }
    return true;
}

/* Returns costs with times that differ, as orders that are searched need them. Their bytes are
 * whole numbers, so that sums of them are exact. */
static struct pp_costs *drawn_costs(struct pp_arena *arena, const struct pp_shape *shape,
                                    uint64_t seed)
{
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W};
    const int stages = pp_shape_stages(shape), spread = drawn(seed, 30, 0, 2) * 150;
    struct pp_costs *costs = pp_costs_unit(arena, &pp_unit_costs_usual, shape->ranks, stages,
                                           shape->splits, shape->granules);

    costs->is_unit = false;
    for (size_t k = 0; k < PP_COUNT(kinds); k++)
        for (int i = 0; i < stages * shape->splits; i++)
            costs->op[kinds[k]][i].ps =
                1000 * (k == 1 ? 2 : 1) + drawn(seed, 1000 * (k + 1) + (uint64_t)i, 0, spread);
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
static bool is_cut(const struct pp_schedule *schedule, uint64_t seed, int *same)
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
    cr_assert(few.cut || !all.cut, "%s, seed %d", schedule->name, (int)seed);
    if (!few.cut)
        return false;
    cr_assert(is_whole(&few, &whole), "%s, seed %d", schedule->name, (int)seed);
    least_is_same(&b, &few, &whole);
    *same += all.cut && is_same(&few, &all);
    return true;
}

/* Lists for few micro-batches stand for whole ones. Nearly all are cut where those are cut. */
Test(build_lists, few_micro_batches_stand_for_all)
{
    const uint64_t shapes = getenv("PIPESIM_LONG") ? SHAPES_LONG : SHAPES;
    int cut_schedules = 0;

    for (int k = 0; pp_schedules[k]; k++) {
        int cuts = 0, same = 0;
        for (uint64_t seed = 0; seed < shapes; seed++)
            cuts += is_cut(pp_schedules[k], seed, &same);
        cut_schedules += cuts > 0;
        cr_assert_geq(same, cuts * 9 / 10, "%s: %d of %d", pp_schedules[k]->name, same, cuts);
    }
    cr_assert_geq(cut_schedules, CUT_SCHEDULES);
}
