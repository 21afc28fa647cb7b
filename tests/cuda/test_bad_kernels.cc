/* What no kernel may do: the emulated device ends the program, and names kernel, block and thread.
 */
#include "tests/cuda/emulated_case.h"

static const unsigned FULL = 0xffffffff;

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

Test(bad_kernels, die)
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

static void launch_on_host_memory(void)
{
    static int x[8];

    PP_LAUNCH(read_argument, 1, 8, 0, 0, x);
}

Test(bad_kernels, memory_of_the_host_is_no_argument)
{
    dies(launch_on_host_memory, SIGABRT, "which is no memory of a device");
}
