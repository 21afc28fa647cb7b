/* kernels/cuda/device/multiprocessors.h — numbers of the multiprocessors that a stream uses. */
#pragma once

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets seen [count], memory that the device sees, to 1 at the number of each multiprocessor that
 * one of the blocks runs on. */
void pp_cuda_note_multiprocessors(cudaStream_t stream, int blocks, int count, int *seen);

#ifdef __cplusplus
}
#endif
