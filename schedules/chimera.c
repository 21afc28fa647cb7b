/* schedules/chimera.c — bidirectional pipelines: f down and f up over the same ranks, D/(2f)
 * micro-batches of each in a unit of D. In slots of one F or B, micro-batch j of unit u is at stage
 * s in slot 2Du + 2j + s forwards and 2Du + 2j + 2D-1-s backwards; no rank has two ops in a slot.
 */
#include "schedules/closed_form.h"

#include <math.h>

static int per_pipeline(const struct pp_shape *shape)
{
    return shape->ranks / shape->pipelines;
}

static int64_t key(const struct pp_shape *shape, const struct pp_key_op *op)
{
    const int unit = op->index / per_pipeline(shape), j = op->index % per_pipeline(shape);
    const int stage = op->kind == PP_F ? op->stage : 2 * shape->ranks - 1 - op->stage;

    return 2 * (int64_t)shape->ranks * unit + 2 * j + stage;
}

static int pipeline_of(const struct pp_shape *shape, int mb)
{
    return mb % shape->ranks / per_pipeline(shape);
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    if (shape->ranks % 2 != 0)
        return pp_refuse_multiple("--pp", shape->ranks, 2, "chimera needs an even number", err);
    if (shape->ranks % shape->pipelines != 0) {
        int below = shape->pipelines, above = shape->pipelines;
        while (below > 2 && (shape->ranks % below != 0 || below % 2 != 0))
            below--;
        while (above < shape->ranks && (shape->ranks % above != 0 || above % 2 != 0))
            above++;
        return pp_error_set(err, PP_EINVAL,
                            "--pipelines %d does not divide --pp %d; nearest: %d or %d",
                            shape->pipelines, shape->ranks, PP_MIN(below, shape->ranks),
                            PP_MIN(above, shape->ranks));
    }
    if (shape->concat != PP_CONCAT_DIRECT)
        return pp_error_set(err, PP_EINVAL,
                            "--concat: chimera has only direct concatenation so far; use "
                            "--concat direct");
    if (shape->micro_batches % per_pipeline(shape) != 0)
        return pp_refuse_multiple("--micro-batches", shape->micro_batches, per_pipeline(shape),
                                  "chimera fills whole pipelines of pp / pipelines micro-batches",
                                  err);
    return PP_OK;
}

/* Whole units only. F = B: the slots above, 2N + D/f - 2 of them. B = 2F, f = 1: D-2 units of idle
 * between and around the K = N/D units, K(4D-2) + D-2 in all. 2f = D: the unit has no idle slot. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double d = shape->ranks, n = shape->micro_batches, f = shape->pipelines / 2;

    (void)rank;
    if (shape->micro_batches % shape->ranks != 0)
        return NAN;
    if (shape->pipelines == shape->ranks)
        return 0;
    if (unit->b == unit->f)
        return (d / f - 2) / (2 * n + d / f - 2);
    if (shape->pipelines == 2 && unit->b == 2 * unit->f)
        return 1 - 3 * n / (n / d * (4 * d - 2) + d - 2);
    return NAN;
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const int group = 2 * per_pipeline(shape), place = rank % group;

    (void)unit;
    if (shape->micro_batches % shape->ranks != 0)
        return NAN;
    return shape->ranks - per_pipeline(shape) + 1 + PP_MIN(place, group - 1 - place);
}

const struct pp_schedule pp_schedule_chimera = {
    .name = "chimera",
    .summary = "bidirectional pipelines over the same ranks",
    .rule = "f down and f up pipelines, D/(2f) micro-batches each per unit of D; ascending slots "
            "2Du+2j+s (F) and 2Du+2j+2D-1-s (B)",
    .when = "N near D: half of the bubbles of 1f1b for two copies of the weights",
    .source = "Li and Hoefler, SC'21, section 3",
    .placement = PP_PLACE_TWO_WAY,
    .chunks = 1,
    .options = PP_OPT_PIPELINES | PP_OPT_CONCAT,
    .limits = "D even, 2f divides D, N a multiple of D/(2f)",
    .accepts = accepts,
    .key = key,
    .pipeline_of = pipeline_of,
    .bubble_frac = {"(D/f-2)/(2N+D/f-2) if F=B; 1-3N/(K(4D-2)+D-2), K = N/D, if B=2F and f=1; "
                    "0 if 2f=D",
                    true, bubble},
    .peak = {"D - D/(2f) + 1 + min(i, D/f-1-i), i = r mod D/f", true, peak},
};
