/* Probes of kernels: first launches, memory that host and device share, cuBLASLt, shared memory,
 * launches that are refused. */
#include "bench/probe/probe.h"
#include "core/arena.h"
#include "kernels/cuda/gemm/plans.h"
#include "kernels/cuda/table.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#define DO(call, what) PP_TRY(probe_try(call, what, err))

static const struct pp_kernels *const k = &pp_kernels_cuda_bf16;

static enum pp_status open_stream(struct pp_cuda_stream *s, struct pp_error *err)
{
    *s = (struct pp_cuda_stream){.workspace_bytes = 32 << 20};
    DO(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "make a stream");
    DO(cudaMalloc(&s->workspace, s->workspace_bytes), "allocate memory");
    DO(cudaDeviceGetAttribute(&s->sm_count, cudaDevAttrMultiProcessorCount, 0), "ask for a size");
    s->plans = pp_cuda_plans_create();
    return cublasLtCreate(&s->blas) == CUBLAS_STATUS_SUCCESS
               ? PP_OK
               : pp_error_set(err, PP_EFAIL, "cublasLtCreate failed");
}

static void close_stream(struct pp_cuda_stream *s)
{
    pp_cuda_plans_destroy(s->plans);
    cublasLtDestroy(s->blas);
    cudaFree(s->workspace);
    cudaStreamDestroy(s->stream);
}

/* All that was launched has run: the host's view of an error and the device's. */
static enum pp_status finish(struct pp_cuda_stream *s, const char *what, struct pp_error *err)
{
    DO(cudaGetLastError(), what);
    DO(cudaStreamSynchronize(s->stream), what);
    return PP_OK;
}

/* Bytes at random, most of which make small numbers of bf16. */
static enum pp_status fill(void **memory, size_t bytes, struct pp_error *err)
{
    unsigned short *host = malloc(bytes);

    for (size_t i = 0; i < bytes / 2; i++)
        host[i] = (unsigned short)(0x3c00 + i * 2654435761u % 512 + (i * 40503u >> 7 & 1) * 0x8000);
    const cudaError_t code = cudaMalloc(memory, bytes);
    if (code == cudaSuccess)
        cudaMemcpy(*memory, host, bytes, cudaMemcpyHostToDevice);
    free(host);
    return probe_try(code, "allocate memory", err);
}

static enum pp_status launches(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    enum { COUNT = 1 << 10 };
    const int times = is_trial ? 20 : 500; /* the device queues 1,024 */
    struct pp_cuda_stream s;
    void *memory;

    PP_TRY(open_stream(&s, err));
    PP_TRY(fill(&memory, COUNT * sizeof(float), err));
    double start_s = probe_seconds();
    k->add(&s, COUNT, memory, memory);
    PP_TRY(finish(&s, "run a kernel", err));
    probe_found(f, "first_us", 1e6 * (probe_seconds() - start_s));
    start_s = probe_seconds();
    for (int i = 0; i < times; i++)
        k->add(&s, COUNT, memory, memory);
    probe_found(f, "host_us_of_a_launch", 1e6 * (probe_seconds() - start_s) / times);
    PP_TRY(finish(&s, "run a kernel", err));
    probe_found(f, "us_of_a_launch", 1e6 * (probe_seconds() - start_s) / times);
    cudaFree(memory);
    close_stream(&s);
    return PP_OK;
}

/* Memory of the host that kernels read and write at the host's own address. */
static enum pp_status shared_memory(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    enum { COUNT = 1000 };
    struct pp_cuda_stream s;
    float *host = NULL, *memory = NULL;
    void *device_view = NULL;
    int wrong = 0;

    (void)is_trial;
    PP_TRY(open_stream(&s, err));
    DO(cudaHostAlloc((void **)&host, COUNT * sizeof(float), cudaHostAllocMapped), "allocate it");
    DO(cudaHostGetDevicePointer(&device_view, host, 0), "see it");
    DO(cudaMalloc((void **)&memory, COUNT * sizeof(float)), "allocate memory");
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    k->zero(&s, COUNT * sizeof(float), memory);
    k->add(&s, COUNT, host, memory);
    k->add(&s, COUNT, memory, host);
    PP_TRY(finish(&s, "use memory of the host", err));
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != 2 * (float)i;
    probe_found(f, "is_at_the_same_address", device_view == host);
    cudaFree(memory);
    cudaFreeHost(host);
    close_stream(&s);
    return wrong ? pp_error_set(err, PP_EFAIL, "%d of %d elements are wrong", wrong, COUNT) : PP_OK;
}

/* Each form that training uses, on all multiprocessors and on 32 of them. cuBLASLt computes it, not
 * our own kernels. */
