/* Bytes of the cache of keys and values: per token, per stage, per pass. */
#include "core/cost/generation/cache.h"

#include "core/cost/analytic/roofline.h"
#include "core/cost/terms.h"

#include <math.h>

enum { BITS = 16, BYTE_BITS = 8 };

/* Returns the values of a token that a block keeps on each of `tp` devices. A device keeps at least
 * one head. Narrow vectors of latent attention are whole on every device. An encoder reads its
 * prompt once, and keeps nothing. */
static double block_values(const struct pp_model *m, double tp)
{
    if (!m->is_causal)
        return 0;
    if (m->latent.kv_rank > 0)
        return m->latent.kv_rank + m->latent.rope_dim;
    return 2 * fmax(m->kv_heads / tp, 1) * m->head_dim;
}

double pp_kv_bytes_per_token(const struct pp_model *model, const struct pp_generation *generation)
{
    const int bits = generation->kv_bits > 0 ? generation->kv_bits : BITS;

    return block_values(model, 1) * model->layers * bits / BYTE_BITS;
}

double pp_kv_block_bytes(const struct pp_cost_inputs *in)
{
    const int bits = in->generation->kv_bits;

    return block_values(in->model, in->layout.tp) *
           (bits > 0 ? (double)bits / BYTE_BITS : pp_dtype_bytes(&in->cluster->device));
}

int pp_kv_tokens(const struct pp_generation *generation, int pass, int window)
{
    const int page = generation->kv_page_tokens, last = page > 0 ? pass : generation->passes - 1,
              all = pp_generation_context(generation, last),
              tokens = window > 0 && window < all ? window : all;

    return page > 0 ? (tokens + page - 1) / page * page : tokens;
}

double pp_kv_stage_bytes(const struct pp_cost_inputs *in, int stage, int pass, double sequences)
{
    const struct pp_generation *g = in->generation;
    const struct pp_stage_layers held = pp_analytic_stage_layers(in, stage);
    const double blocks = held.count[PP_LAYER_BLOCK] + held.count[PP_LAYER_MOE],
                 near = held.windowed[PP_LAYER_BLOCK] + held.windowed[PP_LAYER_MOE];

    return sequences * pp_kv_block_bytes(in) *
           ((blocks - near) * pp_kv_tokens(g, pass, 0) +
            near * pp_kv_tokens(g, pass, in->model->window.keys));
}

double pp_kv_replica_bytes(const struct pp_cost_inputs *in)
{
    double bytes = 0;

    for (int s = 0; s < in->stages; s++)
        bytes += pp_kv_stage_bytes(in, s, in->generation->passes - 1, in->generation->batch);
    return bytes * in->layout.tp;
}
