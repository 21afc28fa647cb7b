/* core/map64.h — a hash table from 64-bit keys to 32-bit values, by open addressing. It grows with
 * its keys. Addresses of values are valid until the next key is added. */
#pragma once

#include "core/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct pp_map64 {
    struct pp_arena *arena;
    uint64_t *keys; /* key + 1, 0 = free */
    int32_t *values;
    uint64_t mask, count;
};

static inline uint64_t pp_map64_size(int64_t count)
{
    uint64_t size = 16;

    while (size < (uint64_t)count * 2)
        size *= 2;
    return size;
}

/* Creates a map in the arena with room for `count` keys. Keys are below 2^64 - 1. */
static inline struct pp_map64 pp_map64_create(struct pp_arena *arena, int64_t count)
{
    const uint64_t size = pp_map64_size(count);

    return (struct pp_map64){.arena = arena,
                             .keys = pp_arena_alloc(arena, size * sizeof(uint64_t)),
                             .values = pp_arena_alloc_raw(arena, size * sizeof(int32_t)),
                             .mask = size - 1};
}

/* Removes all keys and uses only the room that `count` keys need (at most its size). */
static inline void pp_map64_clear(struct pp_map64 *map, int64_t count)
{
    const uint64_t size = pp_map64_size(count);

    map->mask = size - 1;
    map->count = 0;
    memset(map->keys, 0, size * sizeof(uint64_t));
}

/* Returns the slot of `key`, or the free slot for it. */
static inline uint64_t pp_map64_place(const struct pp_map64 *map, uint64_t key)
{
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15);

    for (at = (at ^ at >> 32) & map->mask; map->keys[at] != 0 && map->keys[at] != key + 1;)
        at = (at + 1) & map->mask;
    return at;
}

static inline void pp_map64_grow(struct pp_map64 *map)
{
    const struct pp_map64 old = *map;

    *map = pp_map64_create(map->arena, (int64_t)old.mask + 1);
    map->count = old.count;
    for (uint64_t i = 0; i <= old.mask; i++)
        if (old.keys[i] != 0) {
            const uint64_t at = pp_map64_place(map, old.keys[i] - 1);
            map->keys[at] = old.keys[i];
            map->values[at] = old.values[i];
        }
}

/* Returns the address of the value of `key`; adds an unknown key with `fallback`. */
static inline int32_t *pp_map64_at(struct pp_map64 *map, uint64_t key, int32_t fallback)
{
    uint64_t at = pp_map64_place(map, key);

    if (map->keys[at] != 0)
        return &map->values[at];
    if (2 * map->count > map->mask) {
        pp_map64_grow(map);
        at = pp_map64_place(map, key);
    }
    map->count++;
    map->keys[at] = key + 1;
    map->values[at] = fallback;
    return &map->values[at];
}

/* Returns NULL if the key is unknown. */
static inline int32_t *pp_map64_find(const struct pp_map64 *map, uint64_t key)
{
    const uint64_t at = pp_map64_place(map, key);

    return map->keys[at] != 0 ? &map->values[at] : NULL;
}
