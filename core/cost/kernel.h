/* core/cost/kernel.h — one kernel on one device and its time.
 *
 *     time = launches * launch_s + max(flops / (peak * eta), bytes / (bandwidth * memory_eta))
 *
 * eta of a matrix product follows from its shape (pp_gemm_plan), that of fused attention from the
 * device; kernels without products move bytes only. A knee replaces the maximum of both times by
 * the norm of that order. Values, copied freely; SI units. */
#pragma once

#include "core/cluster/cluster.h"

enum pp_kernel_kind {
    PP_KERNEL_GEMM,      /* products of matrices by shape */
    PP_KERNEL_ATTENTION, /* fused attention: scores stay on the chip */
    PP_KERNEL_MEMORY,    /* moves bytes */
};

/* `batch` products out[m, n] = left[m, k] right[k, n]. */
struct pp_gemm_shape {
    double m, n, k, batch;
    bool is_misaligned; /* rows of an operand do not start where tensor cores load them */
};
/* Is true if rows of so many values are misaligned. Fractions (--params) stand for whole sizes. */
bool pp_gemm_is_misaligned(double row_values, enum pp_precision precision);

struct pp_kernel {
    const char *name; /* "qkv" */
    enum pp_kernel_kind kind;
    enum pp_precision precision; /* of products */
    unsigned modules;            /* set of enum pp_again: modules whose recomputation repeats it */
    double again_frac;           /* share that PyTorch's selective recomputation repeats */
    bool is_never_again; /* after the last tensor that its block saves, where recomputation stops */
    int launches;
    struct pp_gemm_shape gemm;
    double flops, bytes;
    double knee; /* GEMM: compute and memory wait for each other near the ridge; 0 = they do not */
    /* ATTENTION */
    double eta;             /* share of the peak that the products of a block reach */
    double blocks, block_s; /* seconds of each without its products */
};

enum pp_bound { PP_BOUND_COMPUTE, PP_BOUND_MEMORY, PP_BOUND_LAUNCH };
extern const char *const pp_bound_names[]; /* "compute", "memory", "launch" */

struct pp_kernel_time {
    double s;
    double launch_s, flops_s, bytes_s; /* of the last two the longer counts, or both by the knee */
    double eta; /* share of the peak that its products alone would reach, 0 without products */
    enum pp_bound bound;
};
struct pp_kernel_time pp_kernel_time(const struct pp_device *device,
                                     const struct pp_kernel *kernel);

/* A library's plan for a product: the fastest of a few shapes. One multiprocessor computes a tile
 * of the output. A wave has one tile for each multiprocessor, and waves follow one another. If
 * there are few tiles, k is cut into `parts` that are summed afterwards. A kernel with a knee takes
 * the plan that is fastest with its bytes, so that more rows never take less time. */
struct pp_gemm_plan {
    int tile_m, tile_n, parts;
    double eta;         /* share of the peak */
    double extra_bytes; /* partial sums written and read */
};
struct pp_gemm_plan pp_gemm_plan(const struct pp_device *device, struct pp_gemm_shape gemm);
