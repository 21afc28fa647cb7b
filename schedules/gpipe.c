/* schedules/gpipe.c — all forwards, then all backwards. */
#include "schedules/order/closed_form.h"

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    (void)rank;
    pp_phase(out, shape->micro_batches, "F");
    pp_phase(out, shape->micro_batches, "B");
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit, (void)rank;
    return shape->micro_batches;
}

const struct pp_schedule pp_schedule_gpipe = {
    .name = "gpipe",
    .summary = "all forwards, then all backwards",
    .rule = "every rank: N forwards, then N backwards, both ascending",
    .when = "the simplest baseline; needs memory for all micro-batches or recomputation",
    .source = "Huang et al., NeurIPS'19, section 2.3",
    .aliases = PP_NAMES("ScheduleGPipe", "fill-drain", "all-forward-all-backward", "afab"),
    .calls = PP_CALLS({"nanotron", "afab", NULL}, {"torchtitan", "GPipe", NULL}),
    .placement = PP_PLACE_LOOP,
    .chunks = 1,
    .limits = "none",
    .phases = phases,
    .bubble_frac = {"(D-1)/(N+D-1)", true, pp_bubble_flush},
    .peak = {"N", true, peak},
};
