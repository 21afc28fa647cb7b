/* kernels/cuda/ops/norm.cuh — arguments of both directions of norms. */
#pragma once

#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

template <class T> struct pp_norm_call {
    int rows, width;
    bool is_rms;
    float epsilon;
    const T *x, *gamma, *beta, *dy, *base;
    T *y, *dx;
    float *stats;

    explicit pp_norm_call(const struct pp_norm *n)
        : rows(n->rows), width(n->width), is_rms(n->is_rms), epsilon((float)n->epsilon),
          x((const T *)n->x), gamma((const T *)n->gamma), beta((const T *)n->beta),
          dy((const T *)n->dy), base((const T *)n->base), y((T *)n->y), dx((T *)n->dx),
          stats((float *)n->stats)
    {
    }
};
