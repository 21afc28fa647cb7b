/* exec/program/parts.h — private to exec/program: a layout under way. */
#pragma once

#include "exec/program/memory.h"

struct pp_placing {
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
static inline struct pp_tier_place pp_layout_take_at(struct pp_rank_layout *rank, enum pp_tier tier,
                                                     enum pp_state_class class, size_t bytes)
{
    if (tier == PP_TIER_DEVICE)
        return (struct pp_tier_place){tier, pp_layout_take(rank, bytes)};
    const size_t offset = rank->tier_bytes[tier];
    rank->tier_bytes[tier] = pp_tier_end(tier, offset + bytes);
    rank->away_bytes[tier][class] += bytes;
    return (struct pp_tier_place){tier, offset};
}
/* generation.c: places what a generating program has in addition. */
void pp_layout_generation(const struct pp_placing *layout, int rank_number,
                          struct pp_rank_layout *rank);
/* slots.c: places the slots of a rank; what moves out of them, and edges. */
void pp_layout_slots(const struct pp_placing *layout, int rank_number, struct pp_rank_layout *rank);
void pp_layout_away(const struct pp_placing *layout, int rank_number, struct pp_rank_layout *rank);
void pp_layout_edges(const struct pp_placing *layout, int rank_number, struct pp_rank_layout *rank);
/* Notes where bytes of a place's state are, `from` the begin of that state; nothing without bytes.
 */
static inline void pp_layout_note(struct pp_rank_layout *rank, int place, size_t from, size_t bytes,
                                  struct pp_tier_place at)
{
    if (bytes > 0)
        rank->pieces[rank->piece_count++] =
            (struct pp_state_piece){rank->state_offset[place] + from, bytes, at};
}

/* updates.c: places buffers of state that streams through updates, after all states. */
void pp_layout_buckets(const struct pp_placing *layout, int rank_number,
                       struct pp_rank_layout *rank);
/* updates.c: places optimizer state of a place, whose state has these bytes. */
void pp_update_place(const struct pp_placing *l, struct pp_state_bytes bytes, int place,
                     struct pp_rank_layout *rank);
/* Places the room of buckets, once all optimizer state has a place. */
void pp_update_place_bucket(const struct pp_placing *l, struct pp_rank_layout *rank);
