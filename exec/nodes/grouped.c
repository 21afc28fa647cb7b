/* LINEAR of each expert on its rows: one multiplication for each expert that has any. The matrices
 * of all experts are one parameter, [experts][out][in], and so are their biases. */
#include "exec/nodes/node.h"

/* Rows of one expert, from one sender. */
struct group {
    int expert, count;
    size_t first;
};

/* Returns the place of an expert's rows in a tensor of T; NULL = it has none. */
static void *rows_at(const struct pp_call *c, const struct pp_tensor *t, const struct group *group)
{
    char *at = pp_call_at(c, t);

    return at ? at + group->first * (size_t)t->width * c->g->element_bytes : NULL;
}

/* Returns the part of an expert in a parameter of all that are here. */
static struct pp_param part_of(const struct pp_param *param, int expert)
{
    struct pp_param part = *param;

    part.count = param->count / param->experts;
    part.offset = param->offset + part.count * expert;
    return part;
}

static const void *weight_of(const struct pp_call *c, const struct pp_param *param, int expert)
{
    if (param == NULL)
        return NULL;
    const struct pp_param part = part_of(param, expert);
    return pp_call_weight(c, &part);
}

static void forward_group(struct pp_call *c, const struct pp_stage_node *n, struct group group)
{
    c->k->gemm(c->stream, &(struct pp_gemm){.m = group.count,
                                            .n = n->y->width,
                                            .k = n->x->width,
                                            .b_transposed = true,
                                            .a = rows_at(c, n->x, &group),
                                            .b = weight_of(c, n->weight, group.expert),
                                            .c = rows_at(c, n->y, &group),
                                            .lda = n->x->width,
                                            .ldb = n->x->width,
                                            .ldc = n->y->width,
                                            .bias = weight_of(c, n->bias, group.expert),
                                            .activation = c->net->activation,
                                            .activated = rows_at(c, n->act, &group)});
}

static void input_grad_group(struct pp_call *c, const struct pp_stage_node *n, struct group group)
{
    c->k->gemm(c->stream, &(struct pp_gemm){.m = group.count,
                                            .n = n->x->width,
                                            .k = n->y->width,
                                            .a = rows_at(c, n->dy, &group),
                                            .b = weight_of(c, n->weight, group.expert),
                                            .c = rows_at(c, n->dx, &group),
                                            .lda = n->y->width,
                                            .ldb = n->x->width,
                                            .ldc = n->x->width,
                                            .activation = c->net->activation,
                                            .slope_of = rows_at(c, n->slope_of, &group)});
}

static void weight_grad_group(struct pp_call *c, const struct pp_stage_node *n, struct group group)
{
    const bool is_added = !c->w->grads.is_exact;
    const struct pp_param weight = part_of(n->weight, group.expert);
    const void *dy = rows_at(c, n->dy, &group);
    void *dw = pp_call_target(c, &weight);

    c->k->gemm(c->stream, &(struct pp_gemm){.m = n->y->width,
                                            .n = n->x->width,
                                            .k = group.count,
                                            .a_transposed = true,
                                            .is_gradient = true,
                                            .a = dy,
                                            .b = rows_at(c, n->x, &group),
                                            .c = dw,
                                            .lda = n->y->width,
                                            .ldb = n->x->width,
                                            .ldc = n->x->width,
                                            .base = is_added ? dw : NULL});
    pp_call_add_exactly(c, &weight, dw);
    if (n->bias == NULL)
        return;
    const struct pp_param bias = part_of(n->bias, group.expert);
    void *dbias = pp_call_target(c, &bias);
    c->k->sum_rows(c->stream, group.count, n->y->width, dy, dbias, is_added);
    pp_call_add_exactly(c, &bias, dbias);
}

/* Rows of each sender are a product of their own, so that bits do not depend on who has an expert.
 */
static void each_group(struct pp_call *c, const struct pp_stage_node *n,
                       void (*work)(struct pp_call *c, const struct pp_stage_node *n,
                                    struct group group))
{
    const struct pp_row_groups g = pp_call_groups(c, n->routes);
    struct group group = {0};

    for (int s = 0; s < g.senders; s++)
        for (group.expert = 0; group.expert < g.experts; group.expert++) {
            const int32_t *begin = &g.begin[s * g.stride + group.expert];
            group.count = begin[1] - begin[0];
            if (group.count > 0)
                work(c, n, group);
            group.first += (size_t)group.count;
        }
}

static void forward(struct pp_call *c, const struct pp_stage_node *n)
{
    each_group(c, n, forward_group);
    pp_call_clear_rest(c, n->routes, n->y);
    if (n->act != NULL)
        pp_call_clear_rest(c, n->routes, n->act);
}

static void input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    each_group(c, n, input_grad_group);
    pp_call_clear_rest(c, n->routes, n->dx);
}

static void weight_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    each_group(c, n, weight_grad_group);
}

const struct pp_node_kind pp_node_grouped = {.forward = forward,
                                             .input_grad = input_grad,
                                             .weight_grad = weight_grad,
                                             .w_reads_x = true,
                                             .w_reads_dy = true};
