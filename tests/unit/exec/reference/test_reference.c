#include "tests/unit/exec/reference/reference_case.h"

#include <math.h>
#include <string.h>

TestSuite(reference, .init = set_up, .fini = tear_down);

static double train(struct pp_reference *reference, int step)
{
    const double loss = gradients(reference, step);

    cr_assert_eq(pp_reference_update(reference, step, &err), PP_OK, "%s", err.message);
    return loss;
}

static struct pp_difference compare(const struct pp_reference *a, const struct pp_reference *b,
                                    enum pp_vector what)
{
    struct pp_difference difference = {0};

    pp_reference_compare(a, pp_reference_stage(b, 0), pp_reference_state(b, 0), what, &difference);
    return difference;
}

static double rel_l2(const struct pp_difference *d)
{
    return sqrt(d->squares / d->reference_squares);
}

Test(reference, loss_starts_at_chance_and_falls)
{
    struct pp_reference *reference = make(&net, &pp_kernels_reference, &batch, &recipe);
    double loss[20];

    for (int step = 0; step < 20; step++)
        loss[step] = train(reference, step);
    cr_assert_float_eq(loss[0], log(net.vocab), 0.1);
    cr_assert_lt(loss[6], loss[0]);
    cr_assert_lt(loss[19], loss[0] - 1);
}

static void expect_equal(const struct pp_reference *expected, const struct pp_reference *ours)
{
    for (int what = PP_VECTOR_GRADIENTS; what <= PP_VECTOR_WEIGHTS; what++) {
        const struct pp_difference d = compare(expected, ours, (enum pp_vector)what);

        cr_assert_eq(d.differing, 0, "%d: %s of layer %d", what, d.worst, d.worst_layer);
        cr_assert(d.elements > 20000 && d.reference_squares > 0);
    }
}

/* Two steps, and the gradients of a third, of the same granules in every cut. */
static void cut_in_every_way(const struct pp_net *n, const struct pp_kernels *kernels)
{
    const struct pp_batch cuts[] = {
        {.replicas = 2, .micro_batches = 4, .mbs = 2, .granules = 1, .splits = 1},
        {.replicas = 8, .micro_batches = 1, .mbs = 2, .granules = 1, .splits = 1},
        {.replicas = 1, .micro_batches = 4, .mbs = 4, .granules = 2, .splits = 1},
    };
    struct pp_reference *expected = make(n, kernels, &batch, &recipe);
    const double loss[] = {train(expected, 0), train(expected, 1), gradients(expected, 2)};

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct pp_reference *ours = make(n, kernels, &cuts[i], &recipe);

        cr_assert_eq(train(ours, 0), loss[0]);
        cr_assert_eq(train(ours, 1), loss[1]);
        cr_assert_eq(gradients(ours, 2), loss[2]);
        expect_equal(expected, ours);
    }
}

Test(reference, exact_results_do_not_depend_on_replicas_and_granules)
{
    cut_in_every_way(&net, &pp_kernels_reference);
    cut_in_every_way(&net, pp_kernels_fp32(true));
    cut_in_every_way(&llama, &pp_kernels_reference);
    cut_in_every_way(&llama, pp_kernels_fp32(true));
}

/* Granules of other sizes hold the same samples: nothing but rounding changes. */
Test(reference, granules_cover_the_samples_of_a_step_once)
{
    const struct pp_batch one_by_one = {
        .replicas = 2, .micro_batches = 4, .mbs = 2, .granules = 2, .splits = 1};
    const struct pp_batch at_once = {
        .replicas = 1, .micro_batches = 1, .mbs = 16, .granules = 1, .splits = 1};
    struct pp_reference *pairs = make(&net, &pp_kernels_reference, &batch, &recipe);
    const double loss = gradients(pairs, 0);

    for (int i = 0; i < 2; i++) {
        struct pp_reference *ours =
            make(&net, &pp_kernels_reference, i ? &at_once : &one_by_one, &recipe);

        cr_assert_float_eq(gradients(ours, 0), loss, 1e-9);
        const struct pp_difference d = compare(pairs, ours, PP_VECTOR_GRADIENTS);
        cr_assert_lt(rel_l2(&d), 1e-8);
    }
}

