/* schedules/eager-1f1b.c — 1F1B with a warm-up twice as long (DAPPLE's policy B). The forward of
 * each pair runs one round trip early, so that compute hides the messages. */
#include "schedules/order/closed_form.h"

static int in_flight(const struct pp_shape *shape, int rank)
{
    return PP_MIN(2 * (shape->ranks - rank) - 1, shape->micro_batches);
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    pp_phase(out, in_flight(shape, rank) - 1, "F");
    pp_phase(out, shape->micro_batches, "F B");
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    return in_flight(shape, rank);
}

const struct pp_schedule pp_schedule_eager_1f1b = {
    .name = "eager-1f1b",
    .summary = "1f1b with twice the warm-up, which hides messages",
    .rule = "rank r: min(2(D-r)-1, N) - 1 forwards, then F B pairs, then the remaining backwards",
    .when = "slow links between ranks and memory to spare",
    .source = "Fan et al., PPoPP'21, section 3",
    .aliases = PP_NAMES("dapple-eager", "dapple-b", "1f1b-eager"),
    .placement = PP_PLACE_LOOP,
    .chunks = 1,
    .limits = "none",
    .phases = phases,
    .bubble_frac = {"(D-1)/(N+D-1)", true, pp_bubble_flush},
    .peak = {"min(2(D-r)-1, N)", true, peak},
};
