/* Saved activations: from the slot of an F to their place on another tier, and back to the slot of
 * a COPY.up. */
#include "exec/copy/parts.h"

void pp_bind_saved(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    const struct pp_machine *m = w->machine;
    const struct pp_program *p = m->p;
    const struct pp_away *away = m->away;
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    const int i = copy->instruction, from = away->from[i];
    const bool is_up = p->purpose[i] == PP_FOR_UP;
    const int slot = is_up ? i : from, down = is_up ? away->down[i] : i;
    const size_t bytes = pp_memory_copied_bytes(p, m->options.stages, m->class_of, away, i),
                 pitch = bytes / p->granule_count[i];
    const struct pp_tier_place place = {layout->away.tier,
                                        layout->away_offset[away->of[i]] +
                                            (size_t)(p->mb[i] - p->mb[down]) * pitch};

    copy->tier = place.tier;
    copy->run = pp_copy_run;
    pp_copy_add(m->arena, copy,
                (struct pp_copy_piece){.device = (char *)pp_worker_buffer(w, slot) +
                                                 (size_t)(p->mb[i] - p->mb[slot]) * pitch,
                                       .away = pp_tier_at(w, place),
                                       .offset = place.offset,
                                       .bytes = bytes});
}
