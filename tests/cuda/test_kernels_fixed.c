/* Sums in fixed point by the CUDA tables: rounding, overflow, what is not finite, and any order. */
#include "tests/cuda/table_case.h"

enum { LANES = 11 };

struct fixed {
    double x;
    int bits;
    int64_t before, after;
    int status;
};

static int64_t *device_sums(const int64_t *sums)
{
    int64_t *to = device_bytes(sizeof(int64_t) * LANES);

    device_put(to, sums, sizeof(int64_t) * LANES);
    return to;
}

static void read_sums(const int64_t *from, int64_t *to)
{
    device_must(cudaMemcpy(to, from, sizeof(int64_t) * LANES, cudaMemcpyDeviceToHost));
}

/* Among ones, at each place of a vector and of its tail. */
static void try_fixed(const struct fixed *f)
{
    int *status = shared_bytes(sizeof *status);

    for (int at = 0; at < LANES; at++) {
        double x[LANES];
        int64_t sums[LANES] = {0};
        for (int i = 0; i < LANES; i++)
            x[i] = i == at ? f->x : 1;
        sums[at] = f->before;
        int64_t *to = device_sums(sums);
        *status = PP_FIXED_OK;
        pp_kernels_cuda_fp32.fixed_add(device_stream(), LANES, device_tensor(x, LANES, false),
                                       f->bits, to, status);
        device_finish();
        cr_assert_eq(*status, f->status, "%g: %d", f->x, *status);
        read_sums(to, sums);
        for (int i = 0; i < LANES && f->status == PP_FIXED_OK; i++)
            cr_assert_eq(sums[i], i == at ? f->after : INT64_C(1) << f->bits, "%g, place %d", f->x,
                         i);
    }
}

Test(cuda_kernels, fixed_add)
{
    static const struct fixed CASES[] = {
        {0.5, 0, 0, 0, PP_FIXED_OK},
        {1.5, 0, 0, 2, PP_FIXED_OK},
        {2.5, 0, 0, 2, PP_FIXED_OK},
        {-2.5, 0, 7, 5, PP_FIXED_OK},
        {-3.5, 0, 0, -4, PP_FIXED_OK},
        {0x1.8p-45, 44, 0, 1, PP_FIXED_OK},
        {1e-30, 44, 3, 3, PP_FIXED_OK},
        {1000, 44, -1, (INT64_C(1000) << 44) - 1, PP_FIXED_OK},
        {-0x1p19, 44, 0, INT64_MIN, PP_FIXED_OK},
        {0x1p19, 44, 0, 0, PP_FIXED_OVERFLOW},
        {1e30, 44, 0, 0, PP_FIXED_OVERFLOW},
        {1, 44, INT64_MAX - 5, 0, PP_FIXED_OVERFLOW},
        {-1, 44, INT64_MIN + 5, 0, PP_FIXED_OVERFLOW},
        {NAN, 44, 0, 0, PP_FIXED_NOT_FINITE},
        {INFINITY, 44, 0, 0, PP_FIXED_NOT_FINITE},
        {-INFINITY, 44, 0, 0, PP_FIXED_NOT_FINITE},
    };

    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        try_fixed(&CASES[i]);
}

/* The worst reason stays, and nothing clears it. */
Test(cuda_kernels, fixed_status)
{
    const double x[LANES] = {NAN, 1};
    const int64_t large[LANES] = {0, INT64_MIN}, small[LANES] = {0, -1};
    int *status = shared_bytes(sizeof *status);
    int64_t *a = device_sums(large), *b = device_sums(small);

    pp_kernels_cuda_fp32.fixed_add(device_stream(), 2, device_tensor(x, LANES, false), 44, a,
                                   status);
    device_finish();
    cr_assert_eq(*status, PP_FIXED_NOT_FINITE);
    pp_kernels_cuda_fp32.fixed_merge(device_stream(), LANES, b, a, status);
    device_finish();
    cr_assert_eq(*status, PP_FIXED_NOT_FINITE);
    a = device_sums(large);
    pp_kernels_cuda_fp32.fixed_merge(device_stream(), LANES, b, a, status);
    device_finish();
    cr_assert_eq(*status, PP_FIXED_OVERFLOW);
    a = device_sums(small);
    pp_kernels_cuda_fp32.fixed_add(device_stream(), 2, device_tensor(x, LANES, false), 44, a,
                                   status);
    device_finish();
    cr_assert_eq(*status, PP_FIXED_OVERFLOW);
}

