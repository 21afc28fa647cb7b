/* bench/kernels.c — speed of the single precision kernels on one core, as parts of the peak.
 *
 * The peak is measured: the best rate of a large multiplication, in CPU time. A block is a
 * GPT block (hidden d, 4 heads, MLP of 4 d), forward and backward. Operations are those of all
 * multiplications. Attention counts what causality leaves: (seq + 1) / 2 keys for each query. */
#include "kernels/kernels.h"
#include "bench/bench.h"

#include <math.h>

static struct pp_arena *arena;
static const struct pp_kernels *k;

/* Called once before it is measured; the best of several runs of about 10 ms. */
static double best_s(void (*call)(void *context), void *context)
{
    double best = INFINITY;
    int calls = 1;

    call(context);
    for (int i = 0; i < 8; i++) {
        const double start = cpu_s();
        for (int j = 0; j < calls; j++)
            call(context);
        const double s = (cpu_s() - start) / calls;
        best = s < best ? s : best;
        calls = (int)fmax(1, 0.01 / s);
    }
    return best;
}

static float *randoms(size_t count)
{
    static uint64_t seed = 1;
    float *x = pp_arena_alloc(arena, sizeof(float) * count);

    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (float)((double)(int64_t)seed * 0x1p-63);
    }
    return x;
}

/* ---- multiplications ------------------------------------------------------------------------- */

static struct pp_gemm gemm_of(int m, int n, int depth, bool a_transposed, bool b_transposed)
{
    return (struct pp_gemm){.m = m,
                            .n = n,
                            .k = depth,
                            .a_transposed = a_transposed,
                            .b_transposed = b_transposed,
                            .a = randoms((size_t)m * (size_t)depth),
                            .b = randoms((size_t)n * (size_t)depth),
                            .c = randoms((size_t)m * (size_t)n),
                            .lda = a_transposed ? m : depth,
                            .ldb = b_transposed ? depth : n,
                            .ldc = n};
}

static void call_gemm(void *context)
{
    k->gemm(NULL, context);
}

static double gemm_flops_per_s(int m, int n, int depth, bool a_transposed, bool b_transposed)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_gemm g = gemm_of(m, n, depth, a_transposed, b_transposed);
    const double s = best_s(call_gemm, &g);

    pp_arena_release(arena, mark);
    return 2.0 * m * n * depth / s;
}

/* The best of large ones. Sizes at which all three matrices lie in the second cache can be faster.
 */
static double peak_flops_per_s(void)
{
    double best = 0;

    for (int size = 256; size <= 2048; size *= 2) {
        const double rate = gemm_flops_per_s(size, size, size, false, false);
        printf("  %4d x %4d x %4d             %6.1f GF/s\n", size, size, size, rate * 1e-9);
        best = size >= 1024 ? fmax(best, rate) : best;
    }
    return best;
}

/* y = x W', dx = dy W, dW = dy' x for the four matrices [out][in] of a block. */
static void print_shapes(int d, int rows, double peak)
{
    const int shapes[][2] = {{3 * d, d}, {d, d}, {4 * d, d}, {d, 4 * d}};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int out = shapes[i][0], in = shapes[i][1];
        const double y = gemm_flops_per_s(rows, out, in, false, true);
        const double dx = gemm_flops_per_s(rows, in, out, false, false);
        const double dw = gemm_flops_per_s(out, in, rows, true, false);
        printf(
            "  %4d x (%4d -> %4d)  y %6.1f GF/s %3.0f %%   dx %6.1f GF/s %3.0f %%   dW %6.1f GF/s "
            "%3.0f %%\n",
            rows, in, out, y * 1e-9, 100 * y / peak, dx * 1e-9, 100 * dx / peak, dw * 1e-9,
            100 * dw / peak);
    }
}

/* ---- a block --------------------------------------------------------------------------------- */

