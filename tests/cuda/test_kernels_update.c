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

    const struct pp_flat_tensor tensor = {0, f->count, true};
    const struct pp_flat flat = {&tensor, 1, 0, f->count,
                                 (char *)x[0] + (size_t)f->shift * k->gradient_bytes};

    k->squares(stream, &flat, x[1]);
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

/* x: gradient of every step, gradient, m, v, weights, master. The reference needs no master: its
 * weights are as fine. */
static void call_adamw(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct trained *t = what;
    const bool is_reference = k == &pp_kernels_reference;
    void *const weights = is_reference && t->has_master ? x[5] : x[4];
    void *const master = !is_reference && t->has_master ? x[5] : NULL;

    const struct pp_flat_tensor tensor = {0, t->count, true};
    const struct pp_flat flat = {&tensor, 1, 0, t->count, x[1]};

    for (int step = 0; step < STEPS; step++) {
        k->copy(stream, k->gradient_bytes * (size_t)t->count, x[0], x[1]);
        k->adamw(stream, &flat, &ADAMW, t->now, weights, master, x[2], x[3]);
    }
    if (is_reference && t->has_master)
        memcpy(x[4], x[5], sizeof(double) * (size_t)t->count);
}

static void moments_of_squares(double *const *x, const void *what)
{
    const struct trained *t = what;

    for (int i = 0; i < t->count; i++)
        x[3][i] = fabs(x[3][i]);
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
                                  .tensors = t.has_master ? 6 : 5,
                                  .tensor = {g, g, g, g, {(size_t)count, OF_T, 1}, g}};

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

/* Weights are the master, rounded. Gradients are zero afterwards. What belongs to the step is read
 * when the work runs, not when it is issued. */
Test(cuda_kernels, adamw_rounds_its_master)
{
    enum { COUNT = 1003 };
    double x[COUNT], master[COUNT], weights[COUNT], m[COUNT], left[COUNT];
    struct pp_adamw_step *now = shared_bytes(sizeof *now);

    for (int i = 0; i < COUNT; i++)
        x[i] = drawn();
    void *grad = device_tensor(x, COUNT, false), *of_t = device_tensor(x, COUNT, true);
    void *of_g = device_tensor(x, COUNT, false), *v = device_tensor(x, COUNT, false);
    void *first = device_tensor(x, COUNT, false);
    *now = (struct pp_adamw_step){NAN, NAN, NAN, NAN};
    pp_kernels_cuda_bf16.zero(device_stream(), sizeof(float) * COUNT, v);
    device_must(cudaLaunchHostFunc(device_stream()->stream, set, now));
    const struct pp_flat_tensor tensor = {0, COUNT, true};
    const struct pp_flat flat = {&tensor, 1, 0, COUNT, grad};
    pp_kernels_cuda_bf16.adamw(device_stream(), &flat, &ADAMW, now, of_t, of_g, first, v);
    device_finish();
    device_read(of_g, master, COUNT, false);
    device_read(of_t, weights, COUNT, true);
    device_read(first, m, COUNT, false);
    device_read(grad, left, COUNT, false);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(weights[i], rounded(master[i], true), "%d: %a is not %a rounded", i,
                     weights[i], master[i]);
        cr_assert(fabs(m[i] - (double)(float)x[i]) < 1e-6, "%d: %g is not %g", i, m[i], x[i]);
        cr_assert_eq(left[i], 0);
    }
}

/* ---- many tensors ---------------------------------------------------------------------------- */

/* More tensors than one launch has room for: 16 elements or a few more, and every second one
 * decays. The optimizer has the same result range by range as on the whole vector. The blocks of
 * the norm are those of the reference, from floats and from fixed point. */
enum { TENSORS = 700, BITS = 20 };

struct vector {
    struct pp_flat_tensor tensors[TENSORS];
    int64_t elements, ends[5]; /* of ranges */
    bool is_fixed;
    struct pp_adamw_step *now;
    int64_t *sums; /* the gradients in fixed point, on the device; and for the reference */
    int64_t *host_sums, *first_sums; /* before the call */
};

static int64_t *sums_of(const struct pp_kernels *k, const struct vector *v)
{
    return k == &pp_kernels_reference ? v->host_sums : v->sums;
}

