/* schedules/pipedream.c — 1F1B without a flush, with an update after every micro-batch. A rank
 * keeps the weights of each micro-batch from its forward to its backward. */
#include "schedules/order/closed_form.h"

enum { VERSIONS_MAX = 255 };

static int warmup_of(const struct pp_shape *shape, int rank)
{
    return shape->ranks - 1 - rank;
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    pp_phase(out, PP_MIN(warmup_of(shape, rank), shape->micro_batches), "F");
    pp_phase(out, shape->micro_batches, "F B");
}

/* Micro-batch m begins after m - w updates; the w + 1 youngest versions are alive. */
static int version(const struct pp_shape *shape, int rank, int mb)
{
    const int warmup = warmup_of(shape, rank);

    return PP_MAX(0, mb - warmup) % (warmup + 1);
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    if (shape->ranks > VERSIONS_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "%s %d: pipedream keeps as many weight versions, at most %d",
                            pp_shape_ranks_option(shape), shape->ranks, VERSIONS_MAX);
    return PP_OK;
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    return PP_MIN(shape->ranks - rank, shape->micro_batches);
}

const struct pp_schedule pp_schedule_pipedream = {
    .name = "pipedream",
    .summary = "1f1b without a flush, an update after every backward",
    .rule = "rank r: D-1-r forwards, then F B pairs over all steps; D-r weight versions",
    .when = "comparison with asynchronous training, which uses stale gradients",
    .source = "Narayanan et al., SOSP'19, section 3",
    .placement = PP_PLACE_LOOP,
    .chunks = 1,
    .is_simulated_only = true,
    .default_steps = 4,
    .is_barrier_free = true,
    .is_continuous = true,
    .updates_each_backward = true,
    .version = version,
    .limits = "D at most 255",
    .accepts = accepts,
    .phases = phases,
    .bubble_frac = {"(D-1)/(N+D-1) with a barrier, else 0", true, pp_bubble_flush},
    .peak = {"min(D-r, N)", true, peak},
};
