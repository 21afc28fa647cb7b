/* Time of a kernel: the roofline of its flops and bytes. */
#include "core/cost/kernel.h"

#include <math.h>

const char *const pp_bound_names[] = {"compute", "memory", "launch", NULL};

/* Times of compute and of memory, without launches. */
struct roofs {
    double flops_s, bytes_s;
};

static struct roofs roofs_of(const struct pp_device *device, const struct pp_kernel *kernel,
                             double eta, double extra_bytes)
{
    const double peak = pp_device_peak(device, kernel->precision);

    return (struct roofs){.flops_s = eta > 0 ? kernel->flops / (peak * eta) : 0,
                          .bytes_s = (kernel->bytes + extra_bytes) /
                                     (device->memory_bytes_per_s * device->memory_eta)};
}

/* Returns the time under both roofs. */
static double work_s(const struct pp_kernel *kernel, struct roofs roofs)
{
    const double most = fmax(roofs.flops_s, roofs.bytes_s),
                 least = fmin(roofs.flops_s, roofs.bytes_s);

    return kernel->knee > 0 && most > 0
               ? most * pow(1 + pow(least / most, kernel->knee), 1 / kernel->knee)
               : most;
}

static struct pp_gemm_plan plan_of(const struct pp_device *device, struct pp_gemm_shape g,
                                   const struct pp_kernel *kernel);

/* Returns the efficiency of the kernel's products alone, 0 without; adds their extra bytes. */
static double products_eta(const struct pp_device *device, const struct pp_kernel *kernel,
                           double *extra_bytes)
{
    if (kernel->kind == PP_KERNEL_GEMM) {
        const struct pp_gemm_plan plan =
            plan_of(device, kernel->gemm, kernel->knee > 0 ? kernel : NULL);
        *extra_bytes = plan.extra_bytes;
        return plan.eta;
    }
    if (kernel->kind == PP_KERNEL_ATTENTION) { /* too few blocks leave multiprocessors idle */
        const double peak = pp_device_peak(device, kernel->precision) / device->multiprocessors;
        const double block_s =
            kernel->flops / kernel->blocks / (peak * kernel->eta) + kernel->block_s;
        return kernel->flops / (peak * fmax(kernel->blocks, device->multiprocessors) * block_s);
    }
    return 0;
}

struct pp_kernel_time pp_kernel_time(const struct pp_device *device, const struct pp_kernel *kernel)
{
    double extra_bytes = 0;
    const double eta = products_eta(device, kernel, &extra_bytes);
    const double launch_s = kernel->launches * device->launch_s;
    const struct roofs roofs = roofs_of(device, kernel, eta, extra_bytes);
    const double s = work_s(kernel, roofs);

    return (struct pp_kernel_time){
        .s = launch_s + s,
        .launch_s = launch_s,
        .flops_s = roofs.flops_s,
        .bytes_s = roofs.bytes_s,
        .eta = eta,
        .bound = launch_s > s                     ? PP_BOUND_LAUNCH
                 : roofs.flops_s >= roofs.bytes_s ? PP_BOUND_COMPUTE
                                                  : PP_BOUND_MEMORY,
    };
}

/* ---- products -------------------------------------------------------------------------------- */

/* Speed of matrix products by shape.
 *
 * The output is cut into tiles and a multiprocessor computes one tile at a time. The tiles
 * therefore run in waves, and the last wave may be nearly empty. (NVIDIA, "Matrix Multiplication
 * Background User's Guide", tile and wave quantization.) Each tile pays for filling and draining
 * its pipeline, worth a few steps along k. Libraries choose among tile shapes: large ones load less
 * per product. */

/* Tile shapes and relative speeds: tile_m + tile_n loads feed tile_m * tile_n products. */
static const struct tile {
    int m, n;
    double speed;
} tiles[] = {
    {256, 128, 1.00}, {128, 256, 1.00}, {128, 128, 0.95},
    {128, 64, 0.80},  {64, 128, 0.80},  {64, 64, 0.55},
};
enum { TILES = PP_COUNT(tiles), PARTS_MAX = 8 };

/* Cost of filling the pipeline and writing a tile, in steps along k: on tensor cores, and in fp32
 * without them. A step without them takes sixteen times as long. */
static const double tensor_ramp = 64, plain_ramp = 4;
/* Loss of a small tile to loads in fp32, as a fraction of its loss on tensor cores. Values are
 * twice as wide, and a step takes sixteen times as long. */
static const double plain_loads = 2.0 / 16;
/* Partial sums are in fp32, written by each part and read once. */
static const double part_bytes = 8;

/* Rows that do not start on 16 bytes are loaded value by value, at about half the speed. Source:
 * NVIDIA, "Matrix Multiplication Background User's Guide", tensor core requirements. Fitted on the
 * rows of vTrain's single node whose vocabulary is odd. */
enum { ROW_BYTES = 16 };
static const double misaligned_speed = 0.5;

bool pp_gemm_is_misaligned(double row_values, enum pp_precision precision)
{
    static const double value_bytes[PP_PRECISIONS] = {
        [PP_PRECISION_TF32] = 4, [PP_PRECISION_FP16] = 2,    [PP_PRECISION_BF16] = 2,
        [PP_PRECISION_FP8] = 1,  [PP_PRECISION_NVFP4] = 0.5,
    };

    return row_values == floor(row_values) &&
           fmod(row_values * value_bytes[precision], ROW_BYTES) != 0;
}

static bool has_tensor_cores(const struct pp_device *device)
{
    return device->precision != PP_PRECISION_FP32;
}

static double tile_speed(const struct pp_device *device, const struct tile *tile)
{
    const double loads = 1 / tile->speed - 1;

    return 1 / (1 + (has_tensor_cores(device) ? loads : plain_loads * loads));
}

/* Returns the plan of most eta, or of least time of a kernel with a knee. */
static struct pp_gemm_plan plan_of(const struct pp_device *device, struct pp_gemm_shape g,
                                   const struct pp_kernel *kernel)
{
    const double speed = device->gemm_eta * (g.is_misaligned ? misaligned_speed : 1);
    const double ramp = has_tensor_cores(device) ? tensor_ramp : plain_ramp;
    struct pp_gemm_plan best = {.eta = 0};
    double least = INFINITY;

    for (int t = 0; t < TILES; t++) {
        const double speed_frac = tile_speed(device, &tiles[t]);
        const double count = ceil(g.m / tiles[t].m) * ceil(g.n / tiles[t].n) * g.batch;
        for (int parts = 1; parts <= PARTS_MAX; parts *= 2) {
            const double k = g.k / parts;
            const double waves = ceil(count * parts / device->multiprocessors);
            /* steps of all multiprocessors, idle ones included */
            const double steps =
                waves * device->multiprocessors * (k + ramp) * tiles[t].m * tiles[t].n / speed_frac;
            const struct pp_gemm_plan plan = {
                .tile_m = tiles[t].m,
                .tile_n = tiles[t].n,
                .parts = parts,
                .eta = speed * g.m * g.n * g.k * g.batch / steps,
                .extra_bytes = parts > 1 ? parts * part_bytes * g.m * g.n * g.batch : 0,
            };
            const double cost =
                kernel ? work_s(kernel, roofs_of(device, kernel, plan.eta, plan.extra_bytes))
                       : -plan.eta;
            if (cost < least)
                best = plan, least = cost;
            if (count * parts >= device->multiprocessors)
                break; /* enough tiles for all */
        }
    }
    return best;
}

struct pp_gemm_plan pp_gemm_plan(const struct pp_device *device, struct pp_gemm_shape gemm)
{
    return plan_of(device, gemm, NULL);
}
