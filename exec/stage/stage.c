/* Creation of a stage: places of its tensors, and memory of its calls. */
#include "exec/stage/layout.h"

#include <assert.h>

static size_t largest(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Appends `elements` to `saved`; returns their place. */
static size_t append(struct pp_stage *stage, int64_t elements, size_t element_bytes)
{
    const size_t at = stage->saved_bytes;

    stage->saved_bytes += (size_t)elements * element_bytes;
    return at;
}

/* Places with elements of G; all others have elements of T. */
static const bool BLOCK_HAS_G[BLOCK_PLACES] = {
    [AT_STATS1] = true, [AT_LSE] = true, [AT_STATS2] = true, [AT_DNORM] = true};
static const bool HEAD_HAS_G[HEAD_PLACES] = {[AT_HEAD_STATS] = true, [AT_HEAD_DNORM] = true};

/* Return the elements of dnorm of a block, and of the head. */
static int64_t block_dnorm(const struct pp_stage *stage, int block)
{
    const struct pp_net *net = stage->net;
    const bool has_bias_before = net->has_bias_mlp && block > 0;

    return (2 * stage->layout->norm_rows + net->has_bias_out + has_bias_before) * net->hidden;
}
static int64_t head_dnorm(const struct pp_stage *stage)
{
    return (int64_t)stage->layout->norm_rows * stage->net->hidden;
}

/* Places a block's tensors of one element type. */
static void place_block(struct pp_stage *stage, int block, bool is_g)
{
    const struct pp_net *net = stage->net;
    const struct pp_stage_layout *l = stage->layout;
    const struct pp_stage_shape *shape = &stage->shape;
    const int64_t t = l->tokens, residual = t * net->hidden;
    const int64_t elements[] = {
        [AT_X] = block > 0 || shape->has_embedding ? residual : 0,
        [AT_N1] = residual,
        [AT_STATS1] = 2 * t,
        [AT_QKV] = t * l->qkv_width,
        [AT_DQKV] = shape->splits > 1 ? t * l->qkv_width : 0,
        [AT_LSE] = t * net->heads,
        [AT_A] = t * l->q_width,
        [AT_Y] = residual,
        [AT_N2] = residual,
        [AT_STATS2] = 2 * t,
        [AT_UP] = t * l->up_width,
        [AT_ACT] = t * net->ffn,
        [AT_DNORM] = shape->has_w ? block_dnorm(stage, block) : 0,
    };

    for (int place = 0; place < BLOCK_PLACES; place++)
        if (BLOCK_HAS_G[place] == is_g)
            l->blocks[block].at[place] =
                append(stage, elements[place], is_g ? l->gradient_bytes : l->element_bytes);
}

static void place_head(struct pp_stage *stage, bool is_g)
{
    const struct pp_net *net = stage->net;
    struct pp_stage_layout *l = stage->layout;
    const int64_t t = l->tokens;
    const int64_t elements[] = {[AT_HEAD_N] = t * net->hidden,
                                [AT_HEAD_STATS] = 2 * t,
                                [AT_LOGITS] = t * l->logits_width,
                                [AT_HEAD_DNORM] = stage->shape.has_w ? head_dnorm(stage) : 0};

    for (int place = 0; place < HEAD_PLACES; place++)
        if (HEAD_HAS_G[place] == is_g)
            l->head_at[place] =
                append(stage, elements[place], is_g ? l->gradient_bytes : l->element_bytes);
}

static void place_all_g(struct pp_stage *stage)
{
    for (int block = 0; block < stage->shape.blocks; block++)
        place_block(stage, block, true);
    if (stage->shape.has_head)
        place_head(stage, true);
}

/* See the table in layout.h. */
static void place_saved(struct pp_stage *stage)
{
    const struct pp_stage_shape *shape = &stage->shape;
    struct pp_stage_layout *l = stage->layout;
    const int64_t residual = (int64_t)l->tokens * stage->net->hidden;
    const int n = shape->blocks;
    const bool has_top = n > 0 || (shape->has_embedding && shape->has_head);

    for (int block = 0; block < n; block++)
        place_block(stage, block, false);
    l->blocks[n].at[AT_X] = append(stage, has_top ? residual : 0, l->element_bytes);
    if (shape->has_head)
        place_head(stage, false);
    if (n > 0) {
        l->embedding_grad_at = l->blocks[0].at[AT_Y];
        l->top_grad_at = l->blocks[0].at[shape->has_embedding ? AT_X : AT_Y];
    } else if (shape->has_embedding) {
        l->embedding_grad_at = append(stage, residual, l->element_bytes);
    }
    place_all_g(stage);
}

static void place_kept(struct pp_stage *stage)
{
    const struct pp_stage_shape *shape = &stage->shape;

    stage->boundary_bytes = stage->layout->hidden_bytes;
    if (!shape->has_embedding && (shape->blocks > 0 || shape->has_head))
        stage->kept_bytes += stage->boundary_bytes;
    stage->edge_offset = stage->kept_bytes;
    if (shape->has_edge)
        stage->kept_bytes += stage->boundary_bytes;
}

static size_t attention_scratch_bytes(const struct pp_stage *stage, const struct pp_kernels *k)
{
    const struct pp_net *net = stage->net;
    const struct pp_attention attention = {.batch = stage->shape.rows,
                                           .tokens = stage->shape.tokens,
                                           .heads = net->heads,
                                           .kv_heads = net->kv_heads,
                                           .head_dim = net->head_dim,
                                           .split = stage->shape.splits - 1};

    return pp_whole_lines(k->attention_scratch_bytes(&attention));
}

/* Places dnorm after the other buffers of scratch: those of a block or head live with it. */
static void place_scratch_dnorm(struct pp_stage *stage)
{
    struct pp_stage_layout *l = stage->layout;
    const int blocks = stage->shape.blocks;
    int64_t elements = blocks > 0 ? block_dnorm(stage, blocks - 1) : 0;

    if (stage->shape.has_head && head_dnorm(stage) > elements)
        elements = head_dnorm(stage);
    l->dnorm_at = pp_whole_lines(stage->scratch_bytes);
    if (elements > 0)
        stage->scratch_bytes = l->dnorm_at + (size_t)elements * l->gradient_bytes;
}

/* Sizes scratch for the buffers that live at the same time. Attention has its scratch and the
 * gradient of its output. Others are the gradient of SwiGLU, and the losses of a recomputation. The
 * gradients of qkv and of the input of GELU stay to the end of a block, or of I. */
static void place_scratch(struct pp_stage *stage, const struct pp_kernels *k)
{
    struct pp_stage_layout *l = stage->layout;
    const struct pp_stage_shape *shape = &stage->shape;
    const size_t token_bytes = (size_t)l->tokens * l->element_bytes,
                 ffn_bytes = token_bytes * (size_t)stage->net->ffn,
                 gated_bytes = stage->net->is_gated ? ffn_bytes : 0;
    size_t transient = 0;

    if (shape->blocks > 0 || shape->has_head)
        transient = l->hidden_bytes;
    if (shape->has_head)
        transient = largest(transient, (size_t)l->tokens * sizeof(double));
    if (shape->blocks > 0) {
        l->attention_bytes = attention_scratch_bytes(stage, k);
        l->transient_at = shape->has_head ? pp_whole_lines(l->hidden_bytes) : 0;
        transient = largest(transient, l->attention_bytes + token_bytes * (size_t)l->q_width);
        transient = largest(transient, shape->has_w ? gated_bytes : 0);
        l->qkv_grad_at = l->transient_at + transient;
        transient += shape->splits == 1 ? token_bytes * (size_t)l->qkv_width : 0;
        transient = pp_whole_lines(largest(transient, gated_bytes));
        l->up_grad_at = l->transient_at + transient;
        transient += ffn_bytes - gated_bytes;
    }
    stage->scratch_bytes = l->transient_at + transient;
    if (!shape->has_w)
        place_scratch_dnorm(stage);
}

/* One call computes gradients of both tables of an embedding, or of the head's padded matrix. */
static void size_grad_scratch(struct pp_stage *stage)
{
    const struct pp_stage_layout *l = stage->layout;
    int64_t most = 0;

    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].count > most)
            most = stage->params[i].count;
    if (l->embedding[POSITIONS_WEIGHT] != NULL) {
        const int64_t both =
            l->embedding[EMBEDDING_WEIGHT]->count + l->embedding[POSITIONS_WEIGHT]->count;
        most = both > most ? both : most;
    }
    if (stage->shape.has_head) {
        const int64_t padded = (int64_t)l->logits_width * stage->net->hidden;
        most = padded > most ? padded : most;
    }
    stage->grad_scratch_bytes = (size_t)most * l->gradient_bytes;
}

