/* Quantiles of the makespan over draws of the durations. */
#include "schedules/evaluate/band.h"

#include "core/quantile.h"
#include "core/units.h"

enum pp_status pp_band_find(const struct pp_program *program, const struct pp_costs *costs,
                            const struct pp_draws *draws, struct pp_band *band,
                            struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const size_t ops = (size_t)pp_program_size(program) * (size_t)draws->replicas;
    int64_t *compute_ps = PP_ARRAY(scratch, int64_t, ops);
    const struct pp_perturbation drawn = {.compute_ps = compute_ps};
    struct pp_eval *eval;
    double step_s[PP_BAND_DRAWS];

    PP_TRY(pp_eval_create(scratch, program, costs, &(struct pp_eval_options){0}, &eval, err));
    const struct pp_arena_mark mark = pp_arena_mark(scratch);
    for (int k = 0; k < PP_BAND_DRAWS; k++) {
        draws->draw(draws->closure, compute_ps);
        step_s[k] = pp_units_s(
            pp_eval_run(scratch, eval, draws->replicas, &drawn, PP_TIMES_MAKESPAN)->makespan_ps);
        pp_arena_release(scratch, mark);
    }
    *band = (struct pp_band){.low_s = pp_quantile(step_s, PP_BAND_DRAWS, 0.05),
                             .mid_s = pp_quantile(step_s, PP_BAND_DRAWS, 0.50),
                             .high_s = pp_quantile(step_s, PP_BAND_DRAWS, 0.95)};
    return PP_OK;
}