enum { MATRICES = 4 };
struct block {
    int d, rows, seq;
    struct pp_norm norm;
    struct pp_attention attention;
    float *qkv, *dqkv;       /* [rows][3 d] */
    float *ffn, *act, *dffn; /* [rows][4 d]: before and after GELU, gradient */
    const void *qkv_of[1];
    void *dqkv_of[1];
    float *weights, *dweights, *bias, *dbias; /* as large as the largest */
};

static struct block block_of(int d, int rows, int seq)
{
    const size_t size = (size_t)rows * (size_t)d;
    struct block x = {.d = d, .rows = rows, .seq = seq};

    x.qkv = randoms(3 * size), x.dqkv = randoms(3 * size);
    x.ffn = randoms(4 * size), x.dffn = randoms(4 * size), x.act = randoms(4 * size);
    x.weights = randoms(4 * (size_t)d * (size_t)d), x.dweights = randoms(4 * (size_t)d * (size_t)d);
    x.bias = randoms(4 * (size_t)d), x.dbias = randoms(4 * (size_t)d);
    for (int i = 0; i < 4 * d * d; i++)
        x.weights[i] *= 0.05f;
    x.norm = (struct pp_norm){.rows = rows,
                              .width = d,
                              .epsilon = 1e-5,
                              .x = randoms(size),
                              .gamma = randoms((size_t)d),
                              .beta = randoms((size_t)d),
                              .y = randoms(size),
                              .stats = randoms(2 * (size_t)rows),
                              .dy = randoms(size),
                              .dx = randoms(size)};
    x.norm.base = x.norm.dx;
    x.norm.dgamma = x.dweights, x.norm.dbeta = x.dweights + d;
    x.norm.dgamma_added = x.dbias, x.norm.dbeta_added = x.dbias + d;
    x.attention = (struct pp_attention){.batch = rows / seq,
                                        .tokens = seq,
                                        .heads = 4,
                                        .kv_heads = 4,
                                        .head_dim = d / 4,
                                        .out = randoms(size),
                                        .lse = randoms((size_t)rows * 4),
                                        .dout = randoms(size)};
    x.attention.scratch = pp_arena_alloc(arena, k->attention_scratch_bytes(&x.attention));
    return x;
}

static void multiply(const struct block *x, int out, int in, const float *from, float *to)
{
    k->gemm(NULL, &(struct pp_gemm){.m = x->rows,
                                    .n = out,
                                    .k = in,
                                    .b_transposed = true,
                                    .a = from,
                                    .b = x->weights,
                                    .c = to,
                                    .lda = in,
                                    .ldb = in,
                                    .ldc = out,
                                    .bias = x->bias});
}

static void block_forward(struct block *x)
{
    const int64_t size = (int64_t)x->rows * x->d;
    float *const y = x->norm.y, *const residual = x->norm.dx;

    k->norm_forward(NULL, &x->norm);
    multiply(x, 3 * x->d, x->d, y, x->qkv);
    k->attention_forward(NULL, &x->attention);
    multiply(x, x->d, x->d, x->attention.out, residual);
    k->add(NULL, size, x->norm.x, residual);
    k->norm_forward(NULL, &x->norm);
    multiply(x, 4 * x->d, x->d, y, x->ffn);
    k->activate_forward(NULL, PP_GELU_TANH, 4 * size, x->ffn, x->act);
    multiply(x, x->d, 4 * x->d, x->act, residual);
    k->add(NULL, size, x->norm.x, residual);
}

/* dx = dy W, dW = dy' x, dbias. */
static void unmultiply(const struct block *x, int out, int in, const float *from, const float *dy,
                       float *dx)
{
    k->gemm(NULL, &(struct pp_gemm){.m = x->rows,
                                    .n = in,
                                    .k = out,
                                    .a = dy,
                                    .b = x->weights,
                                    .c = dx,
                                    .lda = out,
                                    .ldb = in,
                                    .ldc = in});
    k->gemm(NULL, &(struct pp_gemm){.m = out,
                                    .n = in,
                                    .k = x->rows,
                                    .a_transposed = true,
                                    .is_gradient = true,
                                    .a = dy,
                                    .b = from,
                                    .c = x->dweights,
                                    .lda = out,
                                    .ldb = in,
                                    .ldc = in,
                                    .base = x->dweights});
    k->sum_rows(NULL, x->rows, out, dy, x->dbias, true);
}

