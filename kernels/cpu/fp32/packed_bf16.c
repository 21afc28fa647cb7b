/* Tensors of bfloat16 at rest in fewer bits, and the table of the level where T is bfloat16. */
#include "kernels/cpu/fp32/fp32.h"

typedef uint16_t element;
typedef int16_t ordered;
static const double LARGEST = 0x1.fep127;

static float value_of(uint16_t x)
{
    return pp_bf16_value(x);
}

static uint16_t rounded(float value)
{
    return pp_bf16_round(value);
}

#include "kernels/cpu/quick_packed.h"

const struct pp_bf16_level PP_AT(bf16) = {quantise, restore, PP_AT(bf16_few),
                                          PP_AT(bf16_cached_scratch_bytes), PP_AT(bf16_cached)};
