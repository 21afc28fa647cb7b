/* Finds the multiprocessors that a stream uses: blocks are distributed over all of them. */
#include "kernels/cuda/device/device.cuh"
#include "kernels/cuda/device/multiprocessors.h"

enum { THREADS = 32 };

static __global__ __launch_bounds__(THREADS) void note_kernel(unsigned count, int *seen)
{
    const unsigned number = pp_multiprocessor();

    if (threadIdx.x == 0 && number < count)
        seen[number] = 1;
}

extern "C" void pp_cuda_note_multiprocessors(cudaStream_t stream, int blocks, int count, int *seen)
{
    PP_LAUNCH(note_kernel, (unsigned)blocks, THREADS, 0, stream, (unsigned)count, seen);
}
