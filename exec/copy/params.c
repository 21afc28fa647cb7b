/* Parameters of a chunk: from their home into a buffer of whole ones, and back once updated. */
#include "exec/copy/parts.h"

void pp_bind_params(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    const struct pp_machine *m = w->machine;
    const int i = copy->instruction, stage = m->p->stage[i],
              chunk = m->p->pipe[i] * m->stages + stage;
    const struct pp_tier_place home = m->layout[w->rank].home[chunk][PP_STATE_PARAMS];

    copy->tier = home.tier;
    copy->run = pp_copy_run;
    pp_copy_add(m->arena, copy,
                (struct pp_copy_piece){.device = pp_worker_whole(w, PP_WHOLE_PARAMS, i),
                                       .away = pp_tier_at(w, home),
                                       .offset = home.offset,
                                       .bytes = (size_t)pp_stage_at(w, chunk)->elements *
                                                m->options.kernels->element_bytes});
}
