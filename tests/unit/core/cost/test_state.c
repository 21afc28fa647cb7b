/* Movements of state: which ones a spec needs, and between which tiers. */
#include "tests/unit/support/state_specs.h"

/* One end is the device, and the other one is where the class lives or the host updates. */
Test(state, a_movement_joins_the_device_and_another_tier)
{
    for (int number = 0; number < SPECS; number++) {
        const struct pp_state_spec spec = specs_at(number);
        for (int purpose = 0; purpose < PP_PURPOSES; purpose++) {
            const struct pp_move move = pp_state_move(&spec, (enum pp_purpose)purpose);
            const enum pp_tier away = move.from == PP_TIER_DEVICE ? move.to : move.from;
            if (!pp_state_moves(&spec, (enum pp_purpose)purpose) || purpose == PP_FOR_UPDATE)
                continue;
            cr_assert(pp_op_is_move(pp_purposes[purpose].kind));
            cr_assert(move.from == PP_TIER_DEVICE || move.to == PP_TIER_DEVICE);
            cr_assert_eq(move.to == PP_TIER_DEVICE, pp_move_is_up(purpose));
            cr_assert(away == spec.home[move.what] || (spec.is_cpu_update && away == PP_TIER_HOST));
        }
    }
}

/* What goes down comes up, but for what the host updates. */
Test(state, movements_of_all_specs)
{
    for (int number = 0; number < SPECS; number++) {
        const struct pp_state_spec spec = specs_at(number), *s = &spec;
        const bool is_spread = pp_state_cut(s, PP_STATE_OPTIMIZER) > pp_state_cut(s, 0),
                   is_params = s->home[PP_STATE_PARAMS] != PP_TIER_DEVICE,
                   is_optimizer = s->home[PP_STATE_OPTIMIZER] != PP_TIER_DEVICE,
                   is_host = s->is_cpu_update && is_optimizer;
        const double moved = is_params ? pp_state_moved(s, PP_STATE_PARAMS) : 0,
                     updated = is_host ? pp_state_moved(s, PP_STATE_OPTIMIZER) : 0;
        cr_assert_eq(pp_state_moves(s, PP_FOR_DOWN), s->home[PP_STATE_ACTIVATIONS] > 0);
        cr_assert_eq(pp_state_moves(s, PP_FOR_UP), s->home[PP_STATE_ACTIVATIONS] > 0);
        cr_assert_eq(pp_state_moves(s, PP_FOR_LOAD), is_params);
        cr_assert_eq(pp_state_moves(s, PP_FOR_RELOAD), is_params);
        cr_assert_eq(pp_state_moves(s, PP_FOR_FETCH), is_optimizer && !s->is_cpu_update);
        cr_assert_eq(pp_state_moves(s, PP_FOR_STORE), is_optimizer && !s->is_cpu_update);
        const double left = !s->home[PP_STATE_GRADS]       ? 0
                            : s->moved_frac[PP_STATE_GRADS] ? s->moved_frac[PP_STATE_GRADS]
                                                            : 1;
        cr_assert_eq(pp_state_moves(s, PP_FOR_GRADS), s->is_cpu_update && left < updated);
        cr_assert_eq(pp_state_moves(s, PP_FOR_GRAD_DOWN), left > 0);
        cr_assert_eq(pp_state_moves(s, PP_FOR_GRAD_UP), left > 0);
        cr_assert_eq(pp_state_moves(s, PP_FOR_PARAMS), is_host && (is_spread || moved < updated));
        cr_assert_eq(pp_state_moves(s, PP_FOR_HOME), is_params && (is_spread || moved > updated));
        cr_assert_eq(pp_state_moves(s, PP_FOR_UPDATE),
                     is_host && (s->has_early_update || updated < 1));
    }
}