/* Along the gradient the loss, a mean over all tokens of all replicas, rises by its square. */
Test(reference, gradients_are_those_of_the_loss)
{
    const struct pp_batch replicated = {
        .replicas = 2, .micro_batches = 2, .mbs = 2, .granules = 1, .splits = 2};
    struct pp_recipe plain = recipe;
    const double h = 1e-5;

    plain.is_exact = false;
    struct pp_reference *reference = make(&net, &pp_kernels_reference, &replicated, &plain);
    gradients(reference, 0);
    const int64_t elements = pp_reference_stage(reference, 0)->elements;
    double *weights = pp_reference_state(reference, 0)->weights;
    double *grad = PP_ARRAY(arena, double, elements), squares = 0, loss[2];
    memcpy(grad, pp_reference_state(reference, 0)->sum, (size_t)elements * sizeof(double));
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < elements; i++)
            weights[i] += (side ? 2 * h : -h) * grad[i];
        loss[side] = gradients(reference, 0);
    }
    for (int64_t i = 0; i < elements; i++)
        squares += grad[i] * grad[i];
    cr_assert_float_eq((loss[1] - loss[0]) / (2 * h), squares, 1e-6 * squares);
}

Test(reference, sequence_splits_change_rounding_alone)
{
    struct pp_recipe plain = recipe;
    struct pp_batch split = batch;

    split.splits = 4;
    for (int is_exact = 0; is_exact <= 1; is_exact++) {
        plain.is_exact = is_exact;
        struct pp_reference *whole = make(&net, &pp_kernels_reference, &batch, &plain);
        struct pp_reference *parts = make(&net, &pp_kernels_reference, &split, &plain);

        cr_assert_float_eq(gradients(whole, 0), gradients(parts, 0), 1e-9);
        const struct pp_difference d = compare(whole, parts, PP_VECTOR_GRADIENTS);
        cr_assert_lt(rel_l2(&d), is_exact ? 1e-8 : 1e-12);
    }
}

Test(reference, fixed_point_rounds_gradients_and_nothing_else)
{
    struct pp_recipe plain = recipe;

    plain.is_exact = false;
    struct pp_reference *exact = make(&net, &pp_kernels_reference, &batch, &recipe);
    struct pp_reference *floating = make(&net, &pp_kernels_reference, &batch, &plain);
    cr_assert_eq(gradients(exact, 0), gradients(floating, 0));

    const struct pp_state *a = pp_reference_state(exact, 0), *b = pp_reference_state(floating, 0);
    const struct pp_stage *stage = pp_reference_stage(exact, 0);
    const double rounding = batch.micro_batches * ldexp(0.5, -PP_GRAD_BITS) * (1 + 1e-6);
    double largest = 0;
    for (int64_t i = 0; i < stage->elements; i++) {
        const double grad = ((const double *)b->sum)[i];

        cr_assert_leq(fabs(ldexp((double)a->fixed[i], -PP_GRAD_BITS) - grad), rounding);
        largest = fmax(largest, fabs(grad));
    }
    cr_assert_gt(largest, 1e6 * rounding);
}

Test(reference, gradients_of_a_step_start_from_zero)
{
    struct pp_reference *once = make(&net, &pp_kernels_reference, &batch, &recipe);
    struct pp_reference *twice = make(&net, &pp_kernels_reference, &batch, &recipe);

    gradients(once, 1);
    gradients(twice, 0);
    gradients(twice, 1);
    const struct pp_difference d = compare(once, twice, PP_VECTOR_GRADIENTS);
    cr_assert_eq(d.differing, 0);
}

