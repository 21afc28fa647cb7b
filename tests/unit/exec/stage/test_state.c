/* Initial weights: drawn by place, whatever the division. */
#include "tests/unit/exec/stage/state_case.h"

#include "core/random.h"

#include <criterion/criterion.h>
#include <float.h>
#include <string.h>

TestSuite(state, .init = set_up, .fini = tear_down);

Test(state, weights_do_not_depend_on_the_division)
{
    struct copy *whole = make(0, BLOCKS, true, true, true);
    struct copy *parts[] = {make(0, 0, true, false, true), make(0, 1, false, false, true),
                            make(1, 1, false, true, true)};

    pp_state_init(&whole->stage, k, &(struct pp_recipe){.seed = 7}, &whole->state, pp_cuts_none());
    for (int s = 0; s < 3; s++) {
        pp_state_init(&parts[s]->stage, k, &(struct pp_recipe){.seed = 7}, &parts[s]->state,
                      pp_cuts_none());
        for (int p = 0; p < parts[s]->stage.param_count; p++) {
            const struct pp_param *param = &parts[s]->stage.params[p];

            cr_assert_arr_eq(weights_of(parts[s], param->id), weights_of(whole, param->id),
                             (size_t)param->count * sizeof(double));
        }
    }
}

/* The hash of what one process has is that of what another one draws; it sees a bit of any tensor.
 */
Test(state, hashes_of_equal_weights_are_equal)
{
    for (int copies = 1; copies < 9; copies += 3) {
        struct copy *c = make(0, BLOCKS, true, true, false);

        c->state.share = pp_share_of(&c->stage, copies - 1, copies);
        pp_state_init(&c->stage, k, &(struct pp_recipe){.seed = 7}, &c->state, pp_cuts_none());
        const uint64_t drawn =
            pp_state_drawn_hash(&c->stage, k, &(struct pp_recipe){.seed = 7}, &c->state, 1);
        cr_assert_eq(pp_state_hash(&c->stage, k, &c->state, 1), drawn);
        cr_assert_neq(
            pp_state_drawn_hash(&c->stage, k, &(struct pp_recipe){.seed = 8}, &c->state, 1), drawn);
        for (int p = 0; p < c->stage.param_count; p++) {
            double *first = weights_of(c, c->stage.params[p].id), before = *first;
            *first = nextafter(before, 2);
            cr_assert_neq(pp_state_hash(&c->stage, k, &c->state, 1), drawn);
            *first = before;
        }
    }
}

Test(state, weights_have_mean_and_deviation_and_gaps_are_zero)
{
    struct copy *c = make(0, BLOCKS, true, true, false);

    memset(c->state.weights, 0xff, (size_t)c->stage.elements * sizeof(double));
    memset(c->state.sum, 0xff, (size_t)c->stage.elements * sizeof(double));
    pp_state_init(&c->stage, k, &(struct pp_recipe){.seed = 1}, &c->state, pp_cuts_none());
    const double *w = weights_of(c, 0);
    double sum = 0, squares = 0, fourth = 0;
    for (int i = 0; i < LARGEST; i++) {
        const double z = w[i] / 0.02;

        sum += z;
        squares += z * z;
        fourth += z * z * z * z;
    }
    /* five standard errors of n = 12,305 normal numbers */
    cr_assert_lt(fabs(sum / LARGEST), 5 / sqrt(LARGEST));
    cr_assert_lt(fabs(squares / LARGEST - 1), 5 * sqrt(2.0 / LARGEST));
    cr_assert_lt(fabs(fourth / LARGEST - 3), 5 * sqrt(96.0 / LARGEST));
    cr_assert_eq(weights_of(c, 2)[32], 1);
    cr_assert_eq(weights_of(c, 3)[6], 0);
    for (int64_t i = 0; i < c->stage.elements; i++)
        cr_assert_eq(((double *)c->state.sum)[i], 0);
    for (int p = 0; p < c->stage.param_count; p++)
        for (int64_t i = c->stage.params[p].count; i % 16; i++)
            cr_assert_eq(((double *)c->state.weights)[c->stage.params[p].offset + i], 0);
}

/* Cut into pieces for several cores, whose ends lie anywhere: against the formula of Box and
 * Muller, number by number. */
Test(state, a_tensor_drawn_by_many_threads_is_drawn_by_place)
{
    enum { COUNT = (3 << 20) + 5 };
    struct pp_param param = {"huge", 9, 0, COUNT, 0, PP_INIT_NORMAL, 0.5, true, false};
    struct pp_stage stage = {.net = &net, .params = &param, .param_count = 1};
    struct pp_state state = {.sum = NULL};

    stage.elements = (COUNT + 15) / 16 * 16;
    const size_t bytes = (size_t)stage.elements * sizeof(double);
    state.weights = pp_arena_alloc(arena, bytes), state.sum = pp_arena_alloc(arena, bytes);
    state.m = pp_arena_alloc(arena, bytes), state.v = pp_arena_alloc(arena, bytes);
    state.share = state.held = state.summed = pp_share_of(&stage, 0, 1);
    void *const zeros[] = {state.sum, state.m, state.v};
    for (int v = 0; v < 3; v++)
        memset(zeros[v], 0xff, bytes);
    pp_state_init(&stage, k, &(struct pp_recipe){.seed = 3}, &state, pp_cuts_none());
    for (int v = 0; v < 3; v++)
        for (int64_t i = 0; i < stage.elements; i++)
            cr_assert_eq(((uint64_t *)zeros[v])[i], 0, "vector %d, element %d", v, (int)i);
    const uint64_t stream = pp_random_stream(3, 9);
    for (int i = 0; i < COUNT; i++) {
        const uint64_t a = pp_random_bits(stream, (uint64_t)i & ~1ul) >> 11,
                       b = pp_random_bits(stream, (uint64_t)i | 1) >> 11;
        const double angle = 2 * M_PI * (double)(b + 1) * 0x1p-53;
        const double x = sqrt(-2 * log((double)(a + 1) * 0x1p-53)) * (i % 2 ? sin : cos)(angle);

        cr_assert_float_eq(((double *)state.weights)[i], 0.5 * x, 1e-14, "element %d", i);
    }
    cr_assert_eq(((double *)state.weights)[COUNT], 0);
}

Test(state, tensors_and_seeds_draw_different_numbers)
{
    struct copy *a = make(0, BLOCKS, true, true, true), *b = make(0, BLOCKS, true, true, true);
    int equal = 0;

    pp_state_init(&a->stage, k, &(struct pp_recipe){.seed = 1}, &a->state, pp_cuts_none());
    pp_state_init(&b->stage, k, &(struct pp_recipe){.seed = 2}, &b->state, pp_cuts_none());
    for (int i = 0; i < 5001; i++)
        equal += weights_of(a, 1)[i] == weights_of(a, 4)[i] ||
                 weights_of(a, 1)[i] == weights_of(b, 1)[i];
    cr_assert_eq(equal, 0);
}

Test(state, single_precision_holds_the_same_weights_rounded)
{
    const struct pp_kernels single = {.element_bytes = sizeof(float),
                                      .gradient_bytes = sizeof(float)};
    struct copy *c = make(0, 1, false, false, true), *d = make(0, 1, false, false, true);

    pp_state_init(&c->stage, k, &(struct pp_recipe){.seed = 1}, &c->state, pp_cuts_none());
    pp_state_init(&d->stage, &single, &(struct pp_recipe){.seed = 1}, &d->state, pp_cuts_none());
    for (int i = 0; i < 5001; i++)
        cr_assert_eq(((float *)d->state.weights)[i], (float)weights_of(c, 1)[i]);
}
