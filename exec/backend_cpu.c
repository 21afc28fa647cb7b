/* Work runs at once in the thread that launches it, so an event is recorded the moment `record` is
 * called; `wait` sleeps until then. Events of a step carry its number, so nothing needs clearing.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "exec/backend.h"
#include "exec/futex.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Those who wait sleep on one of a few words, chosen by event. */
enum { SHARDS = 64, PAGE = 2 << 20 };
struct shard {
    _Alignas(64) atomic_uint changes;
    atomic_int sleepers;
};

struct block {
    void *memory;
    size_t bytes; /* mapped; 0 = from the heap */
};
struct pp_device {
    struct pp_device_options options;
    struct pp_arena *arena;
    atomic_uint *recorded; /* [event] the step in which it was recorded last */
    unsigned step;
    atomic_bool is_cancelled;
    struct shard shards[SHARDS];
    struct block *blocks; /* handed out */
    int block_count, block_capacity;
};

static enum pp_status cpu_open(struct pp_arena *arena, const struct pp_device_options *options,
                               struct pp_device **device, struct pp_error *err)
{
    struct pp_device *d = PP_ARRAY(arena, struct pp_device, 1);

    (void)err;
    d->options = *options;
    d->arena = arena;
    d->recorded = PP_ARRAY(arena, atomic_uint, options->events + 1);
    *device = d;
    return PP_OK;
}

static void cpu_close(struct pp_device *d)
{
    for (int i = 0; d && i < d->block_count; i++)
        if (d->blocks[i].bytes > 0)
            munmap(d->blocks[i].memory, d->blocks[i].bytes);
        else
            free(d->blocks[i].memory);
}

static struct block make_block(const struct pp_device *d, size_t bytes)
{
    if (!d->options.is_shared)
        return (struct block){.memory = aligned_alloc(PAGE, bytes)};
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return (struct block){memory == MAP_FAILED ? NULL : memory, bytes};
}

static enum pp_status cpu_alloc(struct pp_device *d, size_t bytes, void **memory,
                                struct pp_error *err)
{
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE + PAGE; /* never empty */
    const struct block block = make_block(d, whole);

    if (!block.memory)
        return pp_error_set(err, PP_EFAIL, "cannot allocate %zu bytes", bytes);
    madvise(block.memory, whole, MADV_HUGEPAGE); /* a wish: fewer misses of the TLB */
    *PP_PUSH(d->arena, d->blocks, d->block_count, d->block_capacity) = block;
    *memory = block.memory;
    return PP_OK;
}

static void cpu_launch(struct pp_device *d, pp_stream_id stream, pp_work work, void *argument)
{
    (void)stream;
    work(d->options.kernels, NULL, argument);
}

static void wake(struct shard *shard)
{
    atomic_fetch_add(&shard->changes, 1);
    pp_futex_wake(&shard->changes);
}

/* Whoever is about to sleep has said so before it looks at the event for the last time. */
static void cpu_record(struct pp_device *d, pp_stream_id stream, pp_event_id event)
{
    struct shard *shard = &d->shards[event % SHARDS];

    (void)stream;
    atomic_store(&d->recorded[event], d->step);
    if (atomic_load(&shard->sleepers) > 0)
        wake(shard);
}

static bool is_recorded(struct pp_device *d, pp_event_id event)
{
    return atomic_load(&d->recorded[event]) == d->step;
}

static bool cpu_wait(struct pp_device *d, pp_stream_id stream, pp_event_id event)
{
    struct shard *shard = &d->shards[event % SHARDS];

    (void)stream;
    if (is_recorded(d, event))
        return true;
    atomic_fetch_add(&shard->sleepers, 1);
    for (;;) {
        const unsigned seen = atomic_load(&shard->changes);
        if (is_recorded(d, event) || atomic_load(&d->is_cancelled))
            break;
        pp_futex_wait(&shard->changes, seen, -1);
    }
    atomic_fetch_sub(&shard->sleepers, 1);
    return is_recorded(d, event);
}

static void cpu_begin(struct pp_device *d)
{
    d->step++;
    atomic_store(&d->is_cancelled, false);
}

static enum pp_status cpu_finish(struct pp_device *d, struct pp_error *err)
{
    (void)d;
    (void)err;
    return PP_OK;
}

static void cpu_cancel(struct pp_device *d)
{
    atomic_store(&d->is_cancelled, true);
    for (int i = 0; i < SHARDS; i++)
        wake(&d->shards[i]);
}

const struct pp_backend pp_backend_cpu = {
    .name = "cpu",
    .summary = "cores of this machine, a worker for each pipeline rank of each replica",
    .is_immediate = true,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .launch = cpu_launch,
    .record = cpu_record,
    .wait = cpu_wait,
    .begin = cpu_begin,
    .finish = cpu_finish,
    .cancel = cpu_cancel,
};
