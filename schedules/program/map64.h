/* schedules/program/map64.h — 64-bit key -> 32-bit value, for passes that must stay linear. Open
 * addressing; sized once for a known number of keys; cleared in time proportional to its size.
 * Private to schedules. */
#ifndef PP_SCHEDULES_PROGRAM_MAP64_H
#define PP_SCHEDULES_PROGRAM_MAP64_H

#include "core/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct pp_map64 {
    uint64_t *keys; /* key + 1, 0 = free */
    int32_t *values;
    uint64_t mask;
};

/* Room for `count` different keys below 2^64 - 1. */
static inline struct pp_map64 pp_map64_create(struct pp_arena *arena, int64_t count)
{
    uint64_t size = 16;

    while (size < (uint64_t)count * 2)
        size *= 2;
    return (struct pp_map64){.keys = pp_arena_alloc(arena, size * sizeof(uint64_t)),
                             .values = pp_arena_alloc_raw(arena, size * sizeof(int32_t)),
                             .mask = size - 1};
}

/* Forget all keys and use only as much of the room as `count` keys need (not above its size). */
static inline void pp_map64_clear(struct pp_map64 *map, int64_t count)
{
    uint64_t size = 16;

    while (size < (uint64_t)count * 2)
        size *= 2;
    map->mask = size - 1;
    memset(map->keys, 0, size * sizeof(uint64_t));
}

/* The value of `key`, which is added with `fallback` when it is unknown. */
static inline int32_t *pp_map64_at(struct pp_map64 *map, uint64_t key, int32_t fallback)
{
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15);

    for (at ^= at >> 32;; at++) {
        at &= map->mask;
        if (map->keys[at] == key + 1)
            return &map->values[at];
        if (map->keys[at] == 0) {
            map->keys[at] = key + 1;
            map->values[at] = fallback;
            return &map->values[at];
        }
    }
}

/* NULL when the key is unknown. */
static inline int32_t *pp_map64_find(const struct pp_map64 *map, uint64_t key)
{
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15);

    for (at ^= at >> 32;; at++) {
        at &= map->mask;
        if (map->keys[at] == key + 1)
            return &map->values[at];
        if (map->keys[at] == 0)
            return NULL;
    }
}

#endif
