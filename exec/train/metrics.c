/* Metrics of the measured steps. On the wall clock the host checks, saves and draws samples between
 * two steps. No rank waits for another one then, so that time belongs to no step. */
#include "exec/train/parts.h"

static int64_t *shifted(struct pp_arena *arena, const int64_t *ps, const int64_t *pause_ps,
                        int steps, size_t rows)
{
    int64_t *out = pp_arena_alloc_raw(arena, sizeof(*out) * (rows * (size_t)steps + 1));

    for (int k = 0; k < steps; k++)
        for (size_t row = (size_t)k * rows; row < (size_t)(k + 1) * rows; row++)
            out[row] = ps[row] - pause_ps[k];
    return out;
}

/* The kept steps, each from the end of the one before. */
static struct pp_times *without_pauses(struct pp_arena *arena, const struct pp_machine *machine,
                                       const struct pp_program *p)
{
    const struct pp_times *times = pp_machine_times(machine);
    const int steps = times->steps;
    const size_t rows = (size_t)pp_program_size(p) * (size_t)times->replicas;
    const int64_t origin_ps = pp_machine_step_times(machine, 0).begin_ps;
    int64_t *pause_ps = PP_ARRAY(arena, int64_t, steps + 1); /* all before each step */
    struct pp_times *out = PP_NEW(arena, struct pp_times);

    for (int k = 1; k < steps; k++)
        pause_ps[k] = pause_ps[k - 1] + pp_machine_step_times(machine, k).begin_ps - origin_ps -
                      times->step_end_ps[k - 1];
    *out = *times;
    out->start_ps = shifted(arena, times->start_ps, pause_ps, steps, rows);
    out->end_ps = shifted(arena, times->end_ps, pause_ps, steps, rows);
    out->posted_ps = shifted(arena, times->posted_ps, pause_ps, steps, rows);
    out->matched_ps = shifted(arena, times->matched_ps, pause_ps, steps, rows);
    return out;
}

enum pp_status pp_train_metrics(struct pp_arena *arena, const struct pp_training *training,
                                const struct pp_machine *machine, const struct pp_costs *costs,
                                struct pp_training_result *r, struct pp_error *err)
{
    const struct pp_program *p = training->machine.program;
    const struct pp_compare_options options = {0};
    struct pp_comparison comparison;
    struct pp_trace *trace = training->machine.clock == PP_CLOCK_WALL
                                 ? pp_exec_trace(arena, p, costs, without_pauses(arena, machine, p),
                                                 training->machine.backend->name)
                                 : r->trace;

    trace->clock_error_s = r->trace->clock_error_s;
    PP_TRY(pp_compare(arena, r->prediction.trace, trace, &options, &comparison, err));
    const struct pp_compare_side *side = &comparison.measured;
    r->metrics = (struct pp_metrics){.iteration_s = side->step_s,
                                     .bubble_frac = side->bubble_frac,
                                     .span_bubble_frac = side->span_bubble_frac,
                                     .ranks = side->ranks};
    for (int i = 0; i < PP_TIME_PARTS; i++)
        r->metrics.time_frac[i] = side->part_s[i] / side->step_s;
    for (int cause = 0; cause < PP_MOVE_CAUSES; cause++)
        r->metrics.moves_frac[cause] = side->moves_s[cause] / side->step_s;
    const double *frac = r->metrics.time_frac;
    r->metrics.exposed_comm_frac = frac[PP_TIME_P2P] + frac[PP_TIME_DP_SYNC] + frac[PP_TIME_MOVES];
    return PP_OK;
}
