/* LINEAR of each expert on its rows. The matrices of all experts are one parameter,
 * [experts][out][in], and so are their biases. */
#include "exec/nodes/call.h"

/* The first of the devices that share an expert adds the bias to its part. */
static void forward(struct pp_call *c, const struct pp_stage_node *n)
{
    const bool has_bias =
        !n->is_part || pp_share_experts(&c->stage->shape, c->net->experts).etp_index == 0;
    const struct pp_row_groups groups = pp_call_groups(c, n->routes);

    c->k->grouped_gemm(c->k, c->stream, &groups,
                       &(struct pp_gemm){.n = n->y->width,
                                         .k = n->x->width,
                                         .b_transposed = true,
                                         .is_few = c->stage->shape.context > 0,
                                         .a = pp_call_at(c, n->x),
                                         .b = pp_call_weight(c, n->weight),
                                         .c = pp_call_at(c, n->y),
                                         .lda = n->x->width,
                                         .ldb = n->x->width,
                                         .ldc = n->y->width,
                                         .bias = has_bias ? pp_call_weight(c, n->bias) : NULL,
                                         .activation = c->net->activation,
                                         .activated = pp_call_at(c, n->act)});
}

static void input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_row_groups groups = pp_call_groups(c, n->routes);

    c->k->grouped_gemm(c->k, c->stream, &groups,
                       &(struct pp_gemm){.n = n->x->width,
                                         .k = n->y->width,
                                         .a = pp_call_at(c, n->dy),
                                         .b = pp_call_weight(c, n->weight),
                                         .c = pp_call_at(c, n->dx),
                                         .lda = n->y->width,
                                         .ldb = n->x->width,
                                         .ldc = n->x->width,
                                         .activation = c->net->activation,
                                         .slope_of = pp_call_at(c, n->slope_of)});
}

/* ---- gradients of parameters ----------------------------------------------------------------- */

/* Returns the part of the range's experts in a parameter of all that are here. */
static struct pp_param part_of(const struct pp_param *param, struct pp_group_range range)
{
    const int64_t of_one = param->count / param->experts;
    struct pp_param part = *param;

    part.count = of_one * (range.until - range.from);
    part.offset = param->offset + of_one * range.from;
    return part;
}

static void range_grad(struct pp_call *c, const struct pp_stage_node *n,
                       const struct pp_row_groups *groups, struct pp_group_range range)
{
    const bool is_added = !c->w->grads.is_exact;
    const struct pp_param weight = part_of(n->weight, range);
    void *dw = pp_call_target(c, &weight);

    c->k->grouped_weight_grad(c->k, c->stream, groups, range,
                              &(struct pp_gemm){.m = n->y->width,
                                                .n = n->x->width,
                                                .a_transposed = true,
                                                .is_gradient = true,
                                                .a = pp_call_at(c, n->dy),
                                                .b = pp_call_at(c, n->x),
                                                .c = dw,
                                                .lda = n->y->width,
                                                .ldb = n->x->width,
                                                .ldc = n->x->width,
                                                .base = is_added ? dw : NULL});
    pp_call_add_exactly(c, &weight, dw);
    if (n->bias == NULL)
        return;
    const struct pp_param bias = part_of(n->bias, range);
    void *dbias = pp_call_target(c, &bias);
    c->k->grouped_sum_rows(c->k, c->stream, groups, range, n->y->width, pp_call_at(c, n->dy), dbias,
                           is_added);
    pp_call_add_exactly(c, &bias, dbias);
}

/* Rows of each sender are products of their own, so that bits do not depend on who has an expert.
 * Exact gradients are those of one expert at a time, for which there is room. */
static void weight_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_row_groups groups = pp_call_groups(c, n->routes);
    const int at_once = c->w->grads.is_exact ? 1 : groups.experts;

    for (int s = 0; s < groups.senders; s++)
        for (int e = 0; e < groups.experts; e += at_once)
            range_grad(c, n, &groups, (struct pp_group_range){s, e, e + at_once});
}

const struct pp_node_kind pp_node_grouped = {.forward = forward,
                                             .input_grad = input_grad,
                                             .weight_grad = weight_grad,
                                             .w_reads_x = true,
                                             .w_reads_dy = true};
