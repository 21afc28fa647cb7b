/* schedules/interleaved-zb.c — interleaved 1F1B with split backwards (PyTorch): half of
 * interleaved's warm-up, and rank r keeps r weight gradients pending. */
#include "schedules/order/closed_form.h"

#include <math.h>

static int in_flight(const struct pp_shape *shape, int rank)
{
    return (shape->chunks - 1) * shape->option[PP_GROUP_AT] + shape->ranks - 1 - rank;
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    pp_phase(out, in_flight(shape, rank), "F");
    pp_phase(out, rank, "F I");
    pp_phase(out, shape->micro_batches * shape->chunks, "F I W");
}

static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    return pp_group_is_small(shape) ? (double)NAN : pp_bubble_split(shape, unit, rank);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit, (void)rank;
    return PP_MIN(in_flight(shape, 0) + 1, shape->micro_batches * shape->chunks);
}

const struct pp_schedule pp_schedule_interleaved_zb = {
    .name = "interleaved-zb",
    .summary = "interleaved 1f1b with split backwards",
    .rule = "groups of G through all chunks; rank r: (V-1)G + D-1-r forwards, r pairs F I, then "
            "F I W with the oldest pending W, then the remaining I W and W",
    .when = "fewer bubbles and less memory than interleaved, the same messages",
    .source = "PyTorch ScheduleInterleavedZeroBubble; Qi et al., ICLR'24, section 2.1",
    .aliases = PP_NAMES("InterleavedZeroBubble", "ScheduleInterleavedZeroBubble",
                        "interleaved-zb1p", "zb-interleaved"),
    .calls = PP_CALLS({"torchtitan", "InterleavedZeroBubble", pp_group_is_torch}),
    .placement = PP_PLACE_LOOP,
    .splits_backward = true,
    .sizes = PP_SIZE_CHUNKS,
    .options = {[PP_GROUP_AT] = &pp_group_option},
    .limits = PP_GROUP_LIMITS_HALF,
    .accepts = pp_group_accepts_half,
    .defaults = pp_group_defaults,
    .phases = phases,
    .bubble_frac = {"x/(NV(F+I+W)+x), x = (D-1)(F+I-min(F,I,W)), for N >= D and G >= D", true,
                    bubble},
    .peak = {"min((V-1)G + D, NV)", true, peak},
};
