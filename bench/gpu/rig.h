/* bench/gpu/rig.h — a device as benchmarks need it: what it can do at best, memory filled with
 * random numbers, and times of calls. Ends the program with a message where something fails. */
#ifndef PP_BENCH_GPU_RIG_H
#define PP_BENCH_GPU_RIG_H

#include "kernels/cuda/device/stream.h"
#include "kernels/kernels.h"

struct gpu_device {
    char name[256];
    int multiprocessors, capability; /* 90 for 9.0 */
    double memory_bytes;
    double
        bytes_per_s; /* of its memory: a data sheet's (core/cluster/presets.c), else its clock's */
    double bf16_flops_per_s, fp32_flops_per_s; /* of data sheets; 0 = unknown */
};

struct gpu_rig {
    struct gpu_device device;
    struct pp_cuda_stream stream; /* without cuDNN */
    struct pp_cudnn *cudnn;       /* NULL: none */
    void *flush; /* moved before each call that is timed, so that caches hold nothing of use */
    size_t flush_bytes; /* twice the cache */
    cudaEvent_t start, end;
    double copied_bytes_per_s, multiplied_flops_per_s; /* set by gpu_peaks_measure */
};

/* Exit code 1, and a message, where there is no device. */
struct gpu_device gpu_device_find(void);
void gpu_rig_open(struct gpu_rig *rig);
void gpu_rig_close(struct gpu_rig *rig);

/* Measures rates and prints them as a row. One is the bytes a second that a copy of 1 GiB reads and
 * writes. Others are the operations a second of a multiplication of 8192 x 8192 x 8192 in bf16,
 * alone and among many. `scale` divides the sizes, for a trial. */
void gpu_peaks_measure(struct gpu_rig *rig, int scale);

/* On the device until gpu_release: bf16 in [-1/8, 1/8), or floats that are small and positive. */
void *gpu_bf16(size_t count);
void *gpu_float(size_t count);
/* Zeroed, read and written by both. */
void *gpu_shared(size_t bytes);
void gpu_release(void);

/* Median seconds of a call that is alone on the device, launch not included where the host is
 * ahead. `call` enqueues on rig->stream. */
double gpu_time_s(struct gpu_rig *rig, void (*call)(void *context), void *context);

/* Seconds of a call that repeats for `least_s` or more without flushes: the mean of the last 16. */
double gpu_sustained_s(struct gpu_rig *rig, void (*call)(void *context), void *context,
                       double least_s);

#endif
