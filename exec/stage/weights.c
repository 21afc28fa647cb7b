/* Weight gradients, of what I left in saved. */
#include "exec/stage/layout.h"

/* Where the gradient of a tensor is made, and whether it is added there. */
static void *target(const struct pp_call *c, const struct pp_param *param)
{
    const struct pp_grads *g = &c->w->grads;

    return g->is_exact ? g->scratch : (char *)g->sum + (size_t)param->offset * c->l->gradient_bytes;
}

static void add_exactly(const struct pp_call *c, const struct pp_param *param, const void *grad)
{
    const struct pp_grads *g = &c->w->grads;

    if (g->is_exact)
        c->k->fixed_add(c->stream, param->count, grad, PP_GRAD_BITS, g->fixed + param->offset,
                        g->status);
}

/* y = x W^T + bias: dW [out][in] = dy^T x, dbias = sum of the rows of dy. */
static void linear_weights(const struct pp_call *c, const void *x, int in, const void *dy, int out,
                           const struct pp_param *weight, const struct pp_param *bias)
{
    const bool is_added = !c->w->grads.is_exact;
    void *dw = target(c, weight);

    c->k->gemm(c->stream, &(struct pp_gemm){.m = out,
                                            .n = in,
                                            .k = c->l->tokens,
                                            .a_transposed = true,
                                            .is_gradient = true,
                                            .a = dy,
                                            .b = x,
                                            .c = dw,
                                            .lda = out,
                                            .ldb = in,
                                            .ldc = in,
                                            .base = is_added ? dw : NULL});
    add_exactly(c, weight, dw);
    if (bias == NULL)
        return;
    void *dbias = target(c, bias);
    c->k->sum_rows(c->stream, c->l->tokens, out, dy, dbias, is_added);
    add_exactly(c, bias, dbias);
}

/* A gradient that I has made. */
static void add_made(const struct pp_call *c, const struct pp_param *param, const void *grad)
{
    if (c->w->grads.is_exact)
        add_exactly(c, param, grad);
    else
        c->k->add(c->stream, param->count, grad, target(c, param));
}

static void norm_weights(const struct pp_call *c, const char *dnorm, const struct pp_param *gamma,
                         const struct pp_param *beta)
{
    add_made(c, gamma, dnorm);
    if (beta != NULL)
        add_made(c, beta, dnorm + (size_t)gamma->count * c->l->gradient_bytes);
}

/* `grad` is d r(block + 1). */
void pp_block_weight_grad(struct pp_call *c, int block, const void *grad)
{
    const struct pp_param *const *p = c->l->blocks[block].params;
    const struct pp_stage_layout *l = c->l;
    const int hidden = c->net->hidden;
    const char *dnorm = pp_call_place(c, block, AT_DNORM);

    linear_weights(c, pp_call_place(c, block, AT_ACT), c->net->ffn, grad, hidden, p[DOWN_WEIGHT],
                   p[DOWN_BIAS]);
    linear_weights(c, pp_call_place(c, block, AT_N2), hidden, pp_call_place(c, block, AT_UP),
                   l->up_width, p[UP_WEIGHT], p[UP_BIAS]);
    norm_weights(c, dnorm + l->dnorm_bytes, p[NORM2_WEIGHT], p[NORM2_BIAS]);
    linear_weights(c, pp_call_place(c, block, AT_A), l->q_width, pp_call_place(c, block + 1, AT_X),
                   hidden, p[OUT_WEIGHT], p[OUT_BIAS]);
    linear_weights(c, pp_call_place(c, block, AT_N1), hidden, pp_call_qkv_grad(c, block),
                   l->qkv_width, p[QKV_WEIGHT], p[QKV_BIAS]);
    norm_weights(c, dnorm, p[NORM1_WEIGHT], p[NORM1_BIAS]);
    pp_call_stamp(c, PP_CALL_W, PP_PART_BLOCK);
}

void pp_head_weight_grad(struct pp_call *c)
{
    const struct pp_stage_layout *l = c->l;
    const struct pp_param *const *p = l->head;

    linear_weights(c, c->saved + l->head_at[AT_HEAD_N], c->net->hidden,
                   c->saved + l->head_at[AT_LOGITS], l->logits_width, p[HEAD_WEIGHT], NULL);
    norm_weights(c, c->saved + l->head_at[AT_HEAD_DNORM], p[HEAD_NORM_WEIGHT], p[HEAD_NORM_BIAS]);
    pp_call_stamp(c, PP_CALL_W, PP_PART_HEAD);
}

/* Exact: both tables in scratch, positions after tokens. */
void pp_embedding_weight_grad(struct pp_call *c)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const struct pp_param *table = c->l->embedding[EMBEDDING_WEIGHT],
                          *positions = c->l->embedding[POSITIONS_WEIGHT];
    const bool is_exact = c->w->grads.is_exact;
    char *d_table = target(c, table), *d_positions = NULL;

    if (positions != NULL)
        d_positions =
            is_exact ? d_table + (size_t)table->count * c->l->gradient_bytes : target(c, positions);
    c->k->embed_backward(c->stream, shape->rows, shape->tokens, c->w->split * shape->tokens,
                         c->net->seq, c->net->hidden, c->net->vocab, c->w->ids,
                         c->saved + c->l->embedding_grad_at, d_table, d_positions, !is_exact);
    add_exactly(c, table, d_table);
    if (positions != NULL)
        add_exactly(c, positions, d_positions);
    pp_call_stamp(c, PP_CALL_W, PP_PART_EMBEDDING);
}
