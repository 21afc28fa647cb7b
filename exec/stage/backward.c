/* Backward of a stage, from the last layer to the first. */
#include "exec/stage/layout.h"

#include <assert.h>

enum { WITH_INPUT = 1, WITH_WEIGHTS = 2 }; /* parts of a call */

/* Returns the place of a tensor's gradient: scratch in exact mode, else its place in the sum. */
static void *target(const struct pp_call *c, const struct pp_param *param)
{
    const struct pp_grads *g = &c->w->grads;

    return g->is_exact ? g->scratch : (char *)g->sum + (size_t)param->offset * c->l->gradient_bytes;
}

/* ---- input ----------------------------------------------------------------------------------- */

/* dx [T][in] = dy [T][out] W, times the slope of GELU at `gelu_of` (NULL = none). */
static void linear_back(struct pp_call *c, const void *dy, int out, const struct pp_param *weight,
                        int in, const void *gelu_of, void *dx)
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
                                            .gelu_of = gelu_of});
}

/* Is true if I also adds the gradients that it makes in norms to the sum, which saves W a pass. */
static bool adds_norms(const struct pp_call *c)
{
    return c->parts == (WITH_INPUT | WITH_WEIGHTS) && !c->w->grads.is_exact;
}

/* Tensors whose gradients the backward of a norm makes. They are its own, and the bias of the layer
 * before it. That layer adds to the norm's input, so dx is the gradient of its output. NULL: none.
 */
struct norm_params {
    const struct pp_param *gamma, *beta, *bias;
};

/* The first norm of a block is after the last layer of the block before it, if that is in the
 * stage. */
static struct norm_params norm1_of(const struct pp_call *c, int block)
{
    const struct pp_param *const *p = c->l->blocks[block].params;
    const struct pp_param *before = block > 0 ? c->l->blocks[block - 1].params[DOWN_BIAS] : NULL;

    return (struct norm_params){p[NORM1_WEIGHT], p[NORM1_BIAS], before};
}

static struct norm_params norm2_of(const struct pp_call *c, int block)
{
    const struct pp_param *const *p = c->l->blocks[block].params;

    return (struct norm_params){p[NORM2_WEIGHT], p[NORM2_BIAS], p[OUT_BIAS]};
}

/* The norm of the head makes no bias of the last block. So last blocks of all stages launch the
 * same kernels, and a stage's time does not depend on whether it has the head. */
static struct norm_params head_norm_of(const struct pp_call *c)
{
    const struct pp_param *const *p = c->l->head;

    return (struct norm_params){p[HEAD_NORM_WEIGHT], p[HEAD_NORM_BIAS], NULL};
}

/* Returns the place of dnorm, which is at `saved_at` if W comes later. */
static char *dnorm_place(const struct pp_call *c, size_t saved_at)
{
    return c->stage->shape.has_w ? c->saved + saved_at : (char *)c->w->scratch + c->l->dnorm_at;
}

/* dx = base + the gradient through a norm (base NULL = 0). The gradients of `params` go to `dnorm`,
 * [hidden] each: bias, gamma, beta, as in the vector of parameters. */
static void norm_back(struct pp_call *c, const void *x, struct norm_params params, void *stats,
                      const void *dy, const void *base, void *dx, char *dnorm)
{
    const size_t row = (size_t)c->net->hidden * c->l->gradient_bytes;
    struct pp_norm n = pp_call_norm(c, x, params.gamma, stats);

    n.dy = dy;
    n.base = base;
    n.dx = dx;
    if (params.bias != NULL) {
        n.dx_sum = dnorm;
        n.dx_added = adds_norms(c) ? target(c, params.bias) : NULL;
        dnorm += row;
    }
    n.dgamma = dnorm;
    n.dgamma_added = adds_norms(c) ? target(c, params.gamma) : NULL;
    if (params.beta != NULL) {
        n.dbeta = dnorm + row;
        n.dbeta_added = adds_norms(c) ? target(c, params.beta) : NULL;
    }
    c->k->norm_backward(c->stream, &n);
}

