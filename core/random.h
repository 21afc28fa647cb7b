/* core/random.h — random bits by counter, without state: a counter always gives the same bits.
 *
 * The finalizer of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * OOPSLA 2014). */
#pragma once

#include <stdint.h>

static inline __attribute__((always_inline)) uint64_t pp_random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline __attribute__((always_inline)) uint64_t pp_random_stream(uint64_t seed, uint64_t name)
{
    return pp_random_mix(seed ^ pp_random_mix(name + 1));
}

static inline __attribute__((always_inline)) uint64_t pp_random_bits(uint64_t stream,
                                                                     uint64_t counter)
{
    return pp_random_mix(stream + (counter + 1) * 0x9e3779b97f4a7c15u);
}
