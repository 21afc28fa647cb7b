/* The nodes of a stage, layer by layer, and their parameters in the same order. */
#include "exec/stage/build.h"
#include "exec/nodes/balance.h"
#include "exec/stage/generate.h"

enum {
    EMBEDDING_LAYER = 0,
    FIRST_BLOCK_LAYER = 1,
    BLOCK_NODES = 21, /* with experts of all replicas and a shared one */
    END_NODES = 10,   /* of embedding and head */
    NODE_TENSORS = 7,
};

/* ---- nodes ----------------------------------------------------------------------------------- */

static size_t attention_scratch_bytes(const struct pp_builder *b)
{
    const struct pp_net *net = b->net;
    const struct pp_stage_shape *shape = &b->stage->shape;
    const struct pp_attention attention = {.batch = shape->rows,
                                           .tokens = shape->tokens,
                                           .heads = net->heads,
                                           .kv_heads = net->kv_heads,
                                           .head_dim = net->head_dim,
                                           .split = shape->splits - 1};
    const struct pp_attention_cached cached = {.batch = shape->rows,
                                               .heads = net->heads,
                                               .kv_heads = net->kv_heads,
                                               .head_dim = net->head_dim,
                                               .context = shape->context,
                                               .stride = shape->context};
    const bool is_cached = pp_stage_generates(shape) && shape->tokens == 1;
    const size_t own = b->k->attention_scratch_bytes(&attention),
                 of_cache = is_cached ? b->k->attention_cached_scratch_bytes(&cached) : 0;

    return pp_whole_lines(own > of_cache ? own : of_cache);
}

static struct pp_tensor *attend(struct pp_builder *b, struct pp_tensor *qkv)
{
    const struct pp_net *net = b->net;
    const bool is_cached = pp_stage_generates(&b->stage->shape);
    struct pp_stage_node *n = pp_build_node(b, is_cached ? &pp_node_attend_cached : &pp_node_attend,
                                            qkv, net->heads * net->head_dim);

    n->stats = pp_stage_tensor_of_g(b->g, (int64_t)b->g->tokens * net->heads);
    n->scratch = pp_build_tensor(b->g, 0, attention_scratch_bytes(b));
    n->window = pp_net_window(net, b->layer - FIRST_BLOCK_LAYER);
    if (is_cached) {
        const int context = b->stage->shape.context;
        n->first_slot = b->stage->cache_positions;
        n->slots = n->window > 0 && n->window < context ? n->window : context;
        b->stage->cache_positions += n->slots;
    }
    return n->y;
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* Normalizes the heads of queries and of keys. */
static struct pp_tensor *qk_norm(struct pp_builder *b, struct pp_tensor *qkv)
{
    const struct pp_net *net = b->net;
    struct pp_stage_node *n = pp_build_node(b, &pp_node_qk_norm, qkv, qkv->width);

    n->stats = pp_stage_tensor_of_g(b->g, 2 * (int64_t)b->g->tokens * (net->heads + net->kv_heads));
    n->weight = pp_build_push(b, pp_build_gain("q_norm.weight", net->head_dim));
    n->bias = pp_build_push(b, pp_build_gain("k_norm.weight", net->head_dim));
    n->dnorm = pp_stage_tensor_of_g(b->g, 2 * (int64_t)net->head_dim);
    n->dnorm->is_grad = true;
    if (b->stage->shape.tp > 1)
        n->dnorm_part = pp_stage_tensor_of_g(b->g, 2 * (int64_t)net->head_dim);
    return n->y;
}

/* The attention of t, before its output matrix. */
static struct pp_tensor *attention(struct pp_builder *b, struct pp_tensor *t)
{
    const struct pp_net *net = b->net;
    const int queries = net->heads * net->head_dim, keys = net->kv_heads * net->head_dim;

    t = pp_build_linear(b, (struct pp_linear){.x = pp_build_all_tokens(b, t),
                                              .width = queries + 2 * keys,
                                              .weight = "qkv.weight",
                                              .bias = net->has_bias_qkv ? "qkv.bias" : NULL,
                                              .groups = {queries, keys, keys}});
    return attend(b, net->has_qk_norm ? qk_norm(b, t) : t);
}

/* The feed-forward layer of t, before its last matrix. */
static struct pp_tensor *feed_forward(struct pp_builder *b, struct pp_tensor *t)
{
    const struct pp_net *net = b->net;
    const int width = net->is_gated ? 2 * net->ffn : net->ffn;

