/* Memory of a stage that generates: parameters once, caches pass by pass, tensors of one op. */
#include "core/cost/generation/parts.h"

#include <math.h>

/* Returns the widest vectors between the matrices of a block, values of a token on one device. */
static double widest_values(const struct pp_cost_inputs *in)
{
    const struct pp_model *m = in->model;
    const double tp = in->layout.tp, fan = m->is_gated ? 2 : 1,
                 qkv = (m->heads / tp + 2 * fmax(m->kv_heads / tp, 1)) * m->head_dim,
                 dense = fan * fmax(m->ffn, m->experts.shared_ffn) / tp,
                 routed = m->experts.count > 0
                              ? m->experts.top_k * (m->hidden + fan * m->experts.ffn) /
                                    pp_layout_etp(&in->layout)
                              : 0;

    return fmax(qkv, fmax(dense, routed));
}

/* Returns the bytes of a prompt's scores, if they are stored. */
static double scores_bytes(const struct pp_pass_work *work)
{
    const struct pp_cost_inputs *in = &work->in;
    const double scores = work->sequences * in->model->heads / in->layout.tp * in->layout.seq *
                          in->layout.seq,
                 wide = pp_cost_framework(in)->softmax == PP_SOFTMAX_FP32 ? sizeof(float) : 0;

    return work->pass == 0 && in->cluster->device.is_attention_unfused
               ? scores * (pp_dtype_bytes(&in->cluster->device) + wide)
               : 0;
}

/* Returns the bytes of an op's tensors. A block has two hidden vectors of each token, the widest of
 * qkv and feed-forward layer, and scores. The head has logits, also in fp32. */
static double op_bytes(const struct pp_pass_work *work, bool is_last)
{
    const struct pp_cost_inputs *in = &work->in;
    const double value_bytes = pp_dtype_bytes(&in->cluster->device),
                 logits = work->sequences * ceil(in->model->vocab / (double)in->layout.tp),
                 block =
                     work->tokens * (2.0 * in->model->hidden + widest_values(in)) * value_bytes +
                     scores_bytes(work),
                 head = work->tokens * in->model->hidden * value_bytes +
                        logits * (value_bytes + sizeof(float));

    return is_last ? fmax(block, head) : block;
}

/* Returns the bytes of a message. A tensor-parallel device sends its part of hidden vectors. After
 * the last stage the tokens that it has chosen follow. */
static double message_bytes(const struct pp_pass_work *work, bool is_last)
{
    enum { TOKEN_BYTES = 4 };
    const struct pp_cost_inputs *in = &work->in;
    const int parts = pp_cost_framework(in)->sends_whole ? 1 : in->layout.tp;

    return is_last
               ? TOKEN_BYTES * work->sequences
               : work->tokens * in->model->hidden / parts * pp_dtype_bytes(&in->cluster->device);
}

/* Returns the bytes by which the cache of a group grows. */
static double grown_bytes(const struct pp_cost_inputs *in, int stage, int pass)
{
    const struct pp_generation *g = in->generation;
    const double sequences = (double)g->batch / g->groups;

    return pp_kv_stage_bytes(in, stage, pass, sequences) -
           (pass > 0 ? pp_kv_stage_bytes(in, stage, pass - 1, sequences) : 0);
}

static void first_passes(const struct pp_cost_inputs *in, int v, struct pp_stage_memory *memory)
{
    const int stage = v % in->stages, pass = v / in->stages;
    const double pieces = pass == 0 ? pp_generation_pieces(in->generation) : 1;
    const bool is_last = stage == in->stages - 1;
    struct pp_pass_work work;

    pp_pass_open(in, pass, &work);
    const double params = pass == 0
                              ? pp_cost_stage_params(&work.in, stage) * pp_cost_weight_bytes(in)
                              : 0,
                 away = params * pp_state_moved(&in->state, PP_STATE_PARAMS);
    *memory = (struct pp_stage_memory){
        .params_bytes = params - away,
        .forward_bytes = pieces * op_bytes(&work, is_last),
        .boundary_bytes = pieces * message_bytes(&work, is_last),
    };
    memory->away_bytes[in->state.home[PP_STATE_PARAMS]] += away;
}

/* Adds what the cache of a group grows by. The share of another tier is there for all groups, and
 * has buffers on the device for the blocks in flight. */
static void put_cache(const struct pp_cost_inputs *in, int stage, int pass,
                      struct pp_stage_memory *memory)
{
    const struct pp_generation *g = in->generation;
    const double grown = pass == 0 || g->kv_page_tokens > 0 ? grown_bytes(in, stage, pass) : 0,
                 moved = pp_state_moved(&in->state, PP_STATE_CACHE),
                 pieces = pass == 0 ? pp_generation_pieces(g) : 1;
    struct pp_pass_work work;

    memory->kv_bytes = grown * (1 - moved);
    if (moved == 0)
        return;
    pp_pass_open(in, pass, &work);
    const struct pp_stage_layers held = pp_analytic_stage_layers(&work.in, stage);
    pp_pass_copy_room(&work, &held, pieces, memory);
    memory->away_bytes[in->state.home[PP_STATE_CACHE]] += g->groups * grown * moved;
}

/* Later passes differ from pass 1 only in what the cache grows by. A contiguous one is all there.
 */
void pp_pass_memory(const struct pp_cost_inputs *in, struct pp_stage_memory *memory)
{
    const int all = in->stages * in->generation->passes;

    for (int v = 0; v < all; v++) {
        if (v < 2 * in->stages)
            first_passes(in, v, &memory[v]);
        else
            memory[v] = memory[v - in->stages];
    }
    for (int v = 0; v < all; v++)
        put_cache(in, v % in->stages, v / in->stages, &memory[v]);
    memory[all - 1].boundary_bytes = 0;
}
