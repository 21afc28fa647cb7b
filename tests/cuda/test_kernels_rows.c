/* Rows, norms and activations of the CUDA tables, at odd shapes. Widths are and are not multiples
 * of 16 bytes, and some rows are wider than threads keep. Cases have one row and many. */
#include "core/random.h"
#include "tests/cuda/table_case.h"

struct shape {
    int rows, width, flags;
};

static const struct shape SHAPES[] = {
    {1, 1, 0},    {3, 3, 0},    {1, 8, 0},    {65, 8, 0},    {7, 24, 0},
    {130, 31, 0}, {2, 64, 0},   {200, 65, 0}, {9, 100, 0},   {33, 200, 0},
    {4, 768, 0},  {5, 1600, 0}, {2, 2051, 0}, {2, 16400, 0}, {2500, 8, 0},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

/* Every shape, with `flags` of them. */
static void try_shapes(struct kernel_case (*of)(const struct shape *s), int flags)
{
    for (int i = 0; i < SHAPE_COUNT; i++) {
        struct shape s = SHAPES[i];
        s.flags = flags;
        const struct kernel_case c = of(&s);
        kernel_try_both(&c);
    }
}

static size_t size_of(const struct shape *s)
{
    return (size_t)s->rows * (size_t)s->width;
}

/* ---- bias ------------------------------------------------------------------------------------ */

enum { IS_ADDED = 1 };

static void call_bias(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct shape *s = what;

    k->sum_rows(stream, s->rows, s->width, x[0], x[1], s->flags & IS_ADDED);
}

static struct kernel_case bias_case(const struct shape *s)
{
    const size_t width = (size_t)s->width;

    return (struct kernel_case){"bias",
                                call_bias,
                                s,
                                .tolerance = 1e-6,
                                .floor = 5e-6,
                                .tensors = 2,
                                .tensor = {{size_of(s), OF_T, 1}, {width, OF_G, 1}}};
}

Test(cuda_kernels, bias)
{
    try_shapes(bias_case, 0);
    try_shapes(bias_case, IS_ADDED);
}

/* So wide that sums over 64 rows each would take more than the 4 MiB of the workspace that they
 * may. */
Test(cuda_kernels, wide_columns)
{
    enum { ROWS = 65, WIDTH = (1 << 19) + 8 };
    const size_t bytes = sizeof(float) * ROWS * WIDTH;
    void *x = device_bytes(bytes), *to = device_bytes(sizeof(float) * WIDTH);
    double *sums = doubles(WIDTH), one;
    struct pp_cuda_stream stream = *device_stream();

    stream.workspace_bytes = 4 << 20;
    device_must(cudaMemsetAsync(x, 0x3f, bytes, device_stream()->stream));
    pp_kernels_cuda_fp32.sum_rows(&stream, ROWS, WIDTH, x, to, false);
    device_finish();
    device_read(x, &one, 1, false);
    device_read(to, sums, WIDTH, false);
    for (int i = 0; i < WIDTH; i++)
        cr_assert(fabs(sums[i] - ROWS * one) < 1e-4, "column %d: %g is not %g", i, sums[i],
                  ROWS * one);
    free(sums);
}

/* ---- norms ----------------------------------------------------------------------------------- */

enum { IS_RMS = 2, HAS_BETA = 4 };

static void call_norm(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct shape *s = what;
    const bool has_beta = s->flags & HAS_BETA;
    const struct pp_norm n = {.rows = s->rows,
                              .width = s->width,
                              .is_rms = s->flags & IS_RMS,
                              .epsilon = 1e-2,
                              .x = x[0],
                              .gamma = x[1],
                              .beta = has_beta ? x[2] : NULL,
                              .y = x[3],
                              .stats = x[4],
                              .dy = x[5],
                              .base = has_beta              ? x[6]
                                      : s->flags & IS_ADDED ? x[0]
                                                            : NULL,
                              .dx = x[6],
                              .dgamma = x[7],
                              .dbeta = has_beta ? x[8] : NULL,
                              .dgamma_added = s->flags & IS_ADDED ? x[9] : NULL,
                              .dbeta_added = has_beta && s->flags & IS_ADDED ? x[10] : NULL};

    k->norm_forward(stream, &n);
    k->norm_backward(stream, &n);
}

static struct kernel_case norm_case(const struct shape *s)
{
    const size_t size = size_of(s), width = (size_t)s->width;

    return (struct kernel_case){"norm",
                                call_norm,
                                s,
                                .tolerance = 1e-5,
                                .floor = 1e-5,
                                .tensors = 11,
                                .tensor = {{size, OF_T, 3},
                                           {width, OF_T, 1},
                                           {width, OF_T, 1},
                                           {size, OF_T, 1},
                                           {2 * (size_t)s->rows, OF_G, 1},
                                           {size, OF_T, 1},
                                           {size, OF_T, 1},
                                           {width, OF_G, 1},
                                           {width, OF_G, 1},
                                           {width, OF_G, 1},
                                           {width, OF_G, 1}}};
}

Test(cuda_kernels, layer_norm)
{
    try_shapes(norm_case, HAS_BETA);
    try_shapes(norm_case, IS_ADDED);
}

Test(cuda_kernels, rms_norm)
{
    try_shapes(norm_case, IS_RMS);
    try_shapes(norm_case, IS_RMS | IS_ADDED | HAS_BETA);
}

/* Heads of tokens, which have more elements than the heads. Gradients replace those of y. */
enum { HEADS = 3, REST = 24 };

static int stride_of(const struct shape *s)
{
    return HEADS * s->width + REST;
}

static void call_norm_of_heads(const struct pp_kernels *k, void *stream, void *const *x,
                               const void *what)
{
    const struct shape *s = what;
    const struct pp_norm n = {.rows = HEADS * s->rows,
                              .width = s->width,
                              .group = HEADS,
                              .stride = stride_of(s),
                              .is_rms = s->flags & IS_RMS,
                              .epsilon = 1e-2,
                              .x = x[0],
                              .gamma = x[1],
                              .y = x[2],
                              .stats = x[3],
                              .dy = x[4],
                              .dx = x[4],
                              .dgamma = x[5],
                              .dgamma_added = s->flags & IS_ADDED ? x[6] : NULL};

    k->norm_forward(stream, &n);
    k->norm_backward(stream, &n);
}

static struct kernel_case norm_of_heads_case(const struct shape *s)
{
    const size_t size = (size_t)s->rows * (size_t)stride_of(s), width = (size_t)s->width;

    return (struct kernel_case){"norm of heads",
                                call_norm_of_heads,
                                s,
                                .tolerance = 1e-5,
                                .floor = 1e-5,
                                .tensors = 7,
                                .tensor = {{size, OF_T, 3},
                                           {width, OF_T, 1},
                                           {size, OF_T, 1},
                                           {2 * HEADS * (size_t)s->rows, OF_G, 1},
                                           {size, OF_T, 1},
                                           {width, OF_G, 1},
                                           {width, OF_G, 1}}};
}

Test(cuda_kernels, norms_of_heads)
{
    try_shapes(norm_of_heads_case, IS_RMS);
    try_shapes(norm_of_heads_case, IS_ADDED);
}

/* A stage sums the gradients that it receives by sum_rows, and those of its own norms with them.
 * The bits are equal, so that they do not depend on where a model is cut. */
static void try_same_sums(const struct pp_kernels *k, bool is_bf16, int rows, int width)
{
    const size_t size = (size_t)rows * (size_t)width;
    double *x = doubles(size), *sums[2] = {doubles((size_t)width), doubles((size_t)width)};

    for (size_t i = 0; i < size; i++)
        x[i] = (double)(pp_random_bits(5, i) >> 11) * 0x1p-53 - 0.5;
    void *dy = device_tensor(x, size, is_bf16), *dx = device_bytes(size * sizeof(float)),
         *stats = device_tensor(x, 2 * (size_t)rows, false),
         *gamma = device_tensor(x, (size_t)width, is_bf16), *to[5];
    for (int i = 0; i < 5; i++) {
        to[i] = device_bytes(sizeof(float) * (size_t)width);
        device_must(cudaMemset(to[i], 0, sizeof(float) * (size_t)width));
    }
    k->norm_backward(device_stream(), &(struct pp_norm){.rows = rows,
                                                        .width = width,
                                                        .x = dy,
                                                        .gamma = gamma,
                                                        .stats = stats,
                                                        .dy = dy,
                                                        .dx = dx,
                                                        .dgamma = to[0],
                                                        .dx_sum = to[1],
                                                        .dx_added = to[3]});

    k->sum_rows(device_stream(), rows, width, dx, to[2], false);
    k->sum_rows(device_stream(), rows, width, dx, to[4], true);
    device_finish();
    for (int i = 1; i <= 3; i += 2) {
        for (int j = 0; j < 2; j++)
            device_read(to[i + j], sums[j], (size_t)width, false);
        cr_assert(memcmp(sums[0], sums[1], sizeof(double) * (size_t)width) == 0, "%d x %d", rows,
                  width);
    }
    free(sums[0]), free(sums[1]), free(x);
}

Test(cuda_kernels, norms_sum_as_sum_rows)
{
    static const int SIZES[][2] = {{1, 8},      {700, 24}, {900, 768},
                                   {300, 2048}, {5, 2056}, {301, 31}};

    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        try_same_sums(&pp_kernels_cuda_fp32, false, SIZES[i][0], SIZES[i][1]);
        try_same_sums(&pp_kernels_cuda_bf16, true, SIZES[i][0], SIZES[i][1]);
    }
}

