/* exec/program/parts.h — private to exec/program: a layout under way. */
#pragma once

#include "exec/program/memory.h"

struct pp_layout {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_stage *const *stages;
    const struct pp_kernels *kernels;
    const int8_t *class_of;
    const struct pp_cuts *cuts;
    const struct pp_wholes *wholes;
    const struct pp_away *away;
    bool is_exact;
};

static inline size_t pp_layout_take(struct pp_rank_layout *rank, size_t bytes)
{
    const size_t offset = rank->block_bytes;

    rank->block_bytes += pp_whole_lines(bytes);
    return offset;
}
/* Takes bytes of a class in the block of a tier. */
struct pp_tier_place pp_layout_take_at(struct pp_rank_layout *rank, enum pp_tier tier,
                                       enum pp_state_class class, size_t bytes);

/* slots.c: places the slots of a rank; what moves out of them, and edges. */
void pp_layout_slots(const struct pp_layout *layout, int rank_number, struct pp_rank_layout *rank);
void pp_layout_away(const struct pp_layout *layout, int rank_number, struct pp_rank_layout *rank);
void pp_layout_edges(const struct pp_layout *layout, int rank_number, struct pp_rank_layout *rank);
