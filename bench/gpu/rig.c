#include "bench/gpu/rig.h"
#include "core/cluster/cluster.h"
#include "core/random.h"
#include "kernels/cuda/attention/cudnn.h"
#include "kernels/cuda/gemm/plans.h"
#include "kernels/cuda/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { REPEATS = 9, PATTERN = 1 << 20, MAX_BLOCKS = 64 };

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "bench: error: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

/* ---- the device ------------------------------------------------------------------------------ */

static int attribute(enum cudaDeviceAttr what)
{
    int value = 0;

    must(cudaDeviceGetAttribute(&value, what, 0), "cudaDeviceGetAttribute");
    return value;
}

/* The longest name of a preset that is a word of the device's: "NVIDIA H200" is h200. */
static const struct pp_device *preset_of(const char *name)
{
    const struct pp_device *best = NULL;
    char copy[256], *rest = copy;

    snprintf(copy, sizeof copy, "%s", name);
    for (char *word; (word = strtok_r(rest, " -", &rest));)
        for (const struct pp_device *d = pp_device_presets; d->name; d++)
            if (strcasecmp(word, d->name) == 0)
                best = d;
    return best;
}

struct gpu_device gpu_device_find(void)
{
    struct gpu_device d = {.memory_bytes = 0};
    struct cudaDeviceProp prop;
    size_t free_bytes, bytes;
    int count = 0;

    must(cudaGetDeviceCount(&count), "no CUDA device");
    must(cudaSetDevice(0), "cudaSetDevice");
    must(cudaGetDeviceProperties(&prop, 0), "cudaGetDeviceProperties");
    must(cudaMemGetInfo(&free_bytes, &bytes), "cudaMemGetInfo");
    snprintf(d.name, sizeof d.name, "%s", prop.name);
    d.multiprocessors = prop.multiProcessorCount;
    d.capability = 10 * prop.major + prop.minor;
    d.memory_bytes = (double)bytes;
    /* kHz, bits, two transfers a clock */
    d.bytes_per_s = 2e3 * attribute(cudaDevAttrMemoryClockRate) *
                    attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
    const struct pp_device *preset = preset_of(d.name);
    if (preset) {
        d.bytes_per_s = preset->memory_bytes_per_s;
        d.bf16_flops_per_s = preset->has_bf16 ? preset->half_flops_per_s : 0;
        d.fp32_flops_per_s = preset->fp32_flops_per_s;
    }
    return d;
}

void gpu_rig_open(struct gpu_rig *rig)
{
    *rig = (struct gpu_rig){.device = gpu_device_find()};
    must(cudaStreamCreateWithFlags(&rig->stream.stream, cudaStreamNonBlocking), "a stream");
    if (cublasLtCreate(&rig->stream.blas) != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "bench: error: cublasLtCreate failed\n");
        exit(1);
    }
    rig->stream.workspace_bytes = 32 << 20;
    must(cudaMalloc(&rig->stream.workspace, rig->stream.workspace_bytes), "workspace");
    rig->stream.plans = pp_cuda_plans_create();
    rig->cudnn = pp_cudnn_create();
    rig->flush_bytes = 2 * (size_t)attribute(cudaDevAttrL2CacheSize);
    must(cudaMalloc(&rig->flush, rig->flush_bytes), "memory to flush caches with");
    must(cudaEventCreate(&rig->start), "an event");
    must(cudaEventCreate(&rig->end), "an event");
}

void gpu_rig_close(struct gpu_rig *rig)
{
    pp_cuda_plans_destroy(rig->stream.plans);
    pp_cudnn_destroy(rig->cudnn);
    cublasLtDestroy(rig->stream.blas);
    must(cudaFree(rig->stream.workspace), "cudaFree");
    must(cudaFree(rig->flush), "cudaFree");
    must(cudaEventDestroy(rig->start), "an event");
    must(cudaEventDestroy(rig->end), "an event");
    must(cudaStreamDestroy(rig->stream.stream), "a stream");
}

/* ---- memory ---------------------------------------------------------------------------------- */

