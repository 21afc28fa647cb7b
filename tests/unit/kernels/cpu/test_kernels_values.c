/* Hard values: exp at its ends, rounding and overflow of fixed point sums, blocks of squares, the
 * optimizer. Also tested: programs get the kernels of this CPU. */
#include "tests/unit/kernels/cpu/kernel_tables.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors stay in this file */
#include "kernels/cpu/simd.h"

#include <pthread.h>

/* Units in the last place of a float around `right`. */
static double units(double value, double right)
{
    return fabs(value - right) / (ldexp(1, ilogb(right) - 23));
}

Test(kernels_values, exp)
{
    double worst = 0;

    for (double x = -87.3; x < 88.7; x += 0.00137) {
        const vf e = exp_lanes(all((float)x));
        worst = fmax(worst, units((double)e[3], exp((double)(float)x)));
    }
    cr_assert_lt(worst, 2, "%g units", worst);
    cr_assert_eq(exp_lanes(all(0))[0], 1);
    cr_assert_eq(exp_lanes(all(-88))[0], 0);
    cr_assert_eq(exp_lanes(all(-INFINITY))[0], 0);
    cr_assert_eq(exp_lanes(all(-3e38f))[0], 0);
    cr_assert_eq(exp_lanes(all(INFINITY))[0], INFINITY);
    cr_assert_eq(exp_lanes(all(89))[0], INFINITY);
    cr_assert_eq(exp_lanes(all(3e38f))[0], INFINITY);
    cr_assert(isnan(exp_lanes(all(NAN))[0]));
}

Test(kernels_values, log)
{
    double worst = 0;

    for (double x = 1.1754944e-38; x < 3e38; x *= 1.00371) {
        const double right = log((double)(float)x), value = (double)log_lanes(all((float)x))[5];
        worst = fmax(worst, units(value, fmax(fabs(right), 0.1) * (right < 0 ? -1 : 1)) *
                                (fabs(right) > 0.1));
        cr_assert_float_eq(value, right, 1e-7 * (1 + fabs(right)));
    }
    cr_assert_lt(worst, 2, "%g units", worst);
}

/* Of every table: silu is x sigmoid(x), to a few units also where it is tiny. */
Test(kernels_values, sigmoid)
{
    enum { COUNT = 2001 };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    const struct tensor y = tensor_random(&t, COUNT, 1);
    float x[2 * COUNT];

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i - 870) / 10.0f;
        x[COUNT + i] = 1;
    }
    for (int e = 1; e < t.count; e++) {
        t.of[e]->gate_forward(NULL, PP_SILU, 1, COUNT, x, y.of[e]);
        for (int i = 0; i < COUNT; i++) {
            const double right = (double)x[i] / (1 + exp(-(double)x[i]));
            const double value = (double)((float *)y.of[e])[i];
            cr_assert(right == value || units(value, right) < 5, "%g: %g, %g", (double)x[i], value,
                      right);
        }
    }
}

/* Frequencies of Llama 3 as its authors write them: by wavelength. */
Test(kernels_values, angles)
{
    const struct pp_angles a = {
        .dim = 64, .theta = 1e4, .factor = 8, .low = 1, .high = 4, .original_seq = 512};
    const struct pp_angles linear = {.dim = 64, .theta = 1e4, .factor = 8};
    int blended = 0;

    for (int i = 0; i < 32; i++) {
        const double plain = pow(1e4, -i / 32.0), length = 2 * acos(-1) / plain;
        const double blend = (512 / length - 1) / 3;
        double right = length > 512 ? plain / 8 : plain;

        if (length >= 128 && length <= 512) {
            right = (1 - blend) * plain / 8 + blend * plain;
            blended++;
        }
        cr_assert_float_eq(pp_angles_frequency(&a, i), right, 1e-14 * plain, "pair %d", i);
        cr_assert_float_eq(pp_angles_frequency(&linear, i), plain / 8, 1e-14 * plain);
    }
    cr_assert_gt(blended, 3);
}

/* Infinities saturate, NaN stays NaN, in every lane. */
Test(kernels_values, not_finite)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int e = 1; e < t.count; e++)
        for (int i = 0; i < 19; i++) {
            float x[19] = {0}, y[19];
            x[i] = INFINITY;
            t.of[e]->activate_forward(NULL, PP_GELU_TANH, 19, x, y);
            cr_assert_eq(y[i], INFINITY);
            x[i] = NAN;
            t.of[e]->activate_forward(NULL, PP_GELU_TANH, 19, x, y);
            for (int j = 0; j < 19; j++)
                cr_assert_eq(isnan(y[j]), j == i);
        }
}

/* ---- fixed point ----------------------------------------------------------------------------- */

