/* core/arena.h — region allocator. Data lives in an arena given by the caller and is never freed
 * one by one. Memory comes zeroed and aligned to 64 bytes for blocks of at least 64 bytes, else 16.
 * Out of memory ends the program with a message, so no caller checks for NULL. Blocks of 64 MiB or
 * more are held against the free memory, too (core/free_memory.h): the kernel grants more, and ends
 * some process later. Not thread-safe. */
#pragma once

#include <stddef.h>

struct pp_arena;

struct pp_arena *pp_arena_create(void);
/* Creates an arena whose memory processes forked later share. After the fork, allocations of two
 * processes may be the same shared bytes. */
struct pp_arena *pp_arena_create_shared(void);
void pp_arena_destroy(struct pp_arena *arena); /* accepts NULL */

/* Keeps the memory of destroyed arenas in the process for later ones. For programs that create
 * thousands of arenas: asking the kernel again would take a fifth of their time. */
void pp_arena_keep_memory(void);

void *pp_arena_alloc(struct pp_arena *arena, size_t bytes);
/* Allocates without clearing, for big arrays that are written whole. */
void *pp_arena_alloc_raw(struct pp_arena *arena, size_t bytes);
char *pp_arena_strdup(struct pp_arena *arena, const char *text);
char *pp_arena_printf(struct pp_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));
/* Returns a zeroed block of `new_bytes` with a copy of `old_bytes` of `old`, which stays valid. */
void *pp_arena_grow(struct pp_arena *arena, const void *old, size_t old_bytes, size_t new_bytes);

/* A point to return to: pp_arena_release() forgets later allocations and reuses their memory. */
struct pp_arena_mark {
    void *block;
    size_t used;
    void *last;
};
struct pp_arena_mark pp_arena_mark(struct pp_arena *arena);
void pp_arena_release(struct pp_arena *arena, struct pp_arena_mark mark);
/* Calls `end(context)` when the arena is destroyed, or released to an earlier mark. `end` frees
 * what data in the arena holds outside of it. The call deferred last runs first. */
void pp_arena_defer(struct pp_arena *arena, void (*end)(void *context), void *context);

#define PP_NEW(arena, type) ((type *)pp_arena_alloc((arena), sizeof(type)))
#define PP_ARRAY(arena, type, count)                                                               \
    ((type *)pp_arena_alloc((arena), sizeof(type) * (size_t)(count)))
/* Number of elements of an array whose length the compiler knows. */
#define PP_COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Appends to a vector kept as (pointer, count, capacity); gives the address of the new element. */
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
