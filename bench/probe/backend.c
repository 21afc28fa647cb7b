/* Probes of exec/cuda itself, in all of its modes: ranks that wait for each other, and what
 * parts of a GPU are worth. */
#include "bench/probe/probe.h"
#include "exec/cuda/module.h"
#include "kernels/cuda/device/stream.h"
#include "kernels/cuda/table.h"

#include <math.h>
#include <stdlib.h>

enum { WORKERS = 4, ROUNDS = 3 };

struct bench {
    struct pp_arena *arena;
    struct pp_backend_device *device;
    const struct pp_backend *b;
    int n;          /* of products [n][n] */
    int sm_count;   /* of the stream that worked last */
    void *matrices; /* three of each worker */
    void *tokens;   /* int [WORKERS], handed on */
    struct task {
        struct bench *bench;
        int worker;
    } of[WORKERS];
};

static enum pp_status open_bench(struct bench *x, enum pp_device_mode mode, bool is_trial,
                                 struct pp_error *err)
{
    const struct pp_device_options options = {.kernels = &pp_kernels_cuda_bf16,
                                              .streams = WORKERS,
                                              .events = WORKERS * ROUNDS,
                                              .workers = WORKERS,
                                              .worker = -1,
                                              .mode = mode};

    *x = (struct bench){.arena = pp_arena_create(), .b = &pp_backend_cuda};
    x->n = is_trial ? 32 : 2048;
    for (int w = 0; w < WORKERS; w++)
        x->of[w] = (struct task){x, w};
    PP_TRY(x->b->open(x->arena, &options, &x->device, err));
    const size_t bytes = 3 * WORKERS * 2 * (size_t)x->n * (size_t)x->n;
    PP_TRY(x->b->alloc(x->device, bytes, &x->matrices, err));
    PP_TRY(x->b->alloc(x->device, WORKERS * sizeof(int), &x->tokens, err));
    unsigned short *host = malloc(bytes);
    for (size_t i = 0; i < bytes / 2; i++)
        host[i] = (unsigned short)(0x3c00 + i * 2654435761u % 512);
    const enum pp_status status = x->b->write(x->device, host, x->matrices, bytes, err);
    free(host);
    return status;
}

static void close_bench(struct bench *x)
{
    x->b->close(x->device);
    pp_arena_destroy(x->arena);
}

static void multiply(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct task *t = argument;
    const int n = t->bench->n;
    char *const first = (char *)t->bench->matrices + 6 * (size_t)t->worker * (size_t)n * (size_t)n;
    const size_t bytes = 2 * (size_t)n * (size_t)n;
    const struct pp_gemm g = {
        n,        n,        n,       .a = first, .b = first + bytes, .c = first + 2 * bytes,
        .lda = n, .ldb = n, .ldc = n};

    t->bench->sm_count = ((const struct pp_cuda_stream *)stream)->sm_count;
    for (int i = 0; i < 8; i++)
        k->gemm(stream, &g);
}

static void hand_on(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct task *t = argument;
    int *const tokens = t->bench->tokens;

    k->copy(stream, sizeof(int), tokens + (t->worker + WORKERS - 1) % WORKERS, tokens + t->worker);
}

/* A number goes round through all workers, each of which works before it hands it on. */
static enum pp_status relay(struct bench *x, struct pp_error *err)
{
    int tokens[WORKERS] = {0};

    tokens[WORKERS - 1] = 42;
    PP_TRY(x->b->write(x->device, tokens, x->tokens, sizeof tokens, err));
    x->b->begin(x->device);
    for (int i = 0; i < WORKERS * ROUNDS; i++) {
        const int w = i % WORKERS;
        if (i > 0 && !x->b->wait(x->device, w, i - 1))
            break;
        x->b->launch(x->device, w, multiply, &x->of[w]);
        x->b->launch(x->device, w, hand_on, &x->of[w]);
        x->b->record(x->device, w, i);
    }
    PP_TRY(x->b->finish(x->device, err));
    PP_TRY(x->b->read(x->device, x->tokens, tokens, sizeof tokens, err));
    for (int w = 0; w < WORKERS; w++)
        if (tokens[w] != 42)
            return pp_error_set(err, PP_EFAIL, "worker %d got %d, not 42", w, tokens[w]);
    for (int i = 1; i < WORKERS * ROUNDS; i++) {
        const struct pp_span before =
            x->b->span(x->device, (i - 1) % WORKERS, (i - 1) / WORKERS * 2 + 1);
        const struct pp_span after = x->b->span(x->device, i % WORKERS, i / WORKERS * 2);
        /* times of the device are in steps of half a microsecond */
        if (!(after.start_s >= before.end_s - 1e-6))
            return pp_error_set(err, PP_EFAIL, "work began %g s before what it waited for was over",
                                before.end_s - after.start_s);
    }
    return PP_OK;
}

