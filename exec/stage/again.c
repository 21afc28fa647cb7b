/* Chooses what R makes again, by the rules in graph.h. */
#include "core/cost/recompute.h"
#include "exec/stage/graph.h"

bool pp_stage_is_partly_again(const struct pp_stage_shape *shape)
{
    return shape->again.modules != 0 || shape->again.blocks > 0;
}

static bool has_again(const struct pp_stage_graph *g, const struct pp_layer *l)
{
    for (const struct pp_stage_node *n = &g->nodes[l->first]; n < &g->nodes[l->end]; n++)
        if (n->is_again)
            return true;
    return false;
}

int pp_stage_layers_again(const struct pp_stage *stage, enum pp_layer_part part)
{
    const struct pp_stage_graph *g = stage->graph;
    int count = 0;

    for (const struct pp_layer *l = g->layers; l < g->layers + g->layer_count; l++)
        count += l->part == part && has_again(g, l);
    return count;
}

/* The input of a stage has its place in `kept`, unless its embedding makes it. */
static void make_all_again(struct pp_stage_graph *g)
{
    for (int i = 0; i < g->node_count; i++)
        g->nodes[i].is_again = true;
    for (int i = 0; i < g->tensor_count; i++)
        g->tensors[i].is_again = true;
}

/* Returns the modules of which a node makes y. */
static unsigned modules_of(const struct pp_stage_graph *g, const struct pp_stage_node *n)
{
    const struct pp_stage_node *next = n + 1;
    const bool is_gated =
        next < g->nodes + g->node_count && next->kind == &pp_node_gate && next->x == n->y;

    if (n->is_of_experts)
        return PP_AGAIN_MOE | (n->kind == &pp_node_gate ? PP_AGAIN_ACT : 0u);
    return n->act != NULL || is_gated ? PP_AGAIN_MLP : n->kind->again;
}

/* Is true if a node of these modules reads y of all tokens, of which each device saves a share. */
static bool is_gathered_for(const struct pp_stage_graph *g, const struct pp_layer *l,
                            const struct pp_stage_node *n, unsigned modules)
{
    for (const struct pp_stage_node *reader = n + 1; reader < &g->nodes[l->end]; reader++)
        if (n->y != NULL && reader->x_part == n->y && modules_of(g, reader) & modules)
            return true;
    return false;
}

/* A tensor that no backward reads is not made again. */
static bool make_again(struct pp_tensor *t, bool is_chosen)
{
    if (t == NULL || !is_chosen || t->read[PP_PASS_B] < 0)
        return false;
    return t->is_again = true;
}

/* Makes again what a node of R reads and no memory keeps: rows before they are sent, and gathered
 * tokens. */
static void make_read(struct pp_stage_graph *g, const struct pp_layer *l)
{
    for (const struct pp_stage_node *n = &g->nodes[l->end - 1]; n > &g->nodes[l->first]; n--)
        if (n->is_again && n->x != NULL && n->x->maker != NULL && n->x->read[PP_PASS_B] < 0 &&
            !pp_node_is_activation_alone(g, n))
            g->nodes[n->x->maker - g->nodes].is_again = true;
}

/* Tokens are routed once: gates and order of rows are kept, also those of other replicas. */
static void choose(struct pp_stage_graph *g, const struct pp_layer *l, bool is_whole,
                   unsigned modules)
{
    const struct pp_tensor *output = g->nodes[l->end - 1].y;

    for (struct pp_stage_node *n = &g->nodes[l->first]; n < &g->nodes[l->end]; n++) {
        const bool is_chosen = n->y != output && n->kind != &pp_node_count &&
                               (is_whole || modules_of(g, n) & modules ||
                                is_gathered_for(g, l, n, modules)),
                   has_y = make_again(n->y, is_chosen), has_stats = make_again(n->stats, is_chosen),
                   has_act = make_again(n->act, is_chosen || modules & PP_AGAIN_ACT);
        n->is_again = has_y || has_stats || has_act;
    }
    make_read(g, l);
}

void pp_stage_choose_again(const struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;
    int block = 0;

    if (!pp_stage_is_partly_again(&stage->shape)) {
        make_all_again(g);
        return;
    }
    for (const struct pp_layer *l = g->layers; l < g->layers + g->layer_count; l++)
        if (l->part == PP_PART_BLOCK || l->part == PP_PART_EXPERTS)
            choose(g, l, block++ < stage->shape.again.blocks, stage->shape.again.modules);
}
