/* A mixture of experts: the choice of experts for each token, tokens to experts and back. */
#include "exec/nodes/balance.h"

/* Places of the integers of a routing in its tensor. */
struct order {
    int32_t *expert, *row, *from, *begin, *so_far;
};

static struct order order_at(const struct pp_call *c, const struct pp_routes *routes, void *tensor)
{
    const size_t choices = (size_t)c->g->tokens * (size_t)c->net->top_k;
    int32_t *at = tensor;

    return (struct order){at, at + choices, at + 2 * choices,
                          at + 2 * choices + (size_t)routes->rows,
                          at + 2 * choices + (size_t)routes->rows + (size_t)c->net->experts + 1};
}

size_t pp_routes_bytes(const struct pp_net *net, const struct pp_stage_shape *shape, int rows)
{
    const int64_t counts = net->capacity > 0 ? (int64_t)shape->rows * net->experts : 0,
                  choices = (int64_t)shape->rows * shape->tokens * net->top_k,
                  integers = 2 * choices + rows + net->experts + 1 + counts;

    return sizeof(int32_t) * (size_t)(integers + integers % 2);
}

/* The most rows of `experts`, from `senders`. A token goes to each expert once. */
static int rows_of(const struct pp_net *net, const struct pp_stage_shape *shape, int experts,
                   int senders)
{
    const int choices = net->top_k < experts ? net->top_k : experts,
              most = net->capacity < shape->tokens ? net->capacity : shape->tokens;
    const int64_t all = (int64_t)shape->tokens * choices, held = (int64_t)most * experts,
                  rows = senders * shape->rows * (net->capacity > 0 && held < all ? held : all);

    return (int)(rows + rows % 2);
}

int pp_routes_rows(const struct pp_net *net, const struct pp_stage_shape *shape)
{
    return rows_of(net, shape, pp_share_experts(shape, net->experts).of_set, 1);
}

int pp_routes_slot_rows(const struct pp_net *net, const struct pp_stage_shape *shape)
{
    return rows_of(net, shape, pp_share_experts(shape, net->experts).here, 1);
}

int pp_routes_held_rows(const struct pp_net *net, const struct pp_stage_shape *shape)
{
    return rows_of(net, shape, pp_share_experts(shape, net->experts).here, shape->ep);
}

/* With splits, an expert has room for what the splits before have left. */
struct pp_routing pp_call_routing(const struct pp_call *c, const struct pp_routes *routes)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const bool is_limited = c->net->capacity > 0;
    const struct order order = order_at(c, routes, pp_call_at(c, routes->order));
    const struct pp_expert_share share = pp_share_experts(shape, c->net->experts);
    const int32_t *before = NULL;

    if (is_limited && c->w->split > 0)
        before = order_at(c, routes, pp_call_at_split(c, routes->order, c->w->split - 1)).so_far;
    return (struct pp_routing){.batch = shape->rows,
                               .tokens = shape->tokens,
                               .experts = c->net->experts,
                               .top_k = c->net->top_k,
                               .rows = routes->rows,
                               .capacity = c->net->capacity,
                               .first_expert = share.first_of_set,
                               .held = share.of_set,
                               .is_normalized = !c->net->has_plain_gates,
                               .gates = pp_call_at(c, routes->gates),
                               .expert = order.expert,
                               .row = order.row,
                               .from = order.from,
                               .begin = order.begin,
                               .before = before,
                               .so_far = is_limited ? order.so_far : NULL,
                               .dgates = pp_call_at(c, routes->dgates)};
}

struct pp_row_groups pp_call_groups(const struct pp_call *c, const struct pp_routes *routes)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const struct pp_expert_share share = pp_share_experts(shape, c->net->experts);
    const int stride = c->net->experts + 1;

    if (!routes->is_held)
        return (struct pp_row_groups){1, share.of_set, stride, routes->rows,
                                      pp_call_routing(c, routes).begin + share.first_of_set};
    return (struct pp_row_groups){shape->ep, share.here, stride, routes->rows,
                                  (const int32_t *)pp_call_at(c, routes->order) + share.first};
}

int pp_call_rows(const struct pp_call *c, const struct pp_routes *routes)
{
    if (routes == NULL)
        return c->g->tokens;
    const struct pp_row_groups groups = pp_call_groups(c, routes);
    return c->k->is_immediate ? pp_row_groups_rows(&groups) : routes->rows;
}

