/* tests/cuda/include/cuda_runtime.h — the runtime as C++ sees it. */
#ifndef PP_EMULATED_CUDA_RUNTIME_H
#define PP_EMULATED_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"
#ifdef __cplusplus

/* Short vectors, with CUDA's sizes and alignments. */
struct __attribute__((aligned(8))) float2 {
    float x, y;
};
struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};
struct uint3 {
    unsigned int x, y, z;
};
struct dim3 {
    unsigned int x, y, z;
    dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

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
