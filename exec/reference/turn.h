/* exec/reference/turn.h — devices of a tensor-parallel group that run in turn, in one thread. */
#pragma once

#include "exec/stage/stage.h"

struct pp_turn {
    int devices;
    struct pp_stage_work *works;          /* [devices] of the next call */
    struct pp_group_exchange **exchanges; /* [devices] with room for those of a call */
    const void **from;                    /* [devices] */
};
/* Has room for `most` exchanges of a call. */
struct pp_turn pp_turn_make(struct pp_arena *arena, int devices, int most);
/* Runs a call segment by segment, each on all devices. Adds up parts in their order. */
void pp_turn_call(const struct pp_kernels *k, void *stream, struct pp_turn *turn,
                  enum pp_stage_call_kind kind);
