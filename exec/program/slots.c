/* The layout of slots, of what copies move out of them, and of edges. */
#include "exec/program/parts.h"

size_t pp_slot_pitch(const struct pp_stage *stage, enum pp_slot_class class, bool is_recompute)
{
    switch (class) {
    case PP_SLOT_KEPT:
        return stage->kept_bytes;
    case PP_SLOT_SAVED:
        return (is_recompute ? 0 : stage->kept_bytes) + stage->saved_bytes;
    default:
        return stage->boundary_bytes;
    }
}

/* Bytes of a slot: all, and those that are written. What a COPY.down moves out of the slot of an F
 * was never in a backward. */
struct slot_bytes {
    size_t all;
    struct pp_extents written;
};

static void write_slot(const struct pp_placing *l, int i, bool is_moved, struct slot_bytes *slot)
{
    const struct pp_program *p = l->p;
    const struct pp_stage *stage = l->stages[p->stage[i]];
    const enum pp_slot_class class = (enum pp_slot_class)l->class_of[i];
    const size_t pitch = class >= PP_SLOT_RECV_F ? pp_message_pitch(p, l->stages, i)
                                                 : pp_slot_pitch(stage, class, p->kind[i] == PP_R),
                 all = p->granule_count[i] * pitch;
    struct pp_extent ranges[PP_MOVED_RANGES] = {{0, pitch}};
    const int count = is_moved ? pp_moved_ranges(stage, class == PP_SLOT_KEPT, ranges) : 1;

    slot->all = all > slot->all ? all : slot->all;
    for (int g = 0; g < p->granule_count[i]; g++)
        for (int k = 0; k < count; k++)
            pp_extents_add(l->arena, &slot->written, (size_t)g * pitch + ranges[k].from,
                           (size_t)g * pitch + ranges[k].until);
}

/* Returns [instruction] of the rank, from its first one on: a COPY.down moves what it leaves. */
static bool *find_moved(const struct pp_placing *l, int r)
{
    const struct pp_program *p = l->p;
    bool *is_moved = PP_ARRAY(l->arena, bool, p->begin[r + 1] - p->begin[r] + 1);

    for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
        for (int g = p->mb[i]; l->away->of[i] >= 0 && g < p->mb[i] + p->granule_count[i]; g++)
            is_moved[pp_away_cell(l->away, p, i, g)->slot - p->begin[r]] = true;
    return is_moved;
}

void pp_layout_slots(const struct pp_placing *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const bool *is_moved = find_moved(l, r);
    struct slot_bytes *slots[PP_SLOT_CLASSES];

    for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
        if (l->class_of[i] >= 0 && p->slot[i] >= rank->slots[l->class_of[i]])
            rank->slots[l->class_of[i]] = p->slot[i] + 1;
    for (int c = 0; c < PP_SLOT_CLASSES; c++) {
        rank->offset[c] = PP_ARRAY(l->arena, size_t, rank->slots[c] + 1);
        slots[c] = pp_arena_alloc(l->arena, sizeof(**slots) * ((size_t)rank->slots[c] + 1));
    }
    for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
        if (l->class_of[i] >= 0 && p->slot[i] >= 0) /* else refused after the layout */
            write_slot(l, i, is_moved[i - p->begin[r]], &slots[l->class_of[i]][p->slot[i]]);
    for (int c = 0; c < PP_SLOT_CLASSES; c++)
        for (int s = 0; s < rank->slots[c]; s++) {
            rank->offset[c][s] = pp_layout_take(rank, slots[c][s].all);
            *(c <= PP_SLOT_SAVED ? &rank->activations_bytes : &rank->buffers_bytes) +=
                pp_extents_bytes(&slots[c][s].written);
        }
}

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns where the places of a COPY.down end. */
static struct pp_moved ends_of(const struct pp_placing *l, int down)
{
    const struct pp_program *p = l->p;
    struct pp_moved ends = {0};

    for (int g = p->mb[down]; g < p->mb[down] + p->granule_count[down]; g++) {
        struct pp_moved_piece pieces[PP_MOVED_PIECES];
        pp_moved_pieces(p, l->stages[p->stage[down]], pp_away_cell(l->away, p, down, g)->is_again,
                        &ends, pieces);
    }
    return ends;
}

/* Places what COPY.down moves, and what it leaves; a place is as large as the largest of them. */
void pp_layout_away(const struct pp_placing *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const enum pp_tier tier = p->state.spec.home[PP_STATE_ACTIVATIONS];
    const int count = l->away->count[r];
    struct pp_moved *most = pp_arena_alloc(l->arena, sizeof(*most) * 2 * ((size_t)count + 1)),
                    *ends = most + count + 1;

    for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
        if (l->away->of[i] >= 0) {
            const struct pp_moved moved = pp_moved_by(p, l->stages, l->away, i),
                                  end = ends_of(l, i);
            const int k = l->away->of[i];
            most[k] = (struct pp_moved){most_of(most[k].away, moved.away),
                                        most_of(most[k].here, moved.here)};
            ends[k].away = most_of(ends[k].away, end.away);
        }
    rank->away = pp_arena_alloc(l->arena, sizeof(*rank->away) * ((size_t)count + 1));
    rank->here_offset = PP_ARRAY(l->arena, size_t, count + 1);
    for (int k = 0; k < count; k++) {
        rank->away[k] = pp_layout_take_at(rank, tier, PP_STATE_ACTIVATIONS, ends[k].away);
        rank->away_bytes[tier][PP_STATE_ACTIVATIONS] -= ends[k].away - most[k].away; /* padding */
        rank->here_offset[k] = pp_layout_take(rank, most[k].here);
        rank->activations_bytes += most[k].here;
    }
}

/* Places edges apart from slots; counted as buffers. */
void pp_layout_edges(const struct pp_placing *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const struct pp_edges *edges = &l->away->edges;
    const int count = edges->count[r];
    size_t *bytes = PP_ARRAY(l->arena, size_t, count + 1);

    rank->edge_offset = PP_ARRAY(l->arena, size_t, count + 1);
    for (int i = p->begin[r]; count > 0 && i < p->begin[r + 1]; i++) {
        const int stage = pp_edges_filled(edges, p, i);
        for (int g = p->mb[i]; stage >= 0 && g < p->mb[i] + p->granule_count[i]; g++) {
            size_t *most = &bytes[pp_edges_place(edges, p, i, g)];
            *most =
                l->stages[stage]->boundary_bytes > *most ? l->stages[stage]->boundary_bytes : *most;
        }
    }
    for (int k = 0; k < count; k++) {
        rank->edge_offset[k] = pp_layout_take(rank, bytes[k]);
        rank->buffers_bytes += bytes[k];
    }
}