static void *transient(const struct pp_call *c)
{
    return (char *)c->w->scratch + c->l->transient_at;
}

/* Returns the place of the gradient of `place` of a block. B needs it within the block: it is in
 * scratch. I alone leaves it for W where the block above had `place`, which only I reads. For the
 * top block that is in scratch, and at `place` of block 0 after I. */
static void *replaced(const struct pp_call *c, int block, enum pp_block_place place,
                      size_t scratch_at)
{
    const bool is_top = block + 1 == c->stage->shape.blocks;

    if (c->parts & WITH_INPUT && (is_top || c->parts & WITH_WEIGHTS))
        return (char *)c->w->scratch + scratch_at;
    return pp_call_place(c, is_top ? 0 : block + 1, place);
}

/* With splits it has a place of its own, because the backward of earlier splits still reads qkv. */
static void *qkv_grad(const struct pp_call *c, int block)
{
    return c->stage->shape.splits > 1 ? pp_call_place(c, block, AT_DQKV)
                                      : replaced(c, block, AT_QKV, c->l->qkv_grad_at);
}

/* SwiGLU's gradient replaces its input. */
static void *up_grad(const struct pp_call *c, int block)
{
    return c->net->is_gated ? pp_call_place(c, block, AT_UP)
                            : replaced(c, block, AT_UP, c->l->up_grad_at);
}

/* Copies what the top block has left in scratch to where W finds it. */
static void keep_top(const struct pp_call *c, enum pp_block_place place, int width,
                     size_t scratch_at)
{
    c->k->copy(c->stream, (size_t)c->l->tokens * (size_t)width * c->l->element_bytes,
               (char *)c->w->scratch + scratch_at, pp_call_place(c, 0, place));
}

/* Computes and returns the gradient of qkv from d_a. The last split comes first. */
static const void *attend_back(struct pp_call *c, int block, const void *d_a)
{
    const void *qkv[PP_STAGE_SPLITS];
    void *d_qkv[PP_STAGE_SPLITS];
    struct pp_attention a = pp_call_attention(c, block, qkv);

    for (int s = 0; s < c->w->split; s++)
        d_qkv[s] = (char *)c->w->saved[s] + c->l->blocks[block].at[AT_DQKV];
    d_qkv[c->w->split] = qkv_grad(c, block);
    a.dout = d_a;
    a.dqkv = d_qkv;
    a.add = c->w->split + 1 < c->stage->shape.splits;
    c->k->attention_backward(c->stream, &a);
    if (!c->net->has_positions)
        pp_call_rotate(c, d_qkv[c->w->split], true);
    return d_qkv[c->w->split];
}

/* d_up = the gradient of `up`, by `scratch` of the width of the activation function. */
static void down_back(struct pp_call *c, const void *grad, const struct pp_param *down,
                      const void *up, void *scratch, void *d_up)
{
    const int tokens = c->l->tokens, hidden = c->net->hidden, ffn = c->net->ffn;

    if (c->net->is_gated) {
        linear_back(c, grad, hidden, down, ffn, NULL, scratch);
        c->k->swiglu_backward(c->stream, tokens, ffn, up, scratch, d_up);
    } else {
        linear_back(c, grad, hidden, down, ffn, up, d_up);
    }
}

/* `grad` is d r(block + 1). x of the next block is free and receives d_y, which includes grad
 * because y is added to the output. Likewise d r(block) includes d_y. */
