/* Exchanges of a layer over the tensor-parallel and the context-parallel devices, and those of a
 * head that is shared out over all stages. */
#include "core/cost/analytic/parts.h"

#include <math.h>

static struct pp_link slowest(const struct pp_cost_inputs *in, struct pp_device_group group)
{
    const struct pp_device_links links = pp_roofline_links(in);

    return group.nodes > 1 ? links.inter : links.intra;
}

double pp_roofline_ring_step_s(const struct pp_cost_inputs *in, struct pp_device_group group,
                               double bytes)
{
    const struct pp_link link = slowest(in, group);

    if (group.members <= 1)
        return 0;
    return link.alpha_s + bytes / group.members / link.bytes_per_s;
}

/* Exchanges of t h values between the matrices of a layer. With sequence parallelism, gathers
 * before and scatters after them (Korthikanti et al. 2022, section 4.2.2); the gathers that weight
 * gradients need overlap with these. Without it, sums after them. The forward has sums in the
 * embedding and in a block's two halves, the backward in the head and in the halves (Shoeybi et al.
 * 2019, section 3). */
static int tp_exchanges(const struct pp_cost_inputs *in, enum pp_layer_kind kind, enum pp_pass pass)
{
    static const int gathers[][PP_PASSES] = {
        [PP_LAYER_EMBEDDING] = {1, 1, 0}, [PP_LAYER_BLOCK] = {4, 4, 0}, [PP_LAYER_HEAD] = {1, 1, 0},
        [PP_LAYER_MOE] = {2, 2, 0}, /* attention's; those that share an expert: below */
        [PP_LAYER_MTP] = {2, 2, 0}, /* the merging matrix */
    };
    static const int sums[][PP_PASSES] = {
        [PP_LAYER_EMBEDDING] = {1, 0, 0}, [PP_LAYER_BLOCK] = {2, 2, 0}, [PP_LAYER_HEAD] = {0, 1, 0},
        [PP_LAYER_MOE] = {1, 1, 0},       [PP_LAYER_MTP] = {1, 1, 0},
    };
    const int(*const table)[PP_PASSES] = in->is_tp_only ? sums : gathers;
    int count = table[kind][pass];

    if (kind == PP_LAYER_MOE && in->model->experts.shared_ffn > 0)
        count = table[PP_LAYER_BLOCK][pass];
    if (kind == PP_LAYER_MTP)
        count += tp_exchanges(in, pp_model_last_kind(in->model), pass) + table[PP_LAYER_HEAD][pass];
    return count;
}

double pp_roofline_tp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass)
{
    const struct pp_device_group group = pp_roofline_group(in, PP_AXIS_TP);
    const double bytes = work.tokens * in->model->hidden * pp_dtype_bytes(&in->cluster->device);
    const int exchanges = tp_exchanges(in, kind, pass);
    double s = 0;

    if (group.members <= 1)
        return 0;
    if (exchanges > 0)
        s = exchanges * pp_roofline_collective_s(in, in->is_tp_only ? PP_AR : PP_AG, group, bytes);
    s += pp_roofline_etp_s(in, kind, work, pass);
    if ((kind == PP_LAYER_HEAD || kind == PP_LAYER_MTP) &&
        pass == PP_PASS_F) /* maximum, sum and target of every token */
        s += 3 * pp_roofline_collective_s(in, PP_AR, group, work.tokens * 4);
    return s;
}

/* Ring attention (Liu et al. 2023): cp - 1 rounds, each passes one device's keys and values on
 * while the attention over another's is computed. Only what takes longer than that is exposed. The
 * backward passes keys, values and their gradients. */
double pp_roofline_cp_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                        enum pp_pass pass)
{
    const struct pp_layout *l = &in->layout;
    const struct pp_model *m = in->model;

    if (l->cp <= 1 || pass == PP_PASS_W)
        return 0;
    const bool is_backward = pass == PP_PASS_I;
    const double kv = fmax((double)m->kv_heads / l->tp, 1) * m->head_dim;
    const double bytes =
        (is_backward ? 4 : 2) * work.tokens * kv * pp_dtype_bytes(&in->cluster->device);
    const struct pp_link link = slowest(in, pp_roofline_group(in, PP_AXIS_CP));
    const double round_s = link.alpha_s + bytes / link.bytes_per_s;
    const double core_s = pp_roofline_attention(in, work).s * (is_backward ? 2 : 1) / l->cp;
    return (l->cp - 1) * fmax(0, round_s - core_s);
}

/* Vocabulary parallelism (Yeung et al. 2024, Balancing Pipeline Parallelism with Vocabulary
 * Parallelism): every rank holds 1/p of the vocabulary. For each micro-batch the last blocks'
 * output goes to all ranks. Maximum, sum and target of its tokens are reduced over them, and their
 * parts of its gradient are summed. All of it overlaps with the compute of other micro-batches. */
double pp_roofline_vocab_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                           enum pp_pass pass, double blocks_s)
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
    return fmax(0, s * in->layout.pp / in->stages - blocks_s);
}
