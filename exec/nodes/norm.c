/* LayerNorm or RMSNorm. I makes the gradients of its parameters, and of the bias before it. In B it
 * adds them to the sum, which saves W a pass. */
#include "core/cost/recompute.h"
#include "exec/nodes/call.h"

static struct pp_norm norm_of(const struct pp_call *c, const struct pp_stage_node *n)
{
    return (struct pp_norm){.rows = pp_tensor_tokens(c->g, n->x),
                            .width = n->x->width,
                            .is_rms = c->net->is_rms,
                            .epsilon = c->net->norm_epsilon,
                            .x = pp_call_at(c, n->x),
                            .gamma = pp_call_weight(c, n->weight),
                            .stats = pp_call_at(c, n->stats)};
}

static void forward(struct pp_call *c, const struct pp_stage_node *n)
{
    struct pp_norm norm = norm_of(c, n);

    norm.beta = pp_call_weight(c, n->bias);
    norm.y = pp_call_at(c, n->y);
    c->k->norm_forward(c->stream, &norm);
}

static bool adds_at_once(const struct pp_call *c, const struct pp_stage_node *n)
{
    return c->pass == PP_PASS_B && !c->w->grads.is_exact && n->dnorm_part == NULL;
}

static void input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const size_t row = (size_t)n->x->width * c->g->gradient_bytes;
    struct pp_norm norm = norm_of(c, n);
    char *made = pp_call_at(c, n->dnorm_part ? n->dnorm_part : n->dnorm);

    norm.dy = pp_call_at(c, n->dy);
    norm.base = pp_call_at(c, n->dx_base);
    norm.dx = pp_call_at(c, n->dx);
    if (n->bias_before != NULL) {
        norm.dx_sum = made;
        norm.dx_added = adds_at_once(c, n) ? pp_call_target(c, n->bias_before) : NULL;
        made += row;
    }
    norm.dgamma = made;
    norm.dgamma_added = adds_at_once(c, n) ? pp_call_target(c, n->weight) : NULL;
    if (n->bias != NULL) {
        norm.dbeta = made + row;
        norm.dbeta_added = adds_at_once(c, n) ? pp_call_target(c, n->bias) : NULL;
    }
    c->k->norm_backward(c->stream, &norm);
}

/* Adds `count` elements, from those of `param` on. */
static void add(const struct pp_call *c, const struct pp_param *param, int64_t count,
                const void *grad)
{
    if (c->w->grads.is_exact)
        pp_call_add_exactly(c, param, grad);
    else
        c->k->add(c->stream, count, grad, pp_call_target(c, param));
}

/* Parameters that are neighbours take one pass. */
static void weight_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_param *const of[] = {n->bias_before, n->weight, n->bias};
    const char *made = pp_call_at(c, n->dnorm);

    for (size_t i = 0, next; i < PP_COUNT(of) && !adds_at_once(c, n); i = next) {
        int64_t count = of[i] != NULL ? of[i]->count : 0;
        for (next = i + 1; next < PP_COUNT(of) && count > 0 && of[next] != NULL &&
                           !c->w->grads.is_exact && of[next]->offset == of[i]->offset + count;
             next++)
            count += of[next]->count;
        if (count > 0)
            add(c, of[i], count, made);
        made += (size_t)count * c->g->gradient_bytes;
    }
}

/* ---- heads of queries and keys --------------------------------------------------------------- */

/* Returns the norm of the heads of queries, or of keys, in place of `x` within rows of qkv. */
static struct pp_norm heads_of(const struct pp_call *c, const struct pp_stage_node *n, bool is_keys)
{
    const struct pp_net *net = c->net;
    const int heads = is_keys ? net->kv_heads : net->heads;
    const size_t first = is_keys ? (size_t)net->heads : 0, dim = (size_t)net->head_dim,
                 at = first * dim * c->g->element_bytes,
                 before = first * (size_t)c->g->tokens * c->g->gradient_bytes;
    char *dy = pp_call_at(c, n->dy),
         *made = pp_call_at(c, n->dnorm_part ? n->dnorm_part : n->dnorm);

    return (struct pp_norm){.rows = c->g->tokens * heads,
                            .width = net->head_dim,
                            .group = heads,
                            .stride = n->x->width,
                            .is_rms = net->is_rms,
                            .epsilon = net->norm_epsilon,
                            .x = (char *)pp_call_at(c, n->x) + at,
                            .y = (char *)pp_call_at(c, n->y) + at,
                            .gamma = pp_call_weight(c, is_keys ? n->bias : n->weight),
                            .stats = (char *)pp_call_at(c, n->stats) + 2 * before,
                            .dy = dy ? dy + at : NULL,
                            .dx = dy ? dy + at : NULL,
                            .dgamma =
                                made ? made + (is_keys ? dim * c->g->gradient_bytes : 0) : NULL};
}

static void heads_forward(struct pp_call *c, const struct pp_stage_node *n)
{
    c->k->copy(c->stream, n->x->bytes, pp_call_at(c, n->x), pp_call_at(c, n->y));
    for (int is_keys = 0; is_keys < 2; is_keys++) {
        const struct pp_norm norm = heads_of(c, n, is_keys);
        c->k->norm_forward(c->stream, &norm);
    }
}

static void heads_input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    for (int is_keys = 0; is_keys < 2; is_keys++) {
        struct pp_norm norm = heads_of(c, n, is_keys);
        if (adds_at_once(c, n))
            norm.dgamma_added = pp_call_target(c, is_keys ? n->bias : n->weight);
        c->k->norm_backward(c->stream, &norm);
    }
}

const struct pp_node_kind pp_node_norm = {.forward = forward,
                                          .input_grad = input_grad,
                                          .weight_grad = weight_grad,
                                          .i_reads_x = true,
                                          .again = PP_AGAIN_NORM};
const struct pp_node_kind pp_node_qk_norm = {.forward = heads_forward,
                                             .input_grad = heads_input_grad,
                                             .weight_grad = weight_grad,
                                             .i_reads_x = true,
                                             .is_in_gradient = true};
