/* Work on a state: sums of squares of its gradients, and the update. */
#include "exec/state/state.h"

#include <assert.h>

static struct pp_flat flat_of(const struct pp_stage *stage, const struct pp_kernels *k,
                              const struct pp_state *state, struct pp_range range)
{
    void *grad = pp_state_gradient(state, k, range.from);

    return (struct pp_flat){.tensors = stage->tensors,
                            .tensor_count = stage->tensor_count,
                            .from = range.from,
                            .until = range.until,
                            .grad = state->fixed ? NULL : grad,
                            .fixed = state->fixed ? grad : NULL,
                            .bits = PP_GRAD_BITS,
                            .keeps_grad = state->keeps_gradients};
}

/* ---- norm ------------------------------------------------------------------------------------ */

static void range_squares(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                          const struct pp_state *state, struct pp_range range, double *scratch,
                          double *blocks)
{
    const int64_t first = pp_squares_before(stage, range.from),
                  end = pp_squares_before(stage, range.until);

    if (first >= end)
        return;
    const struct pp_flat flat = flat_of(stage, k, state, range);
    k->squares(stream, &flat, scratch ? scratch : blocks + first);
    if (scratch)
        k->copy(stream, sizeof(double) * (size_t)(end - first), scratch, blocks + first);
}

/* Leaves out the copy of a tied matrix, which the stage with the embedding counts. */
void pp_state_squares_of(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                         const struct pp_state *state, enum pp_state_part part, double *scratch,
                         double *blocks)
{
    const struct pp_param *tied = stage->shape.has_embedding ? NULL : pp_stage_tied(stage);
    const struct pp_range none = {stage->elements, stage->elements};
    const struct pp_range left_out = tied ? pp_range_of(tied) : none,
                          share = pp_state_share(state, part);
    const struct pp_range before = {0, left_out.from},
                          after = {pp_flat_unit_from(left_out.until), none.from};

    range_squares(k, stream, stage, state, pp_range_common(share, before), scratch, blocks);
    range_squares(k, stream, stage, state, pp_range_common(share, after), scratch, blocks);
}

void pp_state_squares(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                      const struct pp_state *state, double *scratch, double *blocks)
{
    for (int part = 0; part < PP_STATE_PARTS; part++)
        pp_state_squares_of(k, stream, stage, state, (enum pp_state_part)part, scratch, blocks);
}

/* ---- update ---------------------------------------------------------------------------------- */

/* Zeroes what is before and after the share: in one call, which goes over the share if both are. */
static void zero_rest(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                      const struct pp_state *state, enum pp_state_part part)
{
    const struct pp_range share = pp_state_share(state, part), all = pp_state_summed(state, part);
    const struct pp_range around = {share.from > all.from ? all.from : share.until,
                                    share.until < all.until ? all.until : share.from};
    const struct pp_range range = pp_range_common(all, around);

    if (range.from >= range.until)
        return;
    const struct pp_flat rest = flat_of(stage, k, state, range);
    const size_t bytes = rest.fixed ? sizeof(*rest.fixed) : k->gradient_bytes;
    k->zero(stream, (size_t)(rest.until - rest.from) * bytes, rest.fixed ? rest.fixed : rest.grad);
}

void pp_state_clear_gradients(const struct pp_kernels *k, void *stream,
                              const struct pp_state *state)
{
    const size_t each = state->fixed ? sizeof(*state->fixed) : k->gradient_bytes;

    for (int part = 0; part < PP_STATE_PARTS; part++) {
        const struct pp_range all = pp_state_summed(state, (enum pp_state_part)part);

        if (all.from < all.until)
            k->zero(stream, (size_t)(all.until - all.from) * each,
                    pp_state_gradient(state, k, all.from));
    }
}

void pp_state_step(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                   const struct pp_state *state, const struct pp_recipe *recipe,
                   const struct pp_adamw_step *now)
{
    const struct pp_adamw adamw = {.beta1 = recipe->beta1,
                                   .beta2 = recipe->beta2,
                                   .epsilon = recipe->epsilon,
                                   .decay = recipe->decay};

    assert(recipe->epsilon > 0);
    for (int part = 0; part < PP_STATE_PARTS; part++) {
        const struct pp_range share = pp_state_share(state, (enum pp_state_part)part);

        if (share.from >= share.until)
            continue;
        const struct pp_flat flat = flat_of(stage, k, state, share);
        k->adamw(stream, &flat, &adamw, now, pp_state_weight(state, k, flat.from),
                 pp_state_in_share(state, k, state->master, flat.from),
                 pp_state_in_share(state, k, state->m, flat.from),
                 pp_state_in_share(state, k, state->v, flat.from));
    }
}

void pp_state_update(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                     const struct pp_state *state, const struct pp_recipe *recipe,
                     const struct pp_adamw_step *now)
{
    pp_state_step(k, stream, stage, state, recipe, now);
    for (int part = 0; part < PP_STATE_PARTS; part++)
        zero_rest(k, stream, stage, state, (enum pp_state_part)part);
}
