/* Saved activations: from the slot of an F to their place on another tier, and back to the slot of
 * a COPY.up. */
#include "exec/copy/parts.h"

/* Writes the pieces of a granule as its COPY.down has placed them; returns their number. */
static int pieces_of(const struct pp_machine *m, const struct pp_away_cell *cell, int g,
                     struct pp_moved_piece pieces[PP_MOVED_PIECES])
{
    const struct pp_program *p = m->p;
    struct pp_moved ends = {0};
    int count = 0;

    for (int before = p->mb[cell->down]; before <= g; before++)
        count =
            pp_moved_pieces(p, m->options.stages[p->stage[cell->down]],
                            pp_away_cell(m->away, p, cell->down, before)->is_again, &ends, pieces);
    return count;
}

/* Granule g in the slot of an F or COPY.up. */
static char *granule_at(const struct pp_worker *w, int i, int g)
{
    const struct pp_machine *m = w->machine;
    const size_t pitch =
        pp_slot_pitch(m->options.stages[m->p->stage[i]], (enum pp_slot_class)m->class_of[i], false);

    return (char *)pp_worker_buffer(w, i) + (size_t)(g - m->p->mb[i]) * pitch;
}

static void bind_granule(const struct pp_worker *w, struct pp_bound_copy *copy, int g)
{
    const struct pp_machine *m = w->machine;
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    const struct pp_away_cell *cell = pp_away_cell(m->away, m->p, copy->instruction, g);
    const int place = m->away->of[cell->down];
    struct pp_moved_piece pieces[PP_MOVED_PIECES];
    const int count = pieces_of(m, cell, g, pieces);

    for (int k = 0; k < count; k++) {
        const struct pp_tier_place at = {
            pieces[k].is_here ? PP_TIER_DEVICE : layout->away[place].tier,
            pieces[k].at +
                (pieces[k].is_here ? layout->here_offset[place] : layout->away[place].offset)};
        pp_copy_add(m->arena, copy,
                    (struct pp_copy_piece){.device = granule_at(w, cell->slot, g) + pieces[k].from,
                                           .away = pp_tier_at(w, at),
                                           .offset = at.offset,
                                           .bytes = pieces[k].bytes,
                                           .is_here = pieces[k].is_here});
    }
}

void pp_bind_saved(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    const struct pp_machine *m = w->machine;
    const struct pp_program *p = m->p;
    const int i = copy->instruction;

    copy->tier = p->state.spec.home[PP_STATE_ACTIVATIONS];
    copy->run = pp_copy_run;
    for (int g = p->mb[i]; g < p->mb[i] + p->granule_count[i]; g++)
        bind_granule(w, copy, g);
}
