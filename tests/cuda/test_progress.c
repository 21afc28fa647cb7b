/* A device that makes progress is not stuck, however long ago its work was issued. A nap follows
 * each multiplication of an emulated device, so that a step takes several times as long as
 * --timeout. */
#define _GNU_SOURCE /* usleep */
#include "exec/cuda/module.h"
#include "tests/cuda/include/cuda_runtime_api.h"
#include "tests/exec/run.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <unistd.h>

enum { NAP_US = 20000 };
static const double TIMEOUT_S = 1;

static const struct pp_kernels *real;
static atomic_int naps;

static void nap(void *nothing)
{
    (void)nothing;
    atomic_fetch_add(&naps, 1);
    usleep(NAP_US);
}

/* What work gets begins with a stream of CUDA. */
static void slow_gemm(void *stream, const struct pp_gemm *g)
{
    real->gemm(stream, g);
    cudaLaunchHostFunc(*(cudaStream_t *)stream, nap, NULL);
}

static enum pp_status train(struct pp_error *err)
{
    static struct pp_kernels slow;
    struct pp_arena *arena = pp_arena_create();
    const struct pp_cuda_module *module;
    struct exec_run run;

    cr_assert_eq(pp_cuda_load(&module, err), PP_OK, "%s", err->message);
    real = module->fp32;
    slow = *real;
    slow.gemm = slow_gemm;
    const struct exec_case c = {.schedule = "1f1b",
                                .shape = {.ranks = 2, .micro_batches = 8},
                                .replicas = 1,
                                .mbs = 1,
                                .steps = 1,
                                .layers = 2,
                                .backend = module->backend,
                                .kernels = &slow,
                                .mode = PP_DEVICE_STREAMS,
                                .clock = PP_CLOCK_WALL};
    cr_assert_eq(exec_run_make(arena, &c, &run, err), PP_OK, "%s", err->message);
    run.training.check = PP_CHECK_NONE;
    run.training.machine.timeout_s = TIMEOUT_S;
    return pp_train(arena, &run.training, &run.result, err);
}

Test(cuda_progress, a_long_step_is_no_standstill)
{
    struct pp_error err = {0};

    cr_assert_eq(train(&err), PP_OK, "%s", err.message);
    /* two ranks nap at once */
    cr_assert_gt(1e-6 * NAP_US * atomic_load(&naps) / 2, 2 * TIMEOUT_S, "%d naps are too few",
                 atomic_load(&naps));
}
