/* schedules/dualpipev.c — DualPipe cut in half: the second direction is the second chunk of a V.
 * Each rank holds one copy of its weights. */
#include "schedules/dualpipe.h"
#include "schedules/order/closed_form.h"

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    pp_dualpipe_phases(
        out, (struct pp_dualpipe){.depth = shape->ranks,
                                  .place = rank,
                                  .pairs = shape->micro_batches - 2 * shape->ranks + rank + 1});
}

static bool is_enough(const struct pp_shape *shape, int micro_batches)
{
    return micro_batches >= 2 * shape->ranks;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int n = shape->micro_batches, least = 2 * shape->ranks;

    return pp_want_legal(err, shape, (struct pp_wanted){n, least, least, is_enough},
                         "--micro-batches %d: dualpipev needs at least twice %s %d", n,
                         pp_shape_ranks_option(shape), shape->ranks);
}

static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)rank;
    return pp_dualpipe_bubble(shape->ranks, shape->micro_batches, unit);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit, (void)rank;
    return 2 * shape->ranks + 1;
}

const struct pp_schedule pp_schedule_dualpipev = {
    .name = "dualpipev",
    .summary = "dualpipe on a V: overlapped pairs, one copy of the weights",
    .rule = "rank r: 2(D-r-1) F0, r+1 F0 F1, D-r-1 I1 W F1, then F0+B1 F1+B0; D-r-1 B1 F1+B0, r+1 "
            "B1 B0 (half split), D-r-1 W I0, all W",
    .when = "as dualpipe, without the memory for two copies of the weights",
    .source = "Qi et al., DualPipe could be better without the Dual, 2025; order as in "
              "deepseek-ai/DualPipe and PyTorch's ScheduleDualPipeV",
    .aliases = PP_NAMES("ScheduleDualPipeV", "dualpipe-v"),
    .calls = PP_CALLS({"torchtitan", "DualPipeV", NULL}),
    .placement = PP_PLACE_VEE,
    .splits_backward = true,
    .has_pairs = true,
    .chunks = 2,
    .limits = "N >= 2D",
    .accepts = accepts,
    .phases = phases,
    .bubble_frac = {"idle/(2N(F+B) + idle), idle = m max(0,I-W) + max(2mF, (m-1)F + mI), m = D-1, "
                    "FB = F+B",
                    true, bubble},
    .peak = {"2D+1", true, peak},
};
