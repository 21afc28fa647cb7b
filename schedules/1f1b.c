/* schedules/1f1b.c — one forward, one backward (DAPPLE, PipeDream-Flush, Megatron, DeepSpeed). */
#include "schedules/order/closed_form.h"

static int warmup_of(const struct pp_shape *shape, int rank)
{
    return PP_MIN(shape->ranks - 1 - rank, shape->micro_batches);
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    const int warmup = warmup_of(shape, rank);

    pp_phase(out, warmup, "F");
    pp_phase(out, shape->micro_batches - warmup, "F B");
    pp_phase(out, warmup, "B");
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    return PP_MIN(shape->ranks - rank, shape->micro_batches);
}

const struct pp_schedule pp_schedule_1f1b = {
    .name = "1f1b",
    .summary = "one forward, one backward",
    .rule = "rank r: min(D-1-r, N) forwards, then F B pairs, then the remaining backwards",
    .when = "the default: least memory of the unsplit schedules, any N",
    .source = "Fan et al., PPoPP'21, section 3; Narayanan et al., SC'21, section 2.2",
    .aliases = PP_NAMES("dapple", "pipedream-flush", "one-forward-one-backward", "Schedule1F1B",
                        "non-interleaved", "TrainSchedule"),
    .calls = PP_CALLS({"deepspeed", "TrainSchedule", NULL},
                      {"megatron", "forward_backward_pipelining_without_interleaving", NULL},
                      {"nanotron", "1f1b", NULL}, {"torchtitan", "1F1B", NULL}),
    .placement = PP_PLACE_LOOP,
    .chunks = 1,
    .limits = "none",
    .phases = phases,
    .bubble_frac = {"(D-1)/(N+D-1)", true, pp_bubble_flush},
    .peak = {"min(D-r, N)", true, peak},
};
