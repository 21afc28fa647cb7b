/* schedules/zb-h1.c — zero bubble with the memory of 1F1B (ZB-H1, PyTorch's ZB1P): weight gradients
 * fill the bubbles of 1F1B's cool-down. */
#include "schedules/order/closed_form.h"

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    pp_phase(out, shape->ranks - 1 - rank, "F");
    pp_phase(out, rank, "F I"); /* later ranks postpone more weight gradients */
    pp_phase(out, shape->micro_batches, "F I W");
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit, (void)rank;
    return PP_MIN(shape->ranks, shape->micro_batches);
}

const struct pp_schedule pp_schedule_zb_h1 = {
    .name = "zb-h1",
    .summary = "1f1b with split backwards, a third of its bubbles",
    .rule = "rank r: min(D-1-r, N) forwards, r pairs F I, then F I W with the oldest pending W, "
            "then the remaining I W and W",
    .when = "fewer bubbles than 1f1b in the same memory",
    .source = "Qi et al., ICLR'24, section 2.1; PyTorch ScheduleInterleavedZeroBubble",
    .aliases = PP_NAMES("zb1p", "zb-1p", "zero-bubble", "zero-bubble-h1"),
    .placement = PP_PLACE_LOOP,
    .splits_backward = true,
    .chunks = 1,
    .limits = "none",
    .phases = phases,
    .bubble_frac = {"x/(N(F+I+W)+x), x = (D-1)(F+I-m) + max(0,D-N)m, m = min(F,I,W)", true,
                    pp_bubble_split},
    .peak = {"min(D, N)", true, peak},
};
