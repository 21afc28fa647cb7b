/* schedules/evaluate/order.h — the sorted nodes of a graph. Private to order.c and code.c. */
#pragma once

#include "schedules/evaluate/eval.h"

/* The readers of node n are reader[first[n]] .. reader[first[n + 1] - 1]. */
struct pp_order {
    const struct pp_graph *g;
    int32_t *first, *reader;
    int32_t *missing;  /* [node]: inputs not yet sorted */
    int32_t *sequence; /* sorted nodes; steps of a segment are before its meets */
    int count;
    int32_t *meets; /* meets that are ready */
    int meet_count;
    struct pp_segment *segments; /* ends within `sequence` */
    int segment_count, segment_capacity;
};

static inline const int32_t *pp_node_inputs(const struct pp_graph *g, int32_t node, int *count)
{
    const struct pp_node *n = &g->nodes[node];

    if (n->type != PP_NODE_MEET) {
        *count = n->type == PP_NODE_STEP ? PP_STEP_INPUTS : 0;
        return n->in;
    }
    *count = n->in[1];
    return g->inputs + n->in[0];
}

/* Compiles ordered nodes; `eval->entry_count` must be set. PP_EFAIL if times would overflow. */
enum pp_status pp_eval_emit(struct pp_arena *arena, const struct pp_order *order,
                            struct pp_eval *eval, struct pp_error *err);
