/* schedules/zb-h2.c — the handcrafted zero-bubble schedule ZB-H2, and variants with less memory.
 *
 * Rank r holds m = w + k activations: w(r) forwards before its first input gradient, k(r) pending
 * weight gradients. The paper draws w = 2(D-r)-1, k = 2r, m = 2D-1. With fewer activations the
 * warm-up is cut rank by rank to D-r + m-D. ZB-H1 is the case m = D (w = D-r, k = r). Limits of m
 * are --max-activations, 2D-1, and N if N > D. More would only delay weight gradients.
 *
 * At F = I = W no rank idles between its first and its last op. In general that span is N(F+I+W) +
 * (D-1)(F+I-2W+2C) for m = 2D-1, if F+I >= 2W and N >= 2D-1. Under a barrier the last rank starts
 * (D-1)(F+C) late. */
#include "schedules/order/closed_form.h"

#include <math.h>

static void defaults(struct pp_shape *shape)
{
    if (shape->option[PP_LIMIT_AT] == 0)
        shape->option[PP_LIMIT_AT] = 2 * shape->ranks - 1;
}

/* Below D two neighbors would have equal warm-ups and wait for each other at every micro-batch. */
static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int least = PP_MIN(shape->ranks, shape->micro_batches);

    if (shape->option[PP_LIMIT_AT] >= least)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--max-activations %d: zb-h2 on %d ranks with %d micro-batches needs at "
                        "least %d; zb-auto takes less",
                        shape->option[PP_LIMIT_AT], shape->ranks, shape->micro_batches, least);
}

static int held(const struct pp_shape *shape)
{
    const int most = PP_MIN(2 * shape->ranks - 1, PP_MAX(shape->ranks, shape->micro_batches));

    return PP_MIN(shape->option[PP_LIMIT_AT], most);
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    const int n = shape->micro_batches, m = held(shape);
    const int from_here = shape->ranks - rank; /* ranks from here to the end */
    const int extra = PP_MIN(from_here - 1, PP_MAX(0, m - shape->ranks));
    const int warmup = PP_MIN(PP_MIN(from_here + extra, m), n), keep = PP_MIN(m - warmup, n);

    pp_phase(out, warmup - 1, "F");
    pp_phase(out, keep, "F I");
    pp_phase(out, n - keep, "F I W");
    pp_phase(out, keep, "W");
}

/* Under a barrier the only idle time at F = I = W is the late start of the last rank. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double d = shape->ranks, n = shape->micro_batches;

    (void)rank;
    if (n < 2 * d - 1 || shape->option[PP_LIMIT_AT] < 2 * d - 1 || unit->b != 2 * unit->f ||
        unit->i != unit->w)
        return NAN;
    return (d - 1) / (3 * n + d - 1);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit, (void)rank;
    return PP_MIN(held(shape), shape->micro_batches);
}

const struct pp_schedule pp_schedule_zb_h2 = {
    .name = "zb-h2",
    .summary = "split backward, no idle time between a rank's first and last op",
    .rule = "rank r, M = 2D-1: 2(D-r)-1 forwards, then I F pairs; after 2r of them a W with each, "
            "last the pending Ws",
    .when = "memory for twice the activations of 1f1b, and no barrier between steps",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR'24, section 3.2",
    .aliases = PP_NAMES("zb2p", "zero-bubble-h2"),
    .placement = PP_PLACE_LOOP,
    .splits_backward = true,
    .chunks = 1,
    .options = {[PP_LIMIT_AT] = &pp_limit_option},
    .default_steps = 4,
    .is_barrier_free = true,
    .limits = "--max-activations M (default 2D-1) at least min(D, N), no more than 2D-1 are used",
    .accepts = accepts,
    .defaults = defaults,
    .phases = phases,
    .bubble_frac = {"(D-1)/(3N+D-1) at F=I=W and N, M >= 2D-1, all of it before the first op and "
                    "after the last",
                    false, bubble},
    .peak = {"min(M, 2D-1, N)", true, peak},
};
