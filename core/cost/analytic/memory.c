/* Memory of a stage: state, activations, buffers of the framework. */
#include "core/cost/analytic/parts.h"

#include <math.h>

/* Parameters, gradients and optimizer state. */
static void fill_state(const struct pp_cost_inputs *in, int stage, struct pp_stage_memory *memory)
{
    const struct pp_class_bytes bytes = pp_cost_state_bytes(in);
    const struct pp_state_spec *state = &in->state;
    double params[PP_STATE_SHARDED];

    for (int c = 0; c < PP_STATE_SHARDED; c++)
        params[c] = pp_roofline_cut_params(in, stage, pp_state_cut(state, (enum pp_state_class)c));
    memory->params_bytes = bytes.params * params[PP_STATE_PARAMS];
    if (state->secondary.in_node)
        memory->params_bytes +=
            bytes.params * pp_roofline_cut_params(in, stage, pp_mesh_size(state->secondary));
    memory->grads_bytes = bytes.grads * params[PP_STATE_GRADS];
    memory->optimizer_bytes = bytes.optimizer * params[PP_STATE_OPTIMIZER];
}

/* Adam reads gradient and state and writes state and parameters. Before, the gradient is read for
 * its norm, read and written to be clipped; afterwards it is cleared. */
double pp_roofline_update_bytes(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_class_bytes state = pp_cost_state_bytes(in);

    return pp_roofline_cut_params(in, stage, pp_state_cut(&in->state, PP_STATE_OPTIMIZER)) *
           (5 * state.grads + 2 * state.optimizer + state.params +
            (pp_dtype_bytes(&in->cluster->device) > 2 ? state.params : 0));
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

    return most > 0 && pp_state_is_gathered(&in->state) ? fmin(all, most) : all;
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
    fill_state(in, stage, memory);
    memory->update_bytes = update_values(in) * updated_at_once(in, stage);
    pp_roofline_saved(in, recompute[stage], stage, memory);
    pp_roofline_tier_memory(in, stage, memory);
    memory->boundary_bytes = stage < in->stages - 1 ? pp_roofline_boundary_bytes(in) : 0;
}