    t = pp_build_linear(b, (struct pp_linear){.x = pp_build_all_tokens(b, t),
                                              .width = width,
                                              .weight = "up.weight",
                                              .bias = net->has_bias_mlp ? "up.bias" : NULL,
                                              .is_activated = !net->is_gated,
                                              .groups = {net->ffn, net->is_gated ? net->ffn : 0}});
    return net->is_gated ? pp_build_node(b, &pp_node_gate, t, net->ffn)->y : t;
}

/* Return base + t, by the last matrix of attention or of the feed-forward layer. */
static struct pp_tensor *out(struct pp_builder *b, struct pp_tensor *t, struct pp_tensor *base)
{
    return pp_build_linear(b, (struct pp_linear){.x = t,
                                                 .base = base,
                                                 .width = b->net->hidden,
                                                 .weight = "out.weight",
                                                 .bias = b->net->has_bias_out ? "out.bias" : NULL});
}
static struct pp_tensor *down(struct pp_builder *b, struct pp_tensor *t, struct pp_tensor *base)
{
    return pp_build_linear(b,
                           (struct pp_linear){.x = t,
                                              .base = base,
                                              .width = b->net->hidden,
                                              .weight = "down.weight",
                                              .bias = b->net->has_bias_mlp ? "down.bias" : NULL});
}

/* y = x + attention(norm(x)), and the same with the feed-forward layer of y. */
static struct pp_tensor *pre_norm_block(struct pp_builder *b, struct pp_tensor *x)
{
    struct pp_tensor *y =
        out(b, attention(b, pp_build_norm(b, x, "norm1.weight", "norm1.bias")), x);
    struct pp_tensor *t = pp_build_norm(b, y, "norm2.weight", "norm2.bias");

    return pp_net_has_experts(b->net, b->layer - FIRST_BLOCK_LAYER)
               ? pp_build_experts(b, t, y)
               : down(b, feed_forward(b, t), y);
}

/* x + attention(norm1(x)) + feed forward(norm2(x)). */
static struct pp_tensor *parallel_block(struct pp_builder *b, struct pp_tensor *x)
{
    struct pp_tensor *a = attention(b, pp_build_norm(b, x, "norm1.weight", "norm1.bias"));
    struct pp_tensor *f = feed_forward(b, pp_build_norm(b, x, "norm2.weight", "norm2.bias"));

    return down(b, f, out(b, a, x));
}

static struct pp_tensor *post_norm(struct pp_builder *b, struct pp_tensor *sum, const char *weight,
                                   const char *bias)
{
    struct pp_tensor *y = pp_build_norm(b, sum, weight, bias);

    y->is_stream = true;
    return y;
}

/* y = norm(x + attention(x)), and the same with the feed-forward layer of y. */
static struct pp_tensor *post_norm_block(struct pp_builder *b, struct pp_tensor *x)
{
    struct pp_tensor *y = post_norm(b, out(b, attention(b, x), x), "norm1.weight", "norm1.bias");

    return post_norm(b, down(b, feed_forward(b, y), y), "norm2.weight", "norm2.bias");
}

static struct pp_tensor *block(struct pp_builder *b, struct pp_tensor *x)
{
    return b->net->is_encoder    ? post_norm_block(b, x)
           : b->net->is_parallel ? parallel_block(b, x)
                                 : pre_norm_block(b, x);
}

/* Appends layer `number` of the model, and returns its output. */
static struct pp_tensor *layer(struct pp_builder *b, int number, struct pp_tensor *x)
{
    struct pp_layer *l = &b->g->layers[b->g->layer_count++];
    struct pp_tensor *y = NULL;

