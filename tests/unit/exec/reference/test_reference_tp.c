/* T devices that share a model make the gradients of one: every element of every tensor, up to the
 * rounding of double. Numbers of words, heads and elements differ, and T does not divide the words.
 * They also share tokens.
 */
#include "tests/unit/exec/reference/reference_case.h"

#include "kernels/numbers.h"

#include <math.h>

TestSuite(reference_tp, .init = set_up, .fini = tear_down);

static struct pp_reference *share(const struct pp_net *n, int tp, bool is_sequence_parallel)
{
    const struct pp_place place = {
        .backend = &pp_backend_cpu,
        .share = {.tp = tp, .is_sequence_parallel = is_sequence_parallel}};
    struct pp_recipe inexact = recipe;
    struct pp_reference *reference;

    inexact.is_exact = false;
    cr_assert_eq(pp_reference_create(arena, n, &pp_kernels_reference, &place, &batch, &inexact,
                                     &reference, &err),
                 PP_OK, "%s", err.message);
    return reference;
}

static double largest_of(const struct pp_param *param, const double *sum)
{
    double largest = 0;

    for (int64_t i = 0; i < param->count; i++)
        largest = fmax(largest, fabs(sum[param->offset + i]));
    return largest;
}

/* Returns the elements that device t has. */
static int64_t compare_part(const struct pp_reference *one, const struct pp_reference *shared,
                            int t)
{
    const struct pp_stage *whole = pp_reference_stage(one, 0),
                          *part = pp_reference_stage(shared, t);
    const double *expected = pp_reference_state(one, 0)->sum,
                 *sum = pp_reference_state(shared, t)->sum;
    int64_t elements = 0;

    for (int p = 0; p < part->param_count; p++) {
        const struct pp_param *ours = &part->params[p], *theirs = &whole->params[p];
        const double largest = largest_of(theirs, expected);
        cr_assert_eq(ours->id, theirs->id);
        cr_assert_gt(largest, 0);
        for (int64_t i = 0, run; i < ours->count; i++) {
            const int64_t at = pp_slice_at(&ours->slice, i, &run);
            cr_assert_float_eq(sum[ours->offset + i], expected[theirs->offset + at],
                               1e-12 * largest, "%s, element %lld: %g, not %g", ours->name,
                               (long long)at, sum[ours->offset + i], expected[theirs->offset + at]);
        }
        elements += ours->slice.whole > 0 ? ours->count : 0;
    }
    return elements;
}

static void compare_with_one(struct pp_net n, int tp, bool is_sequence_parallel)
{
    struct pp_reference *one = share(&n, 1, false), *shared = share(&n, tp, is_sequence_parallel);
    int64_t cut = 0, whole = 0;

    cr_assert_float_eq(gradients(shared, 0), gradients(one, 0), 1e-9); /* of 32 binary places */
    for (int t = 0; t < tp; t++)
        cut += compare_part(one, shared, t);
    for (int p = 0; p < pp_reference_stage(shared, 0)->param_count; p++)
        whole += pp_reference_stage(shared, 0)->params[p].slice.whole;
    cr_assert_eq(cut, whole);
}

Test(reference_tp, gradients_are_those_of_one_device)
{
    struct pp_net wide = net, odd = llama, gemma = llama;

    wide.vocab = 129;
    odd.vocab = gemma.vocab = 131;
    gemma.is_tied = gemma.has_qk_norm = true;
    gemma.embedding_scale = 5;
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        compare_with_one(wide, 2, is_shared);
        compare_with_one(wide, 4, is_shared);
        compare_with_one(odd, 2, is_shared);
        compare_with_one(gemma, 2, is_shared);
    }
    wide.is_parallel = true;
    compare_with_one(wide, 2, true);
}
