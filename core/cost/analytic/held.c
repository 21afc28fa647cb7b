/* The layers and the parameters that a stage holds, and the units in which these come. */
#include "core/cost/analytic/parts.h"

#include <math.h>

#define PARAM_BYTES 2.0          /* by which gather units are counted, whatever the precision */
enum { UNITS_MAX = UINT16_MAX }; /* that the text of a program can state */

double pp_analytic_end_share(const struct pp_cost_inputs *in, enum pp_layer_kind kind, int stage)
{
    if (pp_head_is_shared(in->head))
        return 1.0 / in->stages;
    return stage == (kind == PP_LAYER_HEAD ? in->stages - 1 : 0);
}

static int first_block(const struct pp_cost_inputs *in, int stage)
{
    int first = 0;

    for (int s = 0; s < stage; s++)
        first += in->blocks_per_stage[s];
    return first;
}

struct pp_stage_layers pp_analytic_stage_layers(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_model *m = in->model;
    const bool is_alike = m->experts.count == 0 && m->window.keys == 0;
    const int first = is_alike ? 0 : first_block(in, stage), count = in->blocks_per_stage[stage],
              moe = pp_model_moe_blocks(m, first, count),
              moe_windowed = pp_model_windowed_moe_blocks(m, first, count);
    struct pp_stage_layers layers = {
        .count = {[PP_LAYER_EMBEDDING] = pp_analytic_end_share(in, PP_LAYER_EMBEDDING, stage),
                  [PP_LAYER_HEAD] = pp_analytic_end_share(in, PP_LAYER_HEAD, stage)}};

    layers.count[PP_LAYER_MOE] = moe;
    layers.count[PP_LAYER_BLOCK] = count - moe;
    layers.windowed[PP_LAYER_MOE] = moe_windowed;
    layers.windowed[PP_LAYER_BLOCK] = pp_model_windowed_blocks(m, first, count) - moe_windowed;
    if (stage == in->stages - 1)
        layers.count[PP_LAYER_MTP] = m->mtp;
    return layers;
}

/* Parameters of a stage's routed experts on one device. */
static double routed_params(const struct pp_cost_inputs *in, int stage)
{
    if (in->model->experts.count == 0)
        return 0;
    const struct pp_stage_layers layers = pp_analytic_stage_layers(in, stage);
    return (layers.count[PP_LAYER_MOE] * pp_model_routed_params(in->model, PP_LAYER_MOE) +
            layers.count[PP_LAYER_MTP] * pp_model_routed_params(in->model, PP_LAYER_MTP)) /
           pp_layout_expert_devices(&in->layout);
}

double pp_analytic_tied_bytes(const struct pp_cost_inputs *in)
{
    return (double)in->model->vocab * in->model->hidden / in->layout.tp *
           pp_cost_state_bytes(in).grads;
}

bool pp_analytic_has_tied_copy(const struct pp_cost_inputs *in)
{
    return in->model->is_tied && !pp_head_is_shared(in->head) && in->stages > 1 &&
           in->rank_of[0] != in->rank_of[in->stages - 1];
}

double pp_cost_stage_params(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_model *m = in->model;
    const struct pp_stage_layers layers = pp_analytic_stage_layers(in, stage);
    const double routed = routed_params(in, stage);
    double params = -routed * pp_layout_expert_devices(&in->layout);

    for (int kind = 0; kind < PP_LAYER_KINDS; kind++)
        if (layers.count[kind] > 0)
            params += layers.count[kind] * pp_model_layer_params(m, (enum pp_layer_kind)kind);
    if (stage == in->stages - 1 && pp_analytic_has_tied_copy(in))
        params += (double)m->vocab * m->hidden;
    return params / in->layout.tp + routed;
}

double pp_analytic_cut_params(const struct pp_cost_inputs *in, int stage, double shards)
{
    const double routed = routed_params(in, stage);
    const double others = pp_cost_stage_params(in, stage) - routed;
    /* shards that lie within the devices that hold the experts cut nothing further */
    const double spread = pp_layout_expert_devices(&in->layout) / (double)in->layout.tp;

    return others / shards + routed / fmax(1, shards / spread);
}

double pp_analytic_updated_params(const struct pp_cost_inputs *in, int stage)
{
    return pp_analytic_cut_params(in, stage, pp_state_cut(&in->state, PP_STATE_OPTIMIZER));
}

