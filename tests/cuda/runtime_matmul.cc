/* tests/cuda/runtime_matmul.cc — the multiplication itself: both operands as floats, packed into
 * panels, then tiles that fit into registers. The same bits with every instruction set. */
#include "tests/cuda/include/cuda_bf16.h"
#include "tests/cuda/runtime_blas.h"

#include <algorithm>
#include <math.h>
#include <vector>

enum { TILE_ROWS = 16, TILE_COLUMNS = 4 };

/* ---- elements -------------------------------------------------------------------------------- */

/* Element (i, j) lies at i * row + j * column. */
struct view {
    char *data;
    int64_t row, column;
    bool is_bf16;
};

static struct view view_of(const void *data, const struct pp_emulated_matrix_layout &l,
                           bool is_transposed)
{
    return {(char *)data, is_transposed ? l.ld : 1, is_transposed ? 1 : l.ld,
            l.type == CUDA_R_16BF};
}

static float load(const struct view &v, int64_t i, int64_t j)
{
    const int64_t at = i * v.row + j * v.column;
    return v.is_bf16 ? (float)((const __nv_bfloat16 *)v.data)[at] : ((const float *)v.data)[at];
}

static void store(const struct view &v, int64_t i, int64_t j, float x)
{
    const int64_t at = i * v.row + j * v.column;

    if (v.is_bf16)
        ((__nv_bfloat16 *)v.data)[at] = x;
    else
        ((float *)v.data)[at] = x;
}

/* Panels of `width` rows of v, [k][width] each; zeros beyond the last row. */
static std::vector<float> pack(const struct view &v, int64_t rows, int64_t k, int64_t width)
{
    std::vector<float> packed((size_t)((rows + width - 1) / width * width * k));

    for (int64_t i = 0; i < rows; i++)
        for (int64_t l = 0; l < k; l++)
            packed[(size_t)(i / width * width * k + l * width + i % width)] = load(v, i, l);
    return packed;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

typedef float sums[TILE_COLUMNS][TILE_ROWS];

static inline __attribute__((always_inline)) void tile_loops(int64_t k, const float *a,
                                                             const float *b, sums out)
{
    sums sum = {};

    for (int64_t l = 0; l < k; l++, a += TILE_ROWS, b += TILE_COLUMNS)
        for (int j = 0; j < TILE_COLUMNS; j++)
            for (int i = 0; i < TILE_ROWS; i++)
                sum[j][i] += a[i] * b[j];
    for (int j = 0; j < TILE_COLUMNS; j++)
        for (int i = 0; i < TILE_ROWS; i++)
            out[j][i] = sum[j][i];
}

static void tile_plain(int64_t k, const float *a, const float *b, sums out)
{
    tile_loops(k, a, b, out);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void tile_avx2(int64_t k, const float *a, const float *b,
                                                      sums out)
{
    tile_loops(k, a, b, out);
}
#else
#define tile_avx2                     tile_plain
#define __builtin_cpu_supports(level) false
#endif

/* ---- epilogues ------------------------------------------------------------------------------- */

static const float GELU_SCALE = 0.7978845608028654f /* sqrt(2 / pi) */, GELU_CUBE = 0.044715f;

/* As devices have it, for all types: right to 2^-11 of itself. */
static float short_tanh(float x)
{
    int exponent;
    const float digits = frexpf(tanhf(x), &exponent);

    return ldexpf(roundf(digits * 0x1p11f) * 0x1p-11f, exponent);
}

static float gelu(float x)
{
    return 0.5f * x * (1 + short_tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x)));
}

static float gelu_slope(float x)
{
    const float t = short_tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x));

    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * GELU_SCALE * (1 + 3 * GELU_CUBE * x * x);
}

/* Where the results of a multiplication go, and what they are finished with. */
struct output {
    uint32_t epilogue;
    float alpha, beta;
    struct view c, d, bias, aux;
};

static struct output output_of(const struct multiplication *x)
{
    const struct pp_emulated_matrix_layout &d = x->layouts[3];
    const bool is_bf16 = d.type == CUDA_R_16BF;

    return {x->how.epilogue,
            x->alpha,
            x->beta,
            view_of(x->c, x->layouts[2], false),
            view_of(x->d, d, false),
            {(char *)x->how.bias, 1, 0, is_bf16},
            {(char *)x->how.aux, 1, x->how.aux_ld, is_bf16}};
}

static void finish(const struct output &o, int64_t i, int64_t j, float product)
{
    float y = o.alpha * product;

    if (o.beta != 0)
        y += o.beta * load(o.c, i, j);
    if (o.epilogue == CUBLASLT_EPILOGUE_DGELU) {
        y *= gelu_slope(load(o.aux, i, j));
    } else {
        if (o.epilogue & CUBLASLT_EPILOGUE_BIAS)
            y += load(o.bias, i, 0);
        if (o.epilogue & PP_EMULATED_AUX)
            store(o.aux, i, j, y);
        if (o.epilogue & CUBLASLT_EPILOGUE_GELU)
            y = gelu(y);
    }
    store(o.d, i, j, y);
}

/* ---- all of it ------------------------------------------------------------------------------- */

void pp_emulated_matmul(const struct multiplication *x)
{
    static void (*const tile)(int64_t, const float *, const float *, sums) =
        __builtin_cpu_supports("avx2") ? tile_avx2 : tile_plain;
    const bool is_a_transposed = x->how.a_op == CUBLAS_OP_T;
    const int64_t m = (int64_t)x->layouts[3].rows, n = (int64_t)x->layouts[3].columns;
    const int64_t k = (int64_t)(is_a_transposed ? x->layouts[0].rows : x->layouts[0].columns);
    const std::vector<float> a =
        pack(view_of(x->a, x->layouts[0], is_a_transposed), m, k, TILE_ROWS);
    const std::vector<float> b =
        pack(view_of(x->b, x->layouts[1], x->how.b_op != CUBLAS_OP_T), n, k, TILE_COLUMNS);
    const struct output output = output_of(x);
    sums out;

    for (int64_t j = 0; j < n; j += TILE_COLUMNS)
        for (int64_t i = 0; i < m; i += TILE_ROWS) {
            tile(k, a.data() + i * k, b.data() + j * k, out);
            for (int64_t column = j; column < std::min(n, j + TILE_COLUMNS); column++)
                for (int64_t row = i; row < std::min(m, i + TILE_ROWS); row++)
                    finish(output, row, column, out[column - j][row - i]);
        }
}
