/* The emulated device is strict: every launch draws orders of its own, so what a kernel forgets to
 * wait for shows. What no kernel may do ends the program, and is named with kernel, block and
 * thread. That it computes correctly, the tests of kernels show. */
#include "tests/cuda/emulated_case.h"

#include <math.h>

enum { THREADS = 192, ROUNDS = 50, ALL = -1 };
static const unsigned FULL = 0xffffffff;

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

__global__ void shift(float *out)
{
    out[threadIdx.x] = __shfl_sync(FULL, (float)threadIdx.x, (int)threadIdx.x + 7);
    out[32 + threadIdx.x] = __shfl_xor_sync(FULL, (float)threadIdx.x, 3);
}

Test(emulate, lanes_that_are_not_there_give_nan)
{
    float *out = shared_array<float>(64);

    PP_LAUNCH(shift, 1, 30, 0, 0, out);
    finish();
    cr_assert_eq(out[20], 27);
    cr_assert(isnan(out[23]));
    cr_assert(isnan(out[32 + 29]));
}

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

Test(emulate, copies_land_when_waited_for)
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

/* ---- what no kernel may do ------------------------------------------------------------------- */

__global__ void sync_some(int)
{
    if (threadIdx.x < 40)
        __syncthreads();
}

__global__ void sync_in_halves(int)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __shfl_sync(FULL, 1, 0);
}

__global__ void mix_meetings(int)
{
    if (threadIdx.x < 16)
        __syncwarp();
    else
        __shfl_sync(FULL, 1, 0);
}

__global__ void use_part_of_mask(int)
{
    __shfl_sync(0xffff, 1, 0);
}

__global__ void write_beyond(int at)
{
    PP_SHARED(char, x);
    x[at] = 0;
}

__global__ void multiply_alone(int)
{
    float d[4] = {};
    const uint32_t a[4] = {}, b[2] = {};

    if (threadIdx.x >= 32)
        pp_mma_bf16(d, a, b);
}

template <void (*KERNEL)(int), int THREADS> static void launch(void)
{
    PP_LAUNCH(KERNEL, 1, THREADS, 100, 0, 100);
    cudaDeviceSynchronize();
}

Test(emulate, what_no_kernel_may_do)
{
    dies(launch<sync_some, 63>, SIGABRT, "thread");
    dies(launch<sync_in_halves, 32>, SIGABRT, "waits at a shuffle for thread");
    dies(launch<mix_meetings, 32>, SIGABRT, "wait at something else");
    dies(launch<use_part_of_mask, 32>, SIGABRT, "mask 0xffff");
    dies(launch<write_beyond, 1>, SIGABRT, "beyond its 100 bytes of dynamic shared memory");
    dies(launch<multiply_alone, 63>, SIGABRT, "need all lanes");
}

__global__ void read_argument(const int *x)
{
    (void)x;
}

Test(emulate, memory_of_the_host_is_no_argument)
{
    static int x[8];

    dies([] { PP_LAUNCH(read_argument, 1, 8, 0, 0, x); }, SIGABRT,
         "which is no memory of a device");
}