/* ---- activations ----------------------------------------------------------------------------- */

enum { INTO_X = 1, ACTIVATION = 2 }; /* flags / ACTIVATION: the function */

/* Infinities saturate, NaN stays NaN. */
Test(cuda_kernels, gelu_ends)
{
    static const double X[] = {INFINITY, NAN, 100, -100, 3e38, -1e30};
    enum { COUNT = sizeof X / sizeof *X };
    static const double ONE[] = {1};
    void *x = device_tensor(X, COUNT, false), *c = device_tensor(X, COUNT, false),
         *activated = device_tensor(X, COUNT, false);
    double y[COUNT];

    pp_kernels_cuda_fp32.gemm(device_stream(), &(struct pp_gemm){.m = 1,
                                                                 .n = COUNT,
                                                                 .k = 1,
                                                                 .a = device_tensor(ONE, 1, false),
                                                                 .b = x,
                                                                 .c = c,
                                                                 .lda = 1,
                                                                 .ldb = COUNT,
                                                                 .ldc = COUNT,
                                                                 .activated = activated});
    device_finish();
    device_read(activated, y, COUNT, false);
    cr_assert_eq(y[0], INFINITY);
    cr_assert(isnan(y[1]));
    cr_assert_eq(y[2], 100);
    cr_assert_eq(y[3], 0);
    cr_assert_eq(y[4], (double)3e38f);
    cr_assert_eq(y[5], 0);
}

