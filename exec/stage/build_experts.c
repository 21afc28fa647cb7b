/* The feed-forward layer of a block with experts:
 *
 *   logits = x router^T             LINEAR
 *   gates, order = choice of top k  ROUTE
 *   rows = tokens, by expert        DISPATCH
 *   up, f, down of each expert      GROUPED, and GATE on rows
 *   y = base + shared expert of x   LINEAR, GATE, LINEAR: only if there is one
 *   y + sum of gate * row           COMBINE */
#include "exec/stage/build.h"

#include <math.h>

static struct pp_stage_node *last_of(const struct pp_builder *b)
{
    return &b->g->nodes[b->g->node_count - 1];
}

/* Choices of a sample that find room with this set of experts, if they are spread evenly. */
static double balanced_of(const struct pp_builder *b)
{
    const struct pp_net *net = b->net;
    const double choices = (double)b->g->tokens * net->top_k,
                 room = (double)b->stage->shape.rows * net->capacity * net->experts *
                        b->stage->shape.tokens / net->seq;
    const int sets = pp_share_experts(&b->stage->shape, net->experts).sets;

    return (net->capacity > 0 && room < choices ? room : choices) / sets;
}

static struct pp_routes *routes_of(struct pp_arena *arena, struct pp_builder *b)
{
    const struct pp_stage_shape *shape = &b->stage->shape;
    struct pp_routes *routes = PP_NEW(arena, struct pp_routes);
    const int64_t choices = (int64_t)b->g->tokens * b->net->top_k;

    routes->rows = pp_routes_rows(b->net, shape);
    routes->mixture = b->mixture++;
    routes->gates = pp_stage_tensor_of_g(b->g, choices);
    routes->order = pp_build_tensor(b->g, 0, pp_routes_bytes(b->net, shape, routes->rows));
    routes->dgates = pp_stage_tensor_of_g(b->g, choices);
    routes->dgates->is_grad = true;
    return routes;
}

/* Rows of all replicas that share experts, for those that are here. COUNT gathers `order`. */
static struct pp_routes *held_of(struct pp_arena *arena, struct pp_builder *b,
                                 const struct pp_routes *sent)
{
    const struct pp_stage_shape *shape = &b->stage->shape;
    const int integers = shape->ep * (b->net->experts + 1);
    struct pp_stage_node *n = pp_build_node(b, &pp_node_count, NULL, 0);
    struct pp_routes *held = PP_NEW(arena, struct pp_routes);

    n->routes = sent;
    n->y = pp_build_tensor(b->g, 0, sizeof(int32_t) * (size_t)(integers + integers % 2));
    n->y->maker = n;
    *held = (struct pp_routes){.rows = pp_routes_held_rows(b->net, shape),
                               .mixture = sent->mixture,
                               .order = n->y,
                               .balanced = balanced_of(b),
                               .is_held = true};
    return held;
}

static struct pp_tensor *rows_tensor(struct pp_builder *b, const struct pp_routes *routes,
                                     int width)
{
    return pp_build_tensor(b->g, width, (size_t)routes->rows * (size_t)width * b->g->element_bytes);
}

/* Appends a node whose output has rows of `of`. It reads `routes`. */
static struct pp_stage_node *rows_node_of(struct pp_builder *b, const struct pp_node_kind *kind,
                                          const struct pp_routes *routes, struct pp_tensor *x,
                                          int width, const struct pp_routes *of)
{
    struct pp_stage_node *n = pp_build_node(b, kind, x, 0);

    n->routes = routes;
    n->y = rows_tensor(b, of, width);
    n->y->maker = n;
    return n;
}
static struct pp_stage_node *rows_node(struct pp_builder *b, const struct pp_node_kind *kind,
                                       const struct pp_routes *routes, struct pp_tensor *x,
                                       int width)
{
    return rows_node_of(b, kind, routes, x, width, routes);
}

struct grouped {
    const char *weight, *bias; /* bias NULL: none */
    int width;
    double deviation;
    bool is_activated;
    int parts; /* of its rows that are cut each by themselves; 0: it is cut by columns */
};

