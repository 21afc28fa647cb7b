/* Parameters of a stage: how they are found, and where their gradients go. */
#include "exec/stage/graph.h"

const struct pp_param *pp_stage_find(const struct pp_stage *stage, int id)
{
    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].id == id)
            return &stage->params[i];
    return NULL;
}

const struct pp_param *pp_stage_tied(const struct pp_stage *stage)
{
    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].is_tied)
            return &stage->params[i];
    return NULL;
}

void *pp_call_target(const struct pp_call *c, const struct pp_param *param)
{
    const struct pp_grads *g = &c->w->grads;

    return g->is_exact ? g->scratch : (char *)g->sum + (size_t)param->offset * c->g->gradient_bytes;
}

void pp_call_add_exactly(const struct pp_call *c, const struct pp_param *param, const void *grad)
{
    const struct pp_grads *g = &c->w->grads;

    if (g->is_exact)
        c->k->fixed_add(c->stream, param->count, grad, PP_GRAD_BITS, g->fixed + param->offset,
                        g->status);
}