static void call_gate(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct shape *s = what;
    const enum pp_activation f = (enum pp_activation)(s->flags / ACTIVATION);

    k->gate_forward(stream, f, s->rows, s->width, x[0], x[1]);
    k->gate_backward(stream, f, s->rows, s->width, x[0], x[2], s->flags & INTO_X ? x[0] : x[3]);
}

static struct kernel_case gate_case(const struct shape *s)
{
    const size_t size = size_of(s);

    return (struct kernel_case){
        "gate",
        call_gate,
        s,
        .tolerance = 1e-5,
        .floor = 2e-6,
        .tensors = 4,
        .tensor = {{2 * size, OF_T, 5}, {size, OF_T, 1}, {size, OF_T, 1}, {2 * size, OF_T, 1}}};
}

static void call_activate(const struct pp_kernels *k, void *stream, void *const *x,
                          const void *what)
{
    const struct shape *s = what;
    const enum pp_activation f = (enum pp_activation)(s->flags / ACTIVATION);
    const int64_t count = (int64_t)size_of(s);

    k->activate_forward(stream, f, count, x[0], x[1]);
    k->activate_backward(stream, f, count, x[0], x[2], s->flags & INTO_X ? x[0] : x[2]);
}

static struct kernel_case activate_case(const struct shape *s)
{
    const size_t size = size_of(s);

