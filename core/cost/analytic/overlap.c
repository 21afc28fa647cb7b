/* What of tensor-parallel exchanges hides beside the products of a layer. */
#include "core/cost/analytic/parts.h"

#include <math.h>

/* Of the exchanges of input gradients as many as follow a product that has a weight gradient, too,
 * run beside that, and take a share of it: all-reduces, or, with sequence parallelism, the scatters
 * of a block, whose gathers come before. */
static double async_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                      struct pp_layer_work work, double all_tp_s)
{
    const struct pp_framework *f = pp_roofline_framework(in);
    const double share = in->is_tp_only || kind == PP_LAYER_HEAD ? 1 : 0.5;

    if (!f->has_async_grads || all_tp_s <= 0)
        return 0;
    const double matrix_s = pp_roofline_layer(in, kind, work, PP_PASS_W).matrix_s;
    return (1 - f->gather_share_frac) * fmin(share * all_tp_s, matrix_s);
}

double pp_roofline_shown_tp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                              struct pp_layer_work work, enum pp_pass pass, double matrix_s)
{
    const double all_tp_s = pp_roofline_tp_s(in, kind, work, pass);
    const double asked_s = fmin(in->tp_overlap_frac * all_tp_s, matrix_s);

    return all_tp_s - fmax(asked_s, pass == PP_PASS_I ? async_s(in, kind, work, all_tp_s) : 0);
}
