/* Shapes of measured durations, and the layers that an op computes. */
#include "core/cost/measured/file.h"

#include <string.h>

/* ---- shapes ---------------------------------------------------------------------------------- */

static unsigned parts_again(const struct pp_cost_inputs *in)
{
    if (in->recompute != PP_RECOMPUTE_SELECTIVE)
        return 0;
    return in->again ? in->again : PP_AGAIN_CORE;
}

struct pp_measured_shape pp_measured_shape_of(const struct pp_cost_inputs *in)
{
    const struct pp_model *m = in->model;
    const struct pp_experts *e = &m->experts;
    const bool is_mixture = e->count > 0, is_shared = in->layout.tp > 1 && !in->is_tp_only;

    return (struct pp_measured_shape){.hidden = m->hidden,
                                      .heads = m->heads,
                                      .kv_heads = m->kv_heads,
                                      .ffn = m->ffn,
                                      .vocab = m->vocab,
                                      .is_gated = m->is_gated,
                                      .rows = in->layout.mbs / in->granules,
                                      .seq = in->layout.seq,
                                      .splits = in->splits,
                                      .experts = e->count,
                                      .top_k = is_mixture ? e->top_k : 0,
                                      .expert_ffn = is_mixture ? e->ffn : 0,
                                      .shared_ffn = is_mixture ? e->shared_ffn : 0,
                                      .tp = in->layout.tp,
                                      .is_sequence = is_shared,
                                      .ep = in->layout.ep > 1 ? in->layout.ep : 1,
                                      .again = (int)parts_again(in)};
}

bool pp_measured_shape_is_same(const struct pp_measured_shape *a, const struct pp_measured_shape *b)
{
    return memcmp(a, b, sizeof(*a)) == 0; /* ints alone */
}

/* ---- shapes that were not measured ----------------------------------------------------------- */

static void append_shape(const struct pp_measured_shape *s, struct pp_error *err)
{
    pp_error_append(err, "hidden %d, %d heads (%d of keys), ffn %d%s, vocab %d; %d sample%s of %d",
                    s->hidden, s->heads, s->kv_heads, s->ffn, s->is_gated ? " gated" : "", s->vocab,
                    s->rows, s->rows == 1 ? "" : "s", s->seq);
    pp_error_append(err, " tokens at a time");
    if (s->splits > 1)
        pp_error_append(err, " in %d splits", s->splits);
    if (s->experts > 0)
        pp_error_append(err, ", %d of %d experts of ffn %d, shared %d", s->top_k, s->experts,
                        s->expert_ffn, s->shared_ffn);
    if (s->tp > 1)
        pp_error_append(err, ", --tp %d --sequence-parallel %s", s->tp,
                        s->is_sequence ? "on" : "off");
    if (s->ep > 1)
        pp_error_append(err, ", --ep %d", s->ep);
}

static void append_again(const struct pp_measured_shape *s, struct pp_error *err)
{
    char text[PP_RECOMPUTE_TEXT_BYTES];

    pp_error_append(err, "%s",
                    s->again ? pp_recompute_print(PP_RECOMPUTE_SELECTIVE, (unsigned)s->again, text)
                             : "none, full or stage-aware=R");
}

/* Names the recomputations that were measured with all else equal. Returns their number. */
static int append_others(const struct pp_cost_file *file, const struct pp_measured_shape *shape,
                         struct pp_error *err)
{
    int count = 0;

    for (int k = 0; k < file->set_count; k++) {
        struct pp_measured_shape other = file->sets[k].shape;
        const struct pp_measured_shape *measured = &file->sets[k].shape;
        other.again = shape->again;
        if (!pp_measured_shape_is_same(&other, shape))
            continue;
        if (count++ == 0) {
            pp_error_set(err, PP_EINVAL, "%s has no durations of --recompute ", file->path);
            append_again(shape, err);
        }
        pp_error_append(err, count == 1 ? ": --recompute " : ", or ");
        append_again(measured, err);
    }
    return count;
}

enum pp_status pp_measured_fail_shape(const struct pp_cost_file *file,
                                      const struct pp_measured_shape *shape, struct pp_error *err)
{
    if (append_others(file, shape, err) > 0)
        return pp_error_append(err, ", as was measured");
    pp_error_set(err, PP_EINVAL, "%s: no durations for ", file->path);
    append_shape(shape, err);
    pp_error_append(err, "\n  measured: ");
    append_shape(&file->sets[0].shape, err);
    for (int k = 1; k < file->set_count; k++) {
        const struct pp_measured_shape *s = &file->sets[k].shape;
        if (s->split > 0)
            continue;
        pp_error_append(err, "\n  and:      ");
        append_shape(s, err);
    }
    return PP_EINVAL;
}

const char *pp_measured_obstacle(const struct pp_cost_inputs *in)
{
    const struct pp_model *m = in->model;
    const bool is_mixture = m->experts.count > 0,
               is_even = pp_model_moe_blocks(m, 0, m->layers) == m->layers,
               is_by_layer =
                   pp_state_is_gathered(&in->state) && in->state.gather == PP_GATHER_LAYER,
               is_capped = in->capacity_factor > 0 && !(in->capacity_factor <= 1);

    return in->layout.cp > 1        ? "context parallelism: --cp 1"
           : m->mtp > 0             ? "blocks that predict further tokens: --mtp 0"
           : is_mixture && !is_even ? "dense blocks next to experts: --dense-layers 0 --moe-every 1"
           : is_mixture && is_capped           ? "experts with a capacity: --capacity-factor 1"
           : pp_head_is_shared(in->head)       ? "a head in parts: --head last"
           : in->head == PP_HEAD_IGNORED       ? "stages without their head: --head last"
           : pp_state_is_offloaded(&in->state) ? "state on another tier: no --offload"
           : in->state.secondary.in_node > 0   ? "parameters that stay cut: no secondary shards"
           : is_by_layer                       ? "gathers of single layers: --gather chunk"
                                               : NULL;
}

/* ---- layers of an op ------------------------------------------------------------------------- */

struct pp_measured_layers pp_measured_layers_of(const struct pp_cost_inputs *in, int kind,
                                                int stage)
{
    const int blocks = in->blocks_per_stage[stage];
    const struct pp_recompute_choice choice = {.how = in->recompute,
                                               .first_stage_ratio = in->first_stage_ratio};

    if (kind == PP_R && in->recompute == PP_RECOMPUTE_STAGE)
        return (struct pp_measured_layers){
            .blocks = pp_recompute_blocks(&choice, in->stages, stage, blocks)};
    if (kind == PP_R && in->recompute == PP_RECOMPUTE_SELECTIVE)
        return (struct pp_measured_layers){.blocks = blocks};
    return (struct pp_measured_layers){
        .blocks = blocks, .has_embedding = stage == 0, .has_head = stage == in->stages - 1};
}

/* ---- updates --------------------------------------------------------------------------------- */

enum { WORDS = 8, ZEROED = 1 };

double pp_measured_updated(const struct pp_cost_inputs *in, int stage)
{
    return pp_cost_stage_params(in, stage) *
           ((WORDS - ZEROED) / (double)pp_state_cut(&in->state, PP_STATE_OPTIMIZER) +
            ZEROED / (double)pp_state_cut(&in->state, PP_STATE_GRADS)) /
           WORDS;
}

/* Gathered parameters are scattered after a visit, which may have several backwards. */
double pp_measured_zeroed(const struct pp_cost_inputs *in, int stage)
{
    return pp_state_has_parts(&in->state) ? pp_cost_stage_params(in, stage) * ZEROED / WORDS : 0;
}