/* At each place of a vector and of its tail: the largest that fit, and the first that do not. */
Test(cuda_kernels, fixed_fits)
{
    static const int COPIES[] = {1, 2, 3, 8, 1000};

    for (size_t c = 0; c < sizeof COPIES / sizeof *COPIES; c++)
        for (int at = 0; at < 2 * LANES; at++) {
            const int64_t most = INT64_MAX / COPIES[c], sign = at < LANES ? 1 : -1;
            int *status = shared_bytes(sizeof *status);
            int64_t sums[LANES] = {0};
            sums[at % LANES] = sign * most;
            pp_kernels_cuda_fp32.fixed_fits(device_stream(), LANES, device_sums(sums), COPIES[c],
                                            status);
            device_finish();
            cr_assert_eq(*status, PP_FIXED_OK);
            if (COPIES[c] == 1 && sign > 0)
                continue;
            sums[at % LANES] -= COPIES[c] == 1 ? 1 : -sign;
            pp_kernels_cuda_fp32.fixed_fits(device_stream(), LANES, device_sums(sums), COPIES[c],
                                            status);
            device_finish();
            cr_assert_eq(*status, PP_FIXED_OVERFLOW);
        }
}

/* Any order gives the same sum, and it is read back as the sum of the rounded values. */
Test(cuda_kernels, fixed_order)
{
    enum { BITS = 30 };
    const struct pp_kernels *k = &pp_kernels_cuda_bf16;
    const int64_t none[LANES] = {0};
    int64_t *one = device_sums(none), *two = device_sums(none), *other = device_sums(none);
    int64_t sums[LANES], others[LANES];
    double a[LANES], b[LANES], expected = 0;
    double *squares = shared_bytes(sizeof *squares);
    int *status = shared_bytes(sizeof *status);

    for (int i = 0; i < LANES; i++) {
        a[i] = rounded(drawn(), false);
        b[i] = rounded(drawn() * 1e-6, false);
    }
    void *x = device_tensor(a, LANES, false), *y = device_tensor(b, LANES, false);
    k->fixed_add(device_stream(), LANES, x, BITS, one, status);
    k->fixed_add(device_stream(), LANES, y, BITS, two, status);
    k->fixed_merge(device_stream(), LANES, two, one, status);
    k->fixed_add(device_stream(), LANES, y, BITS, other, status);
    k->fixed_add(device_stream(), LANES, x, BITS, other, status);
    k->squares(device_stream(),
               &(struct pp_flat){.tensors = &(struct pp_flat_tensor){0, LANES, true},
                                 .tensor_count = 1,
                                 .until = LANES,
                                 .fixed = one,
                                 .bits = BITS},
               squares);
    device_finish();
    read_sums(one, sums);
    read_sums(other, others);
    cr_assert_eq(*status, PP_FIXED_OK);
    cr_assert_eq(memcmp(sums, others, sizeof sums), 0);
    for (int i = 0; i < LANES; i++) {
        const double sum = rint(ldexp(a[i], BITS)) + rint(ldexp(b[i], BITS));
        cr_assert_eq(sums[i], (int64_t)sum);
        expected += pow((double)(float)ldexp(sum, -BITS), 2);
    }
    cr_assert(fabs(*squares - expected) <= 1e-13 * expected, "%.17g is not %.17g", *squares,
              expected);
}
