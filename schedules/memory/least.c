/* Walks the compute ops of every rank once, with the bytes that a chunk holds for certain. */
#include "schedules/memory/least.h"

#include <math.h>

#define ROUNDING 1e-6 /* relative: tensors have whole bytes */

static double state_bytes(const struct pp_stage_memory *m)
{
    return m->params_bytes + m->grads_bytes + m->optimizer_bytes;
}

/* Returns the bytes that an op adds to what its rank holds. */
static double change_of(const struct pp_stage_memory *m, int kind)
{
    const double kept = fmin(m->checkpoint_bytes, m->saved_bytes),
                 left = fmin(kept, m->saved_bytes * m->weight_grad_frac);

    return kind == PP_F   ? kept
           : kind == PP_B ? -kept
           : kind == PP_I ? left - kept
           : kind == PP_W ? -left
                          : 0;
}

double pp_memory_least_bytes(struct pp_arena *arena, const struct pp_orders *lists,
                             const struct pp_costs *costs, int cells)
{
    int *rank_of = PP_ARRAY(arena, int, costs->stages); /* 1 + the rank whose state has the stage */
    double most_bytes = 0;

    for (int rank = 0; rank < lists->ranks; rank++) {
        double state = 0, held = 0, most = 0;
        for (int i = 0; i < lists->count[rank]; i++) {
            const struct pp_op *op = &lists->ops[rank][i];
            const struct pp_stage_memory *m = &costs->memory[op->stage];
            if (rank_of[op->stage] != rank + 1)
                state += state_bytes(m);
            rank_of[op->stage] = rank + 1;
            held += change_of(m, op->kind) * op->granules / cells;
            most = fmax(most, held);
        }
        most_bytes = fmax(most_bytes, state + most);
    }
    return (most_bytes + costs->other_bytes) * (1 - ROUNDING);
}
