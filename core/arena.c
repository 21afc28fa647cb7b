/* Region allocator: blocks in a list, kept and used again after a release. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "core/arena.h"
#include "core/free_memory.h"
#include "core/poison.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FIRST_BLOCK_BYTES = 1 << 16,
    HUGE_PAGE_BYTES = 1 << 21,
    /* Blocks of these sizes ask for huge pages, which take a fifth of the time of small ones. For
     * larger ones the kernel needs longer to find them than they save (1.2 s instead of 1.0). */
    HUGE_BLOCK_MIN_BYTES = 1 << 22,
    HUGE_BLOCK_MAX_BYTES = 1 << 28,
    /* The heap has smaller blocks, and keeps as much that is free: new memory costs more. */
    KEPT_BLOCK_BYTES = 1 << 25,
    /* Blocks of at least this size are weighed against free memory: the kernel grants more than
     * there is, and later ends some process. */
    WEIGHED_BLOCK_BYTES = 1 << 26,
    BIG_ALIGN = 64,
    SMALL_ALIGN = 16
};

/* Blocks form a list; those after `current` are empty and kept for reuse after a release. */
struct block {
    struct block *next;
    size_t capacity, used;
    unsigned char *data;
};

struct deferred {
    struct deferred *before;
    void (*end)(void *context);
    void *context;
};

struct pp_arena {
    struct block *first, *current;
    struct deferred *last;
    bool is_shared;
};

static void die(size_t bytes)
{
    fprintf(stderr, "%s: error: out of memory (asked for %zu bytes)\n",
            program_invocation_short_name, bytes);
    exit(1);
}

static size_t align_up(size_t value, size_t align)
{
    return (value + align - 1) / align * align;
}

/* ---- free memory ----------------------------------------------------------------------------- */

static atomic_size_t weighed_bytes; /* capacity of the weighed blocks of this process */

