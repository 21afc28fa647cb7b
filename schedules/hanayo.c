/* schedules/hanayo.c — waves: the model zig-zags V/2 times over the ranks, so that a turn needs no
 * message. The paper gives no closed rule; the order is its greedy policy, simulated. The state of
 * that play repeats late and at long distances. With the times of a model it repeats after 207
 * micro-batches on 8 ranks, and after 10,147 on 16. So its lists are rarely cut. */
#include "schedules/order/closed_form.h"
#include "schedules/search/greedy.h"

/* Prefers backwards, then the oldest micro-batch, then the deepest chunk. */
static int64_t key(const struct pp_shape *shape, int kind, int stage, int mb)
{
    const int64_t stages = pp_shape_stages(shape);
    const int64_t forwards = kind == PP_F ? shape->micro_batches : 0;

    return (forwards + mb) * stages + stages - 1 - stage;
}

static enum pp_status generate(struct pp_arena *arena, const struct pp_shape *shape,
                               const struct pp_costs *costs, struct pp_orders *out,
                               struct pp_error *err)
{
    const struct pp_greedy greedy = {
        .shape = shape,
        .rank_of = pp_placement_make(arena, PP_PLACE_WAVE, shape->ranks, shape->chunks, 1),
        .costs = costs,
        .key = key};

    (void)err;
    pp_greedy_play(arena, &greedy, out);
    return PP_OK;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int chunks = shape->chunks;

    return pp_want_legal(err, shape, (struct pp_wanted){chunks, 2, chunks + 1, pp_is_even},
                         "--vp %d: a wave of hanayo is two chunks", chunks);
}

/* Exact for one wave, N = D and B a multiple of F; approximate elsewhere while N is near D. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double work = (double)shape->micro_batches * shape->chunks * (unit->f + unit->b);
    const double idle = 2.0 * (shape->ranks - 1) * PP_MAX(unit->f, unit->b);

    (void)rank;
    return idle / (work + idle);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit, (void)rank;
    return shape->chunks * PP_MIN(shape->ranks, shape->micro_batches);
}

const struct pp_schedule pp_schedule_hanayo = {
    .name = "hanayo",
    .summary = "waves: one model zig-zags V/2 times over the ranks",
    .rule = "simulated once with the given costs (else F = 1, B = 2): a free rank runs the first "
            "ready op; backwards come first, then the oldest micro-batch, then the deepest chunk",
    .when = "N near D: the bubbles of bidirectional pipelines without a second copy of the weights",
    .source = "Liu et al., SC'23, section 3 (placement); the order is our own greedy one; an order "
              "for other costs can be some per cent faster",
    .aliases = PP_NAMES("wave", "waves", "wave-like"),
    .placement = PP_PLACE_WAVE,
    .sizes = PP_SIZE_CHUNKS,
    .limits = "V even: V/2 waves",
    .accepts = accepts,
    .generate = generate,
    .bubble_frac = {"w/(NV(F+B)+w), w = 2(D-1)max(F,B)", false, bubble},
    .peak = {"V min(D, N), up to about twice that for N > D", false, peak},
};
