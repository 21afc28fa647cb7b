/* exec/program/edges.h — places of what passes between two stages on one rank. If saved activations
 * move, the slot of an F may be gone when the next stage hands its gradient back.
 *
 * The output of an F has a place until the next stage's F has read it. The gradient for it has one
 * from the start of that stage's B or I to the end of the own one. */
#pragma once

#include "core/arena.h"
#include "schedules/program/program.h"

enum pp_edge_way { PP_EDGE_OUTPUT, PP_EDGE_GRADIENT, PP_EDGE_WAYS };

struct pp_edges {
    bool *is_moved;            /* [stage] its saved activations move: its edges are not in slots */
    int32_t *of[PP_EDGE_WAYS]; /* [cell of such a stage] place; -1: the next stage is elsewhere */
    int *count;                /* [rank] number of places */
};
/* Returns the places of a lowered program, in the arena: the lowest free ones. */
struct pp_edges pp_edges_find(struct pp_arena *arena, const struct pp_program *program);

/* Returns the stage whose edge an F, B or I fills: its output, or the gradient that it hands back.
 * -1: that has no place on this rank. */
int pp_edges_filled(const struct pp_edges *edges, const struct pp_program *program,
                    int instruction);
/* Returns the place of such an edge, of granule g. */
int32_t pp_edges_place(const struct pp_edges *edges, const struct pp_program *program,
                       int instruction, int g);

/* Is true if a program moves saved activations of a stage off their device. */
static inline bool pp_edges_are_apart(const struct pp_program *p, int stage)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (p->kind[i] == PP_COPY && p->purpose[i] == PP_FOR_DOWN && p->stage[i] == stage)
            return true;
    return false;
}
