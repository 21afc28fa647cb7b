/* schedules/chimera.c — bidirectional pipelines over the same D ranks.
 *
 * f pipelines run from the first rank to the last, f from the last to the first. The order consists
 * of units. Here a slot is an interval of time, not a buffer.
 *
 * A unit has D/(2f) forward slots per pipeline, and k backward slots for each of them. Either k is
 * one (direct), or there are two of half the size, so that all slots take equal time when B = 2F.
 * Doubling runs the forwards of two micro-batches in a slot. Halving runs the forward of one
 * micro-batch, whose backward is cut into two granules.
 *
 * Granule j of a pipeline in unit u is at stage s in these slots. No rank has two slots at once.
 *
 *   forward    (1+k)Du + 2(j div k) + s
 *   backward   (1+k)Du + 2j + 2D-1-s
 *
 * For k = 1 this is the order of Li and Hoefler, for doubling that of the authors' runtime
 * (main_with_runtime_forward_doubling.py, branch ChimeraBk). Halving is not known elsewhere. */
#include "schedules/order/concat.h"

#include "schedules/order/closed_form.h"

#include <math.h>

static const struct pp_schedule_option concat_option = {
    .name = "concat",
    .choices = "direct|doubling|halving|auto",
    .max = PP_CONCAT_AUTO,
    .argument = "HOW",
    .default_text = "direct",
    .help = "How chimera concatenates its basic units. direct: as they are. doubling: with two "
            "forwards in a row. halving: with backwards of half a micro-batch. auto: the fastest "
            "of these that fits, by simulation.",
    .after = "pipelines",
    .is_explained = true,
};

static const struct concat {
    const char *name;
    int per_forward; /* k: granules of a forward slot, and so its backward slots */
    int granules;    /* granules of a micro-batch */
} concats[] = {
    [PP_CONCAT_DIRECT] = {"direct", 1, 1},
    [PP_CONCAT_DOUBLING] = {"doubling", 2, 1},
    [PP_CONCAT_HALVING] = {"halving", 2, 2},
};

static const struct concat *concat_of(const struct pp_shape *shape)
{
    return &concats[shape->option[PP_CONCAT_AT]];
}

/* Returns the forward slots of a pipeline in a unit. */
static int slots_of(const struct pp_shape *shape)
{
    return shape->ranks / shape->pipelines;
}

/* Returns the micro-batches of a pipeline in a unit. */
static int per_pipeline(const struct pp_shape *shape)
{
    return slots_of(shape) * concat_of(shape)->per_forward / concat_of(shape)->granules;
}

static int per_unit(const struct pp_shape *shape)
{
    return per_pipeline(shape) * shape->pipelines;
}

static int64_t key(const struct pp_shape *shape, const struct pp_key_op *op)
{
    const int k = concat_of(shape)->per_forward, each = slots_of(shape) * k;
    const int unit = op->index / each, j = op->index % each;
    const int slot =
        op->kind == PP_F ? 2 * (j / k) + op->stage : 2 * j + 2 * shape->ranks - 1 - op->stage;

    return (int64_t)(1 + k) * shape->ranks * unit + slot;
}

