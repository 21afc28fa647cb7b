/* exec/data/bytes_map.h — a hash table from bytes to numbers: open addressing, no removal. */
#pragma once

#include "core/arena.h"

#include <stdint.h>

struct pp_bytes_slot {
    const unsigned char *bytes; /* NULL = free */
    size_t length;
    uint64_t hash;
    size_t value;
};

/* An empty map is zero except for its arena. */
struct pp_bytes_map {
    struct pp_arena *arena;
    struct pp_bytes_slot *slots; /* [capacity], a power of two; at least a quarter is free */
    size_t count, capacity;
};

/* Returns the value of `bytes`; NULL if they have none. */
const size_t *pp_bytes_map_find(const struct pp_bytes_map *map, const void *bytes, size_t length);
/* Adds `bytes`, which must not be in the map. They are not copied and must live as long as it. */
void pp_bytes_map_add(struct pp_bytes_map *map, const void *bytes, size_t length, size_t value);
