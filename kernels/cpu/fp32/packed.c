/* Tensors at rest in fewer bits. A group is quantised in full: what is missing is as its first
 * value, and its codes stay here. */
#include "kernels/packed.h"
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

enum { GROUP = PP_PACKED_GROUP };
typedef double vd __attribute__((vector_size(128)));

PP_INLINE struct pp_packed_group group_of(int bits, const float *x)
{
    vf least = all(x[0]), largest = least;
    vi finite = ~(vi){0};
    int32_t lanes[LANES], are_finite = -1;

    for (int i = 0; i < GROUP; i += LANES) {
        const vf value = load(x + i);
        finite &= ((vi)value & 0x7f800000) != 0x7f800000;
        least = choose(value < least, value, least);
        largest = choose(value > largest, value, largest);
    }
    memcpy(lanes, &finite, sizeof lanes);
    for (int i = 0; i < LANES; i++)
        are_finite &= lanes[i];
    return pp_packed_group_of(bits, -(double)largest_lane(-least), (double)largest_lane(largest),
                              (double)x[0], are_finite);
}

/* Adding 1.5 2^52 rounds, ties to even. */
PP_INLINE void codes_of(const struct pp_packed_group *g, const float *x, uint8_t *codes)
{
    const vd magic = 0x1.8p52 - (vd){0};
    vi code[GROUP / LANES];

    for (int i = 0; i < GROUP; i += LANES) {
        const vd value = (__builtin_convertvector(load(x + i), vd) - g->minimum) / g->scale;
        code[i / LANES] = __builtin_convertvector(value + magic - magic, vi);
    }
    for (int i = 0; i < GROUP; i++)
        codes[i] = (uint8_t)((const int32_t *)code)[i];
}

/* Codes of `count` values to bytes. */
PP_INLINE void pack(int bits, int count, const uint8_t *codes, uint8_t *to)
{
    const int bytes = (int)pp_packed_code_bytes(bits, count);

    memcpy(to, codes, (size_t)bytes);
    for (int k = 1; k < 8 / bits; k++)
        for (int i = 0; i < bytes && i + k * bytes < count; i++)
            to[i] |= (uint8_t)(codes[i + k * bytes] << k * bits);
}

PP_INLINE void quantise_group(int bits, int count, const float *x, unsigned char *packed)
{
    const struct pp_packed_group g = group_of(bits, x);
    uint8_t codes[GROUP] = {g.last};

    memcpy(packed, g.header, sizeof g.header);
    if (!g.is_constant)
        codes_of(&g, x, codes);
    pack(bits, count, codes, packed + PP_PACKED_HEADER_BYTES);
}

void PP_AT(quantise)(void *stream, int bits, int64_t count, const void *x, void *packed)
{
    const float *from = x;
    unsigned char *to = packed;

    (void)stream;
    for (; count >= GROUP; count -= GROUP, from += GROUP, to += pp_packed_begin(bits, 1))
        quantise_group(bits, GROUP, from, to);
    if (count > 0) {
        float some[GROUP];
        for (int i = 0; i < GROUP; i++)
            some[i] = from[i < count ? i : 0];
        quantise_group(bits, (int)count, some, to);
    }
}

PP_INLINE void unpack(int bits, int count, const uint8_t *from, int32_t *codes)
{
    const int bytes = (int)pp_packed_code_bytes(bits, count);

    for (int k = 0; k < 8 / bits; k++)
        for (int i = 0; i < bytes && i + k * bytes < count; i++)
            codes[i + k * bytes] = from[i] >> k * bits & ((1 << bits) - 1);
}

PP_INLINE void restore_group(int bits, int count, const unsigned char *packed, float *x)
{
    const vf largest = all(0x1.fffffep127f);
    vi codes[GROUP / LANES] = {0};
    uint16_t header[2];

    memcpy(header, packed, sizeof header);
    packed += sizeof header;
    const struct pp_packed_group g = pp_packed_read(header[0], header[1], *packed);
    unpack(bits, count, packed, (int32_t *)codes);
    for (int i = 0; i < count; i += LANES) {
        const vd code = __builtin_convertvector(codes[i / LANES], vd);
        const vf value = __builtin_convertvector(g.minimum + code * g.scale, vf);
        store_some(x + i, (size_t)(count - i),
                   g.is_constant ? all(g.constant) : choose(value > largest, largest, value));
    }
}

void PP_AT(restore)(void *stream, int bits, int64_t count, const void *packed, void *x)
{
    const unsigned char *from = packed;
    float *to = x;

    (void)stream;
    for (; count >= GROUP; count -= GROUP, to += GROUP, from += pp_packed_begin(bits, 1))
        restore_group(bits, GROUP, from, to);
    if (count > 0)
        restore_group(bits, (int)count, from, to);
}
