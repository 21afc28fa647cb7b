/* Forward and recomputation of a stage, layer by layer. */
#include "exec/stage/layout.h"

#include <assert.h>

static void embed(struct pp_call *c, void *y)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    c->k->embed_forward(c->stream, shape->rows, shape->tokens, c->w->split * shape->tokens,
                        c->net->seq, c->net->hidden, c->w->ids,
                        pp_call_weight(c, c->l->embedding[EMBEDDING_WEIGHT]),
                        pp_call_weight(c, c->l->embedding[POSITIONS_WEIGHT]), y);
    pp_call_stamp(c, PP_CALL_F, PP_PART_EMBEDDING);
}

static void norm(struct pp_call *c, const void *x, const struct pp_param *gamma,
                 const struct pp_param *beta, void *y, void *stats)
{
    struct pp_norm n = pp_call_norm(c, x, gamma, stats);

    n.beta = pp_call_weight(c, beta);
    n.y = y;
    c->k->norm_forward(c->stream, &n);
}

/* y [T][out] = base + x [T][in] W^T + bias, and its GELU to `activated` (base, bias, activated:
 * NULL = none). */
static void linear(struct pp_call *c, const void *x, int in, const struct pp_param *weight,
                   const struct pp_param *bias, int out, const void *base, void *y, void *activated)
{
    c->k->gemm(c->stream, &(struct pp_gemm){.m = c->l->tokens,
                                            .n = out,
                                            .k = in,
                                            .b_transposed = true,
                                            .a = x,
                                            .b = pp_call_weight(c, weight),
                                            .c = y,
                                            .lda = in,
                                            .ldb = in,
                                            .ldc = out,
                                            .base = base,
                                            .bias = pp_call_weight(c, bias),
                                            .activated = activated});
}

static void attend(struct pp_call *c, int block)
{
    const void *qkv[PP_STAGE_SPLITS];
    struct pp_attention a = pp_call_attention(c, block, qkv);

    if (!c->net->has_positions)
        pp_call_rotate(c, pp_call_place(c, block, AT_QKV), false);
    c->k->attention_forward(c->stream, &a);
}

/* r(block + 1) goes to `out`, unless that is NULL. */
static void forward_block(struct pp_call *c, int block, void *out)
{
    const struct pp_param *const *p = c->l->blocks[block].params;
    const int hidden = c->net->hidden, ffn = c->net->ffn;
    void *x = pp_call_residual(c, block), *n1 = pp_call_place(c, block, AT_N1),
         *y = pp_call_place(c, block, AT_Y), *n2 = pp_call_place(c, block, AT_N2),
         *up = pp_call_place(c, block, AT_UP), *act = pp_call_place(c, block, AT_ACT);

    norm(c, x, p[NORM1_WEIGHT], p[NORM1_BIAS], n1, pp_call_place(c, block, AT_STATS1));
    linear(c, n1, hidden, p[QKV_WEIGHT], p[QKV_BIAS], c->l->qkv_width, NULL,
           pp_call_place(c, block, AT_QKV), NULL);
    attend(c, block);
    linear(c, pp_call_place(c, block, AT_A), c->l->q_width, p[OUT_WEIGHT], p[OUT_BIAS], hidden, x,
           y, NULL);
    norm(c, y, p[NORM2_WEIGHT], p[NORM2_BIAS], n2, pp_call_place(c, block, AT_STATS2));
    linear(c, n2, hidden, p[UP_WEIGHT], p[UP_BIAS], c->l->up_width, NULL, up,
           c->net->is_gated ? NULL : act);
    if (c->net->is_gated)
        c->k->swiglu_forward(c->stream, c->l->tokens, ffn, up, act);
    if (out != NULL)
        linear(c, act, ffn, p[DOWN_WEIGHT], p[DOWN_BIAS], hidden, y, out, NULL);
    pp_call_stamp(c, PP_CALL_F, PP_PART_BLOCK);
}

static void forward_head(struct pp_call *c, double *loss)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const struct pp_param *const *p = c->l->head;
    void *n = c->saved + c->l->head_at[AT_HEAD_N], *logits = c->saved + c->l->head_at[AT_LOGITS];

    norm(c, pp_call_residual(c, shape->blocks), p[HEAD_NORM_WEIGHT], p[HEAD_NORM_BIAS], n,
         c->saved + c->l->head_at[AT_HEAD_STATS]);
    linear(c, n, c->net->hidden, p[HEAD_WEIGHT], NULL, c->l->logits_width, NULL, logits, NULL);
    c->k->cross_entropy(c->stream, shape->rows, shape->tokens, c->w->split * shape->tokens,
                        c->net->seq, c->net->vocab, c->l->logits_width, c->w->targets,
                        c->w->loss_scale, logits, loss);
    pp_call_stamp(c, PP_CALL_F, PP_PART_HEAD);
}

/* Runs all layers from r(0) on. `out` is NULL with a head and in a recomputation. */
static void forward_layers(struct pp_call *c, void *out, double *loss)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    for (int block = 0; block < shape->blocks; block++) {
        const bool is_last = block + 1 == shape->blocks && !shape->has_head;
        forward_block(c, block, is_last ? out : pp_call_residual(c, block + 1));
    }
    if (shape->has_head)
        forward_head(c, loss);
}

void pp_stage_forward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    struct pp_call c = pp_call_begin(k, stream, w);
    const struct pp_stage_shape *shape = &w->stage->shape;
    const bool has_layers = shape->blocks > 0 || shape->has_head;

    if (shape->has_embedding)
        embed(&c, has_layers ? pp_call_residual(&c, 0) : w->out);
    else
        k->copy(stream, c.l->hidden_bytes, w->in, has_layers ? w->kept : w->out);
    forward_layers(&c, w->out, w->loss);
}

void pp_stage_recompute(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    struct pp_call c = pp_call_begin(k, stream, w);
    const struct pp_stage_shape *shape = &w->stage->shape;

    assert(shape->splits == 1);
    if (shape->has_embedding && (shape->blocks > 0 || shape->has_head))
        embed(&c, pp_call_residual(&c, 0));
    forward_layers(&c, NULL, w->scratch);
}
