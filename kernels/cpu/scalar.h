/* kernels/cpu/scalar.h — activation functions of one number, for tables of plain loops. GELU in its
 * tanh form (Hendrycks and Gimpel 2016). */
#ifndef PP_KERNELS_CPU_SCALAR_H
#define PP_KERNELS_CPU_SCALAR_H

#include <math.h>

static const double PP_GELU_SCALE = 0.79788456080286535588; /* sqrt(2 / pi) */
static const double PP_GELU_CUBE = 0.044715;

static inline double pp_gelu(double x)
{
    return 0.5 * x * (1 + tanh(PP_GELU_SCALE * (x + PP_GELU_CUBE * x * x * x)));
}

static inline double pp_gelu_slope(double x)
{
    const double t = tanh(PP_GELU_SCALE * (x + PP_GELU_CUBE * x * x * x));

    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * PP_GELU_SCALE * (1 + 3 * PP_GELU_CUBE * x * x);
}

static inline double pp_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

#endif
