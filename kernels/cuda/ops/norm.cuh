/* kernels/cuda/ops/norm.cuh — arguments of both directions of norms. */
#pragma once

#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

#include <type_traits>

/* Where rows begin: see pp_norm_row() of kernels/kernels.h. A division takes registers, so dense
 * rows have kernels of their own. */
template <bool IS_GROUPED> struct pp_norm_places {
    int width, group, stride;

    __device__ __forceinline__ int64_t at(int row) const
    {
        if (!IS_GROUPED)
            return (int64_t)row * width;
        const unsigned number = (unsigned)row / (unsigned)group;
        return (int64_t)number * stride + (row - (int)number * group) * width;
    }
};

template <class T, bool IS_GROUPED> struct pp_norm_call {
    int rows, width;
    pp_norm_places<IS_GROUPED> places;
    bool is_rms;
    float epsilon;
    const T *x, *gamma, *beta, *dy, *base;
    T *y, *dx;
    float *stats;

    explicit pp_norm_call(const struct pp_norm *n)
        : rows(n->rows), width(n->width), places{n->width, n->group, n->stride}, is_rms(n->is_rms),
          epsilon((float)n->epsilon), x((const T *)n->x), gamma((const T *)n->gamma),
          beta((const T *)n->beta), dy((const T *)n->dy), base((const T *)n->base), y((T *)n->y),
          dx((T *)n->dx), stats((float *)n->stats)
    {
    }
};

/* Calls run(grouped, N) with types of constants: N elements of a row may be accessed at once. */
template <class T, class Run, class... Pointers>
static inline void pp_norm_launch(const struct pp_norm *n, Run run, Pointers... pointers)
{
    const bool is_aligned = n->width % PP_WIDE<T> == 0 && pp_are_aligned(pointers...);
    const std::integral_constant<int, PP_WIDE<T>> wide;
    const std::integral_constant<int, 1> one;

    if (n->group == 0 && is_aligned)
        run(std::false_type{}, wide);
    else if (n->group == 0)
        run(std::false_type{}, one);
    else if (is_aligned && n->stride % PP_WIDE<T> == 0)
        run(std::true_type{}, wide);
    else
        run(std::true_type{}, one);
}
