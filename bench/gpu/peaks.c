/* What the device reaches: the measured side of its roofline. */
#include "bench/gpu/rig.h"
#include "kernels/cuda/table.h"

#include <stdio.h>

static const double SUSTAINED_S = 2; /* until power limits the clock */

struct copied {
    cudaStream_t stream;
    void *from, *to;
    size_t bytes;
};

static void call_copy(void *context)
{
    const struct copied *c = context;

    /* what it fails with gpu_time_s finds */
    cudaMemcpyAsync(c->to, c->from, c->bytes, cudaMemcpyDeviceToDevice, c->stream);
}

struct multiplied {
    struct gpu_rig *rig;
    struct pp_gemm g;
};

static void call_gemm(void *context)
{
    struct multiplied *m = context;

    pp_kernels_cuda_bf16.gemm(&m->rig->stream, &m->g);
}

void gpu_peaks_measure(struct gpu_rig *rig, int scale)
{
    const int n = 8192 / scale;
    const size_t size = (size_t)n * (size_t)n, copies = 8 * size; /* 1 GiB of bf16 */
    struct copied c = {rig->stream.stream, gpu_bf16(copies), gpu_bf16(copies), 2 * copies};
    struct multiplied m = {rig, {.m = n, .n = n, .k = n, .b_transposed = true}};

    m.g.a = gpu_bf16(size), m.g.b = gpu_bf16(size), m.g.c = gpu_bf16(size);
    m.g.lda = m.g.ldb = m.g.ldc = n;
    rig->copied_bytes_per_s = 2 * (double)c.bytes / gpu_time_s(rig, call_copy, &c);
    rig->multiplied_flops_per_s =
        2 * (double)n * (double)n * (double)n / gpu_time_s(rig, call_gemm, &m);
    const double sustained = 2 * (double)n * (double)n * (double)n /
                             gpu_sustained_s(rig, call_gemm, &m, scale == 1 ? SUSTAINED_S : 0);
    gpu_release();
    fprintf(stderr,
            "a copy reads and writes %.0f GB/s, a multiplication makes %.0f TF/s, many of "
            "them %.0f\n",
            rig->copied_bytes_per_s * 1e-9, rig->multiplied_flops_per_s * 1e-12, sustained * 1e-12);
    printf("{\"copied_bytes_per_s\": %.5g, \"multiplied_flops_per_s\": %.5g, "
           "\"sustained_flops_per_s\": %.5g, \"size\": %d}\n",
           rig->copied_bytes_per_s, rig->multiplied_flops_per_s, sustained, n);
    fflush(stdout);
}
