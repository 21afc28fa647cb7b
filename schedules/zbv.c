/* schedules/zbv.c — ZB-V as handcrafted by its authors: two chunks on a V, split backwards, weight
 * gradients in place of the bubbles. Rank r is planned for n = max(2D-1, N) micro-batches. Phases
 * leave out ops of micro-batches beyond N. */
#include "schedules/order/closed_form.h"

#include <math.h>
#include <stddef.h>

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    const int ranks = shape->ranks, n = PP_MAX(2 * ranks - 1, shape->micro_batches);

    pp_phase(out, 2 * (ranks - rank) - 1, "F0");
    pp_phase(out, rank, "F1 F0");
    pp_phase(out, ranks - rank, "F1 I1 W1");
    pp_phase(out, n - ranks, "F0 I0 W0 F1 I1 W1");
    pp_phase(out, rank, "I0 I1");
    pp_phase(out, ranks - rank, "I0 W0");
    pp_phase(out, rank, "W1");
    pp_phase(out, rank, "W0");
}

/* The makespan is a maximum of linear functions of F, I and W; `lines` has those that can be it. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double f = unit->f, i = unit->i, w = unit->w, m = shape->ranks - 1;
    const double work = 2.0 * shape->micro_batches * (f + i + w);
    const double lines[] = {f + (m - 1) * w,
                            i + (m - 1) * w,
                            m * i,
                            2 * m * (i - w),
                            (2 * m - 1) * f - (m - 1) * i,
                            2 * m * f - m * i - w,
                            (2 * m - 1) * f + i - 2 * m * w,
                            2 * m * (f - w) - w};
    double idle = lines[0];

    (void)rank;
    if (shape->micro_batches < 2 * shape->ranks - 1)
        return (double)NAN;
    for (size_t k = 1; k < PP_COUNT(lines); k++)
        idle = fmax(idle, lines[k]);
    return shape->ranks == 1 ? 0 : idle / (work + idle);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const int n = shape->micro_batches;

    (void)unit;
    return PP_MIN(2 * shape->ranks, n + PP_MIN(n, rank + 1));
}

const struct pp_schedule pp_schedule_zbv = {
    .name = "zbv",
    .summary = "zero bubble on a V: split backwards, weight gradients fill the gaps",
    .rule = "rank r: 2(D-r)-1 F0, r F1 F0, D-r F1 I1 W1, then F0 I0 W0 F1 I1 W1; at the end r I0 "
            "I1, D-r I0 W0, all W1, all W0",
    .when =
        "F, I and W about equal: the memory of 1f1b, and bubbles only at start and end of the step",
    .source = "Qi et al., NeurIPS 2024 (Pipeline Parallelism with Controllable Memory), ZB-V; "
              "order as in PyTorch's ScheduleZBVZeroBubble",
    .aliases = PP_NAMES("zb-v", "zbv-zero-bubble", "ScheduleZBVZeroBubble"),
    .calls = PP_CALLS({"torchtitan", "ZBVZeroBubble", NULL}),
    .placement = PP_PLACE_VEE,
    .splits_backward = true,
    .chunks = 2,
    .default_steps = 4,
    .is_barrier_free = true,
    .limits = "none (the order is meant for N >= 2D-1)",
    .phases = phases,
    .bubble_frac = {"idle/(2N(F+I+W) + idle), N >= 2D-1; F=I=W: idle (D-1)F, all of it before the "
                    "first op and after the last",
                    true, bubble},
    .peak = {"min(2D, N + min(N, r+1))", true, peak},
};