/* Returns the resident bytes of this process, 0 if unknown. */
static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    size_t pages = 0;

    if (file && fscanf(file, "%*u %zu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns the capacity of a new block, `usual` unless that is too much of the free memory. Ends the
 * program if less than `bytes` are free: blocks that are not yet written count as taken. */
static size_t weigh(size_t usual, size_t bytes)
{
    if (usual < WEIGHED_BLOCK_BYTES)
        return usual;
    const size_t held = atomic_load(&weighed_bytes), written = resident_bytes();
    const size_t owed = held > written ? held - written : 0, all = pp_free_memory_bytes();
    const size_t free = all > owed ? all - owed : 0;
    if (bytes > free || free < WEIGHED_BLOCK_BYTES) {
        fprintf(stderr, "%s: error: out of memory: %zu MiB more are needed, %zu MiB are free\n",
                program_invocation_short_name, (bytes >> 20) + 1, free >> 20);
        exit(1);
    }
    const size_t most = bytes > free / 4 ? bytes : free / 4;
    return align_up(usual < most ? usual : most, BIG_ALIGN);
}

/* Adds a block of one process; `sign` -1 takes it away. */
static void note_weighed(const struct block *b, bool is_shared, int sign)
{
    if (b->capacity >= WEIGHED_BLOCK_BYTES && !is_shared)
        atomic_fetch_add(&weighed_bytes, (size_t)sign * b->capacity);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Optional: without huge pages it is only slower. */
static void ask_for_huge_pages(unsigned char *begin, const unsigned char *end)
{
    begin += -(uintptr_t)begin & (HUGE_PAGE_BYTES - 1);
    if (begin < end)
        madvise(begin, (size_t)(end - begin), MADV_HUGEPAGE);
}

static unsigned char *own_memory(size_t capacity, bool is_huge)
{
    unsigned char *data = aligned_alloc(BIG_ALIGN, capacity);

    if (is_huge && data)
        ask_for_huge_pages(data, data + capacity);
    return data;
}

static unsigned char *shared_memory(size_t capacity)
{
    void *data = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return data == MAP_FAILED ? NULL : data;
}

static void free_block(struct block *b, bool is_shared)
{
    pp_unpoison(b->data, b->capacity);
    note_weighed(b, is_shared, -1);
    if (is_shared)
        munmap(b->data, b->capacity);
    else
        free(b->data);
    free(b);
}

static struct block *new_block(size_t capacity, bool is_shared)
{
    const bool is_huge = capacity >= HUGE_BLOCK_MIN_BYTES && capacity <= HUGE_BLOCK_MAX_BYTES;
    struct block *b = malloc(sizeof(*b));

    if (is_huge)
        capacity = align_up(capacity, HUGE_PAGE_BYTES);
    if (!b || !(b->data = is_shared ? shared_memory(capacity) : own_memory(capacity, is_huge)))
        die(capacity);
    b->next = NULL;
    b->capacity = capacity;
    b->used = 0;
    note_weighed(b, is_shared, 1);
    pp_poison(b->data, capacity);
    return b;
}

/* ---- arenas ---------------------------------------------------------------------------------- */

/* Lets the heap take huge pages, but for its first half MiB. Small pages cost a run of 25 ms a
 * sixth of its time. */
static void take_huge_pages(void)
{
#ifdef M_TOP_PAD
    enum { MORE_THAN_FREE_BYTES = 1 << 18, BEFORE = 2 * MORE_THAN_FREE_BYTES };
    unsigned char *const end = sbrk(0);
    const uintptr_t gap = -((uintptr_t)end + BEFORE) & (HUGE_PAGE_BYTES - 1);

    if (sbrk((intptr_t)gap) != end)
        return;
    mallopt(M_TOP_PAD, KEPT_BLOCK_BYTES);
    void *volatile block = malloc(MORE_THAN_FREE_BYTES); /* volatile: the heap must grow */
    free(block);
    ask_for_huge_pages(end + gap + BEFORE, sbrk(0));
#endif
}

/* Returns large blocks to the kernel when they are freed, so that phases of a large run do not add
 * up. */
static void prepare_heap(void)
{
    static atomic_flag is_done = ATOMIC_FLAG_INIT;

    if (atomic_flag_test_and_set(&is_done))
        return;
#ifdef M_TRIM_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BLOCK_BYTES);
#endif
    take_huge_pages();
}

static struct pp_arena *create(bool is_shared)
{
    prepare_heap();
    struct pp_arena *arena = calloc(1, sizeof(*arena));
    if (!arena)
        die(sizeof(*arena));
    arena->is_shared = is_shared;
    arena->first = arena->current = new_block(FIRST_BLOCK_BYTES, is_shared);
    return arena;
}

struct pp_arena *pp_arena_create(void)
{
    return create(false);
}

struct pp_arena *pp_arena_create_shared(void)
{
    return create(true);
}

static atomic_bool is_kept; /* all that is freed */

/* Returns free pages of the heap that lie below used ones, too. */
static void return_free_pages(void)
{
#ifdef M_TRIM_THRESHOLD
    if (!atomic_load(&is_kept))
        malloc_trim(0);
#endif
}

void pp_arena_keep_memory(void)
{
#ifdef M_TRIM_THRESHOLD /* optional: without it the program is only slower */
    enum { KEPT_BYTES = 1 << 30 };

    atomic_store(&is_kept, true);
    prepare_heap(); /* before this, once */
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

void pp_arena_defer(struct pp_arena *arena, void (*end)(void *context), void *context)
{
    struct deferred *deferred = PP_NEW(arena, struct deferred);

    *deferred = (struct deferred){.before = arena->last, .end = end, .context = context};
    arena->last = deferred;
}

static void call_deferred(struct pp_arena *arena, const struct deferred *until)
{
    while (arena->last != until) {
        struct deferred *deferred = arena->last;
        arena->last = deferred->before;
        deferred->end(deferred->context);
    }
}

void pp_arena_destroy(struct pp_arena *arena)
{
    if (!arena)
        return;
    size_t bytes = 0;
    call_deferred(arena, NULL);
    for (struct block *b = arena->first, *next; b; b = next) {
        next = b->next;
        bytes += b->capacity;
        free_block(b, arena->is_shared);
    }
    free(arena);
    if (bytes >= WEIGHED_BLOCK_BYTES)
        return_free_pages();
}

/* Steps to the next kept block that is big enough, or appends a new one. Frees smaller ones. */
static void next_block(struct pp_arena *arena, size_t bytes)
{
    struct block *b = arena->current;

    while (b->next && b->next->capacity < bytes) {
        struct block *small = b->next;
        b->next = small->next;
        free_block(small, arena->is_shared);
    }
    if (!b->next) {
        const size_t least = align_up(bytes, BIG_ALIGN), usual = 2 * b->capacity;
        b->next = new_block(weigh(usual < least ? least : usual, least), arena->is_shared);
    }
    arena->current = b->next;
    arena->current->used = 0;
    pp_poison(arena->current->data, arena->current->capacity);
}

void *pp_arena_alloc_raw(struct pp_arena *arena, size_t bytes)
{
    const size_t align = bytes >= BIG_ALIGN ? BIG_ALIGN : SMALL_ALIGN;
    const size_t taken = bytes + PP_POISON_BETWEEN_BYTES;

    if (bytes > SIZE_MAX / 4)
        die(bytes);
    if (align_up(arena->current->used, align) + taken > arena->current->capacity)
        next_block(arena, taken + BIG_ALIGN);
    struct block *b = arena->current;
    const size_t at = align_up(b->used, align);
    b->used = at + taken;
    pp_unpoison(b->data + at, bytes);
    return b->data + at;
}

void *pp_arena_alloc(struct pp_arena *arena, size_t bytes)
{
    return memset(pp_arena_alloc_raw(arena, bytes), 0, bytes);
}

void *pp_arena_grow(struct pp_arena *arena, const void *old, size_t old_bytes, size_t new_bytes)
{
    unsigned char *block = pp_arena_alloc_raw(arena, new_bytes);

    if (old_bytes)
        memcpy(block, old, old_bytes);
    memset(block + old_bytes, 0, new_bytes - old_bytes);
    return block;
}

char *pp_arena_strdup(struct pp_arena *arena, const char *text)
{
    const size_t bytes = strlen(text) + 1;

    return memcpy(pp_arena_alloc_raw(arena, bytes), text, bytes);
}

char *pp_arena_printf(struct pp_arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = pp_arena_alloc_raw(arena, (size_t)length + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

struct pp_arena_mark pp_arena_mark(struct pp_arena *arena)
{
    return (struct pp_arena_mark){arena->current, arena->current->used, arena->last};
}

void pp_arena_release(struct pp_arena *arena, struct pp_arena_mark mark)
{
    struct block *const block = mark.block;

    call_deferred(arena, mark.last);
    for (struct block *b = block; b != arena->current; b = b->next)
        pp_poison(b->next->data, b->next->capacity);
    pp_poison(block->data + mark.used, block->capacity - mark.used);
    arena->current = block;
    block->used = mark.used;
}
