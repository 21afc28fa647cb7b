/* How long the parts of exchanges stay in scratch: until the group meets again. See graph.h. */
#include "exec/stage/graph.h"

#include <limits.h>

/* A recomputation leaves out nodes, and the exchange of the stage's output. */
static bool is_exchanged_again(const struct pp_stage_graph *g, const struct pp_stage_node *n)
{
    return n->is_again && n->y != g->output;
}

static void hold_in_f(const struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;
    int next = INT_MAX, next_again = INT_MAX;

    for (struct pp_stage_node *n = g->nodes + g->node_count; n-- > g->nodes;) {
        if (n->part == NULL)
            continue;
        const int until = stage->shape.has_r && n->is_again ? next_again : next;
        n->part->read[PP_PASS_F] = n->part->read[PP_PASS_KEEP] = until;
        next = n->part->made[PP_PASS_F];
        if (is_exchanged_again(g, n))
            next_again = next;
    }
}

/* The backward walks the other way. */
static void hold_in_back(struct pp_stage_graph *g)
{
    int next = INT_MAX;

    for (struct pp_stage_node *n = g->nodes; n < g->nodes + g->node_count; n++) {
        struct pp_tensor *part = pp_node_part(n, false);
        if (part == NULL)
            continue;
        part->read[PP_PASS_I] = part->read[PP_PASS_B] = next;
        next = part->made[PP_PASS_I];
    }
}

void pp_stage_hold_parts(const struct pp_stage *stage)
{
    hold_in_f(stage);
    hold_in_back(stage->graph);
}
