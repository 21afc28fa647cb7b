/* Fixed point sums, one at a time. */
#include "kernels/cpu/fixed.h"

#include <math.h>
#include <string.h>

static void fail(int *status, enum pp_fixed_status reason)
{
    if (*status == PP_FIXED_OK)
        *status = reason;
}

void pp_fixed_add_one(double x, int bits, int64_t *sum, int *status)
{
    const double value = rint(ldexp(x, bits));

    if (!isfinite(x))
        fail(status, PP_FIXED_NOT_FINITE);
    else if (!(value >= -0x1p63 && value < 0x1p63) ||
             __builtin_add_overflow(*sum, (int64_t)value, sum))
        fail(status, PP_FIXED_OVERFLOW);
}

/* Wraps on overflow, so that the loop is vector code. */
void pp_fixed_merge(void *stream, int64_t count, const int64_t *x, int64_t *sum, int *status)
{
    uint64_t overflow = 0;

    (void)stream;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t a = (uint64_t)sum[i], b = (uint64_t)x[i], c = a + b;
        overflow |= (a ^ c) & (b ^ c);
        sum[i] = (int64_t)c;
    }
    if (overflow >> 63)
        fail(status, PP_FIXED_OVERFLOW);
}

void pp_fixed_fits(void *stream, int64_t count, const int64_t *x, int copies, int *status)
{
    const int64_t most = INT64_MAX / copies;
    bool is_beyond = false;

    (void)stream;
    for (int64_t i = 0; i < count; i++)
        is_beyond |= x[i] > most || x[i] < -most;
    if (is_beyond)
        fail(status, PP_FIXED_OVERFLOW);
}

void pp_bytes_copy(void *stream, size_t bytes, const void *from, void *to)
{
    (void)stream;
    if (bytes)
        memmove(to, from, bytes);
}

void pp_bytes_zero(void *stream, size_t bytes, void *x)
{
    (void)stream;
    if (bytes)
        memset(x, 0, bytes);
}