double pp_analytic_apart_params(const struct pp_cost_inputs *in, int stage)
{
    return pp_state_is_gathered(&in->state) ? 0 : routed_params(in, stage);
}

/* ---- gather units: layers, pieces of equal bytes, or all layers at once ---------------------- */

static double end_params(const struct pp_cost_inputs *in, enum pp_layer_kind kind, int stage)
{
    return pp_analytic_end_share(in, kind, stage) * pp_model_layer_params(in->model, kind) /
           in->layout.tp;
}

struct pp_gather_units pp_analytic_units(const struct pp_cost_inputs *in, int stage)
{
    const double all = pp_cost_stage_params(in, stage), most_bytes = in->state.gather_bytes;
    struct pp_gather_units u = {.count = in->blocks_per_stage[stage]};

    if (most_bytes > 0) { /* pieces, whatever their layers are */
        u.count = (int)fmin(UNITS_MAX, fmax(1, ceil(all * PARAM_BYTES / most_bytes)));
        u.params.each = all / u.count;
    } else {
        if (in->state.gather == PP_GATHER_CHUNK || u.count < 1)
            u.count = 1;
        u.params.first = end_params(in, PP_LAYER_EMBEDDING, stage);
        u.params.last = end_params(in, PP_LAYER_HEAD, stage);
        u.params.each = (all - u.params.first - u.params.last) / u.count;
    }
    u.resident = in->state.cached < 1 ? 1 : in->state.cached < u.count ? in->state.cached : u.count;
    return u;
}

int pp_cost_gather_units(const struct pp_cost_inputs *in, int stage, double *most_bytes)
{
    const struct pp_gather_units u = pp_analytic_units(in, stage);
    const double ends =
        u.count > 1 ? fmax(u.params.first, u.params.last) : u.params.first + u.params.last;

    *most_bytes = (u.params.each + ends) * pp_dtype_bytes(&in->cluster->device);
    return u.count;
}

/* ---- units, which are gathered or loaded at once --------------------------------------------- */

double pp_analytic_unit_value(const struct pp_stage_units *u, const struct pp_by_unit *value,
                              int unit)
{
    return value->each + (unit == 0 ? value->first : 0) + (unit == u->count - 1 ? value->last : 0);
}

double pp_analytic_unit_params(const struct pp_stage_units *u, int unit)
{
    return pp_analytic_unit_value(u, &u->params, unit);
}

/* Returns the parameters of the units that are resident after a pass: the last ones of a forward,
 * or the first ones. */
double pp_analytic_resident_params(const struct pp_stage_units *u, bool is_last)
{
    const bool is_all = u->resident == u->count;

    return u->resident * u->params.each + (!is_last || is_all ? u->params.first : 0) +
           (is_last || is_all ? u->params.last : 0);
}

double pp_analytic_unit_load_bytes(const struct pp_stage_units *u, double params)
{
    return u->moved_frac * params * pp_cost_weight_bytes(u->in);
}

/* Returns the size of attention's widest matrix. Queries, keys and values are one matrix; latent
 * attention has one that widens the queries and one that widens keys and values. */
static double widest_of_attention(const struct pp_model *m)
{
    const struct pp_latent *l = &m->latent;
    const double keys = m->head_dim - l->rope_dim;

    if (l->kv_rank == 0)
        return m->hidden * (m->heads + 2.0 * m->kv_heads) * m->head_dim;
    const double queries = (l->q_rank > 0 ? l->q_rank : m->hidden) * (double)m->head_dim,
                 wide = fmax(queries, l->kv_rank * (keys + l->value_dim));
    return m->heads * fmax(wide, (double)l->value_dim * m->hidden);
}

/* Returns the size of a block's widest matrix: of attention, up of the MLP, or of one expert. */
double pp_analytic_widest_params(const struct pp_cost_inputs *in)
{
    const struct pp_model *m = in->model;
    const struct pp_experts *e = &m->experts;
    const bool has_dense = m->layers > pp_model_moe_blocks(m, 0, m->layers);
    const double whole = fmax(has_dense ? m->ffn : 0, e->shared_ffn) * m->hidden,
                 expert = (double)e->ffn * m->hidden / pp_layout_etp(&in->layout);

    return fmax(fmax(widest_of_attention(m), whole) / in->layout.tp, expert);
}
