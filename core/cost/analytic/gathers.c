/* Costs of gathers and scatters of sharded state, and of loads of parameters from another tier.
 * Those that run inside an op are in passes.c. Formulas: docs/costs-memory.md, "Sharded state" and
 * "Offloading". */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>

static double gone_frac(const struct pp_stage_units *u)
{
    const double most = pp_cost_framework(u->in)->gathered_params;

    return most > 0 ? fmax(0, 1 - fmax(most, pp_analytic_widest_params(u->in)) / u->params.each)
                    : 0;
}

/* Returns what one stage gathers, scatters and loads, with the sizes of its buffers; 0 = none. */
static struct pp_stage_gathers gathers_of(const struct pp_stage_units *u)
{
    const struct pp_state_spec *state = &u->in->state;
    const double value_bytes = pp_dtype_bytes(&u->in->cluster->device),
                 all = u->params.each * u->count + u->params.first + u->params.last,
                 first = pp_analytic_resident_params(u, false),
                 last = pp_analytic_resident_params(u, true);
    const bool is_cut = pp_state_is_gathered(state);
    const double grad_bytes =
                     pp_state_cut(state, PP_STATE_GRADS) > 1 ? pp_cost_state_bytes(u->in).grads : 0,
                 gather_bytes = is_cut ? value_bytes : 0;

    const int parts = pp_analytic_unit_parts(u);
    const double inner_parts = parts > 1 ? u->left_bytes : 0,
                 parted = inner_parts * (all - pp_analytic_unit_params(u, 0)),
                 summed = state->is_summed_on_device
                              ? inner_parts * (all - pp_analytic_unit_params(u, u->count - 1))
                              : 0;

    return (struct pp_stage_gathers){
        .units = is_cut || u->moved_frac > 0 ? u->count : 0,
        .resident = u->resident,
        .is_cut = is_cut,
        .unit_bytes =
            is_cut ? value_bytes * u->params.each : pp_analytic_unit_load_bytes(u, u->params.each),
        .unit_grads_bytes = grad_bytes * u->params.each,
        .gone_frac = gone_frac(u),
        .share_bytes = is_cut ? pp_analytic_unit_load_bytes(u, u->params.each) : 0,
        .load_bytes = pp_analytic_unit_load_bytes(u, all - first),
        .reload_bytes = pp_analytic_unit_load_bytes(u, all - last),
        .load_ps =
            pp_analytic_move(u->in, PP_FOR_LOAD, pp_analytic_unit_load_bytes(u, all - first)).ps,
        .reload_ps =
            pp_analytic_move(u->in, PP_FOR_RELOAD, pp_analytic_unit_load_bytes(u, all - last)).ps,
        .forward_bytes = gather_bytes * (all - first),
        .backward_bytes = gather_bytes * (all - last),
        .scatter_bytes = is_cut ? grad_bytes * (all - pp_analytic_unit_params(u, 0)) : 0,
        .part_units = parts,
        .unit_part_bytes = inner_parts * u->params.each,
        .part_bytes = parted,
        .sum_bytes = summed,
        .part_ps = pp_analytic_left_cost(u->in, parted).ps,
        .sum_ps = summed > 0 ? pp_analytic_move(u->in, PP_FOR_GRAD_UP, summed).ps : 0,
    };
}

