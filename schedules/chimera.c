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

static bool divides_ranks(const struct pp_shape *shape, int pipelines)
{
    return pipelines % 2 == 0 && shape->ranks % pipelines == 0;
}

static bool fills_pipelines(const struct pp_shape *shape, int micro_batches)
{
    return micro_batches % per_pipeline(shape) == 0;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int ranks = shape->ranks, pipelines = shape->pipelines, n = shape->micro_batches;

    if (ranks % 2 != 0)
        return pp_error_set(err, PP_EINVAL, "--pp %d: chimera needs an even number; nearest: %d",
                            ranks, ranks + 1);
    if (!divides_ranks(shape, pipelines)) {
        pp_error_set(err, PP_EINVAL, "--pipelines %d does not divide --pp %d", pipelines, ranks);
        return pp_suggest_nearest(shape, (struct pp_refused){pipelines, 2, ranks, divides_ranks},
                                  err);
    }
    if (!fills_pipelines(shape, n)) {
        pp_error_set(err, PP_EINVAL, "--micro-batches %d: chimera fills pipelines of %d each", n,
                     per_pipeline(shape));
        return pp_suggest_nearest(shape, (struct pp_refused){n, 1, n + ranks, fills_pipelines},
                                  err);
    }
    if (shape->concat != PP_CONCAT_DIRECT)
        return pp_error_set(err, PP_EINVAL,
                            "--concat: only direct is there so far; nearest: direct");
    return PP_OK;
}

/* Whole units only (K = N/D). With g = D/f a unit idles (g-2) max(F,B), and each further one adds
 * (g-2)|B-F|: the intermediate bubbles of section 3.5. F = B gives the paper's table. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double units = shape->micro_batches / shape->ranks, gap = 2 * per_pipeline(shape) - 2;
    const double idle = gap * (fmax(unit->f, unit->b) + (units - 1) * fabs(unit->b - unit->f));

    (void)rank;
    return shape->micro_batches % shape->ranks != 0
               ? (double)NAN
               : idle / (idle + shape->micro_batches * (unit->f + unit->b));
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const int each = per_pipeline(shape), place = rank % (2 * each);
    const bool whole = shape->micro_batches % shape->ranks == 0;

    (void)unit;
    return whole ? shape->ranks - each + 1 + PP_MIN(place, 2 * each - 1 - place) : (double)NAN;
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
    .bubble_frac = {"w/(N(F+B)+w), w = (D/f-2)(max(F,B) + (N/D-1)|B-F|)", true, bubble},
    .peak = {"D - D/(2f) + 1 + min(i, D/f-1-i), i = r mod D/f", true, peak},
};
