/* Work runs at once in the thread that launches it, so an event is recorded the moment `record` is
 * called; `wait` sleeps until then. Events of a step carry its number, so nothing needs clearing.
 */
#include "exec/backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Those who wait sleep on one of a few conditions, chosen by event. */
enum { SHARDS = 64, PAGE = 2 << 20 };
struct shard {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int sleepers;
};

struct pp_device {
    const struct pp_kernels *kernels;
    struct pp_arena *arena;
    atomic_uint *recorded; /* [event] the step in which it was recorded last */
    unsigned step;
    atomic_bool is_cancelled;
    struct shard shards[SHARDS];
    void **blocks; /* handed out */
    int block_count, block_capacity;
};

static enum pp_status cpu_open(struct pp_arena *arena, const struct pp_device_options *options,
                               struct pp_device **device, struct pp_error *err)
{
    struct pp_device *d = PP_ARRAY(arena, struct pp_device, 1);

    (void)err;
    d->kernels = options->kernels;
    d->arena = arena;
    d->recorded = PP_ARRAY(arena, atomic_uint, options->events + 1);
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&d->shards[i].mutex, NULL);
        pthread_cond_init(&d->shards[i].changed, NULL);
    }
    *device = d;
    return PP_OK;
}

static void cpu_close(struct pp_device *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->block_count; i++)
        free(d->blocks[i]);
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_destroy(&d->shards[i].mutex);
        pthread_cond_destroy(&d->shards[i].changed);
    }
}

static enum pp_status cpu_alloc(struct pp_device *d, size_t bytes, void **memory,
                                struct pp_error *err)
{
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE + PAGE; /* never empty */

    *memory = aligned_alloc(PAGE, whole);
    if (!*memory)
        return pp_error_set(err, PP_EFAIL, "cannot allocate %zu bytes", bytes);
    madvise(*memory, whole, MADV_HUGEPAGE); /* a wish: fewer misses of the TLB */
    *PP_PUSH(d->arena, d->blocks, d->block_count, d->block_capacity) = *memory;
    return PP_OK;
}

static void cpu_launch(struct pp_device *d, pp_stream_id stream, pp_work work, void *argument)
{
    (void)stream;
    work(d->kernels, NULL, argument);
}

static void cpu_record(struct pp_device *d, pp_stream_id stream, pp_event_id event)
{
    struct shard *shard = &d->shards[event % SHARDS];

    (void)stream;
    pthread_mutex_lock(&shard->mutex);
    atomic_store_explicit(&d->recorded[event], d->step, memory_order_release);
    if (shard->sleepers > 0)
        pthread_cond_broadcast(&shard->changed);
    pthread_mutex_unlock(&shard->mutex);
}

static bool is_recorded(struct pp_device *d, pp_event_id event)
{
    return atomic_load_explicit(&d->recorded[event], memory_order_acquire) == d->step;
}

static bool cpu_wait(struct pp_device *d, pp_stream_id stream, pp_event_id event)
{
    struct shard *shard = &d->shards[event % SHARDS];

    (void)stream;
    if (is_recorded(d, event))
        return true;
    pthread_mutex_lock(&shard->mutex);
    shard->sleepers++;
    while (!is_recorded(d, event) && !atomic_load(&d->is_cancelled))
        pthread_cond_wait(&shard->changed, &shard->mutex);
    shard->sleepers--;
    pthread_mutex_unlock(&shard->mutex);
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
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_lock(&d->shards[i].mutex);
        pthread_cond_broadcast(&d->shards[i].changed);
        pthread_mutex_unlock(&d->shards[i].mutex);
    }
}

const struct pp_backend pp_backend_cpu = {
    .name = "cpu",
    .summary = "threads of this machine, one for each pipeline rank of each replica",
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