/* Seconds of products on the first `workers` streams, all at once; `each_s`: of one, on average. */
static enum pp_status work(struct bench *x, int workers, double *all_s, double *each_s,
                           struct pp_error *err)
{
    double first_s = INFINITY, last_s = 0;

    *each_s = 0;
    x->b->begin(x->device);
    for (int w = 0; w < workers; w++)
        x->b->launch(x->device, w, multiply, &x->of[w]);
    PP_TRY(x->b->finish(x->device, err));
    for (int w = 0; w < workers; w++) {
        const struct pp_span span = x->b->span(x->device, w, 0);
        first_s = fmin(first_s, span.start_s);
        last_s = fmax(last_s, span.end_s);
        *each_s += (span.end_s - span.start_s) / workers;
    }
    *all_s = last_s - first_s;
    return isfinite(*all_s) ? PP_OK : pp_error_set(err, PP_EFAIL, "there are no times");
}

static enum pp_status try_mode(struct probe_findings *f, bool is_trial, enum pp_device_mode mode,
                               struct pp_error *err)
{
    double alone_s = 0, all_s = 0, each_s = 0;
    struct bench x;

    PP_TRY(open_bench(&x, mode, is_trial, err));
    PP_TRY(relay(&x, err));
    for (int i = 0; i < 2; i++) /* the first chooses algorithms */
        PP_TRY(work(&x, 1, &alone_s, &each_s, err));
    PP_TRY(work(&x, WORKERS, &all_s, &each_s, err));
    PP_TRY(work(&x, WORKERS, &all_s, &each_s, err));
    probe_found(f, "multiprocessors", x.sm_count);
    probe_found(f, "one_alone_s", alone_s);
    probe_found(f, "one_of_four_s", each_s);
    probe_found(f, "four_s", all_s);
    probe_found(f, "slower_beside_others", each_s / alone_s);
    probe_found(f, "at_once", WORKERS * each_s / all_s);
    close_bench(&x);
    return PP_OK;
}

static enum pp_status serial(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    return try_mode(f, is_trial, PP_DEVICE_SERIAL, err);
}

static enum pp_status streams(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    return try_mode(f, is_trial, PP_DEVICE_STREAMS, err);
}

static enum pp_status partition(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    return try_mode(f, is_trial, PP_DEVICE_PARTITION, err);
}

/* Into how many equal parts the device can be cut, and how large they are. */
static enum pp_status parts(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    static const struct {
        const char *name;
        int count;
    } all[] = {{"multiprocessors_of_2", 2}, {"multiprocessors_of_8", 8}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct bench x = {
            .arena = pp_arena_create(), .b = &pp_backend_cuda, .n = is_trial ? 32 : 256};
        const struct pp_device_options options = {.kernels = &pp_kernels_cuda_bf16,
                                                  .streams = all[i].count,
                                                  .workers = all[i].count,
                                                  .worker = -1,
                                                  .mode = PP_DEVICE_PARTITION};
        PP_TRY(x.b->open(x.arena, &options, &x.device, err));
        PP_TRY(x.b->alloc(x.device, 6 * (size_t)x.n * (size_t)x.n, &x.matrices, err));
        x.of[0] = (struct task){&x, 0};
        x.b->begin(x.device);
        x.b->launch(x.device, all[i].count - 1, multiply, &x.of[0]);
        PP_TRY(x.b->finish(x.device, err));
        probe_found(f, all[i].name, x.sm_count);
        close_bench(&x);
    }
    return PP_OK;
}

const struct probe probes_of_backend[] = {
    {"serial", serial},
    {"streams of ranks", streams},
    {"partition", partition},
    {"parts", parts},
    {0},
};
