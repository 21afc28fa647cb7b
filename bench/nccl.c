/* bench/nccl.c — host time of an NCCL operation: what a rank pays to put a send, a receive or a sum
 * into a stream. Two processes share a GPU, or have one each.
 *
 *   PIPEEXEC_NCCL_LIBRARY=build/tests/cuda/libnccl_stub.so build/tests/cuda/bench_nccl_emulated
 *
 * prints the median of ROUNDS rounds, which are waited for outside of the measured time. */
#include "exec/nccl/nccl.h"
#include "bench/bench.h"

#include <cuda_runtime_api.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 2, ROUNDS = 51, OPERATIONS = 20, BYTES = 1 << 12 };

static const struct pp_nccl_group groups[] = {{"0>1 F0", (const int[]){0, 1}, PROCESSES},
                                              {"stage 0", (const int[]){0, 1}, PROCESSES}};
static const struct {
    const char *name;
    enum pp_nccl_kind kinds[PROCESSES]; /* by process */
    enum pp_nccl_type type;
} SUBJECTS[] = {
    {"send, receive", {PP_NCCL_SEND, PP_NCCL_RECV}, PP_NCCL_BYTES},
    {"sum", {PP_NCCL_SUM, PP_NCCL_SUM}, PP_NCCL_INT64},
};

/* Seen by both processes. */
struct board {
    _Atomic int come;
    struct pp_nccl_id ids[2];
    double us[PP_COUNT(SUBJECTS)][PROCESSES];
};
struct side {
    struct board *board;
    int process, meetings;
    struct pp_nccl *nccl;
    cudaStream_t stream;
    void *memory;
};

static void need(cudaError_t code)
{
    struct pp_error err;

    if (code != cudaSuccess)
        must(pp_error_set(&err, PP_EFAIL, "%s", cudaGetErrorString(code)), &err);
}

static void meet(struct side *s)
{
    s->board->come++;
    s->meetings++;
    while (s->board->come < PROCESSES * s->meetings)
        usleep(100);
}

static enum pp_status spread(void *closure, struct pp_nccl_id *ids, int count, struct pp_error *err)
{
    struct side *s = closure;

    (void)err;
    for (int i = 0; i < count; i++)
        if (ids[i].owner == s->process)
            s->board->ids[i] = ids[i];
    meet(s);
    memcpy(ids, s->board->ids, sizeof *ids * (size_t)count);
    return PP_OK;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double measure_us(struct side *s, size_t subject)
{
    const struct pp_nccl_operation operation = {
        .kind = SUBJECTS[subject].kinds[s->process],
        .type = SUBJECTS[subject].type,
        .pieces = &(struct pp_nccl_piece){.at = s->memory, .count = BYTES / sizeof(int64_t)},
        .count = 1};
    double us[ROUNDS];
    struct pp_error err = {0};

    for (int round = 0; round < ROUNDS; round++) {
        meet(s);
        const double start_s = now_s();
        for (int i = 0; i < OPERATIONS; i++)
            must(pp_nccl_issue(s->nccl, &operation, s->stream, &err), &err);
        us[round] = 1e6 * (now_s() - start_s) / OPERATIONS;
        need(cudaStreamSynchronize(s->stream));
    }
    qsort(us, ROUNDS, sizeof *us, compare);
    return us[ROUNDS / 2];
}

static void act(struct side *s)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_nccl_plan plan = {.process = s->process,
                                      .processes = PROCESSES,
                                      .channel_count = 1,
                                      .groups = groups,
                                      .group_count = 1,
                                      .timeout_s = 60,
                                      .spread = spread,
                                      .closure = s};
    struct pp_error err = {0};
    int gpus;

    need(cudaGetDeviceCount(&gpus));
    need(cudaSetDevice(s->process % gpus));
    if (gpus < PROCESSES)
        pp_nccl_share_device(s->process, true);
    need(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    need(cudaMalloc(&s->memory, BYTES));
    must(pp_nccl_open(arena, &plan, s->stream, s->memory, &s->nccl, &err), &err);
    for (size_t subject = 0; subject < PP_COUNT(SUBJECTS); subject++)
        s->board->us[subject][s->process] = measure_us(s, subject);
    must(pp_nccl_close(s->nccl, &err), &err);
}

int main(void)
{
    struct side s = {.board = mmap(NULL, sizeof *s.board, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    int status;

    if (s.board == MAP_FAILED)
        return PP_EFAIL;
    const pid_t other = fork(); /* before anything is opened */
    s.process = other == 0;
    act(&s);
    if (other == 0)
        return 0;
    if (waitpid(other, &status, 0) != other || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return PP_EFAIL;
    printf("host time of an NCCL operation, us (process 0, process 1)\n");
    for (size_t i = 0; i < PP_COUNT(SUBJECTS); i++)
        printf("  %-14s %6.1f %6.1f\n", SUBJECTS[i].name, s.board->us[i][0], s.board->us[i][1]);
    return 0;
}
