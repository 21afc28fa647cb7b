/* y = base + x W^T + bias, and the activation of y; all in the epilogue of one multiplication. */
#include "exec/nodes/call.h"

/* A recomputation does not want the output of the stage. Of a tensor-parallel group, the first
 * device adds base and bias to its part of y. A part of dx alone has all of its bias. */
static void forward(struct pp_call *c, const struct pp_stage_node *n)
{
    const bool is_first = (n->part == NULL && !(n->is_part && n->y->is_stream)) || c->g->is_first;
    const struct pp_tensor *made = n->part ? n->part : n->y;
    const struct pp_call_part rows = pp_call_part_of(c, made);
    void *y = pp_call_at(c, n->y);

    if (y == NULL)
        return;
    if (c->is_again && pp_node_is_activation_alone(c->g, n)) {
        c->k->activate_forward(c->stream, c->net->activation, (int64_t)c->g->tokens * n->y->width,
                               y, pp_call_at(c, n->act));
        return;
    }
    const bool is_few = c->stage->shape.context > 0 && rows.count <= PP_FEW_ROWS;
    (is_few ? c->k->gemm_few : c->k->gemm)(
        c->stream, &(struct pp_gemm){.m = rows.count,
                                     .n = n->y->width,
                                     .k = n->x->width,
                                     .b_transposed = true,
                                     .a = pp_call_rows_at(c, n->x, rows),
                                     .b = pp_call_weight(c, n->weight),
                                     .c = pp_call_rows_at(c, made, rows),
                                     .lda = n->x->width,
                                     .ldb = n->x->width,
                                     .ldc = n->y->width,
                                     .base = is_first ? pp_call_rows_at(c, n->base, rows) : NULL,
                                     .bias = is_first ? pp_call_weight(c, n->bias) : NULL,
                                     .activation = c->net->activation,
                                     .activated = pp_call_rows_at(c, n->act, rows)});
}

/* dx [T][in] = dx_base + dy [T][out] W, times the slope of the activation that made x. Of a whole
 * matrix that each device has, the first adds the product to its part of dx_base. */
static void input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const bool is_first = n->dx_part == NULL || n->is_whole || c->g->is_first;
    const struct pp_call_part rows = pp_call_part_of(c, n->dy);
    const struct pp_tensor *made = n->dx_part ? n->dx_part : n->dx;

    if (n->is_whole && !c->g->is_first) {
        c->k->copy(c->stream, n->dx_part->bytes, pp_call_at(c, n->dx_base),
                   pp_call_at(c, n->dx_part));
        return;
    }
    c->k->gemm(c->stream,
               &(struct pp_gemm){.m = rows.count,
                                 .n = n->x->width,
                                 .k = n->y->width,
                                 .a = pp_call_rows_at(c, n->dy, rows),
                                 .b = pp_call_weight(c, n->weight),
                                 .c = pp_call_rows_at(c, made, rows),
                                 .lda = n->y->width,
                                 .ldb = n->x->width,
                                 .ldc = n->x->width,
                                 .base = is_first ? pp_call_rows_at(c, n->dx_base, rows) : NULL,
                                 .activation = c->net->activation,
                                 .slope_of = pp_call_rows_at(c, n->slope_of, rows)});
}

/* dW [out][in] = dy^T x, dbias = sum of the rows of dy. */
static void weight_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const bool is_added = !c->w->grads.is_exact;
    const void *dy = pp_call_at(c, n->dy_again ? n->dy_again : n->dy);
    void *dw = pp_call_target(c, n->weight);

    c->k->gemm(c->stream, &(struct pp_gemm){.m = n->y->width,
                                            .n = n->x->width,
                                            .k = c->g->tokens,
                                            .a_transposed = true,
                                            .is_gradient = true,
                                            .a = dy,
                                            .b = pp_call_at(c, n->x_again ? n->x_again : n->x),
                                            .c = dw,
                                            .lda = n->y->width,
                                            .ldb = n->x->width,
                                            .ldc = n->x->width,
                                            .base = is_added ? dw : NULL});
    pp_call_add_exactly(c, n->weight, dw);
    if (n->bias == NULL || n->is_bias_summed)
        return;
    void *dbias = pp_call_target(c, n->bias);
    c->k->sum_rows(c->stream, c->g->tokens, n->y->width, dy, dbias, is_added);
    pp_call_add_exactly(c, n->bias, dbias);
}

const struct pp_node_kind pp_node_linear = {.forward = forward,
                                            .input_grad = input_grad,
                                            .weight_grad = weight_grad,
                                            .w_reads_x = true,
                                            .w_reads_dy = true};
