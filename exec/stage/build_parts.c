/* Parameters, tensors and nodes, appended one by one. */
#include "exec/stage/build.h"

#include <assert.h>
#include <math.h>

enum { IDS_PER_LAYER = 16 };

/* ---- parameters ------------------------------------------------------------------------------ */

struct pp_new_param pp_build_matrix(const char *name, int64_t rows, int64_t columns,
                                    double deviation)
{
    return (struct pp_new_param){
        .name = name, .count = rows * columns, .init = PP_INIT_NORMAL, .deviation = deviation};
}

struct pp_new_param pp_build_gain(const char *name, int width)
{
    return (struct pp_new_param){.name = name, .count = width, .init = PP_INIT_ONE};
}

struct pp_new_param pp_build_bias(const char *name, int64_t width)
{
    return (struct pp_new_param){.name = name, .count = name ? width : 0};
}

/* Tensors beyond the first 16 of a layer have ids after those of all layers. */
static int next_id(struct pp_builder *b)
{
    const int number = b->tensor++, layers = b->net->layers + 2;

    assert(number < 2 * IDS_PER_LAYER);
    return number < IDS_PER_LAYER ? b->layer * IDS_PER_LAYER + number
                                  : (layers + b->layer - 1) * IDS_PER_LAYER + number;
}

