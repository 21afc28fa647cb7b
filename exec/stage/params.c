/* The parameters of a stage, in one order, and their places in the flat vectors. */
#include "exec/stage/layout.h"

#include <math.h>

enum {
    IDS_PER_LAYER = 16, /* at most that many tensors in a layer */
    ALIGNMENT = PP_FLAT_UNIT,
};
_Static_assert((int)BLOCK_TENSORS <= (int)IDS_PER_LAYER, "ids of layers do not overlap");

static const char *const embedding_names[] = {
    [EMBEDDING_WEIGHT] = "embedding.weight", [POSITIONS_WEIGHT] = "positions.weight"};
static const char *const block_names[] = {
    [NORM1_WEIGHT] = "norm1.weight", [NORM1_BIAS] = "norm1.bias",   [QKV_WEIGHT] = "qkv.weight",
    [QKV_BIAS] = "qkv.bias",         [OUT_WEIGHT] = "out.weight",   [OUT_BIAS] = "out.bias",
    [NORM2_WEIGHT] = "norm2.weight", [NORM2_BIAS] = "norm2.bias",   [UP_WEIGHT] = "up.weight",
    [UP_BIAS] = "up.bias",           [DOWN_WEIGHT] = "down.weight", [DOWN_BIAS] = "down.bias",
};
static const char *const head_names[] = {[HEAD_NORM_WEIGHT] = "norm.weight",
                                         [HEAD_NORM_BIAS] = "norm.bias",
                                         [HEAD_WEIGHT] = "head.weight"};

/* Appends a tensor of `count` elements, none when that is 0, with a gap after it where `room` is
 * more. Tables never move: there is room for all of them. */
