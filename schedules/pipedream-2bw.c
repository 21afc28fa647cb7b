/* schedules/pipedream-2bw.c — 1F1B without a flush, with gradients summed over the N micro-batches
 * of a step. Each update is used one step late: W(t+1) = W(t) - lr * gradient at W(t-1). Two weight
 * versions are alive on every rank. */
#include "schedules/order/closed_form.h"

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    pp_phase(out, PP_MIN(shape->ranks - 1 - rank, shape->micro_batches), "F");
    pp_phase(out, shape->micro_batches, "F B");
}

static int step_batches(const struct pp_shape *shape)
{
    return shape->micro_batches / PP_MAX(1, shape->steps);
}

/* Step t uses the weights made by step t-2; the first two steps use the initial weights. */
static int version(const struct pp_shape *shape, int rank, int mb)
{
    (void)rank;
    return PP_MAX(0, mb / step_batches(shape) - 1) % 2;
}

static bool fills_pipeline(const struct pp_shape *shape, int micro_batches)
{
    return micro_batches >= shape->ranks;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int n = step_batches(shape);

    return pp_want_legal(
        err, shape, (struct pp_wanted){n, 1, shape->ranks, fills_pipeline},
        "--micro-batches %d: with fewer than %s %d, two weight versions are not enough", n,
        pp_shape_ranks_option(shape), shape->ranks);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    return shape->ranks - rank;
}

const struct pp_schedule pp_schedule_pipedream_2bw = {
    .name = "pipedream-2bw",
    .summary = "1f1b without a flush, updates one step late",
    .rule = "rank r: D-1-r forwards, then F B pairs over all steps; two weight versions",
    .when = "comparison with asynchronous training, which uses stale gradients",
    .source = "Narayanan et al., ICML'21, section 3",
    .aliases = PP_NAMES("2bw"),
    .placement = PP_PLACE_LOOP,
    .chunks = 1,
    .is_simulated_only = true,
    .default_steps = 4,
    .is_barrier_free = true,
    .is_continuous = true,
    .version = version,
    .limits = "N >= D",
    .accepts = accepts,
    .phases = phases,
    .bubble_frac = {"(D-1)/(N+D-1) with a barrier, else 0", true, pp_bubble_flush},
    .peak = {"D-r", true, peak},
};
