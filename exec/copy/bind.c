/* Binds each COPY and MOVE of a list to its bytes, by purpose. */
#include "exec/copy/parts.h"

static pp_copy_binder *const BIND[PP_PURPOSES] = {
    [PP_FOR_DOWN] = pp_bind_saved,        [PP_FOR_UP] = pp_bind_saved,
    [PP_FOR_LOAD] = pp_bind_params,       [PP_FOR_RELOAD] = pp_bind_params,
    [PP_FOR_HOME] = pp_bind_params,       [PP_FOR_GRAD_DOWN] = pp_bind_gradients,
    [PP_FOR_GRAD_UP] = pp_bind_gradients, [PP_FOR_GRADS] = pp_bind_grads,
    [PP_FOR_PARAMS] = pp_bind_updated,    [PP_FOR_FETCH] = pp_bind_fetch,
    [PP_FOR_STORE] = pp_bind_store,       [PP_FOR_UPDATE] = pp_bind_update,
};

static struct pp_bound_copy *bind(struct pp_worker *w, int i, const int last[PP_COPY_STREAMS])
{
    struct pp_machine *m = w->machine;
    const struct pp_op op = pp_program_op(m->p, i);
    struct pp_bound_copy *copy = PP_NEW(m->arena, struct pp_bound_copy);
    const enum pp_copy_stream own = pp_move_stream(op.purpose), other = pp_move_after(op.purpose);

    *copy = (struct pp_bound_copy){.worker = w,
                                   .instruction = i,
                                   .after = other == own ? -1 : last[other],
                                   .done = m->first_copied + pp_row(w, i),
                                   .ps = pp_costs_op(m->options.costs, &op, NULL).ps};
    BIND[op.purpose](w, copy);
    return copy;
}

static void bind_list(struct pp_worker *w)
{
    struct pp_machine *m = w->machine;
    const struct pp_program *p = m->p;
    int last[PP_COPY_STREAMS] = {-1, -1, -1};

    for (int s = 0; s < PP_COPY_STREAMS; s++)
        w->copiers[s] = (struct pp_copier){.worker = w, .capacity = 1};
    for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++)
        if (pp_op_is_move(p->kind[i])) {
            const enum pp_copy_stream stream = pp_move_stream(p->purpose[i]);
            const struct pp_bound_copy *copy = m->copies[pp_row(w, i)] = bind(w, i, last);

            last[stream] = i;
            w->copiers[stream].capacity++;
            pp_copy_count_calls(&w->copiers[stream], copy);
        }
    for (int s = 0; s < PP_COPY_STREAMS; s++)
        w->copiers[s].queue = PP_ARRAY(m->arena, int32_t, w->copiers[s].capacity);
}

enum pp_status pp_copies_bind(struct pp_machine *m, struct pp_error *err)
{
    if (!m->has_copies)
        return PP_OK;
    m->copies = PP_ARRAY(m->arena, struct pp_bound_copy *, pp_rows(m));
    for (int k = 0; k < m->worker_count; k++) {
        bind_list(&m->workers[k]);
        if (!pp_is_elsewhere(m, &m->workers[k]))
            PP_TRY(pp_copy_take_buffers(&m->workers[k], err));
    }
    return PP_OK;
}
