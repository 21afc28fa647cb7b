/* How long the parts of exchanges stay in scratch: until the group meets again. See graph.h. */
#include "exec/stage/graph.h"

#include <limits.h>

static void hold_until(struct pp_tensor *part, enum pp_call_pass pass, int next)
{
    part->read[pass] = part->read[pass] > next ? part->read[pass] : next;
}

static void hold_in_f(const struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;
    int next = INT_MAX, next_again = INT_MAX;

    for (struct pp_stage_node *n = g->nodes + g->node_count; n-- > g->nodes;) {
        if (n->part == NULL)
            continue;
        const int until = stage->shape.has_r && n->is_again ? next_again : next;
        hold_until(n->part, PP_PASS_F, until);
        hold_until(n->part, PP_PASS_KEEP, until);
        next = (int)(n - g->nodes);
        if (pp_node_is_exchanged_again(g, n))
            next_again = next;
    }
}

static void hold_back_until(struct pp_tensor *part, int next)
{
    hold_until(part, PP_PASS_I, next);
    hold_until(part, PP_PASS_B, next);
}

/* The backward walks the other way. A share of dy is gathered before the node. */
static void hold_in_back(struct pp_stage_graph *g)
{
    int next = INT_MAX;

    for (struct pp_stage_node *n = g->nodes; n < g->nodes + g->node_count; n++) {
        struct pp_tensor *part = n->dx_part ? n->dx_part : n->dnorm_part;
        if (part != NULL) {
            hold_back_until(part, next);
            next = part->made[PP_PASS_I];
        }
        if (n->dy_part != NULL) {
            hold_back_until(n->dy_part, next);
            next = n->dy->made[PP_PASS_I];
        }
    }
}

/* Returns what W of a node exchanges last; NULL = nothing. */
static struct pp_tensor *exchanged_by_w(const struct pp_stage_node *n)
{
    if (n->x_again != NULL && n->x_again->maker == n)
        return n->x_part;
    return n->dy_again ? n->dy : NULL;
}

/* B restores tensors after W has exchanged a part that is in scratch. Looks at the steps of B from
 * the last to the first: W of a layer, then I. */
static void hold_for_w(const struct pp_stage_graph *g)
{
    int next = INT_MAX;

    for (const struct pp_layer *l = g->layers; l < g->layers + g->layer_count; l++) {
        const int count = l->end - l->first, first_step = 2 * (g->node_count - l->end);

        for (int i = 0; i < count; i++) {
            struct pp_tensor *part = exchanged_by_w(&g->nodes[l->first + i]);
            if (part == NULL)
                continue;
            hold_until(part, PP_PASS_B, next);
            next = first_step + 2 * count - 1 - i;
        }
        for (int i = 0; i < count; i++) {
            const struct pp_stage_node *n = &g->nodes[l->first + i];
            if (n->dx_part != NULL || n->dnorm_part != NULL || n->dy_part != NULL)
                next = first_step + count - 1 - i;
        }
    }
}

void pp_stage_hold_parts(const struct pp_stage *stage)
{
    hold_in_f(stage);
    hold_in_back(stage->graph);
    if (stage->shape.act_bits > 0 && stage->shape.tp > 1)
        hold_for_w(stage->graph);
}
