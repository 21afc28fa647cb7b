/* Tensors at rest in fewer bits. */
#include "kernels/cpu/fp32/fp32.h"

typedef float element;
typedef int32_t ordered;
static const double LARGEST = 0x1.fffffep127;

static float value_of(float x)
{
    return x;
}

static float rounded(float value)
{
    return value;
}

#include "kernels/cpu/quick_packed.h"

void PP_AT(quantise)(void *stream, int bits, int64_t count, const void *x, void *packed)
{
    quantise(stream, bits, count, x, packed);
}

void PP_AT(restore)(void *stream, int bits, int64_t count, const void *packed, void *x)
{
    restore(stream, bits, count, packed, x);
}
