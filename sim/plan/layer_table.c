/* Sums costs of single layers once, for many divisions into stages. The functions that price a run
 * give the costs. Where a stage is not the sum of its layers, the sums are too low. */
#include "sim/plan/layer_table.h"

#include <math.h>
#include <string.h>

/* ---- costs of a run with other stages -------------------------------------------------------- */

/* Prices a run of one device group that holds all layers, in `stages` stages. */
static enum pp_status costs_in(struct pp_arena *arena, const struct pp_search_space *s,
                               const struct pp_search_frame *f, struct pp_search_again again,
                               int stages, struct pp_costs **costs, struct pp_error *err)
{
    struct pp_config c = s->fixed;
    struct pp_cost_inputs inputs;

    c.costs.recompute = again.recompute;
    c.costs.again = again.modules;
    c.costs.fabric = NULL;
    c.cost = NULL;
    c.engine_options.eval.ring_flows = false;
    c.costs.head = s->fixed.costs.head == PP_HEAD_IGNORED ? PP_HEAD_IGNORED : PP_HEAD_LAST;
    c.shape = (struct pp_shape){.ranks = 1,
                                .chunks = stages,
                                .micro_batches = 1,
                                .splits = 1,
                                .granules = 1,
                                .pipelines = 1};
    c.layout = (struct pp_layout){.gpus = f->tp * f->cp * f->dp,
                                  .tp = f->tp,
                                  .pp = 1,
                                  .dp = f->dp,
                                  .cp = f->cp,
                                  .ep = f->ep,
                                  .vp = stages,
                                  .micro_batches = 1,
                                  .mbs = f->mbs,
                                  .gbs = (int64_t)f->dp * f->mbs,
                                  .seq = s->fixed.layout.seq};
    PP_TRY(pp_resolve_experts(s->wish, &c, err));
    c.state = c.wanted;
    memset(&c.state.secondary, 0, sizeof(c.state.secondary));
    c.state.replicas = (struct pp_mesh){1, 1};
    c.state = pp_state_with_zero(&c.state, 0);
    c.blocks_per_stage = PP_ARRAY(arena, int, stages);
    for (int i = 0; i < stages; i++)
        c.blocks_per_stage[i] = c.model.layers / stages;
    return pp_simulate_costs(arena, &c, PP_ARRAY(arena, uint16_t, stages), &inputs, costs, err);
}

/* ---- one layer ------------------------------------------------------------------------------- */

/* Is false if activations are offloaded, quantised or recomputed by stage: bounds count none. */
static bool are_kept(const struct pp_search_space *s, enum pp_recompute recompute)
{
    return !pp_state_is_away(&s->fixed.wanted, PP_STATE_ACTIVATIONS) &&
           !pp_state_is_quantised(&s->fixed.wanted) && recompute != PP_RECOMPUTE_STAGE;
}

/* Returns the bytes that a layer keeps without its output, which a stage keeps once. */
static double kept_bytes(const struct pp_search_space *s, const struct pp_stage_memory *m)
{
    const double output = s->fixed.costs.framework->keeps_output ? m->boundary_bytes : 0;

    return fmax(0, fmin(m->checkpoint_bytes, m->saved_bytes) - output);
}

static void take_costs(const struct pp_search_space *s, const struct pp_costs *costs, int at,
                       enum pp_recompute recompute, double gap_s, double term[PP_TERMS])
{
    const struct pp_cost *f = &costs->op[PP_F][at], *i = &costs->op[PP_I][at],
                         *w = &costs->op[PP_W][at], *r = &costs->op[PP_R][at];
    const struct pp_stage_memory *m = &costs->memory[at];
    const bool is_again = !s->fixed.lower.again.is_skipped &&
                          (recompute == PP_RECOMPUTE_SELECTIVE || recompute == PP_RECOMPUTE_FULL);

    term[PP_TERM_FORWARD] = fmax(0, (double)f->ps * 1e-12 - gap_s);
    term[PP_TERM_INPUT] = fmax(0, (double)i->ps * 1e-12 - gap_s);
    term[PP_TERM_WEIGHT] = (double)w->ps * 1e-12;
    term[PP_TERM_AGAIN] = is_again ? (double)r->ps * 1e-12 : 0;
    term[PP_TERM_HIDDEN_FORWARD] = fmax(0, (double)(f->ps - f->ep_ps) * 1e-12 - gap_s);
    term[PP_TERM_HIDDEN_INPUT] = fmax(0, (double)(i->ps - i->ep_ps) * 1e-12 - gap_s);
    term[PP_TERM_HIDDEN_WEIGHT] = (double)(w->ps - w->ep_ps) * 1e-12;
    term[PP_TERM_PARAMS] = m->params_bytes;
    term[PP_TERM_GRADS] = m->grads_bytes;
    term[PP_TERM_OPTIMIZER] = m->optimizer_bytes;
    term[PP_TERM_KEPT] = are_kept(s, recompute) ? kept_bytes(s, m) : 0;
    term[PP_TERM_WEIGHTS] =
        are_kept(s, recompute) ? fmin(m->saved_bytes, m->saved_bytes * m->weight_grad_frac) : 0;
}

static bool is_time(int term)
{
    return term < PP_TERM_PARAMS;
}

/* ---- frameworks whose host launches kernels -------------------------------------------------- */

