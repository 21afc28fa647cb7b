/* Where the gradients of parameters go. */
#include "exec/nodes/call.h"

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