    return (struct kernel_case){"activation",
                                call_activate,
                                s,
                                .tolerance = 1e-5,
                                .floor = 2e-6,
                                .tensors = 3,
                                .tensor = {{size, OF_T, 5}, {size, OF_T, 1}, {size, OF_T, 1}}};
}

Test(cuda_kernels, activations)
{
    for (int f = 0; f < PP_ACTIVATIONS; f++) {
        try_shapes(activate_case, f * ACTIVATION);
        try_shapes(activate_case, f * ACTIVATION | INTO_X);
    }
}

Test(cuda_kernels, gates)
{
    for (int f = 0; f < PP_ACTIVATIONS; f++) {
        try_shapes(gate_case, f * ACTIVATION);
        try_shapes(gate_case, f * ACTIVATION | INTO_X);
    }
}

/* ---- a factor, and a bias -------------------------------------------------------------------- */

static void call_scale(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct shape *s = what;

    k->scale(stream, (int64_t)s->rows * s->width, 22.627416997969522, x[0]);
}

static struct kernel_case scale_case(const struct shape *s)
{
    return (struct kernel_case){"scale",           call_scale,   s,
                                .tolerance = 1e-6, .tensors = 1, .tensor = {{size_of(s), OF_T, 1}}};
}

Test(cuda_kernels, scale)
{
    try_shapes(scale_case, 0);
}

static void call_add_bias(const struct pp_kernels *k, void *stream, void *const *x,
                          const void *what)
{
    const struct shape *s = what;

    k->add_bias(stream, s->rows, s->width, x[0], x[1]);
}

static struct kernel_case add_bias_case(const struct shape *s)
{
    return (struct kernel_case){"add_bias",
                                call_add_bias,
                                s,
                                .tolerance = 1e-6,
                                .floor = 1e-7,
                                .tensors = 2,
                                .tensor = {{(size_t)s->width, OF_T, 1}, {size_of(s), OF_T, 1}}};
}

Test(cuda_kernels, add_bias)
{
    try_shapes(add_bias_case, 0);
}

/* ---- rotary positions ------------------------------------------------------------------------ */

struct turn {
    int batch, tokens, heads, head_dim, stride, first;
    bool is_inverse;
    int dim; /* of the rotated part of a head */
    double factor;
};

static void call_rotate(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct turn *t = what;

    const struct pp_rotation r = {t->batch,
                                  t->tokens,
                                  t->heads,
                                  t->head_dim,
                                  t->stride,
                                  t->first,
                                  {.dim = t->dim, .theta = 10000, .factor = t->factor},
                                  t->is_inverse};

    k->rotate(stream, &r, x[0]);
}

Test(cuda_kernels, rotate)
{
    static const struct turn TURNS[] = {
        {1, 1, 1, 2, 2, 0, false, 2, 0},       {2, 5, 3, 6, 20, 7, true, 6, 0},
        {2, 3, 5, 16, 96, 1000, false, 16, 4}, {1, 4, 9, 64, 704, 123456, false, 64, 0},
        {3, 2, 4, 128, 512, 5, true, 32, 0},   {1, 3, 4, 80, 333, 0, false, 80, 0},
        {1, 3, 13, 12, 160, 2, false, 6, 2},   {1, 3, 3, 20, 80, 9, true, 16, 0},
    };

    for (size_t i = 0; i < sizeof TURNS / sizeof *TURNS; i++) {
        const struct turn *t = &TURNS[i];
        const struct kernel_case c = {
            "rotate",
            call_rotate,
            t,
            .tolerance = 1e-6,
            .floor = 1e-6,
            .tensors = 1,
            .tensor = {{(size_t)(t->batch * t->tokens * t->stride), OF_T, 1}}};
        kernel_try_both(&c);
    }
}