const struct pp_param *pp_build_push(struct pp_builder *b, struct pp_new_param w)
{
    struct pp_stage *stage = b->stage;
    const int id = next_id(b);

    if (w.count == 0)
        return NULL;
    struct pp_param *param = &stage->params[stage->param_count++];
    const int64_t room = w.room > w.count ? w.room : w.count;

    *param = (struct pp_param){.name = w.name,
                               .id = id,
                               .layer = b->layer,
                               .is_cut = w.is_cut || (w.experts == 0 && w.slice.whole > 0),
                               .order = stage->param_count - 1,
                               .count = w.count,
                               .offset = stage->elements,
                               .init = w.init,
                               .deviation = w.deviation,
                               .decays = w.init == PP_INIT_NORMAL,
                               .experts = w.experts,
                               .is_tied = w.is_tied,
                               .slice = w.slice};
    stage->elements += (room + PP_FLAT_UNIT - 1) / PP_FLAT_UNIT * PP_FLAT_UNIT;
    return param;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct pp_tensor *pp_build_tensor(struct pp_stage_graph *g, int width, size_t bytes)
{
    struct pp_tensor *t = &g->tensors[g->tensor_count++];

    *t = (struct pp_tensor){.width = width,
                            .bytes = bytes,
                            .made = {-1, -1, -1, -1, -1},
                            .read = {-1, -1, -1, -1, -1},
                            .first_read = -1};
    return t;
}

struct pp_tensor *pp_stage_tensor(struct pp_stage_graph *g, int width)
{
    return pp_build_tensor(g, width, (size_t)g->tokens * (size_t)width * g->element_bytes);
}

struct pp_tensor *pp_stage_stream(struct pp_stage_graph *g, int width)
{
    return pp_build_tensor(g, width, (size_t)g->stream_tokens * (size_t)width * g->element_bytes);
}

struct pp_tensor *pp_stage_tensor_of_g(struct pp_stage_graph *g, int64_t elements)
{
    return pp_build_tensor(g, 0, (size_t)elements * g->gradient_bytes);
}

struct pp_stage_node *pp_build_node(struct pp_builder *b, const struct pp_node_kind *kind,
                                    struct pp_tensor *x, int width)
{
    struct pp_stage_graph *g = b->g;
    struct pp_stage_node *n = &g->nodes[g->node_count++];

    *n = (struct pp_stage_node){
        .kind = kind, .x = x, .y = width > 0 ? pp_stage_tensor(g, width) : NULL};
    if (n->y != NULL)
        n->y->maker = n;
    return n;
}

void pp_build_scattered(const struct pp_builder *b, struct pp_stage_node *n)
{
    if (b->stage->shape.tp <= 1)
        return;
    n->part = pp_stage_tensor(b->g, n->y->width);
    if (!b->stage->shape.is_sequence_parallel)
        return;
    n->y->bytes = n->part->bytes / (size_t)b->stage->shape.tp;
    n->rule = PP_RULE_SCATTER;
    n->after = n->base;
    n->base = NULL;
}

struct pp_tensor *pp_build_all_tokens(struct pp_builder *b, struct pp_tensor *x)
{
    if (!b->stage->shape.is_sequence_parallel)
        return x;
    struct pp_stage_node *n = pp_build_node(b, &pp_node_gather, x, x->width);
    n->part = x;
    n->rule = PP_RULE_GATHER;
    return n->y;
}

void pp_build_gathered(const struct pp_builder *b, struct pp_stage_node *n)
{
    if (b->stage->shape.tp <= 1)
        return;
    n->dx_part = pp_stage_tensor(b->g, n->x->width);
    if (!b->stage->shape.is_sequence_parallel)
        return;
    n->x_part = n->x->maker->x;
    n->x_again = pp_stage_tensor(b->g, n->x->width);
    n->x_again->maker = n;
}

void pp_build_same_x(struct pp_stage_node *n, const struct pp_stage_node *next)
{
    n->x_part = next->x_part;
    n->x_again = next->x_again;
    n->x_again->maker = n;
}

/* Cuts a matrix, its bias and what it makes: by columns if it ends in the residual stream. Without
 * groups of rows, each device has all of it. */
static void cut(const struct pp_builder *b, const struct pp_linear *l, struct pp_stage_node *n,
                struct pp_new_param *weight, struct pp_new_param *bias)
{
    const int tp = b->stage->shape.tp, index = b->stage->shape.tp_index;

    if (tp <= 1 || (l->base == NULL && l->groups[0] == 0))
        return;
    n->is_part = l->is_part;
    if (l->base != NULL) {
        weight->slice = pp_slice_by_columns(tp, index, l->width, l->x->width);
    } else {
        weight->slice = pp_slice_by_rows(tp, index, l->x->width, l->groups);
        bias->slice = pp_slice_by_rows(tp, index, 1, l->groups);
    }
    if (!l->is_part)
        (l->base != NULL ? pp_build_scattered : pp_build_gathered)(b, n);
}

struct pp_tensor *pp_build_linear(struct pp_builder *b, struct pp_linear l)
{
    const double small = PP_DEVIATION / sqrt(2.0 * b->net->layers);
    struct pp_stage_node *n = pp_build_node(b, &pp_node_linear, l.x, l.width);

    n->base = l.base;
    n->y->is_stream = l.base != NULL;
    struct pp_new_param weight = pp_build_matrix(l.weight, l.width, l.x->width,
                                                 l.base ? small : PP_DEVIATION),
                        bias = pp_build_bias(l.bias, l.width);
    cut(b, &l, n, &weight, &bias);
    n->weight = pp_build_push(b, weight);
    n->bias = pp_build_push(b, bias);
    if (l.x->maker != NULL && l.x->maker->act == l.x)
        n->slope_of = l.x->maker->y;
    if (!l.is_activated)
        return n->y;
    n->act = pp_stage_tensor(b->g, l.width);
    n->act->maker = n;
    return n->act;
}

/* Is true if x is the sum of a LINEAR that no node has read yet. The first reader of a tensor makes
 * the last part of its gradient. */
static bool is_new_sum(const struct pp_builder *b, const struct pp_tensor *x)
{
    return x->maker == &b->g->nodes[b->g->node_count - 1] && x->maker->kind == &pp_node_linear;
}

/* `rows` of the bias before it, see graph.h, gain and bias. */
struct pp_tensor *pp_build_norm(struct pp_builder *b, struct pp_tensor *x, const char *weight_name,
                                const char *bias_name)
{
    const int hidden = b->net->hidden;
    const bool is_shared = b->stage->shape.is_sequence_parallel,
               sums_bias = is_new_sum(b, x) && b->layer <= b->net->layers && !is_shared;
    struct pp_stage_node *before = sums_bias ? &b->g->nodes[b->g->node_count - 1] : NULL;
    struct pp_stage_node *n = pp_build_node(b, &pp_node_norm, x, hidden);

    n->y->bytes = x->bytes;
    n->stats = pp_stage_tensor_of_g(b->g, 2 * (int64_t)b->g->stream_tokens);
    n->weight = pp_build_push(b, pp_build_gain(weight_name, hidden));
    n->bias = pp_build_push(b, pp_build_bias(b->net->has_bias_norm ? bias_name : NULL, hidden));
    if (before != NULL && before->bias != NULL) {
        n->bias_before = before->bias;
        before->is_bias_summed = true;
    }
    const int rows = 1 + (n->bias != NULL) + (n->bias_before != NULL);
    n->dnorm = pp_stage_tensor_of_g(b->g, (int64_t)rows * hidden);
    n->dnorm->is_grad = true;
    if (is_shared)
        n->dnorm_part = pp_stage_tensor_of_g(b->g, (int64_t)rows * hidden);
    return n->y;
}