/* A pass takes as long as its launches or its kernels, so the sum over unlike layers is no bound.
 * Over equal layers it is, so the least layer stands for each. A backward counts as one pass, as
 * its parts share the host's lead. Models that mix kinds of blocks have no such bound. */
static void take_least(const struct pp_search_space *s, double (*term)[PP_TERMS], int layers)
{
    const struct pp_model *m = &s->fixed.model;
    const bool is_mixed = m->window.keys > 0 || m->mtp > 0 ||
                          (m->experts.count > 0 && pp_model_moe_blocks(m, 0, layers) != layers);
    double forward_s = INFINITY, backward_s = INFINITY, hidden_s = INFINITY,
           hidden_backward_s = INFINITY;
    bool is_again = false;

    for (int l = 0; l < layers; l++) {
        const double *t = term[l];
        forward_s = fmin(forward_s, t[PP_TERM_FORWARD]);
        hidden_s = fmin(hidden_s, t[PP_TERM_HIDDEN_FORWARD]);
        backward_s = fmin(backward_s, t[PP_TERM_INPUT] + t[PP_TERM_WEIGHT] + t[PP_TERM_AGAIN]);
        hidden_backward_s =
            fmin(hidden_backward_s,
                 t[PP_TERM_HIDDEN_INPUT] + t[PP_TERM_HIDDEN_WEIGHT] + t[PP_TERM_AGAIN]);
        is_again |= t[PP_TERM_AGAIN] > 0;
    }
    for (int l = 0; l < layers; l++) {
        for (int k = 0; k < PP_TERM_PARAMS; k++)
            term[l][k] = 0;
        if (is_mixed)
            continue;
        term[l][PP_TERM_FORWARD] = forward_s;
        term[l][PP_TERM_HIDDEN_FORWARD] = hidden_s;
        /* R may run before its gradient arrives, so a backward with R is no chain */
        term[l][is_again ? PP_TERM_AGAIN : PP_TERM_WEIGHT] =
            is_again ? fmin(backward_s, hidden_backward_s) : backward_s;
        term[l][PP_TERM_HIDDEN_WEIGHT] = is_again ? 0 : hidden_backward_s;
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static void add_up(struct pp_arena *arena, double (*term)[PP_TERMS], int layers,
                   struct pp_layer_table *table)
{
    table->layers = layers;
    for (int k = 0; k < PP_TERMS; k++) {
        double *sum = table->sum[k] = PP_ARRAY(arena, double, layers + 1);
        for (int l = 0; l < layers; l++)
            sum[l + 1] = sum[l] + term[l][k];
    }
}

enum pp_status pp_layer_table_make(struct pp_arena *arena, const struct pp_search_space *s,
                                   const struct pp_search_frame *frame,
                                   struct pp_search_again again, struct pp_layer_table *table,
                                   struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const int layers = s->fixed.model.layers;
    const struct pp_framework *framework = s->fixed.costs.framework;
    double(*term)[PP_TERMS] = pp_arena_alloc(scratch, sizeof(*term) * (size_t)layers);
    struct pp_costs *costs, *whole;

    PP_TRY(costs_in(scratch, s, frame, again, layers, &costs, err));
    PP_TRY(costs_in(scratch, s, frame, again, 1, &whole, err));
    for (int l = 0; l < layers; l++)
        take_costs(s, costs, l, again.recompute, framework->op_gap_s, term[l]);
    take_costs(s, whole, 0, again.recompute, framework->op_gap_s, table->whole);
    if (framework->kernel_gap_s > 0)
        take_least(s, term, layers);
    for (int k = 0; s->fixed.cost && k < PP_TERMS; k++) /* measured times are unknown here */
        for (int l = 0; l <= layers && is_time(k); l++)
            *(l < layers ? &term[l][k] : &table->whole[k]) = 0;
    add_up(arena, term, layers, table);
    table->other_bytes = fmin(whole->other_bytes, costs->other_bytes);
    return PP_OK;
}

/* ---- stages ---------------------------------------------------------------------------------- */

struct pp_stage_sums pp_stage_sums_make(struct pp_arena *arena, int stages)
{
    struct pp_stage_sums sums;

    for (int k = 0; k < PP_TERMS; k++)
        sums.term[k] = PP_ARRAY(arena, double, stages);
    sums.state_bytes = PP_ARRAY(arena, double, stages);
    return sums;
}

void pp_stage_sums_fill(struct pp_stage_sums *sums, const struct pp_layer_table *table,
                        const int *first, int stages)
{
    for (int k = 0; k < PP_TERMS; k++) {
        const double *sum = table->sum[k];
        for (int s = 0; s < stages; s++)
            sums->term[k][s] = sum[first[s + 1]] - sum[first[s]];
        if (stages == 1)
            sums->term[k][0] = fmin(sum[table->layers], table->whole[k]);
    }
}

void pp_stage_sums_spread(struct pp_stage_sums *sums, const struct pp_layer_table *table,
                          int stages)
{
    for (int k = 0; k < PP_TERMS; k++)
        for (int s = 0; s < stages; s++)
            sums->term[k][s] = k == PP_TERM_KEPT || k == PP_TERM_WEIGHTS
                                   ? 0
                                   : fmin(table->sum[k][table->layers], table->whole[k]) / stages;
}
