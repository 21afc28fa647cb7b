/* kernels/cuda/device/multiprocessors.h — numbers of the multiprocessors that a stream uses. */
#pragma once

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets seen [count], which the device sees, to 1 for each multiprocessor that runs a block. */
void pp_cuda_note_multiprocessors(cudaStream_t stream, int blocks, int count, int *seen);

#ifdef __cplusplus
}
#endif
