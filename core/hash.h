/* core/hash.h — FNV-1a hash of 64 bits, the same on every machine.
 *
 * Fowler, Noll, Vo; Eastlake et al., "The FNV Non-Cryptographic Hash Algorithm",
 * draft-eastlake-fnv. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Hash of no bytes, the initial value. */
#define PP_HASH_OF_NOTHING UINT64_C(0xcbf29ce484222325)

/* Returns `hash` continued with `count` bytes. */
static inline uint64_t pp_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = (const unsigned char *)bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}
