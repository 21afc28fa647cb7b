/* core/heap.h — heaps of any type, as a template.
 *
 * PP_HEAP(NAME, TYPE, CHILDREN, IS_BEFORE) defines struct NAME and two functions:
 *   NAME_push  adds an item; memory comes from the arena once `capacity` is used up
 *   NAME_pop   removes data[0] and returns it; the heap must not be empty
 *
 * IS_BEFORE(a, b) compares two items by value and is inlined. A node has CHILDREN children: 2, or 4
 * for small items in large heaps. A zeroed struct is an empty heap. */
#pragma once

#include "core/arena.h"

#define PP_HEAP(NAME, TYPE, CHILDREN, IS_BEFORE)                                                   \
    struct NAME {                                                                                  \
        TYPE *data; /* no item is before data[0] */                                                \
        int count, capacity;                                                                       \
    };                                                                                             \
    static inline void NAME##_push(struct pp_arena *arena, struct NAME *heap, TYPE item)           \
    {                                                                                              \
        int at = heap->count;                                                                      \
        (void)PP_PUSH(arena, heap->data, heap->count, heap->capacity);                             \
        for (int up; at > 0; at = up) {                                                            \
            up = (at - 1) / (CHILDREN);                                                            \
            if (!IS_BEFORE(item, heap->data[up]))                                                  \
                break;                                                                             \
            heap->data[at] = heap->data[up];                                                       \
        }                                                                                          \
        heap->data[at] = item;                                                                     \
    }                                                                                              \
    static inline TYPE NAME##_pop(struct NAME *heap)                                               \
    {                                                                                              \
        TYPE *data = heap->data;                                                                   \
        const int count = --heap->count;                                                           \
        const TYPE top = data[0], last = data[count];                                              \
        int at = 0;                                                                                \
        for (int best; (best = (CHILDREN)*at + 1) < count; at = best) {                            \
            const int first = best;                                                                \
            for (int k = first + 1; k < first + (CHILDREN) && k < count; k++)                      \
                if (IS_BEFORE(data[k], data[best]))                                                \
                    best = k;                                                                      \
            if (!IS_BEFORE(data[best], last))                                                      \
                break;                                                                             \
            data[at] = data[best];                                                                 \
        }                                                                                          \
        data[at] = last;                                                                           \
        return top;                                                                                \
    }
