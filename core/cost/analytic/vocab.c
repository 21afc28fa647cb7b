/* Where embedding and head stand, and what it costs to share them out over all stages.
 *
 * Vocabulary parallelism (Yeung et al. 2024, Balancing Pipeline Parallelism with Vocabulary
 * Parallelism): every rank holds 1/p of the vocabulary. For each micro-batch the last blocks'
 * output goes to all ranks, maximum, sum and target of its tokens are reduced over them, and their
 * parts of its gradient are summed. All of it runs beside the compute of other micro-batches. */
#include "core/cost/analytic/parts.h"

#include <math.h>

double pp_roofline_end_share(const struct pp_cost_inputs *in, enum pp_layer_kind kind, int stage)
{
    if (in->head == PP_HEAD_PARALLEL)
        return 1.0 / in->stages;
    return stage == (kind == PP_LAYER_HEAD ? in->stages - 1 : 0);
}

double pp_roofline_vocab_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                           enum pp_pass pass, double beside_s)
{
    const struct pp_device_group ranks = pp_roofline_group(in, PP_AXIS_PP);
    const double tp = in->is_tp_only ? 1 : in->layout.tp,
                 bytes =
                     work.tokens * in->model->hidden / tp * pp_dtype_bytes(&in->cluster->device);
    double s = 0;

    if (in->head != PP_HEAD_PARALLEL || ranks.members < 2)
        return 0;
    if (pass == PP_PASS_F)
        s = pp_roofline_collective_s(in, PP_BC, ranks, bytes) +
            3 * pp_roofline_collective_s(in, PP_AR, ranks, work.tokens * 4);
    if (pass == PP_PASS_I)
        s = pp_roofline_collective_s(in, PP_AR, ranks, bytes);
    /* Each stage of a rank takes its part of them. */
    return fmax(0, s * in->layout.pp / in->stages - beside_s);
}