static void block_input_grad(struct pp_call *c, int block, const void *grad)
{
    const struct pp_param *const *p = c->l->blocks[block].params;
    const int hidden = c->net->hidden;
    char *scratch = transient(c), *d_a = scratch + c->l->attention_bytes,
         *dnorm = dnorm_place(c, c->l->blocks[block].at[AT_DNORM]);
    void *d_up = up_grad(c, block), *d_y = pp_call_place(c, block + 1, AT_X),
         *d_x = pp_call_block_grad(c, block);

    down_back(c, grad, p[DOWN_WEIGHT], pp_call_place(c, block, AT_UP), scratch, d_up);
    linear_back(c, d_up, c->l->up_width, p[UP_WEIGHT], hidden, NULL, scratch);
    norm_back(c, pp_call_place(c, block, AT_Y), norm2_of(c, block),
              pp_call_place(c, block, AT_STATS2), scratch, grad, d_y, dnorm);
    linear_back(c, d_y, hidden, p[OUT_WEIGHT], c->l->q_width, NULL, d_a);
    linear_back(c, attend_back(c, block, d_a), c->l->qkv_width, p[QKV_WEIGHT], hidden, NULL,
                scratch);
    norm_back(c, pp_call_residual(c, block), norm1_of(c, block), pp_call_place(c, block, AT_STATS1),
              scratch, d_y, d_x, dnorm + c->l->dnorm2_bytes);
    pp_call_stamp(c, PP_CALL_I, PP_PART_BLOCK);
}

/* Begins with the gradient of the logits, which F has left. */
static void head_input_grad(struct pp_call *c, void *grad)
{
    const struct pp_param *const *p = c->l->head;
    void *d_n = transient(c);

    linear_back(c, c->saved + c->l->head_at[AT_LOGITS], c->l->logits_width, p[HEAD_WEIGHT],
                c->net->hidden, NULL, d_n);
    norm_back(c, pp_call_residual(c, c->stage->shape.blocks), head_norm_of(c),
              c->saved + c->l->head_at[AT_HEAD_STATS], d_n, NULL, grad,
              dnorm_place(c, c->l->head_at[AT_HEAD_DNORM]));
    pp_call_stamp(c, PP_CALL_I, PP_PART_HEAD);
}

/* ---- weights --------------------------------------------------------------------------------- */

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

/* Adds gradients that I has computed: `count` elements, from those of `param` on. */
static void add_made(const struct pp_call *c, const struct pp_param *param, int64_t count,
                     const void *grad)
{
    if (c->w->grads.is_exact)
        add_exactly(c, param, grad);
    else
        c->k->add(c->stream, count, grad, target(c, param));
}

/* Adds gradients of a norm. Parameters that are neighbours take one pass. */
static void norm_weights(const struct pp_call *c, const char *dnorm, struct norm_params params)
{
    const struct pp_param *const of[] = {params.bias, params.gamma, params.beta};

    for (size_t i = 0, next; i < PP_COUNT(of) && !adds_norms(c); i = next) {
        int64_t count = of[i] != NULL ? of[i]->count : 0;
        for (next = i + 1; next < PP_COUNT(of) && count > 0 && of[next] != NULL &&
                           !c->w->grads.is_exact && of[next]->offset == of[i]->offset + count;
             next++)
            count += of[next]->count;
        if (count > 0)
            add_made(c, of[i], count, dnorm);
        dnorm += (size_t)count * c->l->gradient_bytes;
    }
}

/* `grad` is d r(block + 1). The bias of the last layer is summed here in the last block of a stage;
 * the sums have the same bits. */
static void block_weight_grad(struct pp_call *c, int block, const void *grad)
{
    const struct pp_param *const *p = c->l->blocks[block].params;
    const struct pp_stage_layout *l = c->l;
    const int hidden = c->net->hidden;
    const char *dnorm = dnorm_place(c, l->blocks[block].at[AT_DNORM]);
    const bool is_last = block + 1 == c->stage->shape.blocks;

    linear_weights(c, pp_call_place(c, block, AT_ACT), c->net->ffn, grad, hidden, p[DOWN_WEIGHT],
                   is_last ? p[DOWN_BIAS] : NULL);
    linear_weights(c, pp_call_place(c, block, AT_N2), hidden, up_grad(c, block), l->up_width,
                   p[UP_WEIGHT], p[UP_BIAS]);
    norm_weights(c, dnorm, norm2_of(c, block));
    linear_weights(c, pp_call_place(c, block, AT_A), l->q_width, pp_call_place(c, block + 1, AT_X),
                   hidden, p[OUT_WEIGHT], NULL);
    linear_weights(c, pp_call_place(c, block, AT_N1), hidden, qkv_grad(c, block), l->qkv_width,
                   p[QKV_WEIGHT], p[QKV_BIAS]);
    norm_weights(c, dnorm + l->dnorm2_bytes, norm1_of(c, block));
    pp_call_stamp(c, PP_CALL_W, PP_PART_BLOCK);
}

