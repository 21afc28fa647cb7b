/* sim/export/chains.h — the tasks of a node as chains. Private to sim/export.
 *
 * A chain is a list that is run line by line. So it means the same to every reader. It does not
 * matter whether tasks free their users when they start or when they end. */
#pragma once

#include "sim/export/walk.h"

struct pp_chain_line {
    int kind;                   /* SEND or RECV of a token; -1: the task itself */
    int task;                   /* token: the task that has ended, which is also its tag */
    int lane;                   /* token: its other end, in the same node */
    struct pp_chain_line *next; /* NULL: last */
};
struct pp_chain {
    struct pp_chain_line *begin, *end; /* NULL: the node has no such lane */
};
struct pp_chains {
    struct pp_chain of[MAX_LANES];
};

/* Divides tasks with PP_WIRES_FIXED, one chain for each lane. Lines live in the arena. */
void pp_chains_divide(struct pp_arena *arena, const struct pp_tasks *tasks,
                      struct pp_chains *chains);