/* Returns the slice of experts that are here, each of `each` elements of all devices that share it.
 * A device has a run of each of `runs` parts of an expert. */
static struct pp_slice slice_of(const struct pp_builder *b, int64_t runs, int64_t each)
{
    const struct pp_expert_share share = pp_share_experts(&b->stage->shape, b->net->experts);
    const int etp = share.etp;
    struct pp_slice slice =
        runs > 0 && etp > 1
            ? pp_slice_by_columns(etp, share.etp_index, share.here * runs, each / runs / etp)
            : pp_slice_by_columns(1, 0, 1, share.here * each);

    slice.piece[0].first += share.first * each;
    slice.whole = b->net->experts * each;
    return slice;
}

/* Cuts the matrices of experts and their biases. A device has a run of each part of an expert's
 * rows, or of each row. Then it has whole biases. */
static void cut(const struct pp_builder *b, const struct grouped *w, int64_t columns,
                struct pp_new_param *weight, struct pp_new_param *bias)
{
    const struct pp_expert_share share = pp_share_experts(&b->stage->shape, b->net->experts);
    const bool is_shared = share.here < b->net->experts;

    if (share.etp == 1 && !is_shared)
        return;
    weight->slice =
        slice_of(b, w->parts > 0 ? w->parts : w->width, share.etp * (int64_t)w->width * columns);
    weight->is_cut = share.etp > 1;
    bias->is_cut = share.etp > 1 && w->parts > 0;
    if (is_shared || bias->is_cut)
        bias->slice = slice_of(b, w->parts, w->width * (w->parts > 0 ? (int64_t)share.etp : 1));
}

static struct pp_tensor *grouped(struct pp_builder *b, const struct pp_routes *routes,
                                 struct pp_tensor *x, struct grouped w)
{
    struct pp_stage_node *n = rows_node(b, &pp_node_grouped, routes, x, w.width);
    const struct pp_expert_share share = pp_share_experts(&b->stage->shape, b->net->experts);
    const int64_t rows = (int64_t)share.here * w.width;

    struct pp_new_param weight = pp_build_matrix(w.weight, rows, x->width, w.deviation),
                        bias = pp_build_bias(w.bias, rows);
    weight.experts = bias.experts = share.here;
    cut(b, &w, x->width, &weight, &bias);
    n->is_part = share.etp > 1 && w.parts == 0;
    n->weight = pp_build_push(b, weight);
    n->bias = pp_build_push(b, bias);
    if (x->maker->act == x)
        n->slope_of = x->maker->y;
    if (!w.is_activated)
        return n->y;
    n->act = rows_tensor(b, routes, w.width);
    n->act->maker = n;
    return n->act;
}

/* The rows of all experts, from `x` in rows. */
static struct pp_tensor *experts(struct pp_builder *b, const struct pp_routes *routes,
                                 struct pp_tensor *x)
{
    const struct pp_net *net = b->net;
    const bool has_bias = net->has_bias_mlp, is_gated = net->is_gated;
    struct pp_tensor *t =
        grouped(b, routes, x,
                (struct grouped){"experts.up.weight", has_bias ? "experts.up.bias" : NULL,
                                 is_gated ? 2 * net->expert_ffn : net->expert_ffn, PP_DEVIATION,
                                 !is_gated, is_gated ? 2 : 1});

    if (is_gated)
        t = rows_node(b, &pp_node_gate, routes, t, net->expert_ffn)->y;
    return grouped(b, routes, t,
                   (struct grouped){"experts.down.weight", has_bias ? "experts.down.bias" : NULL,
                                    net->hidden, PP_DEVIATION / sqrt(2.0 * net->layers), false, 0});
}

/* The same, if replicas share experts: rows go to where these are, and back. */
static struct pp_tensor *experts_of_all(struct pp_builder *b, const struct pp_routes *routes,
                                        struct pp_tensor *x)
{
    const int hidden = b->net->hidden;

    if (b->stage->shape.ep <= 1)
        return experts(b, routes, x);
    const struct pp_routes *held = held_of(b->arena, b, routes);
    struct pp_tensor *t = experts(b, held, rows_node(b, &pp_node_send, held, x, hidden)->y);
    return rows_node_of(b, &pp_node_return, held, t, hidden, routes)->y;
}

