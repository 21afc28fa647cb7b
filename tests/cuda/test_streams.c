/* How many streams the backend makes of the device, whose calls are counted here on their way. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "exec/cuda/module.h"
#include "kernels/cuda/device/stream.h"
#include "tests/cuda/include/cuda_runtime_api.h"

#include <criterion/criterion.h>
#include <dlfcn.h>

enum { WORKERS = 8, STREAMS = 40, EVENTS = 4 };

static int made;
static int priorities[STREAMS]; /* of those that are not usual */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    cudaError_t (*next)(cudaStream_t *, unsigned, int) = NULL;

    *(void **)&next = dlsym(RTLD_NEXT, "cudaStreamCreateWithPriority");
    priorities[made++] = priority;
    return next(stream, flags, priority);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    cudaError_t (*next)(cudaStream_t *, unsigned) = NULL;

    *(void **)&next = dlsym(RTLD_NEXT, "cudaStreamCreateWithFlags");
    made++;
    return next(stream, flags);
}

static void nothing(const struct pp_kernels *kernels, void *stream, void *argument)
{
    (void)kernels;
    (void)stream;
    (void)argument;
}

/* The device of a test, one at a time. */
static const struct pp_cuda_module *module;
static const struct pp_backend *b;
static struct pp_backend_device *device;
static struct pp_error err;

/* Of a process with worker 3 of eight. */
static void open_device(struct pp_arena *arena, struct pp_device_options options)
{
    options.streams = STREAMS;
    options.events = EVENTS;
    options.workers = WORKERS;
    options.worker = 3;
    options.mode = PP_DEVICE_STREAMS;
    cr_assert_eq(pp_cuda_load(&module, &err), PP_OK, "%s", err.message);
    b = module->backend;
    cr_assert_eq(b->open(arena, &options, &device, &err), PP_OK, "%s", err.message);
}

static void finish(void)
{
    cr_assert_eq(b->finish(device, &err), PP_OK, "%s", err.message);
}

/* A channel of its own: a stream for the worker, for the channel, and one for copies. */
Test(cuda_streams, a_process_makes_those_that_it_uses)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    open_device(arena, (struct pp_device_options){.weights = 0});
    for (int step = 0; step < 2; step++) {
        b->begin(device);
        b->launch(device, 3, nothing, NULL);
        b->record(device, 3, 0);
        cr_assert(b->wait(device, 20, 0));
        b->launch(device, 20, nothing, NULL);
        finish();
        cr_assert(b->span(device, 3, 0).end_s <= b->span(device, 20, 0).start_s);
        cr_assert_eq(made, 3, "%d", made);
    }
    cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
    b->close(device);
}

/* What comes after has the lowest priority, which is the usual one: so all others have a higher,
 * and the highest is left free. */
Test(cuda_streams, weights_come_after_all_others)
{
    enum { WEIGHTS = STREAMS - WORKERS };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    int least, greatest;

    cr_assert_eq(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
    cr_assert_lt(greatest, least - 1);
    open_device(arena, (struct pp_device_options){.weights = WEIGHTS});
    b->begin(device);
    b->launch(device, 3, nothing, NULL);
    b->launch(device, WEIGHTS + 3, nothing, NULL);
    b->launch(device, 20, nothing, NULL);
    finish();
    cr_assert_eq(made, 4); /* copies, compute, weights, a channel */
    cr_assert_eq(priorities[1], least - 1);
    cr_assert_eq(priorities[2], least);
    cr_assert_eq(priorities[3], least - 1);
    b->close(device);
}

static void count_multiprocessors(const struct pp_kernels *kernels, void *stream, void *count)
{
    (void)kernels;
    *(int *)count = ((const struct pp_cuda_stream *)stream)->sm_count;
}

/* The device has 64. Opened with so many left free, and told so later: at most half each time. */
Test(cuda_streams, multiplications_leave_multiprocessors_free)
{
    static const struct {
        int at_first, later, used;
    } cases[] = {{0, 0, 64}, {8, 0, 56}, {0, 8, 56}, {1000, 0, 32}, {0, 1000, 32}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        int used = 0;

        open_device(arena, (struct pp_device_options){.left_free = cases[i].at_first});
        module->nccl->leave_free(device, cases[i].later);
        b->begin(device);
        b->launch(device, 3, count_multiprocessors, &used);
        finish();
        cr_assert_eq(used, cases[i].used, "case %zu: %d", i, used);
        b->close(device);
    }
}
