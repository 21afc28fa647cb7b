/* Bounds of one layout from its own costs: tighter than those of the screen, and slower. */
#include "sim/config/auto_share.h"
#include "sim/config/buckets.h"
#include "sim/plan/search.h"

#include <math.h>

/* Returns the seconds of an op per stage, summed over sequence splits. Gathers and copies do not
 * count, as an earlier op may make them; nor does the experts' exchange if `is_hidden`. */
static const double *seconds_of(struct pp_arena *arena, const struct pp_costs *costs, int kind,
                                bool is_hidden)
{
    double *s = PP_ARRAY(arena, double, costs->stages);

    for (int at = 0; costs->op[kind] && at < costs->stages * costs->splits; at++) {
        const struct pp_cost *cost = &costs->op[kind][at];
        const int64_t hidden_ps = cost->gather_ps + cost->copy_ps + (is_hidden ? cost->ep_ps : 0);
        s[at / costs->splits] += (double)(cost->ps - hidden_ps) * 1e-12;
    }
    return s;
}

static struct pp_bound_times all_times(struct pp_arena *arena, const struct pp_costs *costs,
                                       bool is_hidden)
{
    return (struct pp_bound_times){seconds_of(arena, costs, PP_F, is_hidden),
                                   seconds_of(arena, costs, PP_I, is_hidden),
                                   seconds_of(arena, costs, PP_W, is_hidden)};
}

static double least_s(const struct pp_costs *costs, int kind)
{
    double least = INFINITY;

    for (int s = 0; costs->op[kind] && s < costs->stages; s++)
        least = fmin(least, (double)costs->op[kind][s].ps * 1e-12);
    return isinf(least) ? 0 : least;
}

/* Is true if gradient sums take their cost: no overlap, no buckets, no rings of messages. */
static bool has_priced_sums(const struct pp_config *config)
{
    return !config->costs.is_dp_overlapped && !pp_buckets_are_used(config) &&
           !config->engine_options.eval.ring_flows;
}

/* Returns the least time of an update, with its gradient sum unless a backward may hide that. */
static double closing_s(const struct pp_config *config, const struct pp_costs *costs)
{
    const int zero = pp_state_zero(&config->state);
    const bool is_plain =
        has_priced_sums(config) && pp_config_is_summed(config) && !config->schedule->is_continuous;
    double s = config->schedule->is_continuous ? 0 : least_s(costs, PP_U);

    if (is_plain && zero == 0)
        s += least_s(costs, PP_AR);
    if (is_plain && zero == 1)
        s += least_s(costs, PP_RS);
    return s;
}

/* Finds the time of sums, updates and gathers in series, on the rank with most, on the real
 * network. 0 if more of them may overlap. */
static enum pp_status after_s(struct pp_arena *arena, const struct pp_config *config,
                              const uint16_t *rank_of, double *seconds, struct pp_error *err)
{
    static const enum pp_op_kind KINDS[] = {PP_U, PP_AR, PP_RS, PP_AG, PP_BC};
    const int zero = pp_state_zero(&config->state);
    struct pp_cost_inputs inputs;
    struct pp_costs *costs;
    double tied_s = 0;

    *seconds = 0;
    if (zero < 0 || zero > 1 || !has_priced_sums(config) || config->cost ||
        pp_state_is_offloaded(&config->state))
        return PP_OK;
    PP_TRY(pp_simulate_costs(arena, config, rank_of, &inputs, &costs, err));
    tied_s = costs->tied ? (double)costs->tied->ps * 1e-12 : 0;
    double *of_rank = PP_ARRAY(arena, double, config->shape.ranks);
    for (int s = 0; s < costs->stages; s++)
        for (size_t i = 0; i < PP_COUNT(KINDS); i++)
            of_rank[rank_of[s]] += (double)costs->op[KINDS[i]][s].ps * 1e-12;
    for (int r = 0; r < config->shape.ranks; r++)
        *seconds = fmax(*seconds, of_rank[r] + tied_s);
    return PP_OK;
}

static void fill_memory(struct pp_arena *arena, const struct pp_config *config,
                        const struct pp_costs *costs, struct pp_bound_stages *stages)
{
    const bool is_kept = !pp_state_is_away(&config->state, PP_STATE_ACTIVATIONS) &&
                         !pp_state_is_quantised(&config->state);
    double *state = PP_ARRAY(arena, double, costs->stages),
           *kept = PP_ARRAY(arena, double, costs->stages),
           *weights = PP_ARRAY(arena, double, costs->stages);

    for (int s = 0; s < costs->stages; s++) {
        const struct pp_stage_memory *m = &costs->memory[s];
        state[s] = m->params_bytes + m->grads_bytes + m->optimizer_bytes;
        kept[s] = is_kept ? fmin(m->checkpoint_bytes, m->saved_bytes) : 0;
        weights[s] = is_kept ? m->saved_bytes * m->weight_grad_frac : 0;
    }
    stages->state_bytes = state;
    stages->kept_bytes = kept;
    stages->weights_bytes = weights;
    stages->other_bytes = costs->other_bytes;
}

static enum pp_status find_bounds(struct pp_arena *arena, const struct pp_config *config,
                                  struct pp_search_bounds *bounds, struct pp_error *err)
{
    const struct pp_eval_options *plan = &config->engine_options.eval;
    struct pp_costs *costs;
    const uint16_t *rank_of;

    PP_TRY(pp_resolve_bare_costs(arena, config, &rank_of, &costs, err));
    const struct pp_bound_rule rule = pp_bound_rule_make(arena, config->schedule, &config->shape,
                                                         plan->is_barrier_free ? plan->steps : 1,
                                                         config->order.rule != PP_ORDER_STRICT);
    struct pp_bound_stages stages = {
        .stages = costs->stages,
        .times = all_times(arena, costs, false),
        .hidden = all_times(arena, costs, true),
        .again_s = config->costs.recompute != PP_RECOMPUTE_NONE && !config->lower.again.is_skipped
                       ? seconds_of(arena, costs, PP_R, false)
                       : PP_ARRAY(arena, double, costs->stages),
        .closing_s = closing_s(config, costs),
    };
    fill_memory(arena, config, costs, &stages);
    if (rule.steps > 1)
        PP_TRY(after_s(arena, config, rank_of, &stages.after_s, err));
    bounds->step_s = costs->overlap || costs->overlap_all ? 0 : pp_bound_step_s(&rule, &stages);
    bounds->peak_bytes = pp_bound_peak_bytes(&rule, &stages);
    return PP_OK;
}

/* Shares that are left to `auto` take least time where nothing moves, and least memory where all
 * does. A cache takes memory, and saves time: at most all of what it loads or gathers, which no
 * bound counts. */
enum pp_status pp_search_bounds(struct pp_arena *arena, const struct pp_config *open,
                                struct pp_search_bounds *bounds, struct pp_error *err)
{
    struct pp_config config = *open;
    struct pp_search_bounds least;

    if (config.state.cached < 0)
        config.state.cached = 1;
    PP_TRY(find_bounds(arena, &config, bounds, err));
    if (pp_auto_share_last(&config.state) == 0)
        return PP_OK;
    config.state = pp_auto_share_at(&config.state, 0);
    PP_TRY(find_bounds(arena, &config, &least, err));
    bounds->step_s = fmin(bounds->step_s, least.step_s);
    return PP_OK;
}
