/* schedules/seq1f1b.c — 1F1B over sequence splits: forwards take the splits of a micro-batch in
 * order, backwards in reverse, as causal attention needs. */
#include "schedules/order/closed_form.h"

static int units(const struct pp_shape *shape)
{
    return shape->micro_batches * shape->splits;
}

static int warmup_of(const struct pp_shape *shape, int rank)
{
    return PP_MIN(shape->ranks - rank - 2 + shape->splits, units(shape));
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    pp_phase(out, warmup_of(shape, rank), "F");
    pp_phase(out, units(shape), "F B");
}

static void defaults(struct pp_shape *shape)
{
    if (shape->splits == 0)
        shape->splits = 2;
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit;
    return (double)PP_MIN(warmup_of(shape, rank) + 1, units(shape)) / shape->splits;
}

const struct pp_schedule pp_schedule_seq1f1b = {
    .name = "seq1f1b",
    .summary = "1f1b over sequence splits of each micro-batch",
    .rule = "rank r: min(D-r-2+q, Nq) forwards of splits, then F B pairs, then the remaining "
            "backwards; splits ascending in F, descending in B",
    .when = "long sequences and few micro-batches; causal attention",
    .source = "Sun et al., Seq1F1B (2024), section 3; sail-sg zero-bubble seq1f1b.py",
    .placement = PP_PLACE_LOOP,
    .chunks = 1,
    .sizes = PP_SIZE_SPLITS,
    .limits = "none",
    .defaults = defaults,
    .phases = phases,
    .bubble_frac = {"(D-1)/(Nq+D-1)", true, pp_bubble_flush},
    .peak = {"min(D-r-1+q, Nq)/q", true, peak},
};
