/* What the CUDA tables do with flat vectors: bytes, sums, squares, the optimizer. */
#include "tests/cuda/table_case.h"

static const int COUNTS[] = {1, 2, 3, 4, 5, 31, 1000, 4095, 4096, 4097, 10007};
enum { COUNT_COUNT = sizeof COUNTS / sizeof *COUNTS };

/* Of a vector, from element `shift` on. */
struct flat {
    int count, shift;
};

static void try_counts(struct kernel_case (*of)(const struct flat *f))
{
    for (int i = 0; i < 2 * COUNT_COUNT; i++) {
        const struct flat f = {COUNTS[i / 2], i % 2};
        const struct kernel_case c = of(&f);
        kernel_try(&pp_kernels_cuda_fp32, &c);
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

Test(cuda_kernels, bytes)
{
    enum { BYTES = 1001 };
    unsigned char from[BYTES], to[BYTES];
    char *a = device_bytes(BYTES), *b = device_bytes(BYTES);

    for (int i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i % 255 + 1);
    device_put(a, from, BYTES);
    device_put(b, from, BYTES);
    pp_kernels_cuda_bf16.copy(device_stream(), 900, a + 1, b + 3);
    pp_kernels_cuda_bf16.zero(device_stream(), 50, b + 901);
    pp_kernels_cuda_bf16.zero(device_stream(), 0, b);
    pp_kernels_cuda_bf16.copy(device_stream(), 0, a, b);
    device_finish();
    device_must(cudaMemcpy(to, b, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BYTES; i++)
        cr_assert_eq(to[i],
                     i >= 901 && i < 951 ? 0
                     : i >= 3 && i < 903 ? from[i - 2]
                                         : from[i],
                     "byte %d is %d", i, to[i]);
}

/* ---- sums and squares ------------------------------------------------------------------------ */

static void call_add(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct flat *f = what;
    const size_t shift = (size_t)f->shift * k->gradient_bytes;

    k->add(stream, f->count, (char *)x[0] + shift, (char *)x[1] + shift);
}

static struct kernel_case add_case(const struct flat *f)
{
    const struct tensor t = {(size_t)(f->count + f->shift), OF_G, 1};

    return (struct kernel_case){"add",        call_add,        f, .tolerance = 1e-7, .floor = 1e-7,
                                .tensors = 2, .tensor = {t, t}};
}

Test(cuda_kernels, add)
{
    try_counts(add_case);
}

static void call_squares(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct flat *f = what;

    k->squares(stream, f->count, (char *)x[0] + (size_t)f->shift * k->gradient_bytes, x[1]);
}

static struct kernel_case squares_case(const struct flat *f)
{
    const size_t blocks = (size_t)(f->count + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK;

    return (struct kernel_case){
        "squares",
        call_squares,
        f,
        .tolerance = 1e-13,
        .tensors = 2,
        .tensor = {{(size_t)(f->count + f->shift), OF_G, 3}, {blocks, SHARED_DOUBLE, 1}}};
}

Test(cuda_kernels, squares)
{
    try_counts(squares_case);
}

/* ---- the optimizer --------------------------------------------------------------------------- */

enum { STEPS = 3 };
static const struct pp_adamw ADAMW = {0.9, 0.99, 1e-8, 0.1};
static const struct pp_adamw_step NOW = {1e-2, 0.5, 0.25, 0.5};

struct trained {
    int count;
    bool has_master;
    struct pp_adamw_step *now; /* shared */
};

/* x: gradient, m, v, weights, master. The reference needs none: its weights are as fine. */
static void call_adamw(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct trained *t = what;
    const bool is_reference = k == &pp_kernels_reference;
    void *const weights = is_reference && t->has_master ? x[4] : x[3];
    void *const master = !is_reference && t->has_master ? x[4] : NULL;

    for (int step = 0; step < STEPS; step++)
        k->adamw(stream, t->count, &ADAMW, t->now, x[0], weights, master, x[1], x[2]);
    if (is_reference && t->has_master)
        memcpy(x[3], x[4], sizeof(double) * (size_t)t->count);
}

static void moments_of_squares(double *const *x, const void *what)
{
    const struct trained *t = what;

    for (int i = 0; i < t->count; i++)
        x[2][i] = fabs(x[2][i]);
}

static void try_adamw(const struct pp_kernels *k, int count)
{
    const struct trained t = {count, k->element_bytes != k->gradient_bytes,
                              shared_bytes(sizeof NOW)};
    const struct tensor g = {(size_t)count, OF_G, 1};
    const struct kernel_case c = {"adamw",
                                  call_adamw,
                                  &t,
                                  moments_of_squares,
                                  .tolerance = 1e-6,
                                  .floor = 1e-6,
                                  .tensors = t.has_master ? 5 : 4,
                                  .tensor = {g, g, g, {(size_t)count, OF_T, 1}, g}};

    *t.now = NOW;
    kernel_try(k, &c);
}

Test(cuda_kernels, adamw)
{
    for (int i = 0; i < COUNT_COUNT; i++) {
        try_adamw(&pp_kernels_cuda_fp32, COUNTS[i]);
        try_adamw(&pp_kernels_cuda_bf16, COUNTS[i]);
    }
}

static void set(void *now)
{
    *(struct pp_adamw_step *)now = NOW;
    ((struct pp_adamw_step *)now)->grad_scale = 1;
}

/* Weights are the master, rounded; what belongs to the step is read when
 * the work runs, not when it is issued. */
Test(cuda_kernels, adamw_rounds_its_master)
{
    enum { COUNT = 1003 };
    double x[COUNT], master[COUNT], weights[COUNT], m[COUNT];
    struct pp_adamw_step *now = shared_bytes(sizeof *now);

    for (int i = 0; i < COUNT; i++)
        x[i] = drawn();
    void *grad = device_tensor(x, COUNT, false), *of_t = device_tensor(x, COUNT, true);
    void *of_g = device_tensor(x, COUNT, false), *v = device_tensor(x, COUNT, false);
    void *first = device_tensor(x, COUNT, false);
    *now = (struct pp_adamw_step){NAN, NAN, NAN, NAN};
    pp_kernels_cuda_bf16.zero(device_stream(), sizeof(float) * COUNT, v);
    device_must(cudaLaunchHostFunc(device_stream()->stream, set, now));
    pp_kernels_cuda_bf16.adamw(device_stream(), COUNT, &ADAMW, now, grad, of_t, of_g, first, v);
    device_finish();
    device_read(of_g, master, COUNT, false);
    device_read(of_t, weights, COUNT, true);
    device_read(first, m, COUNT, false);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(weights[i], rounded(master[i], true), "%d: %a is not %a rounded", i,
                     weights[i], master[i]);
        cr_assert(fabs(m[i] - (double)(float)x[i]) < 1e-6, "%d: %g is not %g", i, m[i], x[i]);
    }
}