static enum pp_status products(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    const int n = is_trial ? 64 : 4096, times = is_trial ? 1 : 10;
    const size_t bytes = 4 * (size_t)n * (size_t)n;
    void *a, *b, *c, *bias, *activated;

    PP_TRY(fill(&a, bytes, err));
    PP_TRY(fill(&b, bytes, err));
    PP_TRY(fill(&c, bytes, err));
    PP_TRY(fill(&bias, bytes, err));
    PP_TRY(fill(&activated, bytes, err));
    const struct pp_gemm plain = {n, n, n, .a = a, .b = b, .c = c, .lda = n, .ldb = n, .ldc = n};
    enum { FORMS = 5 };
    struct pp_gemm all[FORMS];
    for (int i = 0; i < FORMS; i++)
        all[i] = plain;
    all[1].bias = bias;
    all[1].b_transposed = true;
    all[2].bias = bias;
    all[2].activated = activated;
    all[3].slope_of = activated;
    all[4].a_transposed = all[4].is_gradient = true;
    all[4].base = c;
    for (int part = 0; part < 2; part++) {
        struct pp_cuda_stream s;
        PP_TRY(open_stream(&s, err));
        if (part && s.sm_count > 32)
            s.sm_count = 32;
        for (int i = 0; i < FORMS; i++) {
            k->gemm(&s, &all[i]);
            PP_TRY(finish(&s, "multiply", err));
        }
        const double start_s = probe_seconds();
        for (int i = 0; i < times; i++)
            k->gemm(&s, &all[0]);
        PP_TRY(finish(&s, "multiply", err));
        probe_found(f, part ? "flops_per_s_for_32" : "flops_per_s",
                    2e0 * n * n * (double)n * times / (probe_seconds() - start_s));
        const struct pp_cuda_plan_report *counts = pp_cuda_plans_report(s.plans);
        probe_found(f, part ? "refused_for_32" : "refused", counts->refused);
        probe_found(f, part ? "own_for_32" : "own", (double)counts->multiplied.own);
        if (counts->multiplied.own)
            pp_error_set(err, PP_EFAIL, "cuBLASLt refuses %d forms", counts->refused);
        close_stream(&s);
    }
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(bias);
    cudaFree(activated);
    return err->status;
}

/* Heads of each kind of kernel, as all of them opt in to more shared memory. */
static enum pp_status attention(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    static const struct {
        const char *name;
        int head_dim;
    } all[] = {{"us_of_head_64", 64}, {"us_of_head_128", 128}, {"us_of_head_256", 256}};
    struct pp_cuda_stream s;

    PP_TRY(open_stream(&s, err));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct pp_attention a = {.batch = 2,
                                 .tokens = is_trial ? 20 : 1000,
                                 .heads = 2,
                                 .kv_heads = 1,
                                 .head_dim = all[i].head_dim};
        const size_t row_bytes = 2 * (size_t)(a.batch * a.tokens * a.head_dim);
        void *qkv, *dqkv, *out, *dout;
        PP_TRY(fill(&qkv, 4 * row_bytes, err));
        PP_TRY(fill(&dqkv, 4 * row_bytes, err));
        PP_TRY(fill(&out, 2 * row_bytes, err));
        PP_TRY(fill(&dout, 2 * row_bytes, err));
        PP_TRY(fill(&a.lse, row_bytes, err));
        PP_TRY(fill(&a.scratch, k->attention_scratch_bytes(&a), err));
        a.qkv = (const void *const *)&qkv;
        a.dqkv = &dqkv;
        a.out = out;
        a.dout = dout;
        k->attention_forward(&s, &a);
        k->attention_backward(&s, &a);
        PP_TRY(finish(&s, "run attention", err));
        const double start_s = probe_seconds();
        k->attention_forward(&s, &a);
        k->attention_backward(&s, &a);
        PP_TRY(finish(&s, "run attention", err));
        probe_found(f, all[i].name, 1e6 * (probe_seconds() - start_s));
        void *const memory[] = {qkv, dqkv, out, dout, a.lse, a.scratch};
        for (size_t j = 0; j < sizeof memory / sizeof *memory; j++)
            cudaFree(memory[j]);
    }
    close_stream(&s);
    return PP_OK;
}

/* A grid that is too large: the launch is refused and told once, and nothing is broken. */
static enum pp_status refusals(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    enum { TOO_MANY = 70000 };
    const void *none = NULL;
    struct pp_attention a = {
        .batch = TOO_MANY, .tokens = 1, .heads = 1, .kv_heads = 1, .head_dim = 64, .qkv = &none};
    struct pp_cuda_stream s;
    void *memory;

    (void)is_trial;
    PP_TRY(open_stream(&s, err));
    PP_TRY(fill(&memory, 64, err));
    k->attention_forward(&s, &a);
    const cudaError_t told = cudaGetLastError(), after = cudaGetLastError();
    probe_found(f, "code", told);
    k->add(&s, 8, memory, memory);
    PP_TRY(finish(&s, "run a kernel after a refused one", err));
    cudaFree(memory);
    close_stream(&s);
    return told != cudaSuccess && after == cudaSuccess
               ? PP_OK
               : pp_error_set(err, PP_EFAIL, "a launch of too many blocks gave %s, then %s",
                              cudaGetErrorName(told), cudaGetErrorName(after));
}

const struct probe probes_of_kernels[] = {
    {"launches", launches},   {"shared memory", shared_memory}, {"products", products},
    {"attention", attention}, {"refusals", refusals},           {0},
};
