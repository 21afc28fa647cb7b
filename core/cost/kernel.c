/* Time of a kernel: the roofline of its flops and bytes. */
#include "core/cost/kernel.h"

#include <math.h>

const char *const pp_bound_names[] = {"compute", "memory", "launch", NULL};

/* Of the products of one kernel, alone; 0 without products. */
static double products_eta(const struct pp_device *device, const struct pp_kernel *kernel,
                           double *bytes)
{
    if (kernel->kind == PP_KERNEL_GEMM) {
        const struct pp_gemm_plan plan = pp_gemm_plan(device, kernel->gemm);
        *bytes += plan.extra_bytes;
        return plan.eta;
    }
    if (kernel->kind == PP_KERNEL_ATTENTION) /* too few blocks leave multiprocessors idle */
        return kernel->eta * fmin(1, kernel->blocks / device->multiprocessors);
    return 0;
}

struct pp_kernel_time pp_kernel_time(const struct pp_device *device, const struct pp_kernel *kernel)
{
    double bytes = kernel->bytes;
    const double eta = products_eta(device, kernel, &bytes);
    const double launch_s = kernel->launches * device->launch_s;
    const double bytes_s = bytes / (device->memory_bytes_per_s * device->memory_eta);
    const double flops_s =
        eta > 0 ? kernel->flops / (pp_device_peak(device, kernel->precision) * eta) : 0;
    const double work_s = fmax(flops_s, bytes_s);

    return (struct pp_kernel_time){
        .s = launch_s + work_s,
        .eta = eta,
        .bound = launch_s > work_s    ? PP_BOUND_LAUNCH
                 : flops_s >= bytes_s ? PP_BOUND_COMPUTE
                                      : PP_BOUND_MEMORY,
    };
}
