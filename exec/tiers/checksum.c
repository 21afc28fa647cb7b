/* XXH64: four sums take turns with words of 8 bytes; little-endian machines only. */
#include "exec/tiers/checksum.h"

#include <string.h>

static const uint64_t P1 = UINT64_C(0x9E3779B185EBCA87), P2 = UINT64_C(0xC2B2AE3D27D4EB4F),
                      P3 = UINT64_C(0x165667B19E3779F9), P4 = UINT64_C(0x85EBCA77C2B2AE63),
                      P5 = UINT64_C(0x27D4EB2F165667C5);

static inline uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline uint64_t word(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t round_of(uint64_t sum, uint64_t value)
{
    return rotate(sum + value * P2, 31) * P1;
}

static inline uint64_t merge(uint64_t hash, uint64_t sum)
{
    return (hash ^ round_of(0, sum)) * P1 + P4;
}

/* Hash of the words in front of the last `count % 32` bytes. */
static uint64_t body(const unsigned char *at, size_t count)
{
    uint64_t a = P1 + P2, b = P2, c = 0, d = 0 - P1;

    if (count < 32)
        return P5;
    for (const unsigned char *end = at + count / 32 * 32; at < end; at += 32) {
        a = round_of(a, word(at));
        b = round_of(b, word(at + 8));
        c = round_of(c, word(at + 16));
        d = round_of(d, word(at + 24));
    }
    const uint64_t hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return merge(merge(merge(merge(hash, a), b), c), d);
}

uint64_t pp_tier_checksum(const void *bytes, size_t count)
{
    const unsigned char *at = bytes, *end = at + count;
    uint64_t hash = body(at, count) + count;

    for (at += count / 32 * 32; end - at >= 8; at += 8)
        hash = rotate(hash ^ round_of(0, word(at)), 27) * P1 + P4;
    if (end - at >= 4) {
        uint32_t half;
        memcpy(&half, at, sizeof half);
        hash = rotate(hash ^ half * P1, 23) * P2 + P3;
        at += 4;
    }
    for (; at < end; at++)
        hash = rotate(hash ^ *at * P5, 11) * P1;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}