static struct pp_param *push_padded(struct pp_stage *stage, int layer, const char *const *names,
                                    int tensor, int64_t count, int64_t room)
{
    if (count == 0)
        return NULL;
    struct pp_param *param = &stage->params[stage->param_count++];
    *param = (struct pp_param){.name = names[tensor],
                               .id = layer * IDS_PER_LAYER + tensor,
                               .layer = layer,
                               .count = count,
                               .offset = stage->elements};
    stage->elements += (room + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return param;
}

static struct pp_param *push(struct pp_stage *stage, int layer, const char *const *names,
                             int tensor, int64_t count)
{
    return push_padded(stage, layer, names, tensor, count, count);
}

static const struct pp_param *push_matrix(struct pp_stage *stage, int layer,
                                          const char *const *names, int tensor, int64_t count,
                                          double deviation)
{
    struct pp_param *param = push(stage, layer, names, tensor, count);

    if (param != NULL) {
        param->init = PP_INIT_NORMAL;
        param->deviation = deviation;
        param->decays = true;
    }
    return param;
}

static const struct pp_param *push_gain(struct pp_stage *stage, int layer, const char *const *names,
                                        int tensor)
{
    struct pp_param *param = push(stage, layer, names, tensor, stage->net->hidden);

    param->init = PP_INIT_ONE;
    return param;
}

static const struct pp_param *push_bias(struct pp_stage *stage, int layer, const char *const *names,
                                        int tensor, bool is_there, int width)
{
    return push(stage, layer, names, tensor, is_there ? width : 0);
}

enum { EMBEDDING_LAYER = 0, FIRST_BLOCK_LAYER = 1 };
static const double deviation = 0.02;

/* A matrix with a row for each word; where a head multiplies with it, also for what it takes for
 * words. */
static struct pp_param *push_words(struct pp_stage *stage, int layer, const char *const *names,
                                   int tensor, bool is_multiplied)
{
    const struct pp_net *net = stage->net;
    const int rows = is_multiplied ? stage->layout->logits_width : net->vocab;
    struct pp_param *param =
        push_padded(stage, layer, names, tensor, (int64_t)net->vocab * net->hidden,
                    (int64_t)rows * net->hidden);

    param->init = PP_INIT_NORMAL;
    param->deviation = deviation;
    param->decays = true;
    return param;
}

static const struct pp_param *push_table(struct pp_stage *stage)
{
    const bool is_tied = stage->net->is_tied;
    struct pp_param *param = push_words(stage, EMBEDDING_LAYER, embedding_names, EMBEDDING_WEIGHT,
                                        is_tied && stage->shape.has_head);

    param->is_tied = is_tied;
    return param;
}

static void push_embedding(struct pp_stage *stage, const struct pp_param **params)
{
    const struct pp_net *net = stage->net;

    params[EMBEDDING_WEIGHT] = push_table(stage);
    params[POSITIONS_WEIGHT] =
        push_matrix(stage, EMBEDDING_LAYER, embedding_names, POSITIONS_WEIGHT,
                    net->has_positions ? (int64_t)net->seq * net->hidden : 0, deviation);
}

static void push_block(struct pp_stage *stage, int layer, const struct pp_param **params)
{
    const struct pp_net *net = stage->net;
    const struct pp_stage_layout *l = stage->layout;
    const int64_t hidden = net->hidden;
    /* two matrices of each block end in the residual stream */
    const double small = deviation / sqrt(2.0 * net->layers);
    const char *const *names = block_names;

    params[NORM1_WEIGHT] = push_gain(stage, layer, names, NORM1_WEIGHT);
    params[NORM1_BIAS] =
        push_bias(stage, layer, names, NORM1_BIAS, net->has_bias_norm, net->hidden);
    params[QKV_WEIGHT] =
        push_matrix(stage, layer, names, QKV_WEIGHT, l->qkv_width * hidden, deviation);
    params[QKV_BIAS] = push_bias(stage, layer, names, QKV_BIAS, net->has_bias_qkv, l->qkv_width);
    params[OUT_WEIGHT] = push_matrix(stage, layer, names, OUT_WEIGHT, l->q_width * hidden, small);
    params[OUT_BIAS] = push_bias(stage, layer, names, OUT_BIAS, net->has_bias_out, net->hidden);
    params[NORM2_WEIGHT] = push_gain(stage, layer, names, NORM2_WEIGHT);
    params[NORM2_BIAS] =
        push_bias(stage, layer, names, NORM2_BIAS, net->has_bias_norm, net->hidden);
    params[UP_WEIGHT] =
        push_matrix(stage, layer, names, UP_WEIGHT, l->up_width * hidden, deviation);
    params[UP_BIAS] = push_bias(stage, layer, names, UP_BIAS, net->has_bias_mlp, l->up_width);
    params[DOWN_WEIGHT] = push_matrix(stage, layer, names, DOWN_WEIGHT, net->ffn * hidden, small);
    params[DOWN_BIAS] = push_bias(stage, layer, names, DOWN_BIAS, net->has_bias_mlp, net->hidden);
}

/* A tied matrix is that of the embedding: the same one, or its copy. */
static void push_head(struct pp_stage *stage, const struct pp_param *table,
                      const struct pp_param **params)
{
    const struct pp_net *net = stage->net;
    const int layer = net->layers + 1;

    params[HEAD_NORM_WEIGHT] = push_gain(stage, layer, head_names, HEAD_NORM_WEIGHT);
    params[HEAD_NORM_BIAS] =
        push_bias(stage, layer, head_names, HEAD_NORM_BIAS, net->has_bias_norm, net->hidden);
    if (!net->is_tied)
        params[HEAD_WEIGHT] = push_words(stage, layer, head_names, HEAD_WEIGHT, true);
    else
        params[HEAD_WEIGHT] = table != NULL ? table : push_table(stage);
}

void pp_stage_params(struct pp_arena *arena, struct pp_stage *stage)
{
    const struct pp_stage_shape *shape = &stage->shape;
    struct pp_stage_layout *l = stage->layout;

    const int most = EMBEDDING_TENSORS + shape->blocks * BLOCK_TENSORS + HEAD_TENSORS;

    stage->params = PP_ARRAY(arena, struct pp_param, most);
    stage->tensors = PP_ARRAY(arena, struct pp_flat_tensor, most);
    if (shape->has_embedding)
        push_embedding(stage, l->embedding);
    for (int b = 0; b < shape->blocks; b++)
        push_block(stage, FIRST_BLOCK_LAYER + shape->first_block + b, l->blocks[b].params);
    if (shape->has_head)
        push_head(stage, l->embedding[EMBEDDING_WEIGHT], l->head);
    for (int i = 0; i < stage->param_count; i++) {
        const struct pp_param *param = &stage->params[i];
        stage->tensors[i] =
            (struct pp_flat_tensor){param->offset, param->offset + param->count, param->decays};
    }
}

const struct pp_param *pp_stage_tied(const struct pp_stage *stage)
{
    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].is_tied)
            return &stage->params[i];
    return NULL;
}
