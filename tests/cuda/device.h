/* tests/cuda/device.h — device helpers for tests and benchmarks of kernels, on a real or an
 * emulated device: a stream as kernels get it, and tensors. Tensors are double on the host and
 * float or bf16 on the device. Memory is freed only at the end of the process. A failure ends the
 * test. */
#ifndef PP_TESTS_CUDA_DEVICE_H
#define PP_TESTS_CUDA_DEVICE_H

#include "kernels/cuda/gemm/plans.h"
#include "kernels/numbers.h"
#include "tests/cuda/runner.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICE_WORKSPACE_BYTES = 32 << 20 };

static inline void device_must(cudaError_t error)
{
    cr_assert(error == cudaSuccess, "%s", cudaGetErrorString(error));
}

/* The one of the process. */
static inline struct pp_cuda_stream *device_stream(void)
{
    static struct pp_cuda_stream s;

    if (!s.plans) {
        device_must(cudaSetDevice(0));
        device_must(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
        cr_assert(cublasLtCreate(&s.blas) == CUBLAS_STATUS_SUCCESS, "cublasLtCreate");
        s.workspace_bytes = DEVICE_WORKSPACE_BYTES;
        device_must(cudaMalloc(&s.workspace, s.workspace_bytes));
        s.plans = pp_cuda_plans_create();
    }
    return &s;
}

/* All that was launched has run, without an error. */
static inline void device_finish(void)
{
    device_must(cudaStreamSynchronize(device_stream()->stream));
    device_must(cudaGetLastError());
}

static inline void *device_bytes(size_t bytes)
{
    void *x = NULL;

    device_stream();
    device_must(cudaMalloc(&x, bytes ? bytes : 1));
    return x;
}

/* Done on return. On the stream: after a plain cudaMemcpy, which belongs to another one, the bytes
 * may still be under way when kernels of this stream run. */
static inline void device_put(void *to, const void *from, size_t bytes)
{
    const cudaStream_t stream = device_stream()->stream;

    device_must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
    device_must(cudaStreamSynchronize(stream));
}

static uint64_t device_seed = 1;

/* Uniform in [-1, 1). */
static inline double drawn(void)
{
    device_seed = device_seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)device_seed * 0x1p-63;
}

/* ---- elements -------------------------------------------------------------------------------- */

/* x as the element type has it. In memory in between: in vector code at -O3, gcc 12 takes a
 * conversion to float and back for nothing. */
static inline double rounded(double x, bool is_bf16)
{
    const volatile float narrow = (float)x;

    return is_bf16 ? (double)pp_bf16_value(pp_bf16_round(narrow)) : (double)narrow;
}

static inline size_t element_bytes(bool is_bf16)
{
    return is_bf16 ? sizeof(uint16_t) : sizeof(float);
}

static inline void device_write(void *to, const double *x, size_t count, bool is_bf16)
{
    char *elements = malloc(count * element_bytes(is_bf16) + 1);

    for (size_t i = 0; i < count; i++)
        pp_number_put(elements, element_bytes(is_bf16), (int64_t)i, x[i]);
    device_put(to, elements, count * element_bytes(is_bf16));
    free(elements);
}

static inline void *device_tensor(const double *x, size_t count, bool is_bf16)
{
    void *to = device_bytes(count * element_bytes(is_bf16));

    device_write(to, x, count, is_bf16);
    return to;
}

/* After device_finish. */
static inline void device_read(const void *from, double *x, size_t count, bool is_bf16)
{
    char *elements = malloc(count * element_bytes(is_bf16) + 1);

    device_must(cudaMemcpy(elements, from, count * element_bytes(is_bf16), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        x[i] = pp_number_get(elements, element_bytes(is_bf16), (int64_t)i);
    free(elements);
}

/* ---- drawn tensors --------------------------------------------------------------------------- */

/* On the host its elements are as their type has them. Without elements it has no memory. */
struct drawn_tensor {
    double *host;
    void *device, *memory; /* of the device; the tensor begins within it */
    size_t count;
    bool is_bf16;
};

/* From [-scale, scale), and on the device `offset` elements from 16 bytes. */
static inline struct drawn_tensor drawn_tensor(size_t count, bool is_bf16, double scale, int offset)
{
    const size_t before = (size_t)offset * element_bytes(is_bf16);
    struct drawn_tensor t = {.count = count, .is_bf16 = is_bf16};

    if (count == 0)
        return t;
    t.host = calloc(count, sizeof *t.host);
    for (size_t i = 0; i < count; i++)
        t.host[i] = rounded(drawn() * scale, is_bf16);
    t.memory = device_bytes(before + count * element_bytes(is_bf16));
    t.device = (char *)t.memory + before;
    device_write(t.device, t.host, count, is_bf16);
    return t;
}

static inline void drawn_tensor_free(struct drawn_tensor *t)
{
    free(t->host);
    device_must(cudaFree(t->memory));
}

/* What is on the device; the caller frees it. */
static inline double *drawn_tensor_read(const struct drawn_tensor *t)
{
    double *x = calloc(t->count + 1, sizeof *x);

    if (t->count > 0)
        device_read(t->device, x, t->count, t->is_bf16);
    return x;
}

#endif
