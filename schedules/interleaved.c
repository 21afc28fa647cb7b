/* schedules/interleaved.c — depth-first interleaved 1F1B: V chunks per rank, groups of G
 * micro-batches. With --extra-warmup 1 every pair of the steady phase is one overlapped op, whose F
 * and B belong to different micro-batches (Megatron's expert overlap). With --warmup-style lazy the
 * next rank has one forward less, not two less: as fast while messages are free, with less memory.
 * Then groups of half the ranks can still not deadlock. With --splits q the units are splits: q - 1
 * more forwards, because the backward of a micro-batch begins with its last split (Seq1F1B-I). */
#include "schedules/order/closed_form.h"

#include <math.h>

enum { EXTRA_WARMUP = PP_GROUP_AT + 1, LAZY };
static const struct pp_schedule_option extra_warmup = {
    .name = "extra-warmup",
    .max = 1,
    .argument = "0|1",
    .default_text = "0",
    .help = "One more warm-up forward, so that the forward and the backward of a pair overlap "
            "(interleaved).",
    .after = "group",
};
static const struct pp_schedule_option warmup_style = {
    .name = "warmup-style",
    .choices = "early|lazy",
    .max = 1,
    .argument = "STYLE",
    .default_text = "early",
    .help =
        "Forwards of the warm-up: early has two more on each earlier rank, which hides messages; "
        "lazy has one more and holds fewer activations (interleaved).",
    .after = "extra-warmup",
};

static int units(const struct pp_shape *shape)
{
    return shape->micro_batches * shape->splits * shape->chunks;
}

static int warmup_of(const struct pp_shape *shape, int rank)
{
    const int ahead = (shape->option[LAZY] ? 1 : 2) * (shape->ranks - 1 - rank);
    const int first = (shape->chunks - 1) * shape->option[PP_GROUP_AT] * shape->splits + ahead;

    return PP_MIN(first + shape->splits - 1 + shape->option[EXTRA_WARMUP], units(shape));
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    const int warmup = warmup_of(shape, rank);

    pp_phase(out, warmup, "F");
    pp_phase(out, units(shape) - warmup, shape->option[EXTRA_WARMUP] ? "F+B" : "F B");
    pp_phase(out, warmup, "B");
}

static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const bool has_gain = shape->option[EXTRA_WARMUP] && unit->fb != unit->f + unit->b;

    return has_gain || pp_group_is_small(shape) ? (double)NAN : pp_bubble_flush(shape, unit, rank);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    return (double)PP_MIN(warmup_of(shape, rank) + 1, units(shape)) / shape->splits;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    if (!shape->option[LAZY])
        return pp_group_accepts(shape, err);
    if (shape->option[EXTRA_WARMUP])
        return pp_error_set(
            err, PP_EINVAL,
            "--warmup-style lazy: overlapped pairs need two forwards between ranks; "
            "use --extra-warmup 0 or --warmup-style early");
    return pp_group_accepts_half(shape, err);
}

/* Megatron-LM refuses groups with fewer micro-batches than ranks. */
static bool is_megatron(const struct pp_shape *shape)
{
    return shape->chunks > 1 && shape->option[PP_GROUP_AT] >= shape->ranks &&
           !shape->option[LAZY] && shape->splits == 1;
}

static bool is_torch(const struct pp_shape *shape)
{
    return !shape->option[EXTRA_WARMUP] && !shape->option[LAZY] && pp_group_is_torch(shape);
}

static const struct pp_schedule_namesake namesakes[] = {{"seq1f1b-i", PP_SPLITS_AT, 2},
                                                        {NULL, 0, 0}};

const struct pp_schedule pp_schedule_interleaved = {
    .name = "interleaved",
    .summary = "1f1b over several chunks per rank, depth first",
    .rule =
        "groups of G micro-batches through all chunks; rank r: (V-1)G + 2(D-1-r) forwards, "
        "then F B pairs, then the remaining backwards; lazy: (V-1)G + D-1-r forwards; q splits: "
        "(V-1)Gq and q-1 more, descending in B",
    .when = "fewer bubbles than 1f1b for V times its messages; N a multiple of D",
    .source =
        "Narayanan et al., SC'21, section 2.3; Megatron-LM schedules.py; lazy: Wan et al., "
        "PipeOffload (2025), sail-sg zero-bubble group_interleaved_1f1b.py; splits: Sun et al., "
        "Seq1F1B (2024), thunlp/Seq1F1B schedules.py",
    .aliases = PP_NAMES("depth-first", "Interleaved1F1B", "1f1b-interleaved",
                        "ScheduleInterleaved1F1B", "seq1f1b-i"),
    .namesakes = namesakes,
    .calls = PP_CALLS({"megatron", "forward_backward_pipelining_with_interleaving", is_megatron},
                      {"torchtitan", "Interleaved1F1B", is_torch}),
    .placement = PP_PLACE_LOOP,
    .has_pairs = true, /* only with --extra-warmup */
    .sizes = PP_SIZE_CHUNKS | PP_SIZE_SPLITS,
    .options =
        {[PP_GROUP_AT] = &pp_group_option, [EXTRA_WARMUP] = &extra_warmup, [LAZY] = &warmup_style},
    .limits = PP_GROUP_LIMITS "; lazy: D/2 in place of D",
    .accepts = accepts,
    .defaults = pp_group_defaults,
    .phases = phases,
    .bubble_frac = {"w/(NqV+w), w = D-1 + (V-1)max(0,D-Nq); for Gq >= min(D,Nq)", true, bubble},
    .peak = {"min((V-1)Gq + 2(D-1-r) + q, NqV)/q, one unit more with --extra-warmup; lazy: "
             "min((V-1)Gq + D-1-r + q, NqV)/q",
             true, peak},
};
