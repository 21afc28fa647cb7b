/* The emulated device: threads of a block that meet, in any order. Every launch draws orders of its
 * own, so what a kernel forgets to wait for shows. */
#include "tests/cuda/kernel_case.h"

#include <math.h>

enum { THREADS = 192, ROUNDS = 50 };
static const unsigned FULL = 0xffffffff;

/* ---- indices --------------------------------------------------------------------------------- */

__global__ void count_visits(int *visits)
{
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);

    atomicAdd(&visits[block * blockDim.x * blockDim.y * blockDim.z + thread], 1);
}

Test(emulate, every_thread_once)
{
    int *visits = shared_array<int>(3 * 4 * 5 * 7 * 3 * 2);

    PP_LAUNCH(count_visits, dim3(3, 4, 5), dim3(7, 3, 2), 0, 0, visits);
    finish();
    for (int i = 0; i < 3 * 4 * 5 * 7 * 3 * 2; i++)
        cr_assert_eq(visits[i], 1);
}

__global__ void note_blocks(unsigned *order, unsigned *next)
{
    order[atomicAdd(next, 1u)] = blockIdx.x;
}

Test(emulate, blocks_in_drawn_orders)
{
    unsigned *order = shared_array<unsigned>(64), *next = shared_array<unsigned>(1);
    bool has_moved = false;

    for (int i = 0; i < 4; i++) {
        *next = 0;
        PP_LAUNCH(note_blocks, 64, 1, 0, 0, order, next);
        finish();
        has_moved |= order[0] != 0;
    }
    cr_assert(has_moved);
}

/* ---- meetings -------------------------------------------------------------------------------- */

__global__ void sum_block(const float *x, float *sum, int count)
{
    __shared__ float parts[32];
    float part = 0;

    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        part += x[i];
    for (int step = 16; step > 0; step /= 2)
        part += __shfl_xor_sync(FULL, part, step);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = part;
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    part = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
    for (int step = 16; step > 0; step /= 2)
        part += __shfl_down_sync(FULL, part, (unsigned)step);
    if (threadIdx.x == 0)
        sum[blockIdx.x] = part;
}

Test(emulate, reduction)
{
    float *x = shared_array<float>(1000), *sums = shared_array<float>(3);

    for (int i = 0; i < 1000; i++)
        x[i] = (float)i;
    for (int round = 0; round < ROUNDS; round++) {
        PP_LAUNCH(sum_block, 3, THREADS, 0, 0, x, sums, 1000);
        finish();
        for (int i = 0; i < 3; i++)
            cr_assert_eq(sums[i], 499500);
    }
}

__global__ void shuffle(float *out, int width)
{
    const int lane = (int)threadIdx.x;

    out[lane] = __shfl_sync(FULL, (float)lane, 5, width);
    out[32 + lane] = __shfl_xor_sync(FULL, (float)lane, 3, width);
    out[64 + lane] = __shfl_down_sync(FULL, (float)lane, 7, width);
    out[96 + lane] = __shfl_up_sync(FULL, (float)lane, 6, width);
}

Test(emulate, shuffles)
{
    float *out = shared_array<float>(128);

    for (int width = 8; width <= 32; width *= 2) {
        PP_LAUNCH(shuffle, 1, 32, 0, 0, out, width);
        finish();
        for (int lane = 0; lane < 32; lane++) {
            const int first = lane / width * width, at = lane % width;
            cr_assert_eq(out[lane], first + 5);
            cr_assert_eq(out[32 + lane], lane ^ 3);
            cr_assert_eq(out[64 + lane], at + 7 < width ? lane + 7 : lane);
            cr_assert_eq(out[96 + lane], at >= 6 ? lane - 6 : lane);
        }
    }
}

Test(emulate, lanes_that_are_not_there_give_nan)
{
    float *out = shared_array<float>(128);

    PP_LAUNCH(shuffle, 1, 30, 0, 0, out, 32);
    finish();
    cr_assert_eq(out[64 + 20], 27);
    cr_assert(isnan(out[64 + 23]));
    cr_assert(isnan(out[32 + 29]));
}

__global__ void vote(unsigned *out)
{
    const int lane = (int)threadIdx.x;
    const unsigned odd = __ballot_sync(FULL, lane % 2);

    out[lane] = odd + (unsigned)__any_sync(FULL, lane == 7) + (unsigned)__any_sync(FULL, 0) * 2 +
                (unsigned)__all_sync(FULL, lane >= 0) * 4 + (unsigned)__all_sync(FULL, lane) * 8;
}

Test(emulate, votes)
{
    unsigned *out = shared_array<unsigned>(32);

    PP_LAUNCH(vote, 1, 32, 0, 0, out);
    finish();
    for (int lane = 0; lane < 32; lane++)
        cr_assert_eq(out[lane], 0xaaaaaaaau + 1 + 4);
}

/* ---- what is missing shows ------------------------------------------------------------------- */

/* Each thread leaves a number and reads that of another one, twice. */
template <bool HAS_FIRST, bool HAS_SECOND> __global__ void pass_on(int *out, int distance)
{
    PP_SHARED(int, numbers);
    const int self = (int)threadIdx.x, other = (self + distance) % (int)blockDim.x;

    numbers[self] = self;
    if (HAS_FIRST)
        __syncthreads();
    const int first = numbers[other];
    if (HAS_SECOND)
        __syncthreads();
    numbers[self] = 1000 + self;
    __syncthreads();
    out[self] = first + numbers[other];
}

/* How many of the launches gave a wrong number. */
static int wrong_launches(void (*kernel)(int *, int), int threads, int distance)
{
    int *out = shared_array<int>(THREADS), wrong = 0;

    for (int round = 0; round < ROUNDS; round++) {
        bool is_right = true;
        PP_LAUNCH(kernel, 1, threads, THREADS * sizeof(int), 0, out, distance);
        finish();
        for (int i = 0; i < threads; i++)
            is_right &= out[i] == 1000 + 2 * ((i + distance) % threads);
        wrong += !is_right;
    }
    return wrong;
}

Test(emulate, missing_syncthreads)
{
    const int distances[] = {1, 40, THREADS - 1};

    for (int distance : distances) {
        cr_assert_eq(wrong_launches(pass_on<true, true>, THREADS, distance), 0);
        cr_assert_gt(wrong_launches(pass_on<false, true>, THREADS, distance), 0);
        cr_assert_gt(wrong_launches(pass_on<true, false>, THREADS, distance), 0);
    }
}

template <bool HAS_SYNC> __global__ void pass_in_warp(int *out, int distance)
{
    PP_SHARED(int, numbers);
    const int self = (int)threadIdx.x, other = (self + distance) % 32;

    numbers[self] = 500 + self;
    if (HAS_SYNC)
        __syncwarp();
    out[self] = 2 * numbers[other];
}

Test(emulate, missing_syncwarp)
{
    for (int distance = 1; distance < 32; distance += 15) {
        cr_assert_eq(wrong_launches(pass_in_warp<true>, 32, distance), 0);
        cr_assert_gt(wrong_launches(pass_in_warp<false>, 32, distance), 0);
    }
}

__global__ void read_fresh(float *out)
{
    PP_SHARED(float, x);

    out[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = 1;
}

Test(emulate, shared_memory_is_fresh)
{
    float *out = shared_array<float>(THREADS);

    PP_LAUNCH(read_fresh, 3, THREADS, THREADS * sizeof(float), 0, out);
    finish();
    for (int i = 0; i < THREADS; i++)
        cr_assert(isnan(out[i]));
}