struct pp_stage *pp_stage_create(struct pp_arena *arena, const struct pp_net *net,
                                 const struct pp_stage_shape *shape,
                                 const struct pp_kernels *kernels)
{
    struct pp_stage *stage = PP_NEW(arena, struct pp_stage);
    struct pp_stage_layout *l = PP_NEW(arena, struct pp_stage_layout);

    assert(shape->splits >= 1 && shape->splits <= PP_STAGE_SPLITS);
    assert(shape->tokens * shape->splits == net->seq);
    assert(shape->first_block + shape->blocks <= net->layers);
    stage->net = net;
    stage->shape = *shape;
    stage->layout = l;
    l->tokens = shape->rows * shape->tokens;
    l->q_width = net->heads * net->head_dim;
    l->qkv_width = (net->heads + 2 * net->kv_heads) * net->head_dim;
    l->up_width = (net->is_gated ? 2 : 1) * net->ffn;
    l->logits_width = (net->vocab + kernels->vocab_multiple - 1) / kernels->vocab_multiple *
                      kernels->vocab_multiple;
    l->element_bytes = kernels->element_bytes;
    l->gradient_bytes = kernels->gradient_bytes;
    l->hidden_bytes = (size_t)l->tokens * (size_t)net->hidden * l->element_bytes;
    l->norm_rows = 1 + net->has_bias_norm;
    l->dnorm2_bytes =
        (size_t)(l->norm_rows + net->has_bias_out) * (size_t)net->hidden * l->gradient_bytes;
    l->blocks = PP_ARRAY(arena, struct pp_stage_block, shape->blocks + 1);
    pp_stage_params(arena, stage);
    place_saved(stage);
    place_kept(stage);
    place_scratch(stage, kernels);
    size_grad_scratch(stage);
    return stage;
}

struct pp_stage *pp_stage_whole(struct pp_arena *arena, const struct pp_net *net, int rows,
                                int splits, const struct pp_kernels *kernels)
{
    const struct pp_stage_shape shape = {.blocks = net->layers,
                                         .has_embedding = true,
                                         .has_head = true,
                                         .rows = rows,
                                         .tokens = net->seq / splits,
                                         .splits = splits};

    return pp_stage_create(arena, net, &shape, kernels);
}
