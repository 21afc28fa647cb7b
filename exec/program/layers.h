/* exec/program/layers.h — a program that gathers sharded parameters layer by layer.
 *
 * An op on a chunk becomes ops on its units. They are stages of their own, on the same rank. A unit
 * is a block, the first one with the embedding, the last one with the head. A chunk without blocks
 * is one unit. So passes, buffers and transports treat a layer as they do a chunk. */
#pragma once

#include "schedules/program/program.h"

struct pp_layers {
    int chunks; /* stages of the whole program */
    int *first; /* [chunks + 1]: stage of the first unit */
};

/* Returns the units of chunks, in the arena. PP_EINVAL: they are more than a program can have. */
enum pp_status pp_layers_find(struct pp_arena *arena, const int *blocks_per_chunk, int chunks,
                              struct pp_layers *layers, struct pp_error *err);
/* Returns the chunk of a stage. */
int pp_layers_chunk_of(const struct pp_layers *layers, int stage);

/* Returns a compute-only program by layers. A forward runs through the units of its chunk from the
 * first to the last, all others the other way. The k-th units of an overlapped pair are a pair. */
enum pp_status pp_layers_cut(struct pp_arena *arena, const struct pp_program *program,
                             const struct pp_layers *layers, struct pp_program **by_layer,
                             struct pp_error *err);
