/* The parameters of a stage, in one order, and their places in the flat vectors. */
#include "exec/stage/layout.h"

#include <math.h>

enum {
    IDS_PER_LAYER = 16, /* most tensors of a layer */
    ALIGNMENT = PP_FLAT_UNIT,
};
_Static_assert((int)BLOCK_TENSORS <= (int)IDS_PER_LAYER, "ids of layers do not overlap");

enum { EMBEDDING_LAYER = 0, FIRST_BLOCK_LAYER = 1 };
static const double DEVIATION = 0.02;

/* A tensor of `count` elements (0 = no tensor), with a gap after it up to `room`. */
struct wanted {
    const char *name;
    int64_t count, room;
    enum pp_init init;
    double deviation;
    bool is_tied;
};

static struct wanted matrix(const char *name, int64_t rows, int64_t columns, double deviation)
{
    return (struct wanted){name, rows * columns, 0, PP_INIT_NORMAL, deviation, false};
}

static struct wanted gain(const char *name, int width)
{
    return (struct wanted){.name = name, .count = width, .init = PP_INIT_ONE};
}

static struct wanted bias(const char *name, bool is_there, int width)
{
    return (struct wanted){.name = name, .count = is_there ? width : 0};
}

/* A matrix with a row for each word, and room for padded logits if a head multiplies with it. */
static struct wanted words(const struct pp_stage *stage, const char *name, bool is_multiplied)
{
    const struct pp_net *net = stage->net;
    struct wanted w = matrix(name, net->vocab, net->hidden, DEVIATION);

    w.room = is_multiplied ? (int64_t)stage->layout->logits_width * net->hidden : 0;
    return w;
}

/* The matrix of the embedding, which a tied head multiplies with. */
static struct wanted table_of(const struct pp_stage *stage)
{
    const bool is_tied = stage->net->is_tied;
    struct wanted w = words(stage, "embedding.weight", is_tied && stage->shape.has_head);

    w.is_tied = is_tied;
    return w;
}

/* Appends a tensor. The table has room for all, so it never moves. */
static const struct pp_param *push(struct pp_stage *stage, int layer, int tensor, struct wanted w)
{
    if (w.count == 0)
        return NULL;
    struct pp_param *param = &stage->params[stage->param_count++];
    const int64_t room = w.room > w.count ? w.room : w.count;

    *param = (struct pp_param){.name = w.name,
                               .id = layer * IDS_PER_LAYER + tensor,
                               .layer = layer,
                               .count = w.count,
                               .offset = stage->elements,
                               .init = w.init,
                               .deviation = w.deviation,
                               .decays = w.init == PP_INIT_NORMAL,
                               .is_tied = w.is_tied};
    stage->elements += (room + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return param;
}

static void push_embedding(struct pp_stage *stage, const struct pp_param **params)
{
    const struct pp_net *net = stage->net;
    const struct wanted positions =
        matrix("positions.weight", net->has_positions ? net->seq : 0, net->hidden, DEVIATION);

    params[EMBEDDING_WEIGHT] = push(stage, EMBEDDING_LAYER, EMBEDDING_WEIGHT, table_of(stage));
    params[POSITIONS_WEIGHT] = push(stage, EMBEDDING_LAYER, POSITIONS_WEIGHT, positions);
}

static void push_block(struct pp_stage *stage, int layer, const struct pp_param **params)
{
    const struct pp_net *net = stage->net;
    const struct pp_stage_layout *l = stage->layout;
    const int hidden = net->hidden;
    /* two matrices of each block end in the residual stream */
    const double small = DEVIATION / sqrt(2.0 * net->layers);
    const struct wanted tensors[BLOCK_TENSORS] = {
        [NORM1_WEIGHT] = gain("norm1.weight", hidden),
        [NORM1_BIAS] = bias("norm1.bias", net->has_bias_norm, hidden),
        [QKV_WEIGHT] = matrix("qkv.weight", l->qkv_width, hidden, DEVIATION),
        [QKV_BIAS] = bias("qkv.bias", net->has_bias_qkv, l->qkv_width),
        [OUT_WEIGHT] = matrix("out.weight", hidden, l->q_width, small),
        [OUT_BIAS] = bias("out.bias", net->has_bias_out, hidden),
        [NORM2_WEIGHT] = gain("norm2.weight", hidden),
        [NORM2_BIAS] = bias("norm2.bias", net->has_bias_norm, hidden),
        [UP_WEIGHT] = matrix("up.weight", l->up_width, hidden, DEVIATION),
        [UP_BIAS] = bias("up.bias", net->has_bias_mlp, l->up_width),
        [DOWN_WEIGHT] = matrix("down.weight", hidden, net->ffn, small),
        [DOWN_BIAS] = bias("down.bias", net->has_bias_mlp, hidden),
    };

    for (int i = 0; i < BLOCK_TENSORS; i++)
        params[i] = push(stage, layer, i, tensors[i]);
}

/* A tied head takes the embedding matrix `table`, or its own copy if the stage has no embedding. */
static void push_head(struct pp_stage *stage, const struct pp_param *table,
                      const struct pp_param **params)
{
    const struct pp_net *net = stage->net;
    const int layer = net->layers + 1;

    params[HEAD_NORM_WEIGHT] =
        push(stage, layer, HEAD_NORM_WEIGHT, gain("norm.weight", net->hidden));
    params[HEAD_NORM_BIAS] =
        push(stage, layer, HEAD_NORM_BIAS, bias("norm.bias", net->has_bias_norm, net->hidden));
    if (!net->is_tied)
        params[HEAD_WEIGHT] = push(stage, layer, HEAD_WEIGHT, words(stage, "head.weight", true));
    else
        params[HEAD_WEIGHT] =
            table ? table : push(stage, EMBEDDING_LAYER, EMBEDDING_WEIGHT, table_of(stage));
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

const struct pp_param *pp_stage_find(const struct pp_stage *stage, int id)
{
    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].id == id)
            return &stage->params[i];
    return NULL;
}

const struct pp_param *pp_stage_tied(const struct pp_stage *stage)
{
    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].is_tied)
            return &stage->params[i];
    return NULL;
}
