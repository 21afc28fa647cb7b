/* schedules/interleaved.c — depth-first interleaved 1F1B: 1F1B over V chunks per rank in groups of
 * G micro-batches. With --extra-warmup 1 every pair of the steady phase is one overlapped op, which
 * needs the F and the B to belong to different micro-batches (Megatron's expert overlap). */
#include "schedules/closed_form.h"

static int warmup_of(const struct pp_shape *shape, int rank)
{
    const int first = (shape->chunks - 1) * shape->group + 2 * (shape->ranks - 1 - rank);

    return PP_MIN(first + shape->extra_warmup, shape->micro_batches * shape->chunks);
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    const int warmup = warmup_of(shape, rank);

    pp_phase(out, warmup, "F");
    pp_phase(out, shape->micro_batches * shape->chunks - warmup,
             shape->extra_warmup ? "F+B" : "F B");
    pp_phase(out, warmup, "B");
}

/* PyTorch: N div D rounds of equal groups. */
static int rounds_of(const struct pp_shape *shape)
{
    return PP_MAX(1, shape->micro_batches / shape->ranks);
}

static void defaults(struct pp_shape *shape)
{
    if (shape->group == 0 && shape->micro_batches % rounds_of(shape) == 0)
        shape->group = shape->micro_batches / rounds_of(shape);
}

/* Megatron: D <= G <= N, and a last group that is smaller must still fill the ranks. */
static bool is_legal_group(const struct pp_shape *shape, int group)
{
    const int n = shape->micro_batches, ranks = shape->ranks;

    return group >= PP_MIN(ranks, n) && group <= n && (n % group == 0 || n % group >= ranks);
}

static bool has_default(const struct pp_shape *shape, int micro_batches)
{
    return micro_batches >= 1 && micro_batches % PP_MAX(1, micro_batches / shape->ranks) == 0;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int n = shape->micro_batches;
    int below = shape->group ? shape->group : PP_MIN(shape->ranks, n), above = below;

    if (shape->group > 0 && is_legal_group(shape, shape->group))
        return PP_OK;
    while (below > 1 && !is_legal_group(shape, below))
        below--;
    while (above < n && !is_legal_group(shape, above))
        above++;
    if (!is_legal_group(shape, below)) /* n itself is always legal, so one of the two is */
        below = is_legal_group(shape, above) ? above : n;
    if (!is_legal_group(shape, above))
        above = below;
    if (shape->group > 0)
        return pp_error_set(err, PP_EINVAL,
                            "--group %d: interleaved needs %d <= G <= %d and a last group that is "
                            "full or has at least --pp %d micro-batches; nearest: %d or %d",
                            shape->group, PP_MIN(shape->ranks, n), n, shape->ranks, below, above);

    int fewer = n, more = n;
    while (!has_default(shape, fewer))
        fewer--;
    while (!has_default(shape, more))
        more++;
    return pp_error_set(err, PP_EINVAL,
                        "--micro-batches %d does not split into %d equal groups (N div --pp %d): "
                        "interleaved takes --micro-batches %d or %d, or --group %d with this N",
                        n, rounds_of(shape), shape->ranks, fewer, more, above);
}

static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    return pp_bubble_flush(shape, unit, rank);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    return PP_MIN(warmup_of(shape, rank) + 1, shape->micro_batches * shape->chunks);
}

static const char *const aliases[] = {"depth-first",
                                      "Interleaved1F1B",
                                      "ScheduleInterleaved1F1B",
                                      "1f1b-interleaved",
                                      "interleaved-1f1b",
                                      "vpp",
                                      NULL};

const struct pp_schedule pp_schedule_interleaved = {
    .name = "interleaved",
    .summary = "1f1b over several chunks per rank, depth first",
    .rule = "groups of G micro-batches through all chunks; rank r: (V-1)G + 2(D-1-r) forwards, "
            "then F B pairs, then the remaining backwards",
    .when = "fewer bubbles than 1f1b for V times its messages; N a multiple of D",
    .source = "Narayanan et al., SC'21, section 2.3; Megatron-LM schedules.py",
    .aliases = aliases,
    .placement = PP_PLACE_LOOP,
    .options = PP_OPT_CHUNKS | PP_OPT_GROUP | PP_OPT_WARMUP,
    .limits = "N a multiple of max(1, N div D); or --group G with min(D,N) <= G <= N and N mod G "
              "either 0 or at least D",
    .accepts = accepts,
    .defaults = defaults,
    .phases = phases,
    .bubble_frac = {"(D-1)/(NV+D-1)", true, bubble},
    .peak = {"min((V-1)G + 2(D-1-r) + 1, NV), one more with --extra-warmup", true, peak},
};
