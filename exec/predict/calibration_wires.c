/* Durations of messages and sums on the wall clock. They begin when all sides have posted and the
 * stream is free, so waiting for a peer does not count. */
#include "exec/predict/calibration.h"

#include <math.h>

/* ---- messages -------------------------------------------------------------------------------- */

static void add_channel(struct pp_calibration *c, const struct pp_program *p,
                        const struct pp_costs *costs, const struct pp_channel *channel,
                        int (*sides)[2], const struct pp_step_times *times, int replica)
{
    int64_t over_ps = times->begin_ps;

    for (int id = channel->first; id < channel->first + channel->count; id++) {
        const struct pp_op op = pp_program_op(p, sides[id][0]);
        const size_t send = pp_step_row(times, sides[id][0], replica),
                     recv = pp_step_row(times, sides[id][1], replica);
        const int64_t both_ps = pp_later_ps(times->posted_ps[send], times->posted_ps[recv]),
                      end_ps = pp_later_ps(times->end_ps[send], times->end_ps[recv]);

        pp_samples_add(c, pp_sized(c->arena, &c->messages, pp_costs_message_bytes(costs, &op)),
                       (double)pp_later_ps(0, end_ps - pp_later_ps(both_ps, over_ps)));
        over_ps = end_ps;
    }
}

static void add_messages(struct pp_calibration *c, const struct pp_program *p,
                         const struct pp_costs *costs, const struct pp_step_times *times)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    int(*sides)[2] = pp_arena_alloc(scratch, sizeof(*sides) * ((size_t)p->message_count + 1));

    for (int i = 0; i < pp_program_size(p); i++)
        if (pp_op_is_send(p->kind[i]) || pp_op_is_recv(p->kind[i]))
            sides[p->arg[i]][pp_op_is_recv(p->kind[i])] = i;
    for (int k = 0; k < p->channel_count; k++)
        for (int replica = 0; replica < times->replicas; replica++)
            add_channel(c, p, costs, &p->channels[k], sides, times, replica);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Earliest possible begin of a collective, and its end. */
struct bounds {
    int64_t begin_ps, end_ps;
    int instruction;
};

static void find_bounds(const struct pp_program *p, const struct pp_step_times *times, int rank,
                        int replica, struct bounds *bounds)
{
    int64_t over_ps = times->begin_ps;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const size_t row = pp_step_row(times, i, replica);

        if (!pp_op_is_collective(p->kind[i]))
            continue;
        struct bounds *b = &bounds[p->arg[i]];
        b->instruction = i;
        b->begin_ps = pp_later_ps(b->begin_ps, pp_later_ps(times->posted_ps[row], over_ps));
        b->end_ps = pp_later_ps(b->end_ps, times->end_ps[row]);
        over_ps = times->end_ps[row];
    }
}

/* Adds durations of sums as multiples of their costs, which know members and bytes. */
static void add_sums(struct pp_calibration *c, const struct pp_program *p,
                     const struct pp_costs *costs, const struct pp_step_times *times)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct bounds *bounds = PP_ARRAY(scratch, struct bounds, p->collective_count + 1);

    for (int rank = 0; rank < p->ranks; rank++)
        for (int replica = 0; replica < times->replicas; replica++)
            find_bounds(p, times, rank, replica, bounds);
    for (int k = 0; k < p->collective_count; k++) {
        const struct pp_op op = pp_program_op(p, bounds[k].instruction);
        const int64_t costs_ps = pp_costs_op_ps(costs, &op, NULL);

        if (costs_ps > 0)
            pp_samples_add(c, &c->sum[op.kind],
                           (double)pp_later_ps(0, bounds[k].end_ps - bounds[k].begin_ps) /
                               (double)costs_ps);
    }
}

void pp_calibration_wires(struct pp_calibration *c, const struct pp_program *program,
                          const struct pp_costs *costs, const struct pp_step_times *times)
{
    add_messages(c, program, costs, times);
    add_sums(c, program, costs, times);
}

/* ---- costs ----------------------------------------------------------------------------------- */

/* Fits a line through the medians of the smallest and the largest size. One size is all bandwidth,
 * so that it keeps its duration; sizes of equal duration are all latency. */
bool pp_calibration_wire(const struct pp_calibration *c, struct pp_measured_wire *wire)
{
    const struct pp_sized_samples *least, *most;

    pp_sized_ends(&c->messages, &least, &most);
    if (!most)
        return false;
    const double least_ps = pp_samples_median(&least->took),
                 most_ps = pp_samples_median(&most->took);
    const double slope =
        least == most ? most_ps / most->size : (most_ps - least_ps) / (most->size - least->size);
    const double ps_per_byte = fmax(0, fmin(slope, most_ps / most->size));

    *wire = (struct pp_measured_wire){.alpha_s = 1e-12 * (most_ps - ps_per_byte * most->size),
                                      .s_per_byte = 1e-12 * ps_per_byte};
    return true;
}

/* Factors on the latency of a sum and on the rest of its cost. If no such sum was measured, they
 * follow from the wire of messages. */
struct repriced {
    double alpha, rest;
};

static struct repriced repriced_of(const struct pp_calibration *c, int kind,
                                   const struct pp_measured_wire *wire,
                                   const struct pp_costs *costs)
{
    const double factor = pp_samples_median(&c->sum[kind]);

    if (c->sum[kind].count > 0)
        return (struct repriced){factor, factor};
    return (struct repriced){
        costs->alpha_ps[0] > 0 ? 1e12 * wire->alpha_s / (double)costs->alpha_ps[0] : 0,
        wire->s_per_byte / costs->s_per_byte[0]};
}

static struct pp_cost reprice(struct pp_cost cost, struct repriced how)
{
    const double rest_ps = (double)(cost.ps - cost.latency_ps);

    cost.latency_ps = llround(how.alpha * (double)cost.latency_ps);
    cost.ps = cost.latency_ps + llround(how.rest * rest_ps);
    return cost;
}

static void fill_sums(struct pp_arena *arena, int kind, struct repriced how, struct pp_costs *costs)
{
    struct pp_cost *own = PP_ARRAY(arena, struct pp_cost, costs->stages + 1);

    for (int s = 0; s < costs->stages; s++)
        own[s] = reprice(costs->op[kind][s], how);
    if (kind == PP_AR && costs->tied) {
        own[costs->stages] = reprice(*costs->tied, how);
        costs->tied = &own[costs->stages];
    }
    costs->op[kind] = own;
}

static void fill_messages(struct pp_arena *arena, const struct pp_measured_wire *wire,
                          struct pp_costs *costs)
{
    costs->alpha_ps = PP_ARRAY(arena, int64_t, costs->links);
    costs->s_per_byte = PP_ARRAY(arena, double, costs->links);
    for (int k = 0; k < costs->links; k++) {
        costs->alpha_ps[k] = llround(1e12 * wire->alpha_s);
        costs->s_per_byte[k] = wire->s_per_byte;
    }
}

void pp_calibration_fill_wires(struct pp_arena *arena, const struct pp_calibration *c,
                               struct pp_costs *costs)
{
    static const int SUMS[] = {PP_AR, PP_RS, PP_AG};
    struct pp_measured_wire wire;
    const bool has_wire = pp_calibration_wire(c, &wire);

    for (size_t k = 0; k < PP_COUNT(SUMS); k++)
        if (costs->op[SUMS[k]] && (has_wire || c->sum[SUMS[k]].count > 0))
            fill_sums(arena, SUMS[k], repriced_of(c, SUMS[k], &wire, costs), costs);
    if (has_wire)
        fill_messages(arena, &wire, costs);
}
