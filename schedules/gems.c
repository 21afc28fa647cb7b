/* schedules/gems.c — two replicas in opposite directions, with one micro-batch active at a time.
 * Ranks at the end of one pipeline start the other's next forward early. */
#include "schedules/order/closed_form.h"

#include <math.h>

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    (void)rank;
    pp_phase(out, shape->micro_batches / 2, "F0 B0 F1 B1");
}

static int pipeline_of(const struct pp_shape *shape, int mb)
{
    return mb >= shape->micro_batches / 2;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int n = shape->micro_batches;

    return pp_want_legal(err, shape, (struct pp_wanted){n, 2, n + 1, pp_is_even},
                         "--micro-batches %d: gems takes them in pairs, one down, one up", n);
}

/* Idle: (D-1) max(F,B) for each of N micro-batches, and (D-1) min(F,B) at one end. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double n = shape->micro_batches, hops = shape->ranks - 1;
    const double work = n * (unit->f + unit->b);
    const double idle = n * hops * fmax(unit->f, unit->b) + hops * fmin(unit->f, unit->b);

    (void)rank;
    return idle / (work + idle);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)shape, (void)unit, (void)rank;
    return 1;
}

const struct pp_schedule pp_schedule_gems = {
    .name = "gems",
    .summary = "two replicas in opposite directions, one micro-batch at a time",
    .rule = "every rank, N/2 times: F B of the next micro-batch down, then F B of the next one up",
    .when = "the least activation memory of all, at the price of the most bubbles",
    .source = "Jain et al., SC'20; Chimera repository, baselines/bert_gems",
    .placement = PP_PLACE_TWO_WAY,
    .chunks = 1,
    .limits = "N even",
    .accepts = accepts,
    .phases = phases,
    .pipeline_of = pipeline_of,
    .bubble_frac = {"x/(N(F+B)+x), x = (D-1)(N max(F,B) + min(F,B))", true, bubble},
    .peak = {"1", true, peak},
};
