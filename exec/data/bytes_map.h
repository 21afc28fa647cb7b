/* exec/data/bytes_map.h — what belongs to strings of bytes: open addressing, no removal. */
#pragma once

#include "core/arena.h"

#include <stdint.h>

struct pp_bytes_slot {
    const unsigned char *bytes; /* NULL = free */
    size_t length;
    uint64_t hash;
    size_t value;
};

/* Zeroed but for the arena: empty. */
struct pp_bytes_map {
    struct pp_arena *arena;
    struct pp_bytes_slot *slots; /* [capacity], a power of two, at least a quarter of them free */
    size_t count, capacity;
};

/* The value of these bytes, NULL = none. */
const size_t *pp_bytes_map_find(const struct pp_bytes_map *map, const void *bytes, size_t length);
/* Set the value of bytes that have none. They are not copied, and stay as long as the map. */
void pp_bytes_map_add(struct pp_bytes_map *map, const void *bytes, size_t length, size_t value);
