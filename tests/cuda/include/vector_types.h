/* tests/cuda/include/vector_types.h — CUDA's short vectors, with its sizes and alignments. */
#ifndef PP_EMULATED_VECTOR_TYPES_H
#define PP_EMULATED_VECTOR_TYPES_H

struct __attribute__((aligned(8))) float2 {
    float x, y;
};
struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};
struct __attribute__((aligned(8))) int2 {
    int x, y;
};
struct __attribute__((aligned(16))) int4 {
    int x, y, z, w;
};
struct __attribute__((aligned(8))) uint2 {
    unsigned int x, y;
};
struct uint3 {
    unsigned int x, y, z;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned int x, y, z, w;
};
struct __attribute__((aligned(16))) double2 {
    double x, y;
};
struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
#endif
};

typedef struct float2 float2;
typedef struct float4 float4;
typedef struct int2 int2;
typedef struct int4 int4;
typedef struct uint2 uint2;
typedef struct uint3 uint3;
typedef struct uint4 uint4;
typedef struct double2 double2;
typedef struct dim3 dim3;

#endif