static struct pp_flat flat_of(const struct pp_kernels *k, const struct vector *v, char *grad,
                              int64_t from, int64_t until)
{
    int64_t *sums = sums_of(k, v);

    return (struct pp_flat){v->tensors,
                            TENSORS,
                            from,
                            until,
                            v->is_fixed ? NULL : grad + (size_t)from * k->gradient_bytes,
                            v->is_fixed ? sums + from : NULL,
                            BITS};
}

/* x: gradient, m, v, weights, blocks. Blocks may end in the next range, so it is updated later. */
static void call_flat(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct vector *v = what;
    double *blocks = x[4];
    int64_t from = 0;

    k->copy(stream, sizeof(int64_t) * (size_t)v->elements, v->first_sums, sums_of(k, v));
    for (int i = 0; i < 5; from = v->ends[i++]) {
        const struct pp_flat flat = flat_of(k, v, x[0], from, v->ends[i]);
        const size_t at = (size_t)from * k->gradient_bytes;
        k->squares(stream, &flat, blocks);
        k->adamw(stream, &flat, &ADAMW, v->now, (char *)x[3] + at, NULL, (char *)x[1] + at,
                 (char *)x[2] + at);
        for (int t = 0; t < TENSORS; t++)
            for (int64_t b = v->tensors[t].from; b < v->tensors[t].until; b += PP_SQUARES_BLOCK)
                blocks += b >= from && b < v->ends[i];
    }
}

/* Gradients are whole numbers of fixed point, and nothing lies between tensors. */
static void make_flat(double *const *x, const void *what)
{
    const struct vector *v = what;

    for (int i = 0, t = 0; i < v->elements; i++) {
        while (t < TENSORS && i >= v->tensors[t].until)
            t++;
        const bool is_gap = t == TENSORS || i < v->tensors[t].from;
        v->first_sums[i] = is_gap ? 0 : (int64_t)rint(ldexp(x[0][i], BITS));
        x[0][i] = ldexp((double)v->first_sums[i], -BITS);
        x[2][i] = fabs(x[2][i]);
        for (int k = 1; k < 4 && is_gap; k++)
            x[k][i] = 0;
    }
}

static struct vector vector_of(bool is_fixed)
{
    struct vector v = {.is_fixed = is_fixed, .now = shared_bytes(sizeof NOW)};

    for (int t = 0; t < TENSORS; t++) {
        const int64_t count = t % 97 == 50 ? 5000 + t : 1 + t % 40;
        v.tensors[t] = (struct pp_flat_tensor){v.elements, v.elements + count, t % 2 ^ t / 300};
        v.elements += (count + 15) / 16 * 16;
    }
    const int64_t ends[] = {16, 1024, v.elements / 3 / 16 * 16, v.elements / 2 / 16 * 16,
                            v.elements};
    memcpy(v.ends, ends, sizeof ends);
    v.host_sums = calloc((size_t)v.elements, sizeof(int64_t));
    v.first_sums = shared_bytes(sizeof(int64_t) * (size_t)v.elements);
    v.sums = (int64_t *)(void *)device_bytes(sizeof(int64_t) * (size_t)v.elements);
    *v.now = NOW;
    return v;
}

Test(cuda_kernels, many_tensors)
{
    for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
        const struct vector v = vector_of(is_fixed);
        const struct tensor t = {(size_t)v.elements, OF_G, 1};
        const struct kernel_case c = {"flat",
                                      call_flat,
                                      &v,
                                      make_flat,
                                      .tolerance = 1e-6,
                                      .floor = 1e-6,
                                      .tensors = 5,
                                      .tensor = {t, t, t, t, {TENSORS + 20, SHARED_DOUBLE, 1}}};

        kernel_try(&pp_kernels_cuda_fp32, &c);
        device_must(cudaMemcpy(v.first_sums, v.sums, sizeof(int64_t) * (size_t)v.elements,
                               cudaMemcpyDeviceToHost));
        for (int64_t i = 0; i < v.elements && is_fixed; i++)
            cr_assert(v.first_sums[i] == 0 && v.host_sums[i] == 0, "%lld", (long long)i);
        free(v.host_sums);
    }
}
