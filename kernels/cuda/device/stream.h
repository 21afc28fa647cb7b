/* kernels/cuda/device/stream.h — the `void *stream` of functions of CUDA's kernel tables. */
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <stddef.h>

/* Opaque: multiplications by shape, with the algorithm of each. */
struct pp_cuda_plans;
/* Opaque: cuDNN's attention by shape. */
struct pp_cudnn;

/* The creator owns `stream` and all other fields. Enqueued work may use the workspace, so two
 * streams must not share a workspace or plans. */
struct pp_cuda_stream {
    cudaStream_t stream;
    cublasLtHandle_t blas;
    void *workspace; /* on the device, aligned to 256 bytes */
    size_t workspace_bytes;
    int sm_count; /* multiprocessors that this stream may use */
    struct pp_cuda_plans *plans;
    struct pp_cudnn *cudnn; /* NULL: own kernels compute attention */
};
