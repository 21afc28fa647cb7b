/* Both ends of the model: tokens in, loss out. */
#include "exec/stage/graph.h"

/* A table of words, and one of positions, which is `bias`. */
static void embed(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    c->k->embed_forward(c->stream, shape->rows, shape->tokens, c->w->split * shape->tokens,
                        c->net->seq, n->y->width, c->w->ids, pp_call_weight(c, n->weight),
                        pp_call_weight(c, n->bias), pp_call_at(c, n->y));
}

/* In exact mode the gradients of both tables are in scratch, positions after words. */
static void embed_weight_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const bool is_exact = c->w->grads.is_exact;
    char *d_table = pp_call_target(c, n->weight), *d_positions = NULL;

    if (n->bias != NULL)
        d_positions = is_exact ? d_table + (size_t)n->weight->count * c->g->gradient_bytes
                               : pp_call_target(c, n->bias);
    c->k->embed_backward(c->stream, shape->rows, shape->tokens, c->w->split * shape->tokens,
                         c->net->seq, n->y->width, c->net->vocab, c->w->ids, pp_call_at(c, n->dy),
                         d_table, d_positions, !is_exact);
    pp_call_add_exactly(c, n->weight, d_table);
    if (n->bias != NULL)
        pp_call_add_exactly(c, n->bias, d_positions);
}

const struct pp_node_kind pp_node_embed = {
    .forward = embed, .weight_grad = embed_weight_grad, .w_reads_dy = true};

/* Replaces the logits by their gradient. */
static void lose(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    c->k->cross_entropy(c->stream, shape->rows, shape->tokens, c->w->split * shape->tokens,
                        c->net->seq, c->net->vocab, n->x->width, c->w->targets, c->w->loss_scale,
                        pp_call_at(c, n->x), c->w->loss);
}

const struct pp_node_kind pp_node_loss = {.forward = lose, .is_in_place = true};