static void block_backward(struct block *x)
{
    const int64_t size = (int64_t)x->rows * x->d;
    float *const y = x->norm.y, *const dy = (float *)x->norm.dy;

    unmultiply(x, x->d, 4 * x->d, x->act, x->norm.dx, x->dffn);
    k->activate_backward(NULL, PP_GELU_TANH, 4 * size, x->ffn, x->dffn, x->dffn);
    unmultiply(x, 4 * x->d, x->d, y, x->dffn, dy);
    k->norm_backward(NULL, &x->norm);
    unmultiply(x, x->d, x->d, x->attention.out, x->norm.dx, (float *)x->attention.dout);
    k->attention_backward(NULL, &x->attention);
    unmultiply(x, 3 * x->d, x->d, y, x->dqkv, dy);
    k->norm_backward(NULL, &x->norm);
}

static void call_block(void *context)
{
    struct block *x = context;

    x->attention.qkv = x->qkv_of;
    x->attention.dqkv = x->dqkv_of;
    x->qkv_of[0] = x->qkv;
    x->dqkv_of[0] = x->dqkv;
    k->zero(NULL, sizeof(float) * (size_t)x->rows * (size_t)x->d, x->norm.dx);
    block_forward(x);
    block_backward(x);
}

static void call_attention(void *context)
{
    struct block *x = context;

    k->attention_forward(NULL, &x->attention);
}

static void call_attention_backward(void *context)
{
    struct block *x = context;

    k->attention_backward(NULL, &x->attention);
}

static void print_block(int d, int rows, int seq, double peak)
{
    struct block x = block_of(d, rows, seq);
    const double matrices = 3 * 24.0 * rows * d * d;
    const double attention = 7 * 2.0 * rows * d * (seq + 1) / 2;
    const double s = best_s(call_block, &x);
    const double rate = (matrices + attention) / s;

    printf("  block d %d, %d tokens of sequences of %d: %.3f ms, %.1f GF/s, %.0f %% of the peak\n",
           d, rows, seq, s * 1e3, rate * 1e-9, 100 * rate / peak);
    printf("    attention forward %.3f ms, backward %.3f ms\n", best_s(call_attention, &x) * 1e3,
           best_s(call_attention_backward, &x) * 1e3);
}

/* ---- the rest, in time per element ----------------------------------------------------------- */

static void call_norm(void *context)
{
    k->norm_forward(NULL, &((struct block *)context)->norm);
}

static void call_norm_backward(void *context)
{
    struct block *x = context;

    k->norm_backward(NULL, &x->norm);
}

static void call_gelu(void *context)
{
    const struct block *x = context;

    k->activate_forward(NULL, PP_GELU_TANH, 4 * (int64_t)x->rows * x->d, x->ffn, x->act);
}

static void call_gelu_backward(void *context)
{
    const struct block *x = context;

    k->activate_backward(NULL, PP_GELU_TANH, 4 * (int64_t)x->rows * x->d, x->ffn, x->act, x->dffn);
}

static void call_bias(void *context)
{
    const struct block *x = context;

    k->add_bias(NULL, x->rows, 4 * x->d, x->bias, x->act);
}

static void call_sum_rows(void *context)
{
    const struct block *x = context;

    k->sum_rows(NULL, x->rows, 4 * x->d, x->act, x->dbias, false);
}

static void call_cross_entropy(void *context)
{
    static const int32_t targets[1024];
    static double loss[1024];
    const struct block *x = context;

    k->cross_entropy(NULL, 1, x->rows, 0, x->rows, 4 * x->d, 4 * x->d, targets, 1e-3, x->act, loss);
}

static void call_adamw(void *context)
{
    const struct pp_adamw a = {0.9, 0.999, 1e-8, 0.1};
    const struct pp_adamw_step now = {1e-6, 0.5, 0.5, 1};
    const struct block *x = context;
    const int64_t count = 3 * (int64_t)x->rows * x->d;

    k->adamw(NULL, &(struct pp_flat){&(struct pp_flat_tensor){0, count, true}, 1, 0, count, x->qkv},
             &a, &now, x->dffn, NULL, x->act, x->ffn);
}

