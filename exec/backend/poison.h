/* exec/backend/poison.h — memory filled with a pattern, to see later which of it was written. The
 * pattern is a signalling NaN in every precision, which no computation produces. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PP_POISON = 0x7fa5a5a5 };

/* Fills whole 4-byte words; `memory` is aligned to 4 bytes. */
static inline void pp_memory_poison(void *memory, size_t bytes)
{
    uint32_t *word = memory;

    for (size_t i = 0; i < bytes / sizeof(*word); i++)
        word[i] = PP_POISON;
}

/* Bytes of the 4-byte words that were written since. */
static inline size_t pp_memory_touched(const void *memory, size_t bytes)
{
    const uint32_t *word = memory;
    size_t touched = 0;

    for (size_t i = 0; i < bytes / sizeof(*word); i++)
        touched += word[i] != PP_POISON;
    return touched * sizeof(*word);
}
