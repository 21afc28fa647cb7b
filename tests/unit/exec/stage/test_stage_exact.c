/* Exact gradients do not depend on the order of granules; single precision stays near double. */
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>

enum { LAYERS = 2, ROWS = 2, GRANULES = 5 };
static const int whole[] = {LAYERS};

static struct rig *run(struct pp_arena *arena, const struct pp_kernels *k, const struct pp_net *net,
                       int splits, const int *order, bool is_exact)
{
    struct rig *r = rig_create(arena, k, net, 1, whole, ROWS, splits, false);

    r->is_exact = is_exact;
    for (int i = 0; i < GRANULES; i++) {
        rig_sample(r, order[i]);
        rig_forward(r);
        rig_backward(r, i % 2 ? RIG_B : RIG_ALL_I_THEN_W);
    }
    cr_assert_eq(r->status, PP_FIXED_OK);
    return r;
}

static const int ascending[GRANULES] = {0, 1, 2, 3, 4}, shuffled[GRANULES] = {3, 0, 4, 2, 1};

static int64_t differing(const struct rig *a, const struct rig *b)
{
    const size_t bytes = a->is_exact ? sizeof(int64_t) : a->k->gradient_bytes;
    const char *x = a->is_exact ? (char *)a->chunk[0].fixed : a->chunk[0].sum,
               *y = b->is_exact ? (char *)b->chunk[0].fixed : b->chunk[0].sum;
    int64_t count = 0;

    for (int64_t i = 0; i < a->chunk[0].stage->elements; i++)
        count += memcmp(x + (size_t)i * bytes, y + (size_t)i * bytes, bytes) != 0;
    return count;
}

static void check_order(const struct pp_kernels *k, int variant, int splits)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, variant);
    const struct rig *a = run(arena, k, &net, splits, ascending, true),
                     *b = run(arena, k, &net, splits, shuffled, true),
                     *plain = run(arena, k, &net, splits, ascending, false),
                     *other = run(arena, k, &net, splits, shuffled, false);

    cr_assert_eq(differing(a, b), 0, "%s, variant %d", k->name, variant);
    cr_assert_gt(differing(plain, other), 0, "the order should show in plain sums");
    const double unit = ldexp(1, -PP_GRAD_BITS), rounding = k->gradient_bytes == 8 ? 1e-14 : 2e-6;
    for (int64_t i = 0; i < a->chunk[0].stage->elements; i++)
        cr_assert_float_eq((double)a->chunk[0].fixed[i] * unit,
                           rig_get(plain, plain->chunk[0].sum, i),
                           rounding + GRANULES * RIG_SPLITS * 2 * unit);
}

Test(stage_exact, gradients_do_not_depend_on_the_order_of_granules)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 3)) {
        check_order(&pp_kernels_reference, variant, 1);
        check_order(pp_kernels_fp32(true), variant, 1);
        check_order(pp_kernels_fp32(true), variant, 2);
        check_order(&pp_kernels_bf16, variant, 2);
    }
}

/* A gradient that no fixed point holds is reported, not lost. */
Test(stage_exact, an_overflow_is_reported)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, 0);
    struct rig *r = rig_create(arena, &pp_kernels_reference, &net, 1, whole, ROWS, 1, false);

    r->is_exact = true;
    r->loss_scale = 1e12;
    rig_forward(r);
    rig_backward(r, RIG_B);
    cr_assert_eq(r->status, PP_FIXED_OVERFLOW);
}

/* Relative L2 distance of the gradients of all tensors together. */
static double distance(const struct rig *a, const struct rig *b)
{
    double squares = 0, reference = 0;

    for (int64_t i = 0; i < a->chunk[0].stage->elements; i++) {
        const double x = rig_get(a, a->chunk[0].sum, i), y = rig_get(b, b->chunk[0].sum, i);
        squares += (x - y) * (x - y);
        reference += y * y;
    }
    return sqrt(squares / reference);
}

Test(stage_exact, single_precision_is_near_double)
{
    double worst = 0;

    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 1)) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net = rig_variant(LAYERS, variant);
        const int splits = variant % 3 == 0 ? 2 : 1;
        const struct rig *fast = run(arena, pp_kernels_fp32(true), &net, splits, ascending, false),
                         *slow = run(arena, &pp_kernels_reference, &net, splits, ascending, false);

        for (int i = 0; i < ROWS * net.seq; i++)
            cr_assert_float_eq(fast->loss[i], slow->loss[i], 2e-5);
        worst = fmax(worst, distance(fast, slow));
    }
    cr_log_info("worst relative distance of gradients: %g", worst);
    cr_assert_leq(worst, 5e-6, "%g", worst);
}
