/* Calls of the host in the order of a stream. The thread that gives the work waits for none of
 * them: its calls that wait are counted on their way. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "exec/cuda/module.h"
#include "tests/cuda/include/cuda_runtime_api.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

enum { STREAMS = 3, EVENTS = 4, COUNT = 1000 };

static atomic_int waits;

static void *next_call(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t (*next)(cudaStream_t) = NULL;

    *(void **)&next = next_call("cudaStreamSynchronize");
    waits++;
    return next(stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t (*next)(cudaEvent_t) = NULL;

    *(void **)&next = next_call("cudaEventSynchronize");
    waits++;
    return next(event);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t (*next)(void) = NULL;

    *(void **)&next = next_call("cudaDeviceSynchronize");
    waits++;
    return next();
}

static const struct pp_backend *b;
static struct pp_backend_device *device;
static struct pp_error err;

/* Memory of the device, and of the host. */
static int *on_device;
static int *buffer[2], *shown, *given;

static void *pinned(void)
{
    void *memory;

    cr_assert_eq(b->alloc_host(device, sizeof(int) * COUNT, &memory, &err), PP_OK, "%s",
                 err.message);
    return memset(memory, 0, sizeof(int) * COUNT);
}

static void open_device(struct pp_arena *arena, enum pp_device_mode mode, bool uses_graphs)
{
    const struct pp_cuda_module *module;
    void *memory;

    cr_assert_eq(pp_cuda_load(&module, &err), PP_OK, "%s", err.message);
    b = module->backend;
    const struct pp_device_options options = {.kernels = module->fp32,
                                              .streams = STREAMS,
                                              .events = EVENTS,
                                              .workers = 1,
                                              .worker = -1,
                                              .mode = mode,
                                              .uses_graphs = uses_graphs};
    cr_assert_eq(b->open(arena, &options, &device, &err), PP_OK, "%s", err.message);
    cr_assert_eq(b->alloc(device, sizeof(int) * COUNT, &memory, &err), PP_OK, "%s", err.message);
    on_device = memory;
    buffer[0] = pinned();
    buffer[1] = pinned();
    shown = pinned();
    given = pinned();
}

static int begin(void)
{
    b->begin(device);
    return waits;
}

/* Begins to wait only now: until here no call did. */
static void finish(int before)
{
    cr_assert_eq(waits, before, "%d waits", waits - before);
    cr_assert_eq(b->finish(device, &err), PP_OK, "%s", err.message);
    cr_assert_gt(waits, before, "waits are not counted");
}

static void check_shown(int from)
{
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(shown[i], from + i, "%d at %d", shown[i], i);
}

/* ---- in order -------------------------------------------------------------------------------- */

/* The host doubles what the device gives it, and the device takes it back. */
static void double_buffer(void *argument)
{
    int *x = argument;

    for (int i = 0; i < COUNT; i++)
        x[i] *= 2;
}

static void by_host(const struct pp_kernels *k, void *stream, void *argument)
{
    const size_t bytes = sizeof(int) * COUNT;

    (void)argument;
    k->copy(stream, bytes, given, on_device);
    k->copy(stream, bytes, on_device, buffer[0]);
    b->call_host(stream, -1, double_buffer, buffer[0]);
    k->copy(stream, bytes, buffer[0], on_device);
    k->copy(stream, bytes, on_device, shown);
}

static void check_doubled(int from)
{
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(shown[i], 2 * (from + i), "%d at %d", shown[i], i);
}

static void give(int from)
{
    for (int i = 0; i < COUNT; i++)
        given[i] = from + i;
}

Test(cuda_host_calls, come_between_the_work_of_a_stream)
{
    for (enum pp_device_mode mode = PP_DEVICE_SERIAL; mode <= PP_DEVICE_STREAMS; mode++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

        open_device(arena, mode, false);
        for (int step = 0; step < 20; step++) {
            const int before = begin();
            give(step);
            b->launch(device, 1, by_host, NULL);
            cr_assert(step > 0 || shown[1] == 0, "the call was waited for");
            finish(before);
            check_doubled(step);
        }
        b->close(device);
    }
}

/* A graph has them, too. */
Test(cuda_host_calls, come_with_graphs)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_graph_stats stats;

    open_device(arena, PP_DEVICE_STREAMS, true);
    for (int step = 0; step < 10; step++) {
        const int before = begin();
        give(step);
        b->launch_graph(device, 0, 0, by_host, NULL);
        finish(before);
        check_doubled(step);
        b->capture(device, 0, 0, -1, by_host, NULL);
    }
    b->graph_stats(device, &stats);
    cr_assert_eq(stats.count, 1, "%s", stats.why_left);
    cr_assert_eq(stats.launches, 9);
    b->close(device);
}

/* ---- slots ----------------------------------------------------------------------------------- */

enum { PARTS = 8, PART = COUNT / PARTS };

/* A part that the host moves between a buffer and its own memory. */
static struct part {
    int *from, *to;
} parts[PARTS];

static void move_part(void *argument)
{
    const struct part *p = argument;

    memcpy(p->to, p->from, sizeof(int) * PART);
}

/* From `given` to the device by two buffers, as a file is read. */
static void read_parts(const struct pp_kernels *k, void *stream, void *argument)
{
    (void)argument;
    for (int n = 0; n <= PARTS; n++) {
        if (n < PARTS) {
            parts[n] = (struct part){given + n * PART, buffer[n % 2]};
            b->call_host(stream, n % 2, move_part, &parts[n]);
        }
        if (n > 0) {
            b->join_host(stream, (n - 1) % 2);
            k->copy(stream, sizeof(int) * PART, buffer[(n - 1) % 2], on_device + (n - 1) * PART);
        }
    }
}

/* From the device to `shown`, as a file is written. */
static void write_parts(const struct pp_kernels *k, void *stream, void *argument)
{
    (void)argument;
    for (int n = 0; n < PARTS; n++) {
        b->join_host(stream, n % 2);
        k->copy(stream, sizeof(int) * PART, on_device + n * PART, buffer[n % 2]);
        parts[n] = (struct part){buffer[n % 2], shown + n * PART};
        b->call_host(stream, n % 2, move_part, &parts[n]);
    }
    b->join_host(stream, 0);
    b->join_host(stream, 1);
}

/* Orders that the device draws are others in every step. */
Test(cuda_host_calls, of_slots_run_while_the_stream_goes_on)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    open_device(arena, PP_DEVICE_STREAMS, false);
    for (int step = 0; step < 50; step++) {
        int before = begin();
        give(step);
        b->launch(device, 1, read_parts, NULL);
        b->record(device, 1, 0);
        finish(before);
        before = begin();
        b->launch(device, 2, write_parts, NULL);
        finish(before);
        check_shown(step);
    }
    b->close(device);
}
