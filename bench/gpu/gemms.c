/* Rows of the multiplications. */
#include "bench/gpu/block.h"

static const struct pp_kernels *const k = &pp_kernels_cuda_bf16;

struct product {
    struct block *b;
    struct pp_gemm g;
};

static void call_gemm(void *context)
{
    struct product *p = context;

    k->gemm(&p->b->rig->stream, &p->g);
}

static void report_gemm(struct block *b, const char *name, struct pp_gemm g)
{
    struct product p = {b, g};
    const double m = g.m, n = g.n, depth = g.k, c = g.is_gradient ? G : T;
    const double more = (g.base ? c : 0) + (g.activated ? T : 0) + (g.slope_of ? T : 0);

    report(b, name, 2 * m * n * depth, T * depth * (m + n) + m * n * (c + more), call_gemm, &p);
}

/* y [rows][out] = x [rows][in] W', W [out][in]. */
static struct pp_gemm forward(const struct block *b, int in, int out, const void *x, void *y)
{
    return (struct pp_gemm){.m = b->rows,
                            .n = out,
                            .k = in,
                            .b_transposed = true,
                            .a = x,
                            .b = b->weights,
                            .c = y,
                            .lda = in,
                            .ldb = in,
                            .ldc = out};
}

/* dx = dy W. */
static struct pp_gemm backward(const struct block *b, int in, int out, const void *dy, void *dx)
{
    return (struct pp_gemm){.m = b->rows,
                            .n = in,
                            .k = out,
                            .a = dy,
                            .b = b->weights,
                            .c = dx,
                            .lda = out,
                            .ldb = in,
                            .ldc = in};
}

/* dW += dy' x. */
static struct pp_gemm slope(const struct block *b, int in, int out, const void *dy, const void *x)
{
    return (struct pp_gemm){.m = out,
                            .n = in,
                            .k = b->rows,
                            .a_transposed = true,
                            .is_gradient = true,
                            .a = dy,
                            .b = x,
                            .c = b->dweights,
                            .lda = out,
                            .ldb = in,
                            .ldc = in,
                            .base = b->dweights};
}

static struct pp_gemm with(struct pp_gemm g, const void *bias, const void *base, void *activated)
{
    g.bias = bias, g.base = base, g.activated = activated;
    return g;
}

void report_gemms(struct block *b)
{
    const int d = b->width, v = b->vocab;
    struct pp_gemm down_dx = backward(b, 4 * d, d, b->dy, b->dwide);

    down_dx.slope_of = b->wide;
    report_gemm(b, "qkv: bias", with(forward(b, d, 3 * d, b->x, b->qkv), b->x, NULL, NULL));
    report_gemm(b, "out: bias, residual", with(forward(b, d, d, b->x, b->y), b->x, b->dy, NULL));
    report_gemm(b, "up: bias, gelu",
                with(forward(b, d, 4 * d, b->x, b->wide), b->x, NULL, b->active));
    report_gemm(b, "down: bias, residual",
                with(forward(b, 4 * d, d, b->active, b->y), b->x, b->dy, NULL));
    report_gemm(b, "head", forward(b, d, v, b->x, b->logits));
    report_gemm(b, "qkv dx", backward(b, d, 3 * d, b->dqkv, b->dx));
    report_gemm(b, "out dx", backward(b, d, d, b->dy, b->dx));
    report_gemm(b, "up dx", backward(b, d, 4 * d, b->dwide, b->dx));
    report_gemm(b, "down dx: slope of gelu", down_dx);
    report_gemm(b, "head dx", backward(b, d, v, b->logits, b->dx));
    report_gemm(b, "qkv dW", slope(b, d, 3 * d, b->dqkv, b->x));
    report_gemm(b, "out dW", slope(b, d, d, b->dy, b->x));
    report_gemm(b, "up dW", slope(b, d, 4 * d, b->dwide, b->x));
    report_gemm(b, "down dW", slope(b, 4 * d, d, b->dy, b->active));
    report_gemm(b, "head dW", slope(b, d, v, b->logits, b->x));
}