static int pipeline_of(const struct pp_shape *shape, int mb)
{
    return mb % per_unit(shape) / per_pipeline(shape);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Doubling and halving need one pair of pipelines: with several pairs their slots collide. */
static bool divides_ranks(const struct pp_shape *shape, int pipelines)
{
    return pipelines % 2 == 0 && shape->ranks % pipelines == 0 &&
           (pipelines == 2 || shape->option[PP_CONCAT_AT] == PP_CONCAT_DIRECT);
}

/* Direct may end with a partial unit, because its pipelines are filled in order. */
static int step_of(const struct pp_shape *shape)
{
    return shape->option[PP_CONCAT_AT] == PP_CONCAT_DIRECT ? per_pipeline(shape) : per_unit(shape);
}

static bool fills_units(const struct pp_shape *shape, int micro_batches)
{
    return micro_batches % step_of(shape) == 0;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int ranks = shape->ranks, pipelines = shape->pipelines, n = shape->micro_batches;
    const struct concat *concat = concat_of(shape);
    const struct pp_wanted pairs = {pipelines, 2, ranks, divides_ranks};

    PP_TRY(pp_want_legal(err, shape, (struct pp_wanted){ranks, 2, 65534, pp_is_even},
                         "%s %d: chimera needs an even number", pp_shape_ranks_option(shape),
                         ranks));
    if (pipelines % 2 == 0 && ranks % pipelines == 0)
        PP_TRY(pp_want_legal(err, shape, pairs,
                             "--pipelines %d: --concat %s has one pair of pipelines", pipelines,
                             concat->name));
    else
        PP_TRY(pp_want_legal(err, shape, pairs, "--pipelines %d does not divide %s %d", pipelines,
                             pp_shape_ranks_option(shape), ranks));
    if (shape->granules != concat->granules)
        return pp_error_set(err, PP_EINVAL, "granules %d: --concat %s has %d a micro-batch",
                            shape->granules, concat->name, concat->granules);
    const int step = step_of(shape);
    const struct pp_wanted units = {n, 1, n + step, fills_units};
    if (shape->option[PP_CONCAT_AT] == PP_CONCAT_DIRECT)
        return pp_want_legal(err, shape, units,
                             "--micro-batches %d: chimera fills pipelines of %d each", n, step);
    return pp_want_legal(err, shape, units,
                         "--micro-batches %d: --concat %s takes whole units of %d", n, concat->name,
                         step);
}

static void defaults(struct pp_shape *shape)
{
    if (shape->granules == 0 && shape->option[PP_CONCAT_AT] != PP_CONCAT_AUTO)
        shape->granules = concat_of(shape)->granules;
}

/* ---- auto ------------------------------------------------------------------------------------ */

static void choose(struct pp_shape *shape, int concat)
{
    shape->option[PP_CONCAT_AT] = concat;
    shape->granules = concats[concat].granules;
}

static const struct pp_schedule_variant *variants(const struct pp_shape *shape)
{
    static const struct pp_schedule_variant all[] = {
        {"concat", "direct", PP_CONCAT_DIRECT, choose},
        {"concat", "doubling", PP_CONCAT_DOUBLING, choose},
        {"concat", "halving", PP_CONCAT_HALVING, choose},
        {0}};

    return shape->option[PP_CONCAT_AT] == PP_CONCAT_AUTO ? all : NULL;
}

/* ---- closed forms ---------------------------------------------------------------------------- */

/* Idle time divided by D/f - 2: idle[0] in the first unit, idle[1] in each later one. idle[1] is
 * the intermediate bubble of section 3.5, which doubling and halving close when B = 2F. F = B gives
 * the paper's table for direct, B = 2F that for doubling. Tests compare it with the evaluator. */
static void idle_of(const struct pp_shape *shape, const struct pp_unit_costs *unit, double idle[2])
{
    const double f = unit->f, b = unit->b;

    if (shape->option[PP_CONCAT_AT] == PP_CONCAT_DIRECT) {
        idle[0] = fmax(f, b);
        idle[1] = fabs(b - f);
    } else if (shape->option[PP_CONCAT_AT] == PP_CONCAT_DOUBLING) {
        idle[0] = fmax(f, fmax((f + b) / 2, b - f));
        idle[1] = fmax(0, fmax(f - b, b - 2 * f));
    } else {
        idle[0] = fmax(f, b / 2);
        idle[1] = fabs(f - b / 2);
    }
}

static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    double idle[2], all;

    (void)rank;
    if (shape->option[PP_CONCAT_AT] == PP_CONCAT_AUTO ||
        shape->micro_batches % per_unit(shape) != 0)
        return (double)NAN;
    idle_of(shape, unit, idle);
    all = (2 * slots_of(shape) - 2) *
          (idle[0] + (shape->micro_batches / per_unit(shape) - 1) * idle[1]);
    return all / (all + shape->micro_batches * (unit->f + unit->b));
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    if (shape->option[PP_CONCAT_AT] == PP_CONCAT_AUTO ||
        shape->micro_batches % per_unit(shape) != 0)
        return (double)NAN;
    const int slots = slots_of(shape), place = rank % (2 * slots);
    const struct concat *concat = concat_of(shape);
    return (double)(concat->per_forward * shape->ranks - slots + 1 +
                    PP_MIN(place, 2 * slots - 1 - place)) /
           concat->granules;
}

const struct pp_schedule pp_schedule_chimera = {
    .name = "chimera",
    .summary = "bidirectional pipelines over the same ranks",
    .rule = "f pipelines down and f up; a rank runs its ops by slot; in unit u the slot of op j at "
            "stage s is (1+k)Du+2(j div k)+s (F) or (1+k)Du+2j+2D-1-s (B); direct: k = 1, doubling "
            "and halving: k = 2",
    .when = "N near D: half of the bubbles of 1f1b for two copies of the weights; larger N needs "
            "doubling (twice the activations) or halving (smaller kernels)",
    .source = "Li and Hoefler, SC'21, section 3",
    .placement = PP_PLACE_TWO_WAY,
    .chunks = 1,
    .sizes = PP_SIZE_PIPELINES | PP_SIZE_GRANULES,
    .options = {[PP_CONCAT_AT] = &concat_option},
    .limits = "D even, 2f divides D, N a multiple of D/(2f); doubling: f = 1, N a multiple of 2D; "
              "halving: f = 1, N a multiple of D, even --mbs",
    .accepts = accepts,
    .defaults = defaults,
    .key = key,
    .variants = variants,
    .pipeline_of = pipeline_of,
    .bubble_frac = {"w/(N(F+B)+w) for whole units; direct: w = (D/f-2)(max(F,B) + (N/D-1)|B-F|); "
                    "doubling: w = (D-2)(max(F,(F+B)/2,B-F) + (N/(2D)-1)max(0,F-B,B-2F)); "
                    "halving: w = (D-2)(max(F,B/2) + (N/D-1)|F-B/2|)",
                    true, bubble},
    .peak = {"(kD - D/(2f) + 1 + min(i, D/f-1-i)) / g, i = r mod D/f; doubling k = 2, halving "
             "k = g = 2, else 1:",
             true, peak},
};
