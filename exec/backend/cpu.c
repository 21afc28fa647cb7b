/* Work runs at once in the launching thread, and so does `record`; `wait` sleeps until it does. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "exec/backend/backend.h"
#include "exec/backend/recorded.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SMALL_PAGE = 1 << 12, HUGE_PAGE = 2 << 20 };
struct block {
    void *memory;
    size_t bytes; /* if mapped; 0 = from the heap */
};
struct pp_backend_device {
    struct pp_device_options options;
    struct pp_arena *arena;
    struct pp_recorded *recorded;
    struct block *blocks; /* allocated */
    int block_count, block_capacity;
};

static enum pp_status cpu_open(struct pp_arena *arena, const struct pp_device_options *options,
                               struct pp_backend_device **device, struct pp_error *err)
{
    struct pp_backend_device *d = PP_ARRAY(arena, struct pp_backend_device, 1);

    (void)err;
    d->options = *options;
    d->arena = arena;
    d->recorded = pp_recorded_create(arena, options->events);
    *device = d;
    return PP_OK;
}

static void cpu_close(struct pp_backend_device *d)
{
    for (int i = 0; d && i < d->block_count; i++)
        if (d->blocks[i].bytes > 0)
            munmap(d->blocks[i].memory, d->blocks[i].bytes);
        else
            free(d->blocks[i].memory);
}

static struct block make_block(const struct pp_backend_device *d, size_t page, size_t bytes)
{
    if (!d->options.is_shared)
        return (struct block){.memory = aligned_alloc(page, bytes)};
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return (struct block){memory == MAP_FAILED ? NULL : memory, bytes};
}

static enum pp_status cpu_alloc(struct pp_backend_device *d, size_t bytes, void **memory,
                                struct pp_error *err)
{
    const size_t page = bytes < HUGE_PAGE ? SMALL_PAGE : HUGE_PAGE;
    const size_t whole = (bytes / page + 1) * page; /* never empty */
    const struct block block = make_block(d, page, whole);

    if (!block.memory)
        return pp_error_set(err, PP_EFAIL, "cannot allocate %zu bytes", bytes);
    if (page == HUGE_PAGE)
        madvise(block.memory, whole, MADV_HUGEPAGE); /* optional: fewer TLB misses */
    *PP_PUSH(d->arena, d->blocks, d->block_count, d->block_capacity) = block;
    *memory = block.memory;
    return PP_OK;
}

/* Processes that are forked later see it if the arena is shared. */
static enum pp_status cpu_alloc_shared(struct pp_backend_device *d, size_t bytes, void **memory,
                                       struct pp_error *err)
{
    (void)err;
    *memory = pp_arena_alloc(d->arena, bytes > 0 ? bytes : 1);
    return PP_OK;
}

static void cpu_launch(struct pp_backend_device *d, pp_stream_id stream, pp_backend_work work,
                       void *argument)
{
    (void)stream;
    work(d->options.kernels, NULL, argument);
}

static void cpu_record(struct pp_backend_device *d, pp_stream_id stream, pp_event_id event)
{
    (void)stream;
    pp_recorded_set(d->recorded, event);
}

static bool cpu_wait(struct pp_backend_device *d, pp_stream_id stream, pp_event_id event)
{
    (void)stream;
    return pp_recorded_wait(d->recorded, event);
}

static void cpu_begin(struct pp_backend_device *d)
{
    pp_recorded_begin(d->recorded);
}

static enum pp_status cpu_finish(struct pp_backend_device *d, struct pp_error *err)
{
    (void)d;
    (void)err;
    return PP_OK;
}

static void cpu_cancel(struct pp_backend_device *d)
{
    pp_recorded_cancel(d->recorded);
}

const struct pp_backend pp_backend_cpu = {
    .name = "cpu",
    .is_immediate = true,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .alloc_shared = cpu_alloc_shared,
    .launch = cpu_launch,
    .host = cpu_launch,
    .record = cpu_record,
    .wait = cpu_wait,
    .begin = cpu_begin,
    .finish = cpu_finish,
    .cancel = cpu_cancel,
};
