/* The checksum of a block is XXH64: values of the reference implementation, and every bit counts.
 */
#include "core/arena.h"
#include "exec/tiers/checksum.h"

#include <criterion/criterion.h>

static void fill(unsigned char *bytes, int count)
{
    for (int i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 131 + 7);
}

Test(checksum, has_the_values_of_the_reference)
{
    /* xxhash.xxh64(bytes((i * 131 + 7) % 256 for i in range(COUNT))) of Python's xxhash 4.1.0 */
    static const struct {
        int count;
        uint64_t hash;
    } ROWS[] = {
        {0, UINT64_C(0xef46db3751d8e999)},     {1, UINT64_C(0xa96c7f0ce858bbb7)},
        {3, UINT64_C(0xbed43740ee6332bb)},     {4, UINT64_C(0xfa212ae44b3bb23d)},
        {7, UINT64_C(0x2744460dd675d2c0)},     {8, UINT64_C(0x994b676b71ce94dd)},
        {12, UINT64_C(0xb92f588ce720786e)},    {31, UINT64_C(0x6711d55e306b5d8f)},
        {32, UINT64_C(0x07f7b8e3bc5d6e25)},    {33, UINT64_C(0x09f85eeb4e1cbe9f)},
        {63, UINT64_C(0xb7c9968c066cb6a5)},    {64, UINT64_C(0x50d4159a0411632e)},
        {100, UINT64_C(0x9ddada11d3dc2d8f)},   {4095, UINT64_C(0xce4cdc0edd7ec31a)},
        {65536, UINT64_C(0x42a4749843255cec)},
    };
    static unsigned char bytes[65536];

    fill(bytes, sizeof bytes);
    for (size_t i = 0; i < PP_COUNT(ROWS); i++)
        cr_expect_eq(pp_tier_checksum(bytes, (size_t)ROWS[i].count), ROWS[i].hash, "%d bytes",
                     ROWS[i].count);
}

Test(checksum, differs_with_every_bit)
{
    unsigned char bytes[300];

    fill(bytes, sizeof bytes);
    for (size_t count = 1; count <= sizeof bytes; count += 23) {
        const uint64_t hash = pp_tier_checksum(bytes, count);
        for (size_t bit = 0; bit < 8 * count; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            cr_assert_neq(pp_tier_checksum(bytes, count), hash, "bit %zu of %zu bytes", bit, count);
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        cr_assert_eq(pp_tier_checksum(bytes, count), hash);
    }
}