/* Every position of a vector and of a tail, every table. */
static void fixed_case(const struct tables *t, double x, int bits, int64_t before, int64_t after,
                       int status)
{
    enum { COUNT = 37 };
    double wide[COUNT];
    float narrow[COUNT];

    for (int e = 0; e < t->count; e++)
        for (int at = 0; at < COUNT; at++) {
            int64_t sum[COUNT] = {0};
            int seen = PP_FIXED_OK;
            for (int i = 0; i < COUNT; i++) {
                wide[i] = i == at ? x : 1;
                narrow[i] = (float)wide[i];
            }
            sum[at] = before;
            t->of[e]->fixed_add(NULL, COUNT, e == 0 ? (void *)wide : narrow, bits, sum, &seen);
            cr_assert_eq(seen, status, "table %d: %g is %d, not %d", e, x, seen, status);
            for (int i = 0; i < COUNT && status == PP_FIXED_OK; i++)
                cr_assert_eq(sum[i], i == at ? after : INT64_C(1) << bits, "table %d: %g, %d", e, x,
                             i);
        }
}

Test(kernels_values, fixed_add)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct tables t = tables_all(arena);

    fixed_case(&t, 0.5, 0, 0, 0, PP_FIXED_OK);
    fixed_case(&t, 1.5, 0, 0, 2, PP_FIXED_OK);
    fixed_case(&t, 2.5, 0, 0, 2, PP_FIXED_OK);
    fixed_case(&t, -2.5, 0, 7, 5, PP_FIXED_OK);
    fixed_case(&t, -3.5, 0, 0, -4, PP_FIXED_OK);
    fixed_case(&t, 0x1.8p-45, 44, 0, 1, PP_FIXED_OK);
    fixed_case(&t, 0x1p-45, 44, 0, 0, PP_FIXED_OK);
    fixed_case(&t, 1e-30, 44, 3, 3, PP_FIXED_OK);
    fixed_case(&t, 127, 44, 0, INT64_C(127) << 44, PP_FIXED_OK);
    fixed_case(&t, 1000, 44, -1, (INT64_C(1000) << 44) - 1, PP_FIXED_OK);
    fixed_case(&t, -0x1p19, 44, 0, INT64_MIN, PP_FIXED_OK);
    fixed_case(&t, 0x1p19, 44, 0, 0, PP_FIXED_OVERFLOW);
    fixed_case(&t, 1e30, 44, 0, 0, PP_FIXED_OVERFLOW);
    fixed_case(&t, 1, 44, INT64_MAX - 5, 0, PP_FIXED_OVERFLOW);
    fixed_case(&t, -1, 44, INT64_MIN + 5, 0, PP_FIXED_OVERFLOW);
    fixed_case(&t, NAN, 44, 0, 0, PP_FIXED_NOT_FINITE);
    fixed_case(&t, INFINITY, 44, 0, 0, PP_FIXED_NOT_FINITE);
    fixed_case(&t, -INFINITY, 44, 0, 0, PP_FIXED_NOT_FINITE);
}

/* Any order gives the same sum, and it is read back as the sum of the rounded values. */
Test(kernels_values, fixed_order)
{
    enum { COUNT = 1000, BITS = 44 };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    const struct tensor a = tensor_random(&t, COUNT, 1), b = tensor_random(&t, COUNT, 1e-6);
    int64_t one[COUNT], two[COUNT];
    double squares, right = 0;
    int status = PP_FIXED_OK;

    for (int e = 0; e < t.count; e++) {
        const struct pp_kernels *k = t.of[e];
        memset(one, 0, sizeof one);
        memset(two, 0, sizeof two);
        k->fixed_add(NULL, COUNT, a.of[e], BITS, one, &status);
        k->fixed_add(NULL, COUNT, b.of[e], BITS, two, &status);
        k->fixed_merge(NULL, COUNT, two, one, &status);
        memset(two, 0, sizeof two);
        k->fixed_add(NULL, COUNT, b.of[e], BITS, two, &status);
        k->fixed_add(NULL, COUNT, a.of[e], BITS, two, &status);
        cr_assert_eq(memcmp(one, two, sizeof one), 0);
        const struct pp_flat flat = {.tensors = &(struct pp_flat_tensor){0, COUNT, true},
                                     .tensor_count = 1,
                                     .until = COUNT,
                                     .fixed = one,
                                     .bits = BITS};
        k->squares(NULL, &flat, &squares);
        if (e == 0)
            right = squares;
        cr_assert_float_eq(squares, right, 1e-7 * right);
    }
    cr_assert_eq(status, PP_FIXED_OK);
    one[COUNT - 1] = two[COUNT - 1] = INT64_MAX;
    t.of[1]->fixed_merge(NULL, COUNT, two, one, &status);
    cr_assert_eq(status, PP_FIXED_OVERFLOW);
}

