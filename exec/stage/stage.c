/* Creation of a stage. */
#include "exec/nodes/balance.h"
#include "exec/stage/generate.h"
#include "exec/stage/graph.h"

#include <assert.h>

/* Gradients of words and positions are computed together, those of types after them. */
static int64_t tables_of(const struct pp_stage_node *n)
{
    const int64_t both = n->weight->count + (n->bias ? n->bias->count : 0),
                  types = n->types ? n->types->count : 0;

    return both > types ? both : types;
}

/* One call computes gradients of an embedding's tables, or of the head's padded matrix. */
static void size_grad_scratch(struct pp_stage *stage)
{
    int64_t most = 0;

    for (int i = 0; i < stage->graph->node_count; i++) {
        const struct pp_stage_node *n = &stage->graph->nodes[i];
        int64_t elements = 0;

        if (n->kind == &pp_node_embed)
            elements = tables_of(n);
        else if (n->kind == &pp_node_linear || n->kind == &pp_node_grouped)
            elements = (int64_t)n->x->width * n->y->width;
        else if (n->weight != NULL)
            elements = n->weight->count;
        most = elements > most ? elements : most;
    }
    stage->grad_scratch_bytes = (size_t)most * stage->graph->gradient_bytes;
}

/* The net of a stage: its part of a group. Experts that generate have no loss, and room for all. */
static const struct pp_net *net_of(struct pp_arena *arena, const struct pp_net *net,
                                   const struct pp_stage_shape *shape)
{
    struct pp_net *own = PP_NEW(arena, struct pp_net);

    *own = shape->tp > 1 ? pp_net_part(net, shape->tp, pp_share_experts(shape, net->experts).etp)
                         : *net;
    if (pp_stage_generates(shape)) {
        own->balance_loss = 0;
        own->capacity = 0;
    }
    return own;
}

static bool is_whole_sequence(const struct pp_net *net, const struct pp_stage_shape *shape)
{
    return pp_stage_generates(shape) ? shape->splits == 1 && shape->tokens <= shape->context &&
                                           shape->context <= net->seq && !net->is_encoder
                                     : shape->tokens * shape->splits == net->seq;
}

struct pp_stage *pp_stage_create(struct pp_arena *arena, const struct pp_net *net,
                                 const struct pp_stage_shape *shape,
                                 const struct pp_kernels *kernels)
{
    struct pp_stage *stage = PP_NEW(arena, struct pp_stage);
    struct pp_stage_graph *g = PP_NEW(arena, struct pp_stage_graph);

    assert(shape->splits >= 1 && shape->splits <= PP_STAGE_SPLITS);
    assert(is_whole_sequence(net, shape));
    assert(!shape->is_sequence_parallel || shape->rows * shape->tokens % shape->tp == 0);
    assert(shape->first_block + shape->blocks <= net->layers);
    stage->net = shape->tp > 1 || pp_stage_generates(shape) ? net_of(arena, net, shape) : net;
    stage->shape = *shape;
    stage->graph = g;
    g->is_first = shape->tp_index == 0;
    g->tokens = shape->rows * shape->tokens;
    g->stream_tokens = g->tokens / (shape->is_sequence_parallel ? shape->tp : 1);
    g->words = pp_net_words(net, shape->tp, shape->tp_index);
    g->logits_width = (pp_net_words(net, shape->tp, 0).count + kernels->vocab_multiple - 1) /
                      kernels->vocab_multiple * kernels->vocab_multiple;
    g->element_bytes = kernels->element_bytes;
    g->gradient_bytes = kernels->gradient_bytes;
    g->has_fast_epilogue = kernels->has_fast_epilogue;
    g->is_immediate = kernels->is_immediate;
    stage->balance_at = (size_t)g->stream_tokens * (size_t)net->hidden * g->element_bytes;
    stage->boundary_bytes = stage->balance_at + pp_balance_bytes(stage->net);
    pp_stage_build(arena, stage, kernels);
    if (pp_stage_generates(shape)) {
        pp_stage_place_forward(arena, stage);
        return stage;
    }
    pp_stage_gradients(stage);
    pp_stage_choose_again(stage);
    pp_stage_choose_packed(stage);
    pp_stage_place(arena, stage);
    size_grad_scratch(stage);
    return stage;
}

struct pp_stage *pp_stage_whole(struct pp_arena *arena, const struct pp_net *net, int rows,
                                int splits, const struct pp_kernels *kernels)
{
    return pp_stage_whole_of(arena, net, rows, splits, (struct pp_stage_share){.tp = 1}, kernels);
}

struct pp_stage *pp_stage_whole_of(struct pp_arena *arena, const struct pp_net *net, int rows,
                                   int splits, struct pp_stage_share share,
                                   const struct pp_kernels *kernels)
{
    const struct pp_stage_shape shape = {.blocks = net->layers,
                                         .has_embedding = true,
                                         .has_head = true,
                                         .rows = rows,
                                         .tokens = net->seq / splits,
                                         .splits = splits,
                                         .tp = share.tp,
                                         .tp_index = share.tp_index,
                                         .etp = share.etp,
                                         .act_bits = share.act_bits,
                                         .is_sequence_parallel = share.is_sequence_parallel};

    return pp_stage_create(arena, net, &shape, kernels);
}

const struct pp_param *pp_stage_find(const struct pp_stage *stage, int id)
{
    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].id == id)
            return &stage->params[i];
    return NULL;
}

const struct pp_param *pp_stage_tied(const struct pp_stage *stage)
{
    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].is_tied)
            return &stage->params[i];
    return NULL;
}