/* base + the shared expert of x, whose W comes before that of the router and gathers x for both.
 * If devices share tokens, the base is added to the sum of all parts instead. */
static struct pp_tensor *shared(struct pp_builder *b, struct pp_tensor *x, struct pp_tensor *base,
                                const struct pp_stage_node *router)
{
    const struct pp_net *net = b->net;
    const bool has_bias = net->has_bias_mlp, is_gated = net->is_gated;
    const int ffn = net->shared_ffn;
    struct pp_tensor *t =
        pp_build_linear(b, (struct pp_linear){.x = x,
                                              .width = is_gated ? 2 * ffn : ffn,
                                              .weight = "shared.up.weight",
                                              .bias = has_bias ? "shared.up.bias" : NULL,
                                              .is_activated = !is_gated,
                                              .groups = {ffn, is_gated ? ffn : 0},
                                              .is_part = true});
    const bool shares_tokens = b->stage->shape.is_sequence_parallel;

    if (shares_tokens)
        pp_build_same_x(last_of(b), router);
    if (is_gated)
        t = pp_build_node(b, &pp_node_gate, t, ffn)->y;
    t = pp_build_linear(b, (struct pp_linear){.x = t,
                                              .base = base,
                                              .width = net->hidden,
                                              .weight = "shared.down.weight",
                                              .bias = has_bias ? "shared.down.bias" : NULL,
                                              .is_part = true});
    if (shares_tokens)
        last_of(b)->base = NULL;
    return t;
}

/* The logits of all tokens, on each device of a tensor-parallel group. */
static struct pp_tensor *router(struct pp_builder *b, struct pp_tensor *x)
{
    struct pp_tensor *logits = pp_build_linear(
        b, (struct pp_linear){.x = x, .width = b->net->experts, .weight = "router.weight"});
    struct pp_stage_node *n = last_of(b);

    n->is_whole = b->stage->shape.tp > 1;
    pp_build_gathered(b, n);
    return logits;
}

/* Lets a tensor-parallel group add up what a COMBINE makes: y, and gradients of gates. */
static void share_sums(struct pp_builder *b, struct pp_stage_node *n, struct pp_tensor *residual)
{
    struct pp_tensor *base = n->base;

    pp_build_scattered(b, n);
    if (n->after != residual && b->stage->shape.is_sequence_parallel) {
        n->after = residual;
        n->base = base;
    }
    if (b->stage->shape.tp <= 1)
        return;
    n->dnorm = n->routes->dgates;
    n->dnorm_part = pp_stage_tensor_of_g(b->g, (int64_t)b->g->tokens * b->net->top_k);
    n->dnorm_part->is_grad = true;
}

struct pp_tensor *pp_build_experts(struct pp_builder *b, struct pp_tensor *x,
                                   struct pp_tensor *base)
{
    const struct pp_net *net = b->net;
    const int first = b->g->node_count;
    struct pp_tensor *residual = base;

    x = pp_build_all_tokens(b, x);
    struct pp_tensor *logits = router(b, x);
    struct pp_routes *routes = routes_of(b->arena, b);

    struct pp_stage_node *route = pp_build_node(b, &pp_node_route, logits, 0);
    route->routes = routes;
    if (net->balance_loss > 0)
        route->scratch = pp_stage_tensor_of_g(b->g, (int64_t)b->g->tokens * net->experts);
    struct pp_tensor *rows = rows_node(b, &pp_node_dispatch, routes, x, net->hidden)->y;
    rows = experts_of_all(b, routes, rows);
    if (net->shared_ffn > 0)
        base = shared(b, x, base, logits->maker);
    struct pp_stage_node *n = pp_build_node(b, &pp_node_combine, rows, net->hidden);
    n->routes = routes;
    n->base = base;
    n->y->is_stream = true;
    share_sums(b, n, residual);
    for (struct pp_stage_node *of = &b->g->nodes[first]; of <= n; of++)
        of->is_of_experts = true;
    return n->y;
}