Test(kernels_values, fixed_fits)
{
    enum { COUNT = 5, COPIES = 3 };
    static const int64_t most = INT64_MAX / COPIES;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int e = 0; e < t.count; e++)
        for (int at = 0; at < COUNT; at++) {
            int64_t x[COUNT] = {most, -most, 0, 1, -1};
            int status = PP_FIXED_OK;
            t.of[e]->fixed_fits(NULL, COUNT, x, COPIES, &status);
            cr_assert_eq(status, PP_FIXED_OK);
            x[at] = at % 2 ? -most - 1 : most + 1;
            t.of[e]->fixed_fits(NULL, COUNT, x, COPIES, &status);
            cr_assert_eq(status, PP_FIXED_OVERFLOW);
        }
}

/* ---- flat vectors ---------------------------------------------------------------------------- */

Test(kernels_values, squares)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int count = 1; count < 3 * PP_SQUARES_BLOCK; count = 2 * count + 1) {
        const struct tensor x = tensor_random(&t, (size_t)count, 3);
        double sums[MAX_TABLES][3];
        for (int e = 0; e < t.count; e++)
            t.of[e]->squares(
                NULL,
                &(struct pp_flat){&(struct pp_flat_tensor){0, count, true}, 1, 0, count, x.of[e]},
                sums[e]);
        for (int b = 0; b * PP_SQUARES_BLOCK < count; b++)
            for (int e = 1; e < t.count; e++) {
                cr_assert_float_eq(sums[e][b], sums[0][b], 1e-12 * sums[0][b]);
                cr_assert(memcmp(&sums[e][b], &sums[1][b], sizeof(double)) == 0);
            }
    }
}

Test(kernels_values, adamw)
{
    const struct pp_adamw a = {0.9, 0.99, 1e-8, 0.1};
    const struct pp_adamw_step now = {1e-2, 0.5, 0.25, 0.5};
    const struct pp_flat_tensor tensor = {0, 101, true};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    const struct tensor g = tensor_random(&t, 101, 2), w = tensor_random(&t, 101, 1);
    const struct tensor m = tensor_random(&t, 101, 1), v = tensor_random(&t, 101, 0);
    double used[101];

    for (int e = 0; e < t.count; e++)
        for (int step = 0; step < 5; step++) {
            memcpy(used, g.of[e], 101 * t.of[e]->gradient_bytes);
            t.of[e]->adamw(NULL, &(struct pp_flat){&tensor, 1, 0, 101, used}, &a, &now, w.of[e],
                           NULL, m.of[e], v.of[e]);
        }
    tensor_close(&t, w, 1e-6, "weights");
    tensor_close(&t, m, 1e-6, "first moments");
    tensor_close(&t, v, 1e-6, "second moments");
    tensor_same(w, 1, t.count, "weights");
}

/* From within the first tensor to the gap after the last one, with gaps between all. */
static void clear_range(const struct pp_kernels *k, bool is_fixed)
{
    enum { FROM = 16, UNTIL = 9600, ALL = 10000 };
    static const struct pp_flat_tensor tensors[] = {
        {0, 50, true}, {64, 9000, false}, {9008, 9590, true}};
    static const struct pp_adamw a = {0.9, 0.99, 1e-8, 0.1};
    static const struct pp_adamw_step now = {1e-2, 0.5, 0.25, 0.5};
    static double weights[ALL], master[ALL], m[ALL], v[ALL];
    static int64_t gradients[ALL];
    const size_t bytes = is_fixed ? sizeof *gradients : k->gradient_bytes;
    unsigned char *const at = (unsigned char *)gradients;
    const struct pp_flat flat = {tensors,
                                 3,
                                 FROM,
                                 UNTIL,
                                 is_fixed ? NULL : at + FROM * bytes,
                                 is_fixed ? gradients + FROM : NULL,
                                 40};

    memset(gradients, 1, sizeof gradients);
    k->adamw(NULL, &flat, &a, &now, weights, k->gradient_bytes == k->element_bytes ? NULL : master,
             m, v);
    for (size_t i = 0; i < ALL * bytes; i++)
        cr_assert_eq(at[i], i < FROM * bytes || i >= UNTIL * bytes, "%s: byte %zu", k->name, i);
}

Test(kernels_values, adamw_clears_the_gradients_of_its_range)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct tables t = tables_all(arena);

    for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
        for (int e = 0; e < t.count; e++)
            clear_range(t.of[e], is_fixed);
        clear_range(&pp_kernels_bf16, is_fixed);
    }
}

static void *choose_kernels(void *unused)
{
    (void)unused;
    return (void *)pp_kernels_fp32(false);
}

Test(kernels_values, chosen_once_by_all_threads)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, choose_kernels, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *kernels;
        cr_assert_eq(pthread_join(threads[i], &kernels), 0);
        cr_assert_eq(kernels, pp_kernels_fp32(true));
    }
    int best = 0;
    while (!pp_levels[best].is_supported())
        best++;
    const struct pp_kernels *k = pp_kernels_fp32(false);
    cr_assert_eq(k->norm_forward, pp_levels[best].kernels->norm_forward);
    cr_assert_eq(strncmp(k->about(), pp_levels[best].name, strlen(pp_levels[best].name)), 0);
}
