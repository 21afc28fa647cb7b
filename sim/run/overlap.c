/* Sums that run next to no op: they slow no backward. */
#include "sim/run/overlap.h"

/* Is true if the rank of instruction i computes after it, up to an update of its stage. */
static bool is_followed(const struct pp_program *p, int i, int end)
{
    for (int k = i + 1; k < end && !(p->kind[k] == PP_U && p->stage[k] == p->stage[i]); k++)
        if (pp_op_has_cell(p->kind[k]))
            return true;
    return false;
}

static bool has_overlap(const struct pp_program *p, int i, int end)
{
    int numerator, denominator;

    return pp_program_posted_inside(p, i, &numerator, &denominator) >= 0 || is_followed(p, i, end);
}

void pp_overlap_settle(const struct pp_program *p, struct pp_costs *costs)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    bool *overlaps = PP_ARRAY(scratch, bool, costs->stages);

    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
            if ((p->kind[i] == PP_AR || p->kind[i] == PP_RS) && !overlaps[p->stage[i]])
                overlaps[p->stage[i]] = has_overlap(p, i, p->begin[r + 1]);
    for (int s = 0; s < costs->stages; s++) {
        struct pp_cost *update = &costs->op[PP_U][s];

        if (overlaps[s])
            continue;
        update->ps -= update->gather_ps;
        update->gather_ps = 0;
    }
}
