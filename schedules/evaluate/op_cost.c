/* Cost of a compute op with the copies that share its link. */
#include "schedules/evaluate/op_cost.h"

/* Returns the link time of the loads inside op i; 0 if it loads nothing. */
static int64_t load_ps_of(const struct pp_program *p, const struct pp_costs *costs, int i)
{
    const int kind = p->kind[i], stage = p->stage[i];

    if (kind != PP_F && kind != PP_B && kind != PP_I)
        return 0;
    return kind == PP_F ? costs->gathers[stage].load_ps : costs->gathers[stage].reload_ps;
}

/* Returns the first instruction of the list of i. */
static int first_of(const struct pp_program *p, int i)
{
    return p->begin[pp_program_rank_at(p, i)];
}

static bool is_up(const struct pp_program *p, int i)
{
    return pp_op_is_move(p->kind[i]) && pp_move_is_up(p->purpose[i]);
}

/* Returns the time of the copies to the device, from `first` on, that may still run when i begins.
 * After a WAIT only copies posted later remain. Compute that ran concurrently is subtracted. */
static int64_t open_ps(const struct pp_program *p, const struct pp_costs *costs, int first, int i)
{
    const int list = first_of(p, i);
    int64_t left_ps = 0, queued_ps;

    for (int k = first; k < i; k++) {
        const struct pp_op op = pp_program_op(p, k);
        const int target = list + op.arg;
        if (is_up(p, k)) {
            left_ps += pp_costs_op_ps(costs, &op, NULL);
        } else if (op.kind == PP_WAIT && target >= first && is_up(p, target)) {
            queued_ps = 0; /* copies posted after the one waited for */
            for (int j = target + 1; j < k; j++) {
                const struct pp_op copy = pp_program_op(p, j);
                queued_ps += is_up(p, j) ? pp_costs_op_ps(costs, &copy, NULL) : 0;
            }
            left_ps = left_ps < queued_ps ? left_ps : queued_ps;
        } else if (pp_op_is_compute(op.kind)) {
            const int64_t ps = pp_costs_op_ps(costs, &op, NULL);
            left_ps = left_ps > ps ? left_ps - ps : 0;
        }
    }
    return left_ps;
}

/* Returns the time of copies concurrent with i: those posted since the last op that loads. */
static int64_t overlap_ps(const struct pp_program *p, const struct pp_costs *costs, int i)
{
    const int list = first_of(p, i);
    int first = i;

    while (first > list && load_ps_of(p, costs, first - 1) == 0)
        first--;
    return open_ps(p, costs, first, i);
}

struct pp_cost pp_program_cost(const struct pp_program *p, const struct pp_costs *costs, int i,
                               bool is_fused)
{
    const struct pp_op op = pp_program_op(p, i),
                       second = is_fused ? pp_program_op(p, i + 1) : (struct pp_op){0};
    struct pp_cost cost = pp_costs_op(costs, &op, is_fused ? &second : NULL);

    if (!costs->gathers)
        return cost;
    int64_t link_ps = load_ps_of(p, costs, i) + (is_fused ? load_ps_of(p, costs, i + 1) : 0);
    if (link_ps == 0)
        return cost;
    link_ps += overlap_ps(p, costs, i);
    if (link_ps > cost.ps) {
        cost.copy_ps += link_ps - cost.ps;
        cost.ps = link_ps;
    }
    return cost;
}

int64_t pp_program_ps(const struct pp_program *p, const struct pp_costs *costs, int i,
                      bool is_fused)
{
    if (costs->gathers)
        return pp_program_cost(p, costs, i, is_fused).ps;
    const struct pp_op op = pp_program_op(p, i),
                       second = is_fused ? pp_program_op(p, i + 1) : (struct pp_op){0};
    return pp_costs_op_ps(costs, &op, is_fused ? &second : NULL);
}
