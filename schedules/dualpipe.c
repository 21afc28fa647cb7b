/* schedules/dualpipe.c — DualPipe: two directions over the same ranks, which meet in overlapped
 * forward-backward pairs. Micro-batches 0 ... N/2-1 run down, the others up. */
#include "schedules/dualpipe.h"
#include "schedules/order/closed_form.h"

#include <math.h>

/* Appends `pattern`, where chunk 0 is the direction that enters nearer to this rank. */
static void phase(struct pp_phases *out, bool is_mirrored, int times, const char *pattern)
{
    char text[32];
    int i = 0;

    for (; pattern[i] != '\0'; i++)
        text[i] = is_mirrored && pattern[i] <= '1' && pattern[i] >= '0' ? '0' + ('1' - pattern[i])
                                                                        : pattern[i];
    text[i] = '\0';
    pp_phase(out, times, text);
}

void pp_dualpipe_phases(struct pp_phases *out, struct pp_dualpipe steps)
{
    const int place = steps.place, rest = steps.depth - 1 - place;
    const bool is_turn = rest == 0, mirror = steps.is_mirrored;

    phase(out, mirror, 2 * rest, "F0");
    phase(out, mirror, place + 1, "F0 F1");
    phase(out, mirror, rest, "I1 W F1");
    /* At the turn the first pair is not overlapped: its F0 would wait for B1's gradient. */
    phase(out, mirror, is_turn, "F0 B1 F1+B0");
    phase(out, mirror, steps.pairs - is_turn, "F0+B1 F1+B0");
    phase(out, mirror, rest, "B1 F1+B0");
    /* The second half of the remaining pairs is split; a middle one only in B0. */
    phase(out, mirror, (place + 1) / 2, "B1 B0");
    phase(out, mirror, place % 2 == 0, "B1 I0");
    phase(out, mirror, (place + 1) / 2, "I1 I0");
    phase(out, mirror, rest, "W I0");
    phase(out, mirror, place + 1, "W");
}

double pp_dualpipe_bubble(int depth, int each, const struct pp_unit_costs *unit)
{
    const double f = unit->f, i = unit->i, w = unit->w, m = depth - 1;
    const double work = 2.0 * each * (f + i + w), gain = unit->fb - f - i - w;
    const double idle = m * fmax(0, i - w) + fmax(2 * m * f, (m - 1) * f + m * i);
    /* Number of overlapped pairs on the critical path, and mean number on a rank. */
    const double critical = 2.0 * each - depth - 2;
    const double average = 2.0 * each - 2.5 * depth + 0.5 - 1.0 / depth;

    return unit->fb < fmax(f, i + w)
               ? (double)NAN
               : 1 - (work + average * gain) / (work + (m > 0 ? idle : 0) + critical * gain);
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    const int half = shape->ranks / 2, place = PP_MIN(rank, shape->ranks - 1 - rank);

    pp_dualpipe_phases(
        out, (struct pp_dualpipe){.depth = half,
                                  .place = place,
                                  .pairs = shape->micro_batches / 2 - shape->ranks + place + 1,
                                  .is_mirrored = rank >= half});
}

static int pipeline_of(const struct pp_shape *shape, int mb)
{
    return mb >= shape->micro_batches / 2;
}

static bool fills_both(const struct pp_shape *shape, int micro_batches)
{
    return micro_batches % 2 == 0 && micro_batches >= 2 * shape->ranks;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int ranks = shape->ranks, n = shape->micro_batches;

    PP_TRY(pp_want_legal(err, shape, (struct pp_wanted){ranks, 2, ranks + 1, pp_is_even},
                         "%s %d: dualpipe needs an even number", pp_shape_ranks_option(shape),
                         ranks));
    return pp_want_legal(err, shape,
                         (struct pp_wanted){n, 2 * ranks, PP_MAX(n + 1, 2 * ranks), fills_both},
                         "--micro-batches %d: dualpipe needs an even number, at least twice %s %d",
                         n, pp_shape_ranks_option(shape), ranks);
}

static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)rank;
    return pp_dualpipe_bubble(shape->ranks / 2, shape->micro_batches / 2, unit);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit, (void)rank;
    return shape->ranks + 1;
}

const struct pp_schedule pp_schedule_dualpipe = {
    .name = "dualpipe",
    .summary = "two directions at once; forwards overlap backwards",
    .rule =
        "rank h from its end, H = D/2: 2(H-h-1) F0, h+1 F0 F1, H-h-1 I1 W F1, then F0+B1 F1+B0; "
        "H-h-1 B1 F1+B0, h+1 B1 B0 (half split), H-h-1 W I0, all W",
    .when = "expert parallelism: compute of one direction hides the all-to-all of the other",
    .source = "DeepSeek-AI, DeepSeek-V3 Technical Report, 2024, section 3.2.1; order as in "
              "deepseek-ai/DualPipe",
    .placement = PP_PLACE_TWO_WAY,
    .splits_backward = true,
    .has_pairs = true,
    .chunks = 1,
    .limits = "D even, N even, N >= 2D",
    .accepts = accepts,
    .phases = phases,
    .pipeline_of = pipeline_of,
    .bubble_frac = {"idle/(N(F+B) + idle), idle = m max(0,I-W) + max(2mF, (m-1)F + mI), m = D/2-1, "
                    "FB = F+B",
                    true, bubble},
    .peak = {"D+1", true, peak},
};