    b->layer = number;
    b->tensor = 0;
    l->first = b->g->node_count;
    if (number == EMBEDDING_LAYER) {
        l->part = PP_PART_EMBEDDING;
        y = pp_build_embedding(b);
    } else if (number <= b->net->layers) {
        l->part = pp_net_has_experts(b->net, number - FIRST_BLOCK_LAYER) ? PP_PART_EXPERTS
                                                                         : PP_PART_BLOCK;
        y = block(b, x);
    } else {
        l->part = PP_PART_HEAD;
        pp_build_head(b, x);
    }
    l->end = b->g->node_count;
    return y;
}

static void reserve(struct pp_arena *arena, struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;
    const int blocks = stage->shape.blocks, nodes = blocks * BLOCK_NODES + END_NODES,
              params = 2 * nodes;

    g->layers = PP_ARRAY(arena, struct pp_layer, blocks + 2);
    g->nodes = PP_ARRAY(arena, struct pp_stage_node, nodes);
    g->tensors = PP_ARRAY(arena, struct pp_tensor, (nodes + 1) * NODE_TENSORS);
    g->copies = PP_ARRAY(arena, struct pp_tensor *, nodes);
    stage->params = PP_ARRAY(arena, struct pp_param, params);
}

static void list_tensors(struct pp_arena *arena, struct pp_stage *stage)
{
    int count = 0;

    for (int i = 0; i < stage->param_count; i++)
        count += pp_param_tensors(&stage->params[i]);
    stage->tensors = PP_ARRAY(arena, struct pp_flat_tensor, count + 1);
    for (int i = 0; i < stage->param_count; i++) {
        const struct pp_param *param = &stage->params[i];
        const int64_t each = param->count / pp_param_tensors(param);

        for (int64_t at = 0; at < param->count; at += each)
            stage->tensors[stage->tensor_count++] = (struct pp_flat_tensor){
                param->offset + at, param->offset + at + each, param->decays};
    }
}

static const struct pp_param *moved(const struct pp_param *from, const struct pp_param *old,
                                    const struct pp_param *to, const int *place)
{
    return from ? &to[place[from - old]] : NULL;
}

static bool is_shared(const struct pp_param *param)
{
    return param->experts > 0;
}

/* Moves experts that replicas share to the end of the flat vectors. */
static void put_experts_last(struct pp_arena *arena, struct pp_stage *stage)
{
    const int count = stage->param_count;
    const struct pp_param *old = stage->params;
    const int64_t end = stage->elements;
    int *place = PP_ARRAY(arena, int, count + 1), next = 0;

    stage->params = PP_ARRAY(arena, struct pp_param, count + 1);
    stage->elements = 0;
    for (int is_last = 0; is_last <= 1; is_last++) {
        stage->experts_from = is_last && next < count ? stage->elements : 0;
        for (int p = 0; p < count; p++) {
            if (is_shared(&old[p]) != is_last)
                continue;
            struct pp_param *param = &stage->params[place[p] = next++];
            *param = old[p];
            param->offset = stage->elements;
            stage->elements += (p + 1 < count ? old[p + 1].offset : end) - old[p].offset;
        }
    }
    for (struct pp_stage_node *n = stage->graph->nodes;
         n < stage->graph->nodes + stage->graph->node_count; n++) {
        n->weight = moved(n->weight, old, stage->params, place);
        n->bias = moved(n->bias, old, stage->params, place);
        n->types = moved(n->types, old, stage->params, place);
        n->bias_before = moved(n->bias_before, old, stage->params, place);
    }
}

void pp_stage_build(struct pp_arena *arena, struct pp_stage *stage, const struct pp_kernels *k)
{
    const struct pp_stage_shape *shape = &stage->shape;
    struct pp_builder b = {
        .stage = stage, .g = stage->graph, .net = stage->net, .k = k, .arena = arena};

    reserve(arena, stage);
    struct pp_tensor *x = shape->has_embedding ? layer(&b, EMBEDDING_LAYER, NULL)
                                               : pp_stage_stream(b.g, stage->net->hidden);
    x->is_stream = true;
    b.g->input = x;
    for (int i = 0; i < shape->blocks; i++)
        x = layer(&b, FIRST_BLOCK_LAYER + shape->first_block + i, x);
    b.g->output = shape->has_head ? layer(&b, stage->net->layers + 1, x) : x;
    if (shape->has_head && stage->net->balance_loss > 0)
        b.g->balance = pp_build_tensor(b.g, 0, pp_balance_bytes(stage->net));
    if (shape->ep > 1)
        put_experts_last(arena, stage);
    list_tensors(arena, stage);
}
