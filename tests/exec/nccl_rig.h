/* tests/exec/nccl_rig.h — processes that reach each other by NCCL: forked before anything is
 * opened, with a device each that is the same for all. */
#ifndef PP_TESTS_EXEC_NCCL_RIG_H
#define PP_TESTS_EXEC_NCCL_RIG_H

#include "core/clock.h"
#include "exec/nccl/parts.h"
#include "tests/cuda/runner.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RIG_LINES = 64, RIG_PROCESSES = 8, RIG_PATIENCE_S = 100, RIG_TEXT_BYTES = 8192 };

/* Seen by all processes. */
struct rig_board {
    atomic_int written, met;
    struct pp_nccl_id ids[RIG_LINES];
    char texts[RIG_PROCESSES][RIG_TEXT_BYTES]; /* why a process has failed */
};
static char *rig_text; /* of this process */
struct rig {
    struct rig_board *board;
    struct pp_arena *arena;
    struct pp_nccl_plan plan;
    struct pp_nccl *nccl;
    void *stream, *scratch; /* of the first uses */
    struct pp_error err;
};

/* ---- in a process ---------------------------------------------------------------------------- */

#define rig_must(condition, ...)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            const int rig_length_ =                                                                \
                snprintf(rig_text, RIG_TEXT_BYTES, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            snprintf(rig_text + rig_length_, (size_t)(RIG_TEXT_BYTES - rig_length_), __VA_ARGS__); \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define rig_ok(r, status) rig_must((status) == PP_OK, "%s", (r)->err.message)
#define rig_cuda(call)                                                                             \
    do {                                                                                           \
        const cudaError_t rig_error_ = (call);                                                     \
        rig_must(rig_error_ == cudaSuccess, "%s", cudaGetErrorString(rig_error_));                 \
    } while (0)
/* The last call has failed, and says so. */
#define rig_says(r, text)                                                                          \
    rig_must(strstr((r)->err.message, text), "'%s' is not in: %s", text, (r)->err.message)

static inline bool rig_await(const atomic_int *word, int value, double patience_s)
{
    const double end_s = pp_clock_s() + patience_s;

    while (*word < value && pp_clock_s() < end_s)
        usleep(100);
    return *word >= value;
}

static inline void rig_meet(struct rig *r, int times)
{
    r->board->met++;
    rig_must(rig_await(&r->board->met, times * r->plan.processes, RIG_PATIENCE_S),
             "a process is missing");
}

static inline enum pp_status rig_spread(void *closure, struct pp_nccl_id *ids, int count,
                                        struct pp_error *err)
{
    struct rig *r = closure;

    for (int i = 0; i < count; i++)
        if (ids[i].owner == r->plan.process)
            r->board->ids[i] = ids[i];
    r->board->written++;
    if (!rig_await(&r->board->written, r->plan.processes, r->plan.timeout_s))
        return pp_error_set(err, PP_EFAIL, "no ids");
    memcpy(ids, r->board->ids, sizeof *ids * (size_t)count);
    return PP_OK;
}

static inline void *rig_memory(size_t bytes)
{
    void *memory;

    rig_cuda(cudaMalloc(&memory, bytes));
    return memory;
}

/* From memory of the host; done on return, which without the second call it may not be. */
static inline void rig_put(void *to, const void *from, size_t bytes)
{
    rig_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    rig_cuda(cudaStreamSynchronize(NULL));
}

static inline cudaStream_t rig_stream(void)
{
    cudaStream_t stream;

    rig_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/* A message, on its channel. */
static inline enum pp_status rig_pass(struct rig *r, enum pp_nccl_kind kind, int channel,
                                      void *buffer, size_t bytes, cudaStream_t stream)
{
    const struct pp_nccl_operation operation = {
        .kind = kind,
        .on = channel,
        .type = PP_NCCL_BYTES,
        .pieces = &(struct pp_nccl_piece){.at = buffer, .count = bytes},
        .count = 1};

    return pp_nccl_issue(r->nccl, &operation, stream, &r->err);
}

/* What pp_nccl_open needs, but for the environment. */
static inline enum pp_status rig_open(struct rig *r)
{
    r->arena = pp_arena_create();
    r->plan.spread = rig_spread;
    r->plan.closure = r;
    r->stream = rig_stream();
    r->scratch = rig_memory(PP_NCCL_SCRATCH_BYTES);
    return pp_nccl_open(r->arena, &r->plan, r->stream, r->scratch, &r->nccl, &r->err);
}

/* ---- processes ------------------------------------------------------------------------------- */

static inline void rig_act(struct rig_board *board, const struct pp_nccl_plan *plan, int process,
                           void (*act)(struct rig *r))
{
    struct rig r = {.board = board, .plan = *plan};

    r.plan.process = process;
    rig_text = r.board->texts[process];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no process outlives the test */
    alarm(RIG_PATIENCE_S);
    act(&r);
    _exit(0);
}

static inline void rig_judge(const struct rig_board *board, int process, int status, bool is_killed)
{
    if (is_killed)
        cr_assert(WIFSIGNALED(status) &&
                      (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGABRT),
                  "process %d: %s", process, board->texts[process]);
    else
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %d: %s %d: %s", process,
                  WIFSIGNALED(status) ? "signal" : "exit code",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                  board->texts[process]);
}

/* Each process acts and ends. `killed` >= 0: that one ends by SIGKILL or SIGABRT. No process is
 * left. */
static inline void rig_run(const struct pp_nccl_plan *plan, void (*act)(struct rig *r), int killed)
{
    struct rig_board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int statuses[RIG_PROCESSES];
    pid_t pids[RIG_PROCESSES];

    cr_assert(board != MAP_FAILED && plan->processes <= RIG_PROCESSES);
    fflush(NULL);
    for (int k = 0; k < plan->processes; k++) {
        pids[k] = fork();
        cr_assert(pids[k] >= 0);
        if (pids[k] == 0)
            rig_act(board, plan, k, act);
    }
    for (int k = 0; k < plan->processes; k++)
        cr_assert_eq(waitpid(pids[k], &statuses[k], 0), pids[k]);
    for (int k = 0; k < plan->processes; k++)
        rig_judge(board, k, statuses[k], k == killed);
    munmap(board, sizeof *board);
}

#endif
