/* schedules/evaluate/order.h — the order of a graph, on the way to its eval. Private to
 * schedules/evaluate/order.c and code.c. */
#pragma once

#include "schedules/evaluate/eval.h"

/* Who reads a node: consumers of n are reader[first[n]] .. reader[first[n + 1] - 1]. */
struct pp_order {
    const struct pp_graph *g;
    int32_t *first, *reader;
    int32_t *missing;  /* [node]: inputs not ordered yet */
    int32_t *sequence; /* the result; steps of a segment stand before its meets */
    int count;
    int32_t *meets; /* meets that are ready */
    int meet_count;
    struct pp_segment *segments; /* ends within `sequence` */
    int segment_count, segment_capacity;
};

/* What a node reads. */
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

/* ---- schedules/evaluate/code.c ---- */
/* The compiled form of ordered nodes; `eval->entry_count` is known. PP_EFAIL when times would
 * overflow. */
enum pp_status pp_eval_emit(struct pp_arena *arena, const struct pp_order *order,
                            struct pp_eval *eval, struct pp_error *err);
