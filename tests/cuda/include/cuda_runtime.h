/* tests/cuda/include/cuda_runtime.h — the runtime as C++ sees it. */
#ifndef PP_EMULATED_CUDA_RUNTIME_H
#define PP_EMULATED_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"
#ifdef __cplusplus
#include "vector_types.h"

template <class T> cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    return cudaMalloc((void **)(void *)memory, bytes);
}

template <class T>
cudaError_t cudaFuncSetAttribute(T *kernel, enum cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
#endif

#endif
