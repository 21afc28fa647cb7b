/* tests/cuda/include/vector_types.h — CUDA's short vectors, with its sizes and alignments. */
#ifndef PP_EMULATED_VECTOR_TYPES_H
#define PP_EMULATED_VECTOR_TYPES_H

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

#endif
