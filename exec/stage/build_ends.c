/* Both ends of the model: embedding, head and loss. */
#include "exec/stage/build.h"
#include "exec/stage/generate.h"

/* ---- parameters ------------------------------------------------------------------------------ */

/* A matrix with a row for each word here, and room for padded logits if a head multiplies with it.
 * It has room for the rows of the first device, so that the next tensor has one place on all. */
static struct pp_new_param words(const struct pp_builder *b, const char *name, bool is_multiplied)
{
    const struct pp_net *net = b->net;
    const int tp = b->stage->shape.tp,
              rows = is_multiplied ? b->g->logits_width : pp_net_words(net, tp, 0).count;
    struct pp_new_param w = pp_build_matrix(name, b->g->words.count, net->hidden, PP_DEVIATION);

    w.room = (int64_t)rows * net->hidden;
    if (tp > 1)
        w.slice = pp_slice_by_words(net->vocab, net->hidden, b->g->words);
    return w;
}

/* The bias of the logits of each word here. */
static struct pp_new_param words_bias(const struct pp_builder *b)
{
    struct pp_new_param w = {
        .name = "head.bias", .count = b->g->words.count, .room = b->g->logits_width};

    if (b->stage->shape.tp > 1)
        w.slice = pp_slice_by_words(b->net->vocab, 1, b->g->words);
    return w;
}

/* The matrix of the embedding, which a tied head multiplies with. */
static struct pp_new_param table_of(const struct pp_builder *b)
{
    const bool is_tied = b->net->is_tied;
    struct pp_new_param w = words(b, "embedding.weight", is_tied && b->stage->shape.has_head);

    w.is_tied = is_tied;
    return w;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct pp_tensor *pp_build_embedding(struct pp_builder *b)
{
    const struct pp_net *net = b->net;
    struct pp_stage_node *n = pp_build_node(b, &pp_node_embed, NULL, net->hidden);

    pp_build_scattered(b, n);
    n->weight = pp_build_push(b, table_of(b));
    n->bias =
        pp_build_push(b, pp_build_matrix("positions.weight",
                                         net->has_positions ? net->position_offset + net->seq : 0,
                                         net->hidden, PP_DEVIATION));
    n->types = pp_build_push(
        b, pp_build_matrix("types.weight", net->token_types, net->hidden, PP_DEVIATION));
    return net->is_encoder ? pp_build_norm(b, n->y, "embedding_norm.weight", "embedding_norm.bias")
                           : n->y;
}

/* A tied head takes the embedding's matrix, or its own copy if the stage has no embedding. */
static const struct pp_param *head_matrix(struct pp_builder *b)
{
    if (!b->net->is_tied)
        return pp_build_push(b, words(b, "head.weight", true));
    if (b->stage->shape.has_embedding)
        return b->g->nodes[0].weight;
    b->layer = b->tensor = 0; /* as in the embedding */
    return pp_build_push(b, table_of(b));
}

/* A dense layer and its activation, which each device has whole. It works on the tokens here. */
static struct pp_tensor *dense(struct pp_builder *b, struct pp_tensor *x)
{
    const int hidden = b->net->hidden;
    struct pp_tensor *y = pp_build_linear(
        b, (struct pp_linear){
               .x = x, .width = hidden, .weight = "dense.weight", .bias = "dense.bias"});
    struct pp_stage_node *n = &b->g->nodes[b->g->node_count - 1];
    struct pp_tensor *activated = pp_build_node(b, &pp_node_activate, y, hidden)->y;

    y->bytes = activated->bytes = x->bytes;
    if (b->stage->shape.is_sequence_parallel) {
        n->x_part = x;
        n->x_again = pp_stage_tensor(b->g, hidden);
        n->x_again->maker = n;
        n->dy_again = pp_stage_tensor(b->g, hidden);
    }
    return activated;
}

/* Appends a node whose y, `elements` of G, the devices put together. */
static struct pp_tensor *of_all(struct pp_builder *b, const struct pp_node_kind *kind,
                                enum pp_exchange_rule rule, struct pp_tensor *x,
                                struct pp_tensor *max, int64_t elements)
{
    struct pp_stage_node *n = pp_build_node(b, kind, x, 0);

    n->rule = rule;
    n->max = max;
    n->part = pp_stage_tensor_of_g(b->g, elements);
    n->y = pp_stage_tensor_of_g(b->g, elements);
    return n->y;
}

static void loss(struct pp_builder *b, struct pp_tensor *logits)
{
    const int64_t tokens = b->g->tokens;
    struct pp_tensor *max = NULL, *sums = NULL;

    if (b->stage->shape.tp > 1) {
        max = of_all(b, &pp_node_loss_max, PP_RULE_MAX_OF_G, logits, NULL, tokens);
        sums = of_all(b, &pp_node_loss_sums, PP_RULE_SUM_OF_G, logits, max, 2 * tokens);
    }
    struct pp_stage_node *n = pp_build_node(b, &pp_node_loss, logits, 0);
    n->max = max;
    n->sums = sums;
    n->scratch = pp_build_tensor(b->g, 0, (size_t)tokens * sizeof(double));
}

/* The last token of each sequence. */
static struct pp_tensor *last(struct pp_builder *b, struct pp_tensor *x)
{
    const struct pp_stage_shape *shape = &b->stage->shape;

    if (shape->tokens == 1)
        return x;
    struct pp_tensor *y = pp_build_node(b, &pp_node_last, x, x->width)->y;
    y->bytes = x->bytes / (size_t)shape->tokens;
    return y;
}

/* Logits of the words here, or of all words if devices have parts of them. */
static void gather_logits(const struct pp_builder *b, struct pp_stage_node *n)
{
    const int tp = b->stage->shape.tp;
    const size_t bytes = (size_t)b->stage->shape.rows * (size_t)n->y->width * b->g->element_bytes;

    b->g->logits = n->y;
    n->y->bytes = bytes;
    if (tp <= 1)
        return;
    n->part = pp_stage_tensor(b->g, n->y->width);
    n->part->bytes = bytes;
    n->rule = PP_RULE_GATHER;
    n->y->bytes = bytes * (size_t)tp;
}

void pp_build_head(struct pp_builder *b, struct pp_tensor *x)
{
    const bool generates = pp_stage_generates(&b->stage->shape);
    struct pp_tensor *t = generates ? last(b, x) : b->net->is_encoder ? dense(b, x) : x;
    t = pp_build_norm(b, t, "norm.weight", "norm.bias");
    struct pp_stage_node *logits =
        pp_build_node(b, &pp_node_linear, pp_build_all_tokens(b, t), b->g->logits_width);

    if (b->net->is_encoder)
        logits->bias = pp_build_push(b, words_bias(b));
    logits->weight = head_matrix(b);
    if (generates) {
        gather_logits(b, logits);
        return;
    }
    pp_build_gathered(b, logits);
    loss(b, logits->y);
}
