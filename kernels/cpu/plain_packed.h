/* kernels/cpu/plain_packed.h — tensors at rest in fewer bits, as plain loops, for the table of
 * double. `element`, at() and from() are as in kernels/cpu/plain.h. A restored value is within
 * double. kernels/packed.h has the form. */
#pragma once

#include "kernels/packed.h"

static struct pp_packed_group group_of(int bits, size_t count, const element *x)
{
    double least = at(x, 0), largest = least;
    bool are_finite = true;

    for (size_t i = 0; i < count; i++) {
        const double value = at(x, i);
        are_finite &= isfinite(value);
        least = value < least ? value : least;
        largest = value > largest ? value : largest;
    }
    return pp_packed_group_of(bits, least, largest, at(x, 0), are_finite);
}

static void quantise_group(int bits, size_t count, const element *x, unsigned char *packed)
{
    const struct pp_packed_group g = group_of(bits, count, x);
    const size_t bytes = (size_t)pp_packed_code_bytes(bits, (int64_t)count);
    unsigned char *codes = packed + PP_PACKED_HEADER_BYTES;

    memcpy(packed, g.header, sizeof g.header);
    memset(codes, 0, bytes);
    codes[0] = g.last;
    for (size_t i = 0; i < count && !g.is_constant; i++)
        codes[i % bytes] |= (unsigned char)(pp_packed_code(&g, at(x, i)) << i / bytes * bits);
}

static void restore_group(int bits, size_t count, const unsigned char *packed, element *x)
{
    const unsigned char *codes = packed + PP_PACKED_HEADER_BYTES;
    const size_t bytes = (size_t)pp_packed_code_bytes(bits, (int64_t)count);
    uint16_t header[2];

    memcpy(header, packed, sizeof header);
    const struct pp_packed_group g = pp_packed_read(header[0], header[1], codes[0]);

    for (size_t i = 0; i < count; i++) {
        const int code = codes[i % bytes] >> i / bytes * bits & ((1 << bits) - 1);
        x[i] = from(pp_packed_value(&g, code));
    }
}

static size_t group_size(int64_t count, int64_t at)
{
    return (size_t)(count - at < PP_PACKED_GROUP ? count - at : PP_PACKED_GROUP);
}

static void quantise(void *stream, int bits, int64_t count, const void *x, void *packed)
{
    (void)stream;
    for (int64_t i = 0; i < count; i += PP_PACKED_GROUP)
        quantise_group(bits, group_size(count, i), (const element *)x + i,
                       (unsigned char *)packed + pp_packed_begin(bits, i / PP_PACKED_GROUP));
}

static void restore(void *stream, int bits, int64_t count, const void *packed, void *x)
{
    (void)stream;
    for (int64_t i = 0; i < count; i += PP_PACKED_GROUP)
        restore_group(bits, group_size(count, i),
                      (const unsigned char *)packed + pp_packed_begin(bits, i / PP_PACKED_GROUP),
                      (element *)x + i);
}
