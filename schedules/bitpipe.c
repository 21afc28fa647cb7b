/* schedules/bitpipe.c — two V pipelines over the same ranks in opposite directions: two chunks of
 * each on a rank. Units of D micro-batches, half of them in each pipeline, follow one another. */
#include "schedules/order/closed_form.h"

#include <math.h>

/* Returns the chunk of the k-th op of a unit on a rank, as pipeline * 2 + chunk. A rank has four
 * chunks by depth: those of the pipeline that begins nearer are the first and the last. Backwards
 * go from the last to the first. */
static int chunk_of(const struct pp_shape *shape, int rank, int direction, int k)
{
    static const int depths[][2] = {{0, 0}, {1, 0}, {1, 2}, {3, 2}, {3, 3}}; /* by turns */
    const int ranks = shape->ranks, half = ranks / 2, hops = PP_MIN(rank, ranks - 1 - rank);
    const int ends[] = {half - hops, half + hops, ranks + half - hops, ranks + half + hops,
                        2 * ranks};
    int part = 0;

    while (k >= ends[part])
        part++;
    const int at = depths[part][part > 0 ? (k - ends[part - 1]) % 2 : 0];
    const int depth = direction == PP_DIR_F ? at : 3 - at;
    const bool is_up = (rank >= half) == (depth == 0 || depth == 3);
    return is_up * 2 + depth / 2;
}

struct list {
    const struct pp_shape *shape;
    struct pp_phases *out;
    int rank, done[2]; /* F, B */
};

/* Appends the next ops by turns, F first. */
static void append(struct list *list, int forwards, int backwards)
{
    static const char *const names[2][4] = {{"F0", "F1", "F2", "F3"}, {"B0", "B1", "B2", "B3"}};
    const int want[2] = {forwards, backwards};

    for (int i = 0; i < PP_MAX(forwards, backwards); i++)
        for (int direction = 0; direction < 2; direction++)
            if (i < want[direction]) {
                const int k = list->done[direction]++ % (2 * list->shape->ranks);
                const int chunk = chunk_of(list->shape, list->rank, direction, k);
                pp_phase(list->out, 1, names[direction][chunk]);
            }
}

static int warmup_of(const struct pp_shape *shape, int rank)
{
    return shape->ranks + shape->ranks / 2 + PP_MIN(rank, shape->ranks - 1 - rank);
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    struct list list = {.shape = shape, .out = out, .rank = rank};
    const int warmup = warmup_of(shape, rank), rest = 2 * shape->ranks - warmup;

    append(&list, warmup, 0);
    for (int unit = 1; unit < shape->micro_batches / shape->ranks; unit++) {
        append(&list, rest, rest);
        append(&list, 0, warmup - rest + 1);
        append(&list, rest - 1, rest - 1);
        append(&list, warmup - rest + 1, 0);
    }
    append(&list, rest, rest);
    append(&list, 0, warmup);
}

static int pipeline_of(const struct pp_shape *shape, int mb)
{
    return mb % shape->ranks >= shape->ranks / 2;
}

static bool is_whole(const struct pp_shape *shape, int micro_batches)
{
    return micro_batches % shape->ranks == 0;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int ranks = shape->ranks, n = shape->micro_batches;

    PP_TRY(pp_want_legal(err, shape, (struct pp_wanted){ranks, 2, ranks + 1, pp_is_even},
                         "%s %d: bitpipe needs an even number", pp_shape_ranks_option(shape),
                         ranks));
    return pp_want_legal(err, shape, (struct pp_wanted){n, 1, n + ranks, is_whole},
                         "--micro-batches %d is no multiple of %s %d", n,
                         pp_shape_ranks_option(shape), ranks);
}

/* Chunks fill and drain from both ends; between two units, F and B of different lengths wait. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double n = shape->micro_batches, ranks = shape->ranks;
    const double work = n * shape->chunks * (unit->f + unit->b);
    const double idle =
        (ranks - 2) * (fmax(unit->f, unit->b) + (n / ranks - 1) * fabs(unit->b - unit->f));

    (void)rank;
    return idle / (work + idle);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    return warmup_of(shape, rank) + 1;
}

const struct pp_schedule pp_schedule_bitpipe = {
    .name = "bitpipe",
    .summary = "two V pipelines in opposite directions",
    .rule = "rank r: w = D + D/2 + min(r, D-1-r) forwards; for each D micro-batches but the last: "
            "x = 2D-w pairs F B, w-x+1 B, x-1 pairs, w-x+1 F; at the end x pairs and w B",
    .when = "N near D: fewer bubbles than chimera, and twice its messages",
    .source = "Wu et al., BitPipe, 2024, section 3; order as in wuhouming/BitPipe",
    .placement = PP_PLACE_TWO_WAY,
    .chunks = 2,
    .limits = "D even, N a multiple of D",
    .accepts = accepts,
    .phases = phases,
    .pipeline_of = pipeline_of,
    .bubble_frac = {"idle/(2N(F+B) + idle), idle = (D-2)(max(F,B) + (N/D-1)|B-F|)", true, bubble},
    .peak = {"3D/2 + min(r, D-1-r) + 1", true, peak},
};