/* Memory far beyond any machine is computed, not taken. */
Test(reference, too_much_memory_is_refused_with_sizes)
{
    struct pp_reference *reference;
    struct pp_net big = net;
    struct pp_batch many = batch;

    big.layers = 4096;
    many.mbs = 1 << 20;
    cr_assert_eq(pp_reference_create(arena, &big, &pp_kernels_reference,
                                     &(const struct pp_place){&pp_backend_cpu}, &many, &recipe,
                                     &reference, &err),
                 PP_EFAIL);
    cr_assert_eq(
        strncmp(err.message, "the reference that gradients are checked against takes ", 55), 0,
        "%s", err.message);
    cr_assert_not_null(strstr(err.message, " TiB; scratch "), "%s", err.message);
    cr_assert_not_null(strstr(err.message, "but the machine has "), "%s", err.message);
}

static void expect_failure(struct pp_reference *reference, int step, const char *message)
{
    double loss = -1;

    cr_assert_eq(pp_reference_step(reference, &text, step, &loss, &err), PP_EFAIL);
    cr_assert_str_eq(err.message, message);
    cr_assert_eq(loss, -1);
}

static void *tensor(const struct pp_reference *reference, void *vector, const char *name, int layer,
                    int64_t *count)
{
    const struct pp_stage *stage = pp_reference_stage(reference, 0);

    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_param *param = &stage->params[p];

        if (!strcmp(param->name, name) && param->layer == layer) {
            *count = param->count;
            return (double *)vector + param->offset;
        }
    }
    cr_assert_fail("no tensor %s in layer %d", name, layer);
    return NULL;
}

Test(reference, a_loss_that_is_no_number_ends_the_step)
{
    struct pp_batch replicated = batch;

    replicated.replicas = 4;
    replicated.micro_batches = 2;
    struct pp_reference *reference = make(&net, &pp_kernels_reference, &replicated, &recipe);
    int64_t count;
    double *weight =
        tensor(reference, pp_reference_state(reference, 0)->weights, "up.weight", 1, &count);
    weight[count - 1] = NAN;
    expect_failure(reference, 3,
                   "step 4: after micro-batch 0 of replica 0, the loss is not finite");
}

/* A norm divides by the deviation of its input. Inputs close to zero have gradients far beyond the
 * range of 64 bits, while the loss stays as it is. */
Test(reference, a_gradient_beyond_fixed_point_ends_the_step)
{
    struct pp_net sharp = net;
    static const char *const names[] = {"embedding.weight", "positions.weight"};

    sharp.norm_epsilon = 1e-60;
    sharp.is_tied = false;
    struct pp_reference *reference = make(&sharp, &pp_kernels_reference, &batch, &recipe);
    cr_assert(isfinite(gradients(reference, 0)));
    for (int i = 0; i < 2; i++) {
        int64_t count;
        double *weight =
            tensor(reference, pp_reference_state(reference, 0)->weights, names[i], 0, &count);

        for (int64_t j = 0; j < count; j++)
            weight[j] *= 1e-20;
    }
    expect_failure(reference, 7,
                   "step 8: after micro-batch 0 of replica 0, a gradient does not fit into fixed "
                   "point with 44 binary places");
}

Test(reference, a_gradient_that_is_no_number_ends_the_update)
{
    struct pp_recipe plain = recipe;

    plain.is_exact = false;
    for (int is_clipped = 0; is_clipped <= 1; is_clipped++) {
        plain.clip = is_clipped;
        struct pp_reference *reference = make(&net, &pp_kernels_reference, &batch, &plain);
        int64_t count;
        gradients(reference, 5);
        double *grad =
            tensor(reference, pp_reference_state(reference, 0)->sum, "qkv.weight", 2, &count);
        grad[count / 2] = HUGE_VAL;
        cr_assert_eq(pp_reference_update(reference, 5, &err), PP_EFAIL);
        cr_assert_str_eq(err.message, "step 6: the gradient of qkv.weight in layer 2 of 4 (0 is "
                                      "the embedding) is not finite");
    }
}
