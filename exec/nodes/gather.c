/* Tokens of all devices that share them. */
#include "exec/nodes/call.h"

/* The exchange after the node does all. */
static void nothing(struct pp_call *c, const struct pp_stage_node *n)
{
    (void)c;
    (void)n;
}

const struct pp_node_kind pp_node_gather = {.forward = nothing};