/* Fills the costs of one stage, and its buffers if the run has any. */
static void fill_stage(struct pp_arena *scratch, const struct pp_cost_inputs *in,
                       const struct pp_device_links *links, int stage, struct pp_costs *costs)
{
    const struct pp_state_spec *state = &in->state;
    const struct pp_state_sums sums = pp_analytic_state_sums(in, stage);
    const struct pp_mesh params = state->shard[PP_STATE_PARAMS],
                         second = state->secondary.in_node ? state->secondary : params;
    const struct pp_stage_units u = pp_analytic_stage_units(scratch, in, links, stage);
    const double value_bytes = pp_dtype_bytes(&in->cluster->device);
    const double first = pp_analytic_resident_params(&u, false),
                 last = pp_analytic_resident_params(&u, true),
                 scatter = pp_analytic_unit_params(&u, 0) * pp_cost_state_bytes(in).grads;
    const double all = pp_cost_stage_params(in, stage);
    const bool leaves_whole = pp_analytic_unit_parts(&u) < 2;
    const double left_first = u.left_bytes * (leaves_whole ? all : pp_analytic_unit_params(&u, 0)),
                 left_last =
                     u.left_bytes * (leaves_whole ? all : pp_analytic_unit_params(&u, u.count - 1));
    const struct pp_device_group part =
        pp_analytic_group_within(in, stage, state->shard[PP_STATE_GRADS], params);
    const struct pp_cost rows[PP_PURPOSES] = {
        [PP_FOR_FORWARD] =
            pp_analytic_unit_cost(&u, PP_AG, params, first * value_bytes, u.resident),
        [PP_FOR_BACKWARD] =
            pp_analytic_unit_cost(&u, PP_AG, second, last * value_bytes, u.resident),
        [PP_FOR_VISIT] = pp_analytic_unit_cost(&u, PP_RS, params, scatter, 1),
        [PP_FOR_PART] = pp_analytic_collective(in, PP_RS, part, links, sums.grads_bytes),
        [PP_FOR_REST] = pp_analytic_collective(in, PP_AR, sums.rest, links, sums.rest_bytes),
        [PP_FOR_LOAD] = pp_analytic_move(in, PP_FOR_LOAD, pp_analytic_unit_load_bytes(&u, first)),
        [PP_FOR_RELOAD] =
            pp_analytic_move(in, PP_FOR_RELOAD, pp_analytic_unit_load_bytes(&u, last)),
        [PP_FOR_HOME] = pp_analytic_move(in, PP_FOR_HOME, pp_analytic_unit_load_bytes(&u, all)),
        [PP_FOR_GRAD_DOWN] = pp_analytic_left_cost(in, left_first),
        [PP_FOR_GRAD_UP] = pp_analytic_move(in, PP_FOR_GRAD_UP, left_last),
    };

    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++)
        costs->purpose[purpose][stage] = rows[purpose];
    if (part.members > 1 && !pp_state_is_gathered(state))
        costs->purpose[PP_FOR_PART][stage].ps +=
            pp_units_ps(pp_analytic_regroup_s(in, sums.grads_bytes));
    if (!costs->gathers)
        return;
    costs->gathers[stage] = gathers_of(&u);
    if (costs->gathers[stage].units > 1 || costs->gathers[stage].part_units > 1)
        pp_analytic_expose_units(&u, costs);
}

struct pp_cost pp_analytic_fill_loads(struct pp_arena *scratch, const struct pp_cost_inputs *in,
                                      int stage, int v, const struct pp_by_unit *pass_s,
                                      struct pp_costs *costs)
{
    const struct pp_stage_units u = pp_analytic_stage_units(scratch, in, NULL, stage);
    const double first = pp_analytic_resident_params(&u, false);

    costs->gathers[v] = gathers_of(&u);
    costs->purpose[PP_FOR_LOAD][v] =
        pp_analytic_move(in, PP_FOR_LOAD, pp_analytic_unit_load_bytes(&u, first));
    return u.count > 1 ? pp_analytic_shown_loads(&u, pass_s) : (struct pp_cost){0};
}

void pp_analytic_fill_gathers(struct pp_arena *arena, const struct pp_cost_inputs *in,
                              const struct pp_sum_links *sums, struct pp_costs *costs)
{
    const bool is_moved = pp_state_is_away(&in->state, PP_STATE_PARAMS) ||
                          pp_state_is_away(&in->state, PP_STATE_GRADS);

    if (pp_state_cut(&in->state, PP_STATE_OPTIMIZER) == 1 && !is_moved) /* nothing cut or moved */
        return;
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++)
        costs->purpose[purpose] = PP_ARRAY(arena, struct pp_cost, in->stages);
    if (pp_state_cut(&in->state, PP_STATE_GRADS) > 1 || is_moved)
        costs->gathers = PP_ARRAY(arena, struct pp_stage_gathers, in->stages);
    costs->gather_buffers = in->state.buffers;
    for (int s = 0; s < in->stages; s++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        fill_stage(arena, in, &sums[s].links, s, costs);
        pp_arena_release(arena, mark);
    }
}
