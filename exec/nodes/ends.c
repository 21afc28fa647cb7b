/* Both ends of the model: tokens in, loss out. */
#include "exec/nodes/balance.h"

/* Returns the first row in use of a table of positions. */
static void *first_position(const struct pp_call *c, const void *table, size_t element_bytes)
{
    const size_t rows = (size_t)(c->net->position_offset + c->w->position);

    return table ? (char *)(uintptr_t)table + rows * (size_t)c->net->hidden * element_bytes : NULL;
}

static void scale(const struct pp_call *c, const struct pp_stage_node *n, void *x)
{
    if (c->net->embedding_scale != 0)
        c->k->scale(c->stream, (int64_t)c->g->tokens * n->y->width, c->net->embedding_scale, x);
}

/* Returns the fields for both directions. */
static struct pp_embedding embedding_of(const struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    return (struct pp_embedding){.batch = shape->rows,
                                 .tokens = shape->tokens,
                                 .first = c->w->split * shape->tokens,
                                 .stride = shape->context > 0 ? shape->tokens : c->net->seq,
                                 .width = n->y->width,
                                 .first_word = c->g->words.first,
                                 .words = c->g->words.count,
                                 .ids = c->w->ids};
}

/* Tables of words, of positions, which is `bias`, and of token types. Of a tensor-parallel group,
 * the first device adds the latter two to its part. */
static void embed(struct pp_call *c, const struct pp_stage_node *n)
{
    const void *positions = pp_call_weight(c, n->bias);
    struct pp_embedding e = embedding_of(c, n);

    e.table = pp_call_weight(c, n->weight);
    e.positions = c->g->is_first ? first_position(c, positions, c->g->element_bytes) : NULL;
    e.y = pp_call_at(c, n->part ? n->part : n->y);
    c->k->embed_forward(c->stream, &e);
    if (n->types != NULL && c->g->is_first)
        c->k->add_bias(c->stream, c->g->tokens, n->y->width, pp_call_weight(c, n->types), e.y);
    scale(c, n, e.y);
}

/* All tokens have the first type; the gradients of the others are zero. */
static void types_weight_grad(const struct pp_call *c, const struct pp_stage_node *n,
                              const void *dy)
{
    const bool is_exact = c->w->grads.is_exact;
    void *d_types = pp_call_target(c, n->types);

    if (is_exact)
        c->k->zero(c->stream, (size_t)n->types->count * c->g->gradient_bytes, d_types);
    c->k->sum_rows(c->stream, c->g->tokens, n->y->width, dy, d_types, !is_exact);
    pp_call_add_exactly(c, n->types, d_types);
}

/* In exact mode the gradients of both tables are in scratch, positions after words. The kernel
 * writes the rows of positions that are in use. */
static void embed_weight_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const bool is_exact = c->w->grads.is_exact;
    const size_t g_bytes = c->g->gradient_bytes;
    struct pp_embedding e = embedding_of(c, n);
    char *d_table = pp_call_target(c, n->weight), *d_positions = NULL;
    void *dy = pp_call_at(c, n->dy);

    if (n->bias != NULL)
        d_positions =
            is_exact ? d_table + (size_t)n->weight->count * g_bytes : pp_call_target(c, n->bias);
    if (is_exact && n->bias != NULL && c->net->position_offset > 0)
        c->k->zero(c->stream, (size_t)c->net->position_offset * (size_t)n->y->width * g_bytes,
                   d_positions);
    scale(c, n, dy);
    e.dy = dy;
    e.dtable = d_table;
    e.dpositions = first_position(c, d_positions, g_bytes);
    e.add = !is_exact;
    c->k->embed_backward(c->stream, &e);
    pp_call_add_exactly(c, n->weight, d_table);
    if (n->bias != NULL)
        pp_call_add_exactly(c, n->bias, d_positions);
    if (n->types != NULL)
        types_weight_grad(c, n, dy);
}

const struct pp_node_kind pp_node_embed = {
    .forward = embed, .weight_grad = embed_weight_grad, .w_reads_dy = true};

/* ---- the end of a stage that generates ------------------------------------------------------- */

static void take_last(struct pp_call *c, const struct pp_stage_node *n)
{
    const size_t bytes = (size_t)n->x->width * c->g->element_bytes,
                 tokens = (size_t)c->stage->shape.tokens;
    const char *x = pp_call_at(c, n->x);
    char *y = pp_call_at(c, n->y);

    for (size_t row = 0; row < (size_t)c->stage->shape.rows; row++)
        c->k->copy(c->stream, bytes, x + (row * tokens + tokens - 1) * bytes, y + row * bytes);
}

const struct pp_node_kind pp_node_last = {.forward = take_last};

/* ---- the loss -------------------------------------------------------------------------------- */

/* Returns the fields of all steps, with places of `max` and `sums`. */
static struct pp_entropy entropy_of(const struct pp_call *c, const struct pp_stage_node *n,
                                    const struct pp_tensor *max, const struct pp_tensor *sums)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    return (struct pp_entropy){.batch = shape->rows,
                               .tokens = shape->tokens,
                               .first = c->w->split * shape->tokens,
                               .stride = c->net->seq,
                               .first_word = c->g->words.first,
                               .words = c->g->words.count,
                               .ld = n->x->width,
                               .targets = c->w->targets,
                               .scale = c->w->loss_scale,
                               .x = pp_call_at(c, n->x),
                               .max = pp_call_at(c, max),
                               .sums = pp_call_at(c, sums),
                               .loss = c->w->loss};
}

static void find_max(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_entropy e = entropy_of(c, n, n->part, NULL);

    c->k->entropy_max(c->stream, &e);
}

static void find_sums(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_entropy e = entropy_of(c, n, n->max, n->part);

    c->k->entropy_sums(c->stream, &e);
}

const struct pp_node_kind pp_node_loss_max = {.forward = find_max};
const struct pp_node_kind pp_node_loss_sums = {.forward = find_sums};

/* Replaces the logits by their gradient. */
static void lose(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    if (n->sums != NULL) {
        const struct pp_entropy e = entropy_of(c, n, n->max, n->sums);
        c->k->entropy_end(c->stream, &e);
    } else {
        c->k->cross_entropy(c->stream, shape->rows, shape->tokens, c->w->split * shape->tokens,
                            c->net->seq, c->net->vocab, n->x->width, c->w->targets,
                            c->w->loss_scale, pp_call_at(c, n->x), c->w->loss);
    }
    pp_call_add_balance_loss(c);
}

const struct pp_node_kind pp_node_loss = {.forward = lose, .is_in_place = true};
