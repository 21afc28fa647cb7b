/* Work of a pass: sequences and tokens of a group, or of a piece of its prompts. */
#include "core/cost/generation/parts.h"

#include <math.h>

/* Without padding, token by token kernels see the share of real tokens, and attention sequences of
 * that length. */
void pp_pass_open(const struct pp_cost_inputs *in, int pass, struct pp_pass_work *work)
{
    const struct pp_generation *g = in->generation;
    const double packed = g->packed_frac > 0 ? g->packed_frac : 1;
    const int pieces = pass == 0 ? pp_generation_pieces(g) : 1;

    *work = (struct pp_pass_work){.in = *in, .model = *in->model, .generation = g, .pass = pass};
    work->model.mtp = 0;
    work->in.model = &work->model;
    work->in.is_tp_only = true;
    work->in.splits = 1;
    work->in.layout.mbs = g->batch / g->groups / pieces;
    work->in.layout.seq = pass == 0 ? (int)ceil(packed * g->prompt_tokens) : 1;
    work->sequences = work->in.layout.mbs;
    work->tokens = work->sequences * (pass == 0 ? packed * g->prompt_tokens : 1);
}
