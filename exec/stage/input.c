/* Input gradients. Names d_x: gradient of x. */
#include "exec/stage/layout.h"

/* dx [T][in] = dy [T][out] W; with `product`, scratch of that size, times the slope of GELU at what
 * is in dx. */
static void linear_back(struct pp_call *c, const void *dy, int out, const struct pp_param *weight,
                        int in, void *product, void *dx)
{
    c->k->gemm(c->stream, &(struct pp_gemm){.m = c->l->tokens,
                                            .n = in,
                                            .k = out,
                                            .a = dy,
                                            .b = pp_call_weight(c, weight),
                                            .c = dx,
                                            .lda = out,
                                            .ldb = in,
                                            .ldc = in,
                                            .gelu_of = product != NULL ? dx : NULL,
                                            .product = product});
}

/* dx = base + the gradient through a norm (base NULL = 0). Those of its gain and bias are made here
 * as well, where dy is: `dnorm` [2][hidden]. */
static void norm_back(struct pp_call *c, const void *x, const struct pp_param *gamma, void *stats,
                      const void *dy, const void *base, void *dx, char *dnorm)
{
    struct pp_norm n = pp_call_norm(c, x, gamma, stats);
    char *dbeta = dnorm + (size_t)c->net->hidden * c->l->gradient_bytes;

    n.dy = dy;
    n.base = base;
    n.dx = dx;
    c->k->norm_weights(c->stream, &n, dnorm, c->net->has_bias_norm ? dbeta : NULL, false);
    c->k->norm_backward(c->stream, &n);
}

static void *transient(const struct pp_call *c)
{
    return (char *)c->w->scratch + c->l->transient_at;
}

/* d_a -> the gradient of qkv, where W looks for it. Without splits it is computed in scratch and
 * replaces qkv. With splits the backward of earlier splits still reads qkv. */
static void attend_back(struct pp_call *c, int block, const void *d_a, char *free_scratch)
{
    const size_t bytes = (size_t)c->l->tokens * (size_t)c->l->qkv_width * c->l->element_bytes;
    const void *qkv[PP_STAGE_SPLITS];
    void *d_qkv[PP_STAGE_SPLITS];
    struct pp_attention a = pp_call_attention(c, block, qkv);
    const bool is_split = c->stage->shape.splits > 1;

    for (int s = 0; s <= c->w->split; s++)
        d_qkv[s] =
            is_split ? (char *)c->w->saved[s] + c->l->blocks[block].at[AT_DQKV] : free_scratch;
    if (!is_split)
        c->k->zero(c->stream, bytes, d_qkv[0]);
    a.dout = d_a;
    a.dqkv = d_qkv;
    c->k->attention_backward(c->stream, &a);
    if (!c->net->has_positions)
        pp_call_rotate(c, d_qkv[c->w->split], true);
    if (!is_split)
        c->k->copy(c->stream, bytes, d_qkv[0], pp_call_place(c, block, AT_QKV));
}

/* The gradient of `up` takes its place. */
static void down_back(struct pp_call *c, const void *grad, const struct pp_param *down, void *up,
                      void *scratch)
{
    const int tokens = c->l->tokens, hidden = c->net->hidden, ffn = c->net->ffn;

    if (c->net->is_gated) {
        linear_back(c, grad, hidden, down, ffn, NULL, scratch);
        c->k->swiglu_backward(c->stream, tokens, ffn, up, scratch, up);
    } else {
        linear_back(c, grad, hidden, down, ffn, scratch, up);
    }
}

/* `grad` is d r(block + 1). After it, x of the next block is free and receives d_y. That includes
 * grad, because y is added to the output; likewise d r(block) includes d_y. */
void pp_block_input_grad(struct pp_call *c, int block, const void *grad)
{
    const struct pp_param *const *p = c->l->blocks[block].params;
    const int hidden = c->net->hidden;
    char *scratch = transient(c), *d_a = scratch + c->l->attention_bytes,
         *dnorm = pp_call_place(c, block, AT_DNORM);
    void *up = pp_call_place(c, block, AT_UP), *d_y = pp_call_place(c, block + 1, AT_X),
         *d_x = pp_call_block_grad(c, block);

    down_back(c, grad, p[DOWN_WEIGHT], up, scratch);
    linear_back(c, up, c->l->up_width, p[UP_WEIGHT], hidden, NULL, scratch);
    norm_back(c, pp_call_place(c, block, AT_Y), p[NORM2_WEIGHT], pp_call_place(c, block, AT_STATS2),
              scratch, grad, d_y, dnorm + c->l->dnorm_bytes);
    linear_back(c, d_y, hidden, p[OUT_WEIGHT], c->l->q_width, NULL, d_a);
    attend_back(c, block, d_a,
                d_a + (size_t)c->l->tokens * (size_t)c->l->q_width * c->l->element_bytes);
    linear_back(c, pp_call_qkv_grad(c, block), c->l->qkv_width, p[QKV_WEIGHT], hidden, NULL,
                scratch);
    norm_back(c, pp_call_residual(c, block), p[NORM1_WEIGHT], pp_call_place(c, block, AT_STATS1),
              scratch, d_y, d_x, dnorm);
    pp_call_stamp(c, PP_CALL_I, PP_PART_BLOCK);
}

/* From the gradient of the logits, which F left. */
void pp_head_input_grad(struct pp_call *c, void *grad)
{
    const struct pp_param *const *p = c->l->head;
    void *d_n = transient(c);

    linear_back(c, c->saved + c->l->head_at[AT_LOGITS], c->l->logits_width, p[HEAD_WEIGHT],
                c->net->hidden, NULL, d_n);
    norm_back(c, pp_call_residual(c, c->stage->shape.blocks), p[HEAD_NORM_WEIGHT],
              c->saved + c->l->head_at[AT_HEAD_STATS], d_n, NULL, grad,
              c->saved + c->l->head_at[AT_HEAD_DNORM]);
    pp_call_stamp(c, PP_CALL_I, PP_PART_HEAD);
}
