/* Activations that no multiplication computes. GATE: two halves of x, f(gate) times the value. Its
 * gradient replaces x. */
#include "core/cost/recompute.h"
#include "exec/nodes/call.h"

static void forward(struct pp_call *c, const struct pp_stage_node *n)
{
    c->k->gate_forward(c->stream, c->net->activation, pp_call_rows(c, n->routes), n->y->width,
                       pp_call_at(c, n->x), pp_call_at(c, n->y));
    pp_call_clear_rest(c, n->routes, n->y);
}

static void input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    c->k->gate_backward(c->stream, c->net->activation, pp_call_rows(c, n->routes), n->y->width,
                        pp_call_at(c, n->x), pp_call_at(c, n->dy), pp_call_at(c, n->dx));
}

const struct pp_node_kind pp_node_gate = {.forward = forward,
                                          .input_grad = input_grad,
                                          .i_reads_x = true,
                                          .is_in_place = true,
                                          .again = PP_AGAIN_ACT | PP_AGAIN_MLP};

static void activate(struct pp_call *c, const struct pp_stage_node *n)
{
    c->k->activate_forward(c->stream, c->net->activation,
                           (int64_t)pp_tensor_tokens(c->g, n->y) * n->y->width, pp_call_at(c, n->x),
                           pp_call_at(c, n->y));
}

static void activate_back(struct pp_call *c, const struct pp_stage_node *n)
{
    c->k->activate_backward(c->stream, c->net->activation,
                            (int64_t)pp_tensor_tokens(c->g, n->y) * n->y->width,
                            pp_call_at(c, n->x), pp_call_at(c, n->dy), pp_call_at(c, n->dx));
}

const struct pp_node_kind pp_node_activate = {
    .forward = activate, .input_grad = activate_back, .i_reads_x = true, .is_in_gradient = true};
