/* A hash table from strings of bytes to numbers, with open addressing. */
#include "exec/data/bytes_map.h"

#include "core/random.h"

#include <string.h>

static uint64_t hash_of(const unsigned char *bytes, size_t length)
{
    uint64_t hash = pp_random_mix(length), word = 0;

    for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = pp_random_mix(hash ^ word);
    }
    word = 0;
    memcpy(&word, bytes, length);
    return pp_random_mix(hash ^ word);
}

/* Returns the slot that holds the bytes, or the free slot where they belong. */
static struct pp_bytes_slot *slot_of(const struct pp_bytes_map *map, const unsigned char *bytes,
                                     size_t length, uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct pp_bytes_slot *slot = &map->slots[i & (map->capacity - 1)];
        if (!slot->bytes || (slot->hash == hash && slot->length == length &&
                             memcmp(slot->bytes, bytes, length) == 0))
            return slot;
    }
}

static void grow(struct pp_bytes_map *map)
{
    const struct pp_bytes_map old = *map;

    map->capacity = old.capacity ? 2 * old.capacity : 1024;
    map->slots = PP_ARRAY(map->arena, struct pp_bytes_slot, map->capacity);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].bytes)
            *slot_of(map, old.slots[i].bytes, old.slots[i].length, old.slots[i].hash) =
                old.slots[i];
}

const size_t *pp_bytes_map_find(const struct pp_bytes_map *map, const void *bytes, size_t length)
{
    if (map->capacity == 0)
        return NULL;
    const struct pp_bytes_slot *slot = slot_of(map, bytes, length, hash_of(bytes, length));
    return slot->bytes ? &slot->value : NULL;
}

void pp_bytes_map_add(struct pp_bytes_map *map, const void *bytes, size_t length, size_t value)
{
    const uint64_t hash = hash_of(bytes, length);

    if (4 * (map->count + 1) > 3 * map->capacity)
        grow(map);
    *slot_of(map, bytes, length, hash) = (struct pp_bytes_slot){bytes, length, hash, value};
    map->count++;
}
