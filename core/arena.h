/* core/arena.h — region allocator. Data lives in an arena given by the caller and is never freed
 * one by one. Memory comes zeroed and aligned to 64 bytes for blocks of at least 64 bytes, else 16.
 * Out of memory ends the program with a message, so no caller checks for NULL. Not thread-safe. */
#pragma once

#include <stddef.h>

struct pp_arena;

struct pp_arena *pp_arena_create(void);
/* Memory that processes forked later share: what one writes all see. What is allocated after the
 * fork is its own, as in any arena. */
struct pp_arena *pp_arena_create_shared(void);
void pp_arena_destroy(struct pp_arena *arena); /* accepts NULL */

/* Memory of arenas that are destroyed stays with the process, for those to come. For a program that
 * makes them by the thousand: asking the kernel again for the same takes a fifth of its time. */
void pp_arena_keep_memory(void);

void *pp_arena_alloc(struct pp_arena *arena, size_t bytes);
/* As pp_arena_alloc, but the contents are not cleared: for big arrays that are written whole. */
void *pp_arena_alloc_raw(struct pp_arena *arena, size_t bytes);
char *pp_arena_strdup(struct pp_arena *arena, const char *text);
char *pp_arena_printf(struct pp_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));
/* A block of `new_bytes` that begins with the first `old_bytes` of `old` (which stays valid). */
void *pp_arena_grow(struct pp_arena *arena, const void *old, size_t old_bytes, size_t new_bytes);

/* Forget all that was allocated after the mark; the memory is reused by later allocations. */
struct pp_arena_mark {
    void *block;
    size_t used;
    void *last;
};
struct pp_arena_mark pp_arena_mark(struct pp_arena *arena);
void pp_arena_release(struct pp_arena *arena, struct pp_arena_mark mark);
/* Call `end(context)` when the arena is destroyed, or released to a mark set before: for what data
 * in the arena holds outside of it. The last one is called first. */
void pp_arena_defer(struct pp_arena *arena, void (*end)(void *context), void *context);

#define PP_NEW(arena, type) ((type *)pp_arena_alloc((arena), sizeof(type)))
#define PP_ARRAY(arena, type, count)                                                               \
    ((type *)pp_arena_alloc((arena), sizeof(type) * (size_t)(count)))
/* Elements of an array whose length the compiler knows. */
#define PP_COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Append to a vector kept as (pointer, count, capacity); returns the address of the new element. */
#define PP_PUSH(arena, data, count, capacity)                                                      \
    ((count) == (capacity)                                                                         \
         ? ((data) = pp_arena_grow((arena), (data), sizeof(*(data)) * (size_t)(count),             \
                                   sizeof(*(data)) * (size_t)((capacity) ? 2 * (capacity) : 16)),  \
            (capacity) = (capacity) ? 2 * (capacity) : 16, &(data)[(count)++])                     \
         : &(data)[(count)++])

static inline void pp_arena_cleanup(struct pp_arena **arena)
{
    pp_arena_destroy(*arena);
}
#define PP_ARENA_AUTO __attribute__((cleanup(pp_arena_cleanup)))
