/* Tensor cores of the emulated device, by the fragments of kernels/cuda/attention/mma.cuh, and its
 * asynchronous copies. */
#include "core/random.h"
#include "tests/cuda/kernel_case.h"

#include <math.h>

enum { ALL = -1 };

/* ---- tensor cores ---------------------------------------------------------------------------- */

static uint32_t pair(const __nv_bfloat16 *first, const __nv_bfloat16 *second)
{
    return (uint32_t)first->bits | (uint32_t)second->bits << 16;
}

/* d [16][8] += a [16][16] b [16][8], fragments by hand or by ldmatrix. */
template <bool BY_LDMATRIX>
__global__ void multiply(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *d)
{
    PP_SHARED(__nv_bfloat16, tiles);
    __nv_bfloat16 *const as = tiles, *const bs = tiles + 16 * 16;
    const int lane = (int)threadIdx.x, g = lane / 4, t = lane % 4;
    uint32_t x[4], y[4];
    float z[4];

    for (int i = lane; i < 16 * 16; i += 32) {
        as[i] = a[i];
        bs[i] = i < 16 * 8 ? b[i] : __nv_bfloat16(0.0f);
    }
    __syncwarp();
    if (BY_LDMATRIX) {
        pp_ldmatrix_x4(x, &as[lane % 16 * 16 + lane / 16 * 8]);
        pp_ldmatrix_x4_trans(y, &bs[lane * 8]);
    } else {
        for (int i = 0; i < 4; i++) {
            const __nv_bfloat16 *at = &as[(g + i % 2 * 8) * 16 + 2 * t + i / 2 * 8];
            x[i] = pair(at, at + 1);
        }
        for (int i = 0; i < 2; i++)
            y[i] = pair(&bs[(2 * t + i * 8) * 8 + g], &bs[(2 * t + i * 8 + 1) * 8 + g]);
    }
    for (int i = 0; i < 4; i++)
        z[i] = d[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    pp_mma_bf16(z, x, y);
    pp_mma_bf16(z, x, y);
    for (int i = 0; i < 4; i++)
        d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = z[i];
}

static void check_product(void (*kernel)(const __nv_bfloat16 *, const __nv_bfloat16 *, float *))
{
    __nv_bfloat16 *a = shared_array<__nv_bfloat16>(256), *b = shared_array<__nv_bfloat16>(128);
    float *d = shared_array<float>(128);
    double expected[128];

    for (int i = 0; i < 256; i++)
        a[i] = (float)pp_random_bits(1, (uint64_t)i) / 0x1p63f - 1;
    for (int i = 0; i < 128; i++) {
        b[i] = (float)pp_random_bits(2, (uint64_t)i) / 0x1p63f - 1;
        expected[i] = d[i] = (float)i;
    }
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 16; k++)
                expected[i * 8 + j] += 2 * (double)(float)a[i * 16 + k] * (float)b[k * 8 + j];
    PP_LAUNCH(kernel, 1, 32, 384 * sizeof(__nv_bfloat16) * 2, 0, a, b, d);
    finish();
    for (int i = 0; i < 128; i++)
        cr_assert_float_eq(d[i], expected[i], 1e-4, "%d: %g, not %g", i, d[i], expected[i]);
}

Test(tensor, tensor_cores)
{
    check_product(multiply<false>);
    check_product(multiply<true>);
}

/* ---- asynchronous copies --------------------------------------------------------------------- */

/* Two groups of one copy each; waits for all but `LEFT` of them, or not at all. */
template <int LEFT> __global__ void fetch(const float *from, float *out)
{
    PP_SHARED(float, x);
    float *const mine = x + threadIdx.x * 8;

    pp_cp_async_16(mine, from + threadIdx.x * 8, true);
    pp_cp_async_commit();
    pp_cp_async_16(mine + 4, from + threadIdx.x * 8 + 4, threadIdx.x != 3);
    pp_cp_async_commit();
    if (LEFT != ALL)
        pp_cp_async_wait<LEFT == ALL ? 0 : LEFT>();
    for (int i = 0; i < 8; i++)
        out[threadIdx.x * 8 + i] = mine[i];
}

Test(tensor, copies_land_when_waited_for)
{
    float *from = shared_array<float>(256), *out = shared_array<float>(256);
    void (*const kernels[])(const float *, float *) = {fetch<0>, fetch<1>, fetch<ALL>};

    for (int i = 0; i < 256; i++)
        from[i] = (float)i;
    for (int k = 0; k < 3; k++) {
        PP_LAUNCH(kernels[k], 1, 32, 256 * sizeof(float), 0, from, out);
        finish();
        for (int i = 0; i < 256; i++) {
            const bool has_landed = i % 8 < 4 ? k < 2 : k < 1;
            cr_assert(has_landed ? out[i] == (i / 8 == 3 && i % 8 >= 4 ? 0 : i) : isnan(out[i]),
                      "kernel %d, %d: %g", k, i, out[i]);
        }
    }
}
