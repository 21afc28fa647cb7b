/* Which bytes of a slot move to another memory tier. */
#include "exec/program/moved.h"

#include <math.h>

enum { LINE_BYTES = 64 };

/* ---- ranges ---------------------------------------------------------------------------------- */

void pp_extents_add(struct pp_arena *arena, struct pp_extents *r, size_t from, size_t until)
{
    struct pp_extent range = {from, until};
    int kept = 0, at;

    if (from == until)
        return;
    for (int k = 0; k < r->count; k++)
        if (r->list[k].until < range.from || range.until < r->list[k].from) {
            r->list[kept++] = r->list[k];
        } else { /* they touch */
            range.from = range.from < r->list[k].from ? range.from : r->list[k].from;
            range.until = range.until > r->list[k].until ? range.until : r->list[k].until;
        }
    r->count = kept;
    *PP_PUSH(arena, r->list, r->count, r->capacity) = range;
    for (at = r->count - 1; at > 0 && r->list[at - 1].from > range.from; at--)
        r->list[at] = r->list[at - 1];
    r->list[at] = range;
}

size_t pp_extents_bytes(const struct pp_extents *r)
{
    size_t bytes = 0;

    for (int k = 0; k < r->count; k++)
        bytes += r->list[k].until - r->list[k].from;
    return bytes;
}

/* ---- a granule ------------------------------------------------------------------------------- */

/* Appends a range; adjacent ones become one. */
static int append(struct pp_extent *ranges, int count, size_t from, size_t until)
{
    if (from == until)
        return count;
    if (count > 0 && ranges[count - 1].until == from) {
        ranges[count - 1].until = until;
        return count;
    }
    ranges[count] = (struct pp_extent){from, until};
    return count + 1;
}

static int append_left(struct pp_extent *ranges, int count, size_t from, struct pp_left left)
{
    count = append(ranges, count, from, from + left.first);
    return append(ranges, count, from + left.second, from + left.until);
}

int pp_moved_ranges(const struct pp_stage *stage, bool is_again,
                    struct pp_extent ranges[PP_MOVED_RANGES])
{
    const int count = append_left(ranges, 0, 0, stage->kept_left);

    return is_again ? count : append_left(ranges, count, stage->kept_bytes, stage->saved_left);
}

static size_t bytes_of(const struct pp_extent *ranges, int count)
{
    size_t bytes = 0;

    for (int k = 0; k < count; k++)
        bytes += ranges[k].until - ranges[k].from;
    return bytes;
}

/* Returns the share of bytes that moves, whole lines: no element is cut. */
static size_t share_of(const struct pp_program *p, size_t bytes)
{
    const double frac = p->state.spec.moved_frac[PP_STATE_ACTIVATIONS];

    const size_t lines = (size_t)rint(frac * (double)bytes / LINE_BYTES);

    return frac > 0 && lines * LINE_BYTES < bytes ? lines * LINE_BYTES : bytes;
}

int pp_moved_pieces(const struct pp_program *p, const struct pp_stage *stage, bool is_again,
                    struct pp_moved *ends, struct pp_moved_piece pieces[PP_MOVED_PIECES])
{
    const enum pp_tier tier = p->state.spec.home[PP_STATE_ACTIVATIONS];
    struct pp_extent ranges[PP_MOVED_RANGES];
    const int ranges_count = pp_moved_ranges(stage, is_again, ranges);
    size_t left = share_of(p, bytes_of(ranges, ranges_count));
    int count = 0;

    for (int k = 0; k < ranges_count; k++)
        for (size_t from = ranges[k].from; from < ranges[k].until; count++) {
            const size_t rest = ranges[k].until - from,
                         bytes = left > 0 && left < rest ? left : rest;
            const bool is_here = left == 0;
            size_t *end = is_here ? &ends->here : &ends->away;

            pieces[count] = (struct pp_moved_piece){from, bytes, *end, is_here};
            *end += bytes;
            if (!is_here && tier == PP_TIER_NVME)
                *end = pp_tier_end(tier, *end);
            left -= is_here ? 0 : bytes;
            from += bytes;
        }
    return count;
}

struct pp_moved pp_moved_by(const struct pp_program *p, const struct pp_stage *const *stages,
                            const struct pp_away *away, int copy)
{
    const struct pp_stage *stage = stages[p->stage[copy]];
    struct pp_moved all = {0}, ends = {0};

    for (int g = p->mb[copy]; g < p->mb[copy] + p->granule_count[copy]; g++) {
        struct pp_moved_piece pieces[PP_MOVED_PIECES];
        const int count =
            pp_moved_pieces(p, stage, pp_away_cell(away, p, copy, g)->is_again, &ends, pieces);
        for (int k = 0; k < count; k++)
            *(pieces[k].is_here ? &all.here : &all.away) += pieces[k].bytes;
    }
    return all;
}
