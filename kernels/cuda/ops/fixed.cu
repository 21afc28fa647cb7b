/* Sums in int64 fixed point, which have the same bits in any order. *status has the worst reason:
 * it is only raised. Bytes moved, an element: fixed_add 20, fixed_merge 24, fixed_fits 8. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"

#include <math.h>

namespace
{
/* sum += value; if it wraps, sets *reason. */
__device__ __forceinline__ void add_one(int64_t value, int64_t *sum, int *reason)
{
    const uint64_t a = (uint64_t)*sum, b = (uint64_t)value, c = a + b;

    *sum = (int64_t)c;
    if (((a ^ c) & (b ^ c)) >> 63)
        *reason = PP_FIXED_OVERFLOW;
}

/* *status is in host memory, where atomic operations take a microsecond and are serialized. So a
 * gradient that is all NaN would take minutes without this test. */
__device__ __forceinline__ void raise_to(int reason, int *status)
{
    if (*(const volatile int *)status < reason)
        atomicMax(status, reason);
}

struct fixed_add {
    const float *x;
    int64_t *sum;
    int *status;
    double scale;

    template <int N> __device__ void run(int64_t i) const
    {
        const pp_floats<N> from = pp_load<N>(x + i);
        pp_packed<int64_t, N> to = pp_fetch<N>(sum + i);
        int reason = PP_FIXED_OK;

#pragma unroll
        for (int j = 0; j < N; j++) {
            const double value = (double)from.at[j] * scale;
            if (!isfinite(from.at[j]))
                reason = max(reason, (int)PP_FIXED_NOT_FINITE);
            else if (!(value >= -0x1p63 && value < 0x1p63))
                reason = PP_FIXED_OVERFLOW;
            else
                add_one(__double2ll_rn(value), &to.at[j], &reason);
        }
        *(pp_packed<int64_t, N> *)(sum + i) = to;
        if (reason != PP_FIXED_OK)
            raise_to(reason, status);
    }
};

struct fixed_merge {
    const int64_t *x;
    int64_t *sum;
    int *status;

    template <int N> __device__ void run(int64_t i) const
    {
        const pp_packed<int64_t, N> from = pp_fetch<N>(x + i);
        pp_packed<int64_t, N> to = pp_fetch<N>(sum + i);
        int reason = PP_FIXED_OK;

#pragma unroll
        for (int j = 0; j < N; j++)
            add_one(from.at[j], &to.at[j], &reason);
        *(pp_packed<int64_t, N> *)(sum + i) = to;
        if (reason != PP_FIXED_OK)
            raise_to(reason, status);
    }
};

struct fixed_fits {
    const int64_t *x;
    int64_t most;
    int *status;

    template <int N> __device__ void run(int64_t i) const
    {
        const pp_packed<int64_t, N> from = pp_fetch<N>(x + i);
        bool is_beyond = false;

#pragma unroll
        for (int j = 0; j < N; j++)
            is_beyond = is_beyond || from.at[j] > most || from.at[j] < -most;
        if (is_beyond)
            raise_to(PP_FIXED_OVERFLOW, status);
    }
};
} // namespace

extern "C" {

void pp_cuda_fixed_add(void *stream, int64_t count, const void *x, int bits, int64_t *sum,
                       int *status)
{
    pp_map<4>(stream, count, pp_are_aligned(x, sum),
              fixed_add{(const float *)x, sum, status, ldexp(1, bits)});
}

void pp_cuda_fixed_merge(void *stream, int64_t count, const int64_t *x, int64_t *sum, int *status)
{
    pp_map<2>(stream, count, pp_are_aligned(x, sum), fixed_merge{x, sum, status});
}

void pp_cuda_fixed_fits(void *stream, int64_t count, const int64_t *x, int copies, int *status)
{
    pp_map<2>(stream, count, pp_are_aligned(x), fixed_fits{x, INT64_MAX / copies, status});
}

} // extern "C"
