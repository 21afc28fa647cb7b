/* A mixture of experts in a pass of few tokens: the experts that the tokens meet, and no others.
 *
 * Tokens of all devices that share the experts choose together. So a device reads its part of the
 * experts that all of them meet. */
#include "core/cost/generation/parts.h"

#include <math.h>

double pp_generation_experts_met(const struct pp_experts *experts, double tokens)
{
    const double all = experts->count;

    return all * (1 - pow(1 - experts->top_k / all, tokens));
}

/* Returns the tokens of all devices that hold the experts once. Devices of a tensor-parallel group
 * have the same tokens. */
static double tokens_together(const struct pp_pass_work *work)
{
    const struct pp_layout *l = &work->in.layout;

    return work->tokens * fmax(1, pp_layout_expert_devices(l) / (double)l->tp);
}

void pp_pass_add_experts(const struct pp_pass_work *work, struct pp_layer_kernels *list)
{
    enum { ROUTING_BYTES = 8 }; /* a score is read in 32 bits and written */
    const struct pp_model *m = &work->model;
    const struct pp_experts *e = &m->experts;
    const struct pp_layout *l = &work->in.layout;
    const double tokens = tokens_together(work), capacity = fmax(work->in.capacity_factor, 1),
                 met = fmin(pp_generation_experts_met(e, tokens), e->count) / l->ep,
                 copies = tokens * e->top_k * capacity / l->ep;

    PP_LAYER_MATRIX(list, .name = "router", .tokens = work->tokens, .k = m->hidden, .n = e->count,
                    .is_wide = true);
    PP_LAYER_TRAFFIC(list, work->tokens * e->count, "routing", {1, 0, 0},
                     .bytes = {ROUTING_BYTES, 0, 0});
    PP_LAYER_TRAFFIC(list, copies * m->hidden, "permute", {1, 0, 0}, {2, 0, 0});
    pp_pass_add_mlp(list, copies / met, e->ffn / (double)pp_layout_etp(l), met);
    PP_LAYER_TRAFFIC(list, copies * m->hidden, "unpermute, weigh", {1, 0, 0}, {2, 0, 0});
    if (e->shared_ffn > 0)
        pp_pass_add_mlp(list, work->tokens, e->shared_ffn / (double)l->tp, 1);
}