static void head_weight_grad(struct pp_call *c)
{
    const struct pp_stage_layout *l = c->l;
    const struct pp_param *const *p = l->head;

    linear_weights(c, c->saved + l->head_at[AT_HEAD_N], c->net->hidden,
                   c->saved + l->head_at[AT_LOGITS], l->logits_width, p[HEAD_WEIGHT], NULL);
    norm_weights(c, dnorm_place(c, l->head_at[AT_HEAD_DNORM]), head_norm_of(c));
    pp_call_stamp(c, PP_CALL_W, PP_PART_HEAD);
}

/* In exact mode the gradients of both tables are in scratch, positions after tokens. */
static void embedding_weight_grad(struct pp_call *c)
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

/* Returns the first place of I's gradient: of d r(0) without blocks, else of d r(blocks). */
static void *first_grad_place(const struct pp_call *c)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    if (shape->blocks > 0)
        return c->w->scratch;
    return shape->has_embedding ? c->saved + c->l->embedding_grad_at : c->w->grad_out;
}

/* Returns the gradient of the last block's output: computed by the head, or grad_in. W alone reads
 * it where I has left it. Without blocks it is also the gradient of the input. */
static const void *back_head(struct pp_call *c)
{
    const int parts = c->parts;
    const struct pp_stage_shape *shape = &c->stage->shape;
    const void *grad = c->w->grad_in;

    if (shape->has_head) {
        if (parts & WITH_INPUT)
            head_input_grad(c, first_grad_place(c));
        if (parts & WITH_WEIGHTS)
            head_weight_grad(c);
        grad = c->w->scratch;
    } else if (shape->blocks == 0 && (parts & WITH_INPUT)) {
        c->k->copy(c->stream, c->l->hidden_bytes, grad, first_grad_place(c));
    }
    return parts & WITH_INPUT || shape->blocks == 0 ? grad : c->saved + c->l->top_grad_at;
}

static void back(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w, int parts)
{
    struct pp_call call = pp_call_begin(k, stream, w), *c = &call;
    const struct pp_stage_shape *shape = &c->stage->shape;

    c->parts = parts;
    const void *top = back_head(c), *grad = top;

    for (int block = shape->blocks - 1; block >= 0; block--) {
        if (parts & WITH_INPUT)
            block_input_grad(c, block, grad);
        if (parts & WITH_WEIGHTS)
            block_weight_grad(c, block, grad);
        grad = pp_call_block_grad(c, block);
    }
    if (shape->has_embedding && (parts & WITH_WEIGHTS))
        embedding_weight_grad(c);
    if (shape->blocks == 0 || parts & WITH_WEIGHTS)
        return;
    c->k->copy(c->stream, c->l->hidden_bytes, top, c->saved + c->l->top_grad_at);
    if (shape->splits == 1)
        keep_top(c, AT_QKV, c->l->qkv_width, c->l->qkv_grad_at);
    if (!c->net->is_gated)
        keep_top(c, AT_UP, c->l->up_width, c->l->up_grad_at);
}

void pp_stage_input_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    back(k, stream, w, WITH_INPUT);
}

void pp_stage_weight_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    assert(w->stage->shape.has_w);
    back(k, stream, w, WITH_WEIGHTS);
}

void pp_stage_backward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    back(k, stream, w, WITH_INPUT | WITH_WEIGHTS);
}
