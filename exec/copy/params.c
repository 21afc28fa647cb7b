/* Parameters of a chunk: from their home into a buffer of whole ones, and back once updated. */
#include "exec/copy/parts.h"

/* Adds a range of a chunk's parameters. Elsewhere they are all of the flat vector. */
static void add_range(const struct pp_worker *w, struct pp_bound_copy *copy, struct pp_range range)
{
    const struct pp_machine *m = w->machine;
    const int i = copy->instruction, chunk = m->p->pipe[i] * m->stages + m->p->stage[i];
    const size_t each = m->options.kernels->element_bytes, from = (size_t)range.from * each;
    struct pp_tier_place place = m->layout[w->rank].home[chunk][PP_STATE_PARAMS];

    if (range.from >= range.until)
        return;
    place.offset += from;
    pp_copy_add(
        m->arena, copy,
        (struct pp_copy_piece){.device = (char *)pp_worker_whole(w, PP_WHOLE_PARAMS, i) + from,
                               .away = pp_tier_at(w, place),
                               .offset = place.offset,
                               .bytes = (size_t)(range.until - range.from) * each});
}

/* Parameters that the host has updated at home stay as they are. */
void pp_bind_params(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    const struct pp_machine *m = w->machine;
    const struct pp_state_spec *spec = &m->p->state.spec;
    const int i = copy->instruction;
    const struct pp_chunk *chunk = &w->chunks[m->p->pipe[i] * m->stages + m->p->stage[i]];

    copy->tier = spec->home[PP_STATE_PARAMS];
    copy->run = pp_copy_run;
    if (m->p->purpose[i] != PP_FOR_HOME || !pp_state_is_updated_at_home(spec)) {
        add_range(w, copy, (struct pp_range){0, chunk->stage->elements});
        return;
    }
    for (int part = 0; part < PP_STATE_PARTS; part++)
        add_range(w, copy, pp_state_share(&chunk->by_device, (enum pp_state_part)part));
}
