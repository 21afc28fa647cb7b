/* Products of a few rows of bfloat16. Each is exact in float, in which they are added. */
#include <stdint.h>

typedef uint16_t element;
enum { PARTS = 2 };

#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/quick_few.h"

typedef uint32_t pairs __attribute__((vector_size(4 * PP_TILE_WIDTH)));
typedef uint32_t pairs_unaligned
    __attribute__((vector_size(4 * PP_TILE_WIDTH), aligned(1), may_alias));

/* Elements of even index, then those of odd index. */
PP_INLINE vt part(const char *x, int p)
{
    const pairs v = *(const pairs_unaligned *)x;

    return p == 0 ? (vt)(v << 16) : (vt)(v & 0xffff0000u);
}

void PP_AT(bf16_few)(const struct pp_few *f)
{
    few_products(f);
}
