/* exec/program/moved.h — bytes of saved activations that copies between memory tiers move.
 *
 * A forward leaves all of `kept` and `saved` but what only a backward writes. A share of these
 * bytes, the first, moves. The rest goes to a place on the device. */
#pragma once

#include "exec/nodes/work.h"
#include "exec/program/away.h"
#include "exec/tiers/tiers.h"

struct pp_extent {
    size_t from, until; /* bytes */
};
/* Disjoint ranges, in order. */
struct pp_extents {
    struct pp_extent *list;
    int count, capacity;
};
/* Adds bytes that may be there; returns all bytes in the ranges. */
void pp_extents_add(struct pp_arena *arena, struct pp_extents *ranges, size_t from, size_t until);
size_t pp_extents_bytes(const struct pp_extents *ranges);

/* Writes the ranges of `kept`, then `saved`, that a forward of a granule leaves; `is_again`: of
 * `kept` alone. Returns their number. */
enum { PP_MOVED_RANGES = 4 };
int pp_moved_ranges(const struct pp_stage *stage, bool is_again,
                    struct pp_extent ranges[PP_MOVED_RANGES]);

/* Bytes of saved activations: on the other tier, and what stays of them on the device. */
struct pp_moved {
    size_t away, here;
};
/* Bytes of a granule in its slot that move together. They go to the place of their COPY.down on the
 * other tier, or on the device (is_here). */
struct pp_moved_piece {
    size_t from, bytes, at;
    bool is_here;
};
enum { PP_MOVED_PIECES = PP_MOVED_RANGES + 1 };
/* Writes the pieces of a granule. `ends`: of the places so far; those of the next granule begin
 * there. Each piece in a file has blocks of its own. Returns their number. */
int pp_moved_pieces(const struct pp_program *program, const struct pp_stage *stage, bool is_again,
                    struct pp_moved *ends, struct pp_moved_piece pieces[PP_MOVED_PIECES]);
/* Returns the bytes that a COPY moves. */
struct pp_moved pp_moved_by(const struct pp_program *program, const struct pp_stage *const *stages,
                            const struct pp_away *away, int copy);
