/* tests/cuda/runtime_law.h — durations of work on a device that obeys a law. So a test knows the
 * time of a step in two ways, from the events and by arithmetic. The constants are those of a fast
 * GPU, but the speed of its units fits the small models of tests. The host takes no time.
 *
 * The law covers one process. Waits between processes have no duration by the law. */
#ifndef PP_TESTS_CUDA_RUNTIME_LAW_H
#define PP_TESTS_CUDA_RUNTIME_LAW_H

#include <stddef.h>

static inline double pp_law_kernel_s(double threads)
{
    return 2e-6 + threads * 1e-9;
}

static inline double pp_law_product_s(double m, double n, double k)
{
    return 2e-6 + 2 * m * n * k / 1e11;
}

static inline double pp_law_copy_s(size_t bytes)
{
    return 3e-6 + (double)bytes / 2e12;
}

/* What a stream takes to find an event passed that it was told to wait for. */
static inline double pp_law_wait_s(void)
{
    return 1e-6;
}

#endif