static struct {
    void *block[MAX_BLOCKS];
    int count;
} held;

static void *hold(void *block)
{
    if (held.count == MAX_BLOCKS) {
        fprintf(stderr, "bench: error: more than %d tensors\n", MAX_BLOCKS);
        exit(1);
    }
    return held.block[held.count++] = block;
}

void gpu_release(void)
{
    while (held.count)
        must(cudaFree(held.block[--held.count]), "cudaFree");
}

/* A pattern of PATTERN elements, over and over. */
static void *filled(size_t count, size_t element_bytes, const void *pattern)
{
    char *to = NULL;

    must(cudaMalloc((void **)&to, count * element_bytes), "a tensor");
    for (size_t done = 0; done < count; done += PATTERN) {
        const size_t part = count - done < PATTERN ? count - done : PATTERN;
        must(cudaMemcpy(to + done * element_bytes, pattern, part * element_bytes,
                        cudaMemcpyHostToDevice),
             "a copy");
    }
    must(cudaDeviceSynchronize(), "copies"); /* they are of another stream than kernels */
    return hold(to);
}

void *gpu_bf16(size_t count)
{
    static uint16_t pattern[PATTERN];

    for (size_t i = 0; i < PATTERN; i++) {
        const float x = (float)((double)(int64_t)pp_random_bits(1, i) * 0x1p-66);
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        pattern[i] = (uint16_t)(bits >> 16);
    }
    return filled(count, sizeof *pattern, pattern);
}

void *gpu_float(size_t count)
{
    static float pattern[PATTERN];

    for (size_t i = 0; i < PATTERN; i++)
        pattern[i] = (float)((double)pp_random_bits(2, i) * 0x1p-74);
    return filled(count, sizeof *pattern, pattern);
}

void *gpu_shared(size_t bytes)
{
    void *x = NULL;

    must(cudaHostAlloc(&x, bytes, cudaHostAllocMapped), "memory of the host");
    return memset(x, 0, bytes);
}

/* ---- time ------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Written, then read: no call that is timed has to write the cache back. */
static void flush(struct gpu_rig *rig, int value)
{
    enum { WIDTH = 1024 };
    const int rows = (int)(rig->flush_bytes / sizeof(uint16_t) / WIDTH) - 4;
    char *sums = (char *)rig->flush + (size_t)rows * WIDTH * sizeof(uint16_t);

    must(cudaMemsetAsync(rig->flush, value, rig->flush_bytes, rig->stream.stream), "a flush");
    pp_kernels_cuda_bf16.sum_rows(&rig->stream, rows, WIDTH, rig->flush, sums, false);
}

double gpu_time_s(struct gpu_rig *rig, void (*call)(void *context), void *context)
{
    const cudaStream_t stream = rig->stream.stream;
    double s[REPEATS];

    call(context);
    for (int i = 0; i < REPEATS; i++) {
        float ms;
        flush(rig, i);
        must(cudaEventRecord(rig->start, stream), "an event");
        call(context);
        must(cudaEventRecord(rig->end, stream), "an event");
        must(cudaEventSynchronize(rig->end), "a kernel");
        must(cudaEventElapsedTime(&ms, rig->start, rig->end), "a time");
        s[i] = 1e-3 * (double)ms;
    }
    must(cudaGetLastError(), "a kernel");
    qsort(s, REPEATS, sizeof *s, compare);
    return s[REPEATS / 2];
}

double gpu_sustained_s(struct gpu_rig *rig, void (*call)(void *context), void *context,
                       double least_s)
{
    enum { CALLS = 16 };
    float ms = 0;

    for (double all_s = 0; all_s <= least_s; all_s += 1e-3 * (double)ms) {
        must(cudaEventRecord(rig->start, rig->stream.stream), "an event");
        for (int i = 0; i < CALLS; i++)
            call(context);
        must(cudaEventRecord(rig->end, rig->stream.stream), "an event");
        must(cudaEventSynchronize(rig->end), "a kernel");
        must(cudaEventElapsedTime(&ms, rig->start, rig->end), "a time");
    }
    return 1e-3 * (double)ms / CALLS;
}