void pp_call_clear_rest(const struct pp_call *c, const struct pp_routes *routes,
                        const struct pp_tensor *t)
{
    if (routes == NULL)
        return;
    const int used = pp_call_rows(c, routes);
    const size_t row = t->bytes / (size_t)routes->rows;

    if (used < routes->rows)
        c->k->zero(c->stream, row * (size_t)(routes->rows - used),
                   (char *)pp_call_at(c, t) + row * (size_t)used);
}

/* ---- routing --------------------------------------------------------------------------------- */

double *pp_call_counts(const struct pp_call *c, const struct pp_routes *routes)
{
    const int of_one = c->net->experts + PP_EXPERT_MORE;

    return c->w->expert_tokens ? c->w->expert_tokens + (size_t)routes->mixture * (size_t)of_one
                               : NULL;
}

static void route(struct pp_call *c, const struct pp_stage_node *n)
{
    struct pp_routing r = pp_call_routing(c, n->routes);

    c->k->zero(c->stream, n->routes->order->bytes, pp_call_at(c, n->routes->order));
    r.logits = pp_call_at(c, n->x);
    c->k->route_forward(c->stream, &r);
    pp_call_add_balance(c, n, &r);
    const struct pp_expert_share share = pp_share_experts(&c->stage->shape, r.experts);
    double *counts = pp_call_counts(c, n->routes);
    if (counts != NULL)
        c->k->route_count(c->stream, &r, share.first, share.first + share.here, counts);
}

static void route_input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    struct pp_routing r = pp_call_routing(c, n->routes);

    r.logits = pp_call_at(c, n->x);
    r.dlogits = pp_call_at(c, n->dx);
    pp_call_make_balance_grad(c, n);
    c->k->route_backward(c->stream, &r);
    pp_call_add_balance_grad(c, n);
}

const struct pp_node_kind pp_node_route = {
    .forward = route, .input_grad = route_input_grad, .i_reads_x = true, .is_in_place = true};

/* ---- tokens to experts, and back ------------------------------------------------------------- */

static void dispatch(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_routing r = pp_call_routing(c, n->routes);

    c->k->dispatch_forward(c->stream, &(struct pp_token_exchange){.routing = &r,
                                                                  .width = n->x->width,
                                                                  .x = pp_call_at(c, n->x),
                                                                  .y = pp_call_at(c, n->y)});
}

static void dispatch_input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_routing r = pp_call_routing(c, n->routes);

    c->k->dispatch_backward(c->stream,
                            &(struct pp_token_exchange){.routing = &r,
                                                        .width = n->x->width,
                                                        .base = pp_call_at(c, n->dx_base),
                                                        .dy = pp_call_at(c, n->dy),
                                                        .dx = pp_call_at(c, n->dx)});
}

const struct pp_node_kind pp_node_dispatch = {.forward = dispatch,
                                              .input_grad = dispatch_input_grad};

/* A recomputation does not want the output of the stage. Of a tensor-parallel group, the first
 * device adds the base to its part, unless the base has parts, too. */
static void combine(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_routing r = pp_call_routing(c, n->routes);
    const bool has_base = n->part == NULL || c->g->is_first || pp_node_has_part_of(n->base);
    void *y = pp_call_at(c, n->y);

    if (y != NULL)
        c->k->combine_forward(
            c->stream, &(struct pp_token_exchange){.routing = &r,
                                                   .width = n->y->width,
                                                   .x = pp_call_at(c, n->x),
                                                   .base = has_base ? pp_call_at(c, n->base) : NULL,
                                                   .y = n->part ? pp_call_at(c, n->part) : y});
}

/* The gradient of a row replaces the row. */
static void combine_input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_routing r = pp_call_routing(c, n->routes);
    const struct pp_tensor *dgates = n->dnorm_part ? n->dnorm_part : n->routes->dgates;

    c->k->combine_backward(c->stream, &(struct pp_token_exchange){.routing = &r,
                                                                  .width = n->y->width,
                                                                  .x = pp_call_at(c, n->x),
                                                                  .dy = pp_call_at(c, n->dy),
                                                                  .dx = pp_call_at(c, n->dx),
                                                                  .dgates = pp_call_at(c, dgates)});
}

const struct pp_node_kind pp_node_combine = {
    .forward = combine, .input_grad = combine_input_grad, .i_reads_x = true, .is_in_place = true};