static void call_fixed_add(void *context)
{
    const struct block *x = context;
    int status = 0;

    k->fixed_add(NULL, 2 * (int64_t)x->rows * x->d, x->qkv, 40, (int64_t *)x->act, &status);
}

static void print_rest(int d, int rows)
{
    static const struct {
        const char *name;
        void (*call)(void *context);
        int columns; /* of d */
    } parts[] = {
        {"norm_forward", call_norm, 1},
        {"norm_backward, weights", call_norm_backward, 1},
        {"gelu_forward", call_gelu, 4},
        {"gelu_backward", call_gelu_backward, 4},
        {"add_bias", call_bias, 4},
        {"sum_rows", call_sum_rows, 4},
        {"cross_entropy", call_cross_entropy, 4},
        {"adamw", call_adamw, 3},
        {"fixed_add", call_fixed_add, 2},
    };
    struct block x = block_of(d, rows, rows);

    for (int i = 0; i < 4 * rows * d; i++)
        x.ffn[i] = fabsf(x.ffn[i]); /* squares, to adamw */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        printf("  %-24s %6.3f ns for each element\n", parts[i].name,
               best_s(parts[i].call, &x) * 1e9 / ((double)parts[i].columns * rows * d));
}

/* ---- tensors at rest in fewer bits, as shares of a copy ---------------------------------------
 */

struct packing {
    const struct pp_kernels *k;
    int bits;
    int64_t count;
    void *x, *to, *packed;
};

static void call_copy(void *context)
{
    const struct packing *p = context;

    p->k->copy(NULL, (size_t)p->count * p->k->element_bytes, p->x, p->to);
}

static void call_quantise(void *context)
{
    const struct packing *p = context;

    p->k->quantise(NULL, p->bits, p->count, p->x, p->packed);
}

static void call_restore(void *context)
{
    const struct packing *p = context;

    p->k->restore(NULL, p->bits, p->count, p->packed, p->to);
}

static void print_packing(const struct pp_kernels *table, double mib)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    const size_t element = table->element_bytes, bytes = (size_t)(mib * 1048576);
    struct packing p = {table,
                        8,
                        (int64_t)(bytes / element),
                        pp_arena_alloc(arena, bytes),
                        pp_arena_alloc(arena, bytes),
                        pp_arena_alloc(arena, bytes)};
    const float *drawn = randoms((size_t)p.count);

    for (int64_t i = 0; i < p.count; i++)
        pp_number_put(p.x, element, i, (double)drawn[i]);
    const double copy_s = best_s(call_copy, &p);
    for (; p.bits >= 2; p.bits /= 2) {
        const double to_s = best_s(call_quantise, &p), from_s = best_s(call_restore, &p);
        printf("  %s, %3.0f MiB, %d bits: quantise %5.1f GB/s, restore %5.1f GB/s, %3.0f %% and "
               "%3.0f %% of a copy\n",
               table->name, mib, p.bits, (double)bytes / to_s * 1e-9, (double)bytes / from_s * 1e-9,
               100 * copy_s / to_s, 100 * copy_s / from_s);
    }
    pp_arena_release(arena, mark);
}

int main(void)
{
    arena = pp_arena_create();
    k = pp_kernels_fp32(false);
    printf("kernels: %s\n", k->about());
    const double peak = peak_flops_per_s();
    for (int d = 128; d <= 256; d *= 2)
        for (int rows = 256; rows <= 512; rows *= 2)
            print_shapes(d, rows, peak);
    print_block(128, 256, 64, peak);
    print_block(256, 512, 128, peak);
    print_rest(128, 256);
    for (double mib = 8; mib <= 128; mib *= 16) {
        print_packing(k, mib);
        print_packing(&pp_kernels_bf16, mib);
    }
    pp_arena_destroy(arena);
    return 0;
}
