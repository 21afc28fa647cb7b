/* Flags between two processes, as the module with CUDA has them: what is released stays so. */
#define _GNU_SOURCE /* usleep */
#include "exec/cuda/module.h"
#include "tests/cuda/include/cuda_runtime_api.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FLAGS = 3, PATIENCE_S = 60 };

/* Seen by both processes. */
struct board {
    struct pp_ipc_card cards[2];
    atomic_int said[2]; /* how far each has come */
};
struct side {
    struct board *board;
    int own;
    const struct pp_cuda_module *module;
    struct pp_arena *arena;
    struct pp_backend_device *device;
    struct pp_ipc *ipc;
    struct pp_error err;
};

#define must(s, call) cr_assert_eq((call), PP_OK, "%s", (s)->err.message)

static void await(const struct side *s, int stage)
{
    while (atomic_load(&s->board->said[1 - s->own]) < stage)
        usleep(100);
}

static void say(struct side *s, int stage)
{
    atomic_store(&s->board->said[s->own], stage);
}

static void open_side(struct side *s, struct board *board, int own)
{
    const struct pp_device_options options = {
        .streams = 2, .workers = 1, .mode = PP_DEVICE_STREAMS, .is_mapped = true};
    void *block;

    *s = (struct side){.board = board, .own = own, .arena = pp_arena_create()};
    alarm(PATIENCE_S);
    must(s, pp_cuda_load(&s->module, &s->err));
    must(s, s->module->backend->open(s->arena, &options, &s->device, &s->err));
    must(s, s->module->backend->alloc(s->device, 1, &block, &s->err));
    must(s, s->module->ipc->show(s->arena, s->device, block, FLAGS, 2, &s->ipc, &board->cards[own],
                                 &s->err));
    say(s, 1);
    await(s, 1);
    must(s, s->module->ipc->map(s->ipc, 1 - own, &board->cards[1 - own], &block, &s->err));
    say(s, 2);
    await(s, 2);
}

/* ---- work ------------------------------------------------------------------------------------ */

static void hold(void *stage)
{
    const struct side *s = stage;

    await(s, 3);
}

static void wait_twice(const struct pp_kernels *kernels, void *stream, void *argument)
{
    struct side *s = argument;

    (void)kernels;
    cr_assert_eq(cudaLaunchHostFunc(*(cudaStream_t *)stream, hold, s), cudaSuccess);
    for (uint32_t value = 1; value <= 2; value++)
        must(s, s->module->ipc->await(s->ipc, 1, value, stream, &s->err));
}

static void tell_once(const struct pp_kernels *kernels, void *stream, void *argument)
{
    struct side *s = argument;

    (void)kernels;
    must(s, s->module->ipc->tell(s->ipc, 0, 1, 1, stream, &s->err));
}

static void refused(const struct pp_kernels *kernels, void *stream, void *argument)
{
    struct side *s = argument;

    (void)kernels;
    cr_assert_eq(s->module->ipc->tell(s->ipc, 1, 0, 1, stream, &s->err), PP_EFAIL);
    cr_assert_eq(s->module->ipc->await(s->ipc, 0, 1, stream, &s->err), PP_EFAIL);
}

static void run(struct side *s, pp_backend_work work)
{
    const struct pp_backend *b = s->module->backend;

    b->begin(s->device);
    b->launch(s->device, 0, work, s);
    must(s, b->finish(s->device, &s->err));
}

/* Waits for 1, then for 2, gives up, and is told 1 after that. */
static void wait_in_vain(struct board *board)
{
    const struct pp_backend *b;
    struct side s;

    open_side(&s, board, 0);
    b = s.module->backend;
    b->begin(s.device);
    b->launch(s.device, 0, wait_twice, &s);
    s.module->ipc->give_up(s.ipc);
    say(&s, 3);
    must(&s, b->finish(s.device, &s.err));
    run(&s, refused);
    say(&s, 4);
    b->close(s.device);
}

static void tell_late(struct board *board)
{
    struct side s;

    open_side(&s, board, 1);
    await(&s, 3);
    usleep(200000); /* what has been given up is released meanwhile */
    run(&s, tell_once);
    say(&s, 3);
    await(&s, 4);
    _exit(0);
}

Test(cuda_ipc_flags, what_is_told_late_does_not_undo_a_release)
{
    struct board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    cr_assert_neq(board, MAP_FAILED);
    const pid_t child = fork();
    cr_assert_neq(child, -1);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        tell_late(board);
    }
    wait_in_vain(board);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
}
