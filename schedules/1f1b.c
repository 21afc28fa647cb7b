/* schedules/1f1b.c — one forward, one backward (DAPPLE, PipeDream-Flush, Megatron, DeepSpeed). With
 * --shifted 1 the third forward of the last rank but one comes before its first backward. Merak
 * calls this the shifted critical path. */
#include "schedules/order/closed_form.h"

#include <math.h>

enum { SHIFTED };
static const struct pp_schedule_option shifted = {
    .name = "shifted",
    .max = 1,
    .argument = "0|1",
    .default_text = "0",
    .help = "The last rank but one runs its third forward before its first backward (1f1b; Merak).",
    .after = "warmup-style",
};

static bool is_shifted(const struct pp_shape *shape, int rank)
{
    return shape->option[SHIFTED] && rank == shape->ranks - 2;
}

static int warmup_of(const struct pp_shape *shape, int rank)
{
    return PP_MIN(shape->ranks - 1 - rank, shape->micro_batches);
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    const int warmup = warmup_of(shape, rank);

    if (is_shifted(shape, rank)) { /* F0 F1 F2 B0, then pairs that begin with the backward */
        pp_phase(out, 3, "F");
        pp_phase(out, 1, "B");
        pp_phase(out, shape->micro_batches - 3, "B F");
        pp_phase(out, 2, "B");
        return;
    }
    pp_phase(out, warmup, "F");
    pp_phase(out, shape->micro_batches - warmup, "F B");
    pp_phase(out, warmup, "B");
}

/* A third forward that is longer than a backward delays the shifted rank's first one. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    return shape->option[SHIFTED] && unit->f > unit->b ? (double)NAN
                                                       : pp_bubble_flush(shape, unit, rank);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    return PP_MIN(shape->ranks - rank, shape->micro_batches) + is_shifted(shape, rank);
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    if (!shape->option[SHIFTED])
        return PP_OK;
    if (shape->ranks < 2)
        return pp_error_set(err, PP_EINVAL,
                            "--shifted 1 needs two ranks, to shift the last but one; nearest: "
                            "--pp 2, or --shifted 0");
    if (shape->micro_batches < 3)
        return pp_error_set(err, PP_EINVAL,
                            "--shifted 1 needs three micro-batches, to shift the third forward; "
                            "nearest: --micro-batches 3, or --shifted 0");
    return PP_OK;
}

static bool is_plain(const struct pp_shape *shape)
{
    return !shape->option[SHIFTED];
}

const struct pp_schedule pp_schedule_1f1b = {
    .name = "1f1b",
    .summary = "one forward, one backward",
    .rule = "rank r: min(D-1-r, N) forwards, then F B pairs, then the remaining backwards; "
            "--shifted 1: rank D-2 exchanges its third forward and its first backward",
    .when = "the default: least memory of the unsplit schedules, any N",
    .source = "Fan et al., PPoPP'21, section 3; Narayanan et al., SC'21, section 2.2; shifted: "
              "Lai et al., Merak (TPDS 2023), HPDL-Group/Merak pipeline/schedule.py",
    .aliases = PP_NAMES("dapple", "pipedream-flush", "one-forward-one-backward", "Schedule1F1B",
                        "non-interleaved", "TrainSchedule"),
    .calls = PP_CALLS({"deepspeed", "TrainSchedule", is_plain},
                      {"megatron", "forward_backward_pipelining_without_interleaving", is_plain},
                      {"nanotron", "1f1b", is_plain}, {"torchtitan", "1F1B", is_plain}),
    .placement = PP_PLACE_LOOP,
    .chunks = 1,
    .options = {[SHIFTED] = &shifted},
    .limits = "--shifted 1: D of at least 2, N of at least 3",
    .accepts = accepts,
    .phases = phases,
    .bubble_frac = {"(D-1)/(N+D-1)", true, bubble},
    .peak = {"min(D-r, N) + (r = D-2 and --shifted 1)", true, peak},
};
