/* The loss of balance of experts in the calls of a stage. */
#include "exec/nodes/balance.h"

size_t pp_balance_bytes(const struct pp_net *net)
{
    return net->balance_loss > 0 ? 2 * sizeof(double) * (size_t)net->experts : 0;
}

/* The place of the sums: after an activation or its gradient, or of the stage with the head. */
static void *sums_at(const struct pp_call *c, const void *boundary)
{
    return c->g->balance != NULL ? pp_call_at(c, c->g->balance)
                                 : (char *)(uintptr_t)boundary + c->stage->balance_at;
}

static struct pp_balance balance_of(const struct pp_call *c, const struct pp_stage_node *n,
                                    void *sums)
{
    return (struct pp_balance){.tokens = c->g->tokens,
                               .experts = c->net->experts,
                               .top_k = c->net->top_k,
                               .element_bytes = c->g->element_bytes,
                               .gradient_bytes = c->g->gradient_bytes,
                               .logits = pp_call_at(c, n->x),
                               .sums = sums};
}

/* The factor of the loss: a share of choices times a share of probabilities, times experts. */
static double factor_of(const struct pp_call *c)
{
    const double routed = (double)c->g->tokens * pp_net_mixtures(c->net, 0, c->net->layers);

    return c->net->balance_loss * c->net->experts / (routed * routed);
}

void pp_call_begin_balance(const struct pp_call *c)
{
    const size_t bytes = pp_balance_bytes(c->net);

    if (bytes == 0)
        return;
    if (c->stage->shape.has_embedding)
        c->k->zero(c->stream, bytes, sums_at(c, c->w->out));
    else
        c->k->copy(c->stream, bytes, (const char *)c->w->in + c->stage->balance_at,
                   sums_at(c, c->w->out));
}

void pp_call_return_balance(const struct pp_call *c)
{
    const size_t bytes = pp_balance_bytes(c->net);

    if (bytes > 0 && !c->stage->shape.has_embedding)
        c->k->copy(c->stream, bytes, sums_at(c, c->w->grad_in),
                   (char *)c->w->grad_out + c->stage->balance_at);
}

/* R finds the sums of F. */
void pp_call_add_balance(const struct pp_call *c, const struct pp_stage_node *n,
                         const struct pp_routing *r)
{
    if (n->scratch == NULL || c->is_again)
        return;
    struct pp_balance b = balance_of(c, n, sums_at(c, c->w->out));
    b.expert = r->expert;
    c->k->balance_sums(c->stream, &b);
}

void pp_call_make_balance_grad(const struct pp_call *c, const struct pp_stage_node *n)
{
    if (n->scratch == NULL)
        return;
    struct pp_balance b = balance_of(c, n, sums_at(c, c->w->grad_in));
    b.factor = factor_of(c) * c->g->tokens * c->w->loss_scale;
    c->k->balance_grad(c->stream, &b, pp_call_at(c, n->scratch));
}

void pp_call_add_balance_grad(const struct pp_call *c, const struct pp_stage_node *n)
{
    if (n->scratch == NULL)
        return;
    const struct pp_balance b = balance_of(c, n, NULL);
    c->k->balance_add(c->stream, &b, pp_call_at(c, n->scratch), pp_call_at(c, n->dx));
}

void pp_call_add_balance_loss(const struct pp_call *c)
{
    if (c->g->balance == NULL || c->is_again)
        return;
    const struct pp_balance b = {
        .experts = c->net->experts, .sums = pp_call_at(c, c->g->balance), .factor = factor_of(c)};
    c->k->balance_loss(c->stream, &b, c->g->tokens, c->w->loss);
}
