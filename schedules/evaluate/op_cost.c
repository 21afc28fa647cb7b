/* Cost of a compute op with the copies that share its links. */
#include "schedules/evaluate/op_cost.h"

#include "schedules/memory/copied.h"

static bool is_gradient(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_B || p->kind[i] == PP_W;
}

/* Returns the time that parameters and gradients inside op i take on the link up, or down. */
static int64_t state_ps(const struct pp_program *p, const struct pp_costs *costs, int i, bool is_up)
{
    const int kind = p->kind[i];

    if (!costs->gathers)
        return 0;
    const struct pp_stage_gathers *g = &costs->gathers[p->stage[i]];
    if (!is_up)
        return is_gradient(p, i) ? g->part_ps : 0;
    const int64_t loads_ps = kind == PP_F                   ? g->load_ps
                             : kind == PP_B || kind == PP_I ? g->reload_ps
                                                            : 0;
    const bool has_sum = g->sum_ps > 0 && is_gradient(p, i) && pp_program_brings_sum(p, i);
    return loads_ps + (has_sum ? g->sum_ps : 0);
}

/* Returns the time of saved activations: down in F, up in what uses them. */
static int64_t saved_ps(const struct pp_program *p, const struct pp_costs *costs, int i, bool is_up)
{
    const struct pp_cost *inner = costs->inner[p->kind[i]];

    if (!inner || is_up == (p->kind[i] == PP_F))
        return 0;
    return pp_costs_share_ps(inner[p->stage[i] * costs->splits + p->split[i]].ps,
                             p->granule_count[i], costs->granules);
}

/* Returns the time of keys and values that move inside of op i. */
static int64_t cached_ps(const struct pp_program *p, const struct pp_costs *costs, int i,
                         bool is_up)
{
    const struct pp_cost *cached = costs->cached[is_up ? PP_COPY_UP : PP_COPY_DOWN];

    return cached && p->kind[i] == PP_F
               ? pp_costs_share_ps(cached[p->stage[i]].ps, p->granule_count[i], costs->granules)
               : 0;
}

/* Returns the time that copies inside op i take on the link up, or down; 0 if there are none. */
static int64_t inner_ps(const struct pp_program *p, const struct pp_costs *costs, int i, bool is_up)
{
    return state_ps(p, costs, i, is_up) + saved_ps(p, costs, i, is_up) +
           cached_ps(p, costs, i, is_up);
}

/* Returns the first instruction of the list of i. */
static int first_of(const struct pp_program *p, int i)
{
    return p->begin[pp_program_rank_at(p, i)];
}

static bool is_on_link(const struct pp_program *p, int i, bool is_up)
{
    return pp_op_is_move(p->kind[i]) &&
           pp_move_stream(p->purpose[i]) == (is_up ? PP_COPY_UP : PP_COPY_DOWN);
}

/* Returns the time of the copies on a link, from `first` on, that may still run when i begins.
 * After a WAIT only copies posted later remain. Compute that ran concurrently is subtracted. */
static int64_t open_ps(const struct pp_program *p, const struct pp_costs *costs, int first, int i,
                       bool is_up)
{
    const int list = first_of(p, i);
    int64_t left_ps = 0, queued_ps;

    for (int k = first; k < i; k++) {
        const struct pp_op op = pp_program_op(p, k);
        const int target = list + op.arg;
        if (is_on_link(p, k, is_up)) {
            left_ps += pp_costs_op_ps(costs, &op, NULL);
        } else if (op.kind == PP_WAIT && target >= first && is_on_link(p, target, is_up)) {
            queued_ps = 0; /* copies posted after the one waited for */
            for (int j = target + 1; j < k; j++) {
                const struct pp_op copy = pp_program_op(p, j);
                queued_ps += is_on_link(p, j, is_up) ? pp_costs_op_ps(costs, &copy, NULL) : 0;
            }
            left_ps = left_ps < queued_ps ? left_ps : queued_ps;
        } else if (pp_op_is_compute(op.kind)) {
            const int64_t ps = pp_costs_op_ps(costs, &op, NULL);
            left_ps = left_ps > ps ? left_ps - ps : 0;
        }
    }
    return left_ps;
}

/* Returns the time of copies concurrent with i: those posted since the last op with some inside. */
static int64_t overlap_ps(const struct pp_program *p, const struct pp_costs *costs, int i,
                          bool is_up)
{
    const int list = first_of(p, i);
    int first = i;

    while (first > list && inner_ps(p, costs, first - 1, is_up) == 0)
        first--;
    return open_ps(p, costs, first, i, is_up);
}

/* Makes an op last as long as the copies on a link, its own and those concurrent with it. */
static void lengthen(const struct pp_program *p, const struct pp_costs *costs, int i, bool is_fused,
                     bool is_up, struct pp_cost *cost)
{
    int64_t link_ps =
        inner_ps(p, costs, i, is_up) + (is_fused ? inner_ps(p, costs, i + 1, is_up) : 0);

    if (link_ps == 0)
        return;
    link_ps += overlap_ps(p, costs, i, is_up);
    if (link_ps > cost->ps) {
        cost->copy_ps += link_ps - cost->ps;
        cost->ps = link_ps;
    }
}

/* With one buffer, sums of gradients come up before the compute that adds to them. */
static int64_t late_sums_ps(const struct pp_program *p, const struct pp_costs *costs, int i)
{
    return costs->gathers && costs->gather_buffers < 2 && costs->gathers[p->stage[i]].sum_ps > 0 &&
                   is_gradient(p, i) && pp_program_brings_sum(p, i)
               ? costs->gathers[p->stage[i]].sum_ps
               : 0;
}

struct pp_cost pp_program_cost(const struct pp_program *p, const struct pp_costs *costs, int i,
                               bool is_fused)
{
    const struct pp_op op = pp_program_op(p, i),
                       second = is_fused ? pp_program_op(p, i + 1) : (struct pp_op){0};
    struct pp_cost cost = pp_costs_op(costs, &op, is_fused ? &second : NULL);

    if (!pp_costs_have_inner(costs))
        return cost;
    const int64_t late_ps = late_sums_ps(p, costs, i);
    cost.ps += late_ps;
    cost.copy_ps += late_ps;
    lengthen(p, costs, i, is_fused, true, &cost);
    lengthen(p, costs, i, is_fused, false, &cost);
    return cost;
}

int64_t pp_program_ps(const struct pp_program *p, const struct pp_costs *costs, int i,
                      bool is_fused)
{
    if (pp_costs_have_inner(costs))
        return pp_program_cost(p, costs, i, is_fused).ps;
    const struct pp_op op = pp_program_op(p, i),
                       second = is_fused ? pp_program_op(p, i + 1) : (struct pp_op){0};
    return pp_costs_op_ps(costs, &op, is_fused ? &second : NULL);
}
