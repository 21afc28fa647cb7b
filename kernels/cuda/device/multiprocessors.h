/* kernels/cuda/device/multiprocessors.h — the multiprocessors that a stream reaches, by their
 * numbers. */
#pragma once

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* seen [count], memory that the device sees, is set to 1 at the number of each multiprocessor that
 * one of the blocks runs on. */
void pp_cuda_note_multiprocessors(cudaStream_t stream, int blocks, int count, int *seen);

#ifdef __cplusplus
}
#endif
