#include "core/cost/analytic/parts.h"

#include <math.h>

double pp_roofline_tied_bytes(const struct pp_cost_inputs *in)
{
    return (double)in->model->vocab * in->model->hidden / in->layout.tp *
           pp_cost_state_bytes(in).grads;
}

bool pp_roofline_has_tied_copy(const struct pp_cost_inputs *in)
{
    return in->model->is_tied && in->head != PP_HEAD_PARALLEL && in->stages > 1 &&
           in->rank_of[0] != in->rank_of[in->stages - 1];
}

double pp_roofline_stage_params(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_model *m = in->model;
    const struct pp_stage_layers layers = pp_roofline_stage_layers(in, stage);
    const double routed = pp_roofline_routed_params(in, stage);
    double params = -routed * pp_layout_expert_devices(&in->layout);

    for (int kind = 0; kind < PP_LAYER_KINDS; kind++)
        if (layers.count[kind] > 0)
            params += layers.count[kind] * pp_model_layer_params(m, (enum pp_layer_kind)kind);
    if (stage == in->stages - 1 && pp_roofline_has_tied_copy(in))
        params += (double)m->vocab * m->hidden;
    return params / in->layout.tp + routed;
}

double pp_roofline_boundary_bytes(const struct pp_cost_inputs *in)
{
    return (double)in->layout.mbs * in->layout.seq / in->layout.cp / in->layout.tp *
           in->model->hidden * pp_dtype_bytes(&in->cluster->device);
}

/* Bytes per parameter that live only while the optimizer runs. */
static double update_values(const struct pp_cost_inputs *in)
{
    const struct pp_framework *f = pp_cost_framework(in);

    return pp_dtype_bytes(&in->cluster->device) > 2 ? 0
           : pp_cost_is_fp16(in)                    ? f->fp16_update_bytes
                                                    : f->update_bytes;
}

/* Where parameters are cut an optimizer may take its shard in turns. */
static double updated_at_once(const struct pp_cost_inputs *in, int stage)
{
    const double all = pp_roofline_cut_params(in, stage,
                                              pp_state_cut(&in->state, PP_STATE_OPTIMIZER)),
                 most = pp_cost_framework(in)->update_params;

    return most > 0 && pp_state_cut(&in->state, PP_STATE_PARAMS) > 1 ? fmin(all, most) : all;
}

/* Groups of devices that talk to each other: each has buffers of its own. */
static int groups_of(const struct pp_cost_inputs *in)
{
    const struct pp_layout *l = &in->layout;

    return (l->tp > 1) + (l->cp > 1) + (l->pp > 1) + (l->ep > 1) + (l->dp * in->pipelines > 1) +
           pp_roofline_has_tied_copy(in);
}

double pp_roofline_other_bytes(const struct pp_cost_inputs *in)
{
    const struct pp_framework *f = pp_cost_framework(in);

    return f->context_bytes > 0 ? f->context_bytes + groups_of(in) * f->communicator_bytes
                                : in->cluster->other_bytes;
}

void pp_roofline_memory(const struct pp_cost_inputs *in, const double *recompute, int stage,
                        struct pp_stage_memory *memory)
{
    pp_roofline_state_memory(in, stage, memory);
    memory->update_bytes = update_values(in) * updated_at_once(in, stage);
    pp_roofline_saved(in, recompute[stage], stage, memory);
    pp_roofline_tier_memory(in, stage, memory);
    memory->boundary_bytes = stage < in->stages - 1 ? pp_roofline_boundary_bytes(in) : 0;
}
