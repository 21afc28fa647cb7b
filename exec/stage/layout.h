/* exec/stage/layout.h — private to exec/stage: places of the tensors of a stage.
 *
 * Per granule and split, T = rows * tokens. Every matrix is stored [out][in]. So a forward is x
 * W^T, an input gradient dy W and a weight gradient dy^T x. In OpenBLAS at widths of 128 to 1024,
 * the other layout differs only by noise.
 *
 * Elements are of the kernels' first type (kernels.h). Stats, lse, dnorm and weight gradients are
 * of the second, G, also in scratch. They come after all others. Where elements have 2 bytes, T is
 * even, so that each place begins at a multiple of 4 bytes.
 *
 * Places of block l in `saved`. r(l) is its input, the residual stream before block l; d r(l) is
 * the gradient of r(l). I replaces tensors that only I needs by those that W needs:
 *
 *   place    elements           from F                         after I
 *   x        T hidden           r(l)                           d of y in block l - 1
 *   n1       T hidden           first norm                     same
 *   stats1   T 2                its mean, 1 / deviation        same
 *   qkv      T (heads + 2 kv)   queries, keys, values          I alone: d qkv of block l - 1
 *   dqkv     same, when split   (not written)                  their gradients
 *   lse      T heads            of attention                   same
 *   a        T heads            attention                      same
 *   y        T hidden           r(l) + attention's output      d r(l)
 *   n2       T hidden           second norm                    same
 *   stats2   T 2                its mean, 1 / deviation        same
 *   up       T ffn (2: gated)   feed-forward, first matrix     I alone: d up of block l - 1;
 *                                                              gated: its gradient
 *   act      T ffn              activation function            same
 *   dnorm    rows of hidden     (not written)                  of the second norm, then of the
 *            (0 without W)                                     first: d bias of the layer before
 *                                                              the norm, d gamma, d beta
 *
 * r(0) of a stage without an embedding is in `kept`. r(blocks), the output of the last block, has a
 * place too. It is the input of a head; without a head only I writes it. So every gradient has a
 * place: d of y in block l at x of block l + 1, d r(l) at y for l > 0. At the end of I, d r(blocks)
 * is copied to y of block 0. With an embedding d r(0) is there, so it is copied to x of block 0.
 * Likewise d qkv and d up of the top block are copied to qkv and up of block 0. B has d qkv and d
 * up in scratch. So no multiplication writes what its epilogue reads.
 *
 * Without W, dnorm of the block or head that B is in is in scratch.
 *
 * Places of the head: n T hidden, stats T 2, logits T vocab (F already makes them the gradient of
 * the loss), dnorm. Rows of logits are padded to `logits_width`. The rows of the head's matrix for
 * the padding are a gap of the flat vectors, so zero. Gradients of padded logits are zero: they add
 * zero to d n, and the gradient of the gap is zero. */
#pragma once

#include "exec/stage/stage.h"

enum pp_block_tensor {
    NORM1_WEIGHT,
    NORM1_BIAS,
    QKV_WEIGHT,
    QKV_BIAS,
    OUT_WEIGHT,
    OUT_BIAS,
    NORM2_WEIGHT,
    NORM2_BIAS,
    UP_WEIGHT,
    UP_BIAS,
    DOWN_WEIGHT,
    DOWN_BIAS,
    BLOCK_TENSORS
};
enum pp_embedding_tensor { EMBEDDING_WEIGHT, POSITIONS_WEIGHT, EMBEDDING_TENSORS };
enum pp_head_tensor { HEAD_NORM_WEIGHT, HEAD_NORM_BIAS, HEAD_WEIGHT, HEAD_TENSORS };

enum pp_block_place {
    AT_X,
    AT_N1,
    AT_STATS1,
    AT_QKV,
    AT_DQKV,
    AT_LSE,
    AT_A,
    AT_Y,
    AT_N2,
    AT_STATS2,
    AT_UP,
    AT_ACT,
    AT_DNORM,
    BLOCK_PLACES
};
enum pp_head_place { AT_HEAD_N, AT_HEAD_STATS, AT_LOGITS, AT_HEAD_DNORM, HEAD_PLACES };

enum { PP_STAGE_SPLITS = 255 }; /* most that an instruction can count */

struct pp_stage_block {
    const struct pp_param *params[BLOCK_TENSORS]; /* NULL = none */
    size_t at[BLOCK_PLACES];                      /* bytes in saved */
};

struct pp_stage_layout {
    int tokens; /* T */
    int q_width, qkv_width, up_width;
    int logits_width;                     /* vocab, rounded up to the kernels' vocab_multiple */
    size_t element_bytes, gradient_bytes; /* of T and G of the kernels */
    size_t hidden_bytes;                  /* of T hidden */
    const struct pp_param *embedding[EMBEDDING_TENSORS], *head[HEAD_TENSORS];
    struct pp_stage_block *blocks; /* [blocks + 1]: the last has only x, for r(blocks) */
    size_t head_at[HEAD_PLACES];
    size_t embedding_grad_at, top_grad_at; /* d r(0) with an embedding; d r(blocks) */
    int norm_rows;                         /* tensors of a norm: 1, or 2 with beta */
    size_t dnorm2_bytes;                   /* of the second norm of a block */
    /* in scratch: d r(blocks) of a head, then buffers that live within a layer */
    size_t transient_at, attention_bytes;
    /* from the begin of scratch */
    size_t qkv_grad_at; /* without splits: d qkv */
    size_t up_grad_at;  /* with GELU: d up */
    size_t dnorm_at;    /* without W: dnorm */
};

/* params.c: fills params, param_count, elements and the pointers to them. */
void pp_stage_params(struct pp_arena *arena, struct pp_stage *stage);

struct pp_call {
    const struct pp_kernels *k;
    void *stream;
    const struct pp_stage_work *w;
    const struct pp_stage *stage;
    const struct pp_net *net;
    const struct pp_stage_layout *l;
    char *saved;   /* of the current split */
    int parts;     /* of a backward, as backward.c has them */
    double last_s; /* of the probe's last stamp */
};
struct pp_call pp_call_begin(const struct pp_kernels *k, void *stream,
                             const struct pp_stage_work *w);
enum pp_call_kind { PP_CALL_F, PP_CALL_I, PP_CALL_W }; /* rows of pp_probe.s */
/* Records the time of the part that has just ended. */
void pp_call_stamp(struct pp_call *c, enum pp_call_kind kind, enum pp_layer_part part);

static inline const void *pp_call_weight(const struct pp_call *c, const struct pp_param *param)
{
    return param == NULL
               ? NULL
               : (const char *)c->w->weights + (size_t)param->offset * c->l->element_bytes;
}
static inline void *pp_call_place(const struct pp_call *c, int block, enum pp_block_place place)
{
    return c->saved + c->l->blocks[block].at[place];
}
/* Returns the place of r(l). */
static inline void *pp_call_residual(const struct pp_call *c, int l)
{
    return l == 0 && !c->stage->shape.has_embedding ? c->w->kept : pp_call_place(c, l, AT_X);
}
void *pp_call_block_grad(const struct pp_call *c, int block); /* place of d r(block) */
/* Returns the fields of a norm for both directions. */
struct pp_norm pp_call_norm(const struct pp_call *c, const void *x, const struct pp_param *gamma,
                            void *stats);
/* Returns the fields of an attention for both directions; `qkv` has room for PP_STAGE_SPLITS. */
struct pp_attention pp_call_attention(const struct pp_call *c, int block, const void **qkv);
void pp_call_rotate(const struct pp_call *c, void *qkv, bool is_inverse);
