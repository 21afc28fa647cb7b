/* Walks the compute ops of every rank once, with the bytes that a chunk holds for certain. */
#include "schedules/memory/least.h"

#include "schedules/memory/changes.h"

#include <math.h>

#define ROUNDING 1e-6 /* relative */

/* Bytes of one cell of a stage. */
struct cell {
    double kept;              /* from F to its backward */
    double again;             /* recomputed before the backward */
    double left;              /* from I to W */
    double forward, backward; /* while these run */
};

static double share_of(double bytes, int cells)
{
    return rint(bytes / cells);
}

static struct cell cell_of(const struct pp_stage_memory *m, const struct pp_least_options *o,
                           int stage)
{
    const bool is_recomputed = o->recompute_frac && o->recompute_frac[stage] > 0;
    const double saved = share_of(m->saved_bytes, o->cells),
                 kept =
                     is_recomputed ? fmin(saved, share_of(m->checkpoint_bytes, o->cells)) : saved;
    struct cell cell = {.forward = share_of(m->forward_bytes, o->cells),
                        .backward = share_of(m->backward_bytes, o->cells)};

    if (!o->is_moved) {
        cell.kept = kept;
        cell.again = saved - kept;
        cell.left = rint(saved * m->weight_grad_frac);
    }
    return cell;
}

static double state_bytes(const struct pp_stage_memory *m, int versions)
{
    return m->params_bytes * versions + m->grads_bytes + m->optimizer_bytes;
}

/* Adds an op to what its rank holds; returns the bytes while it runs. */
static double run(const struct cell *cell, const struct pp_op *op, double *held)
{
    const double before = *held;

    switch (op->kind) {
    case PP_F:
        *held += op->granules * cell->kept;
        return *held + op->granules * cell->forward;
    case PP_B:
        *held -= op->granules * cell->kept;
        return before + op->granules * (cell->again + cell->backward);
    case PP_I:
        *held += op->granules * (cell->left - cell->kept);
        return before + op->granules * (cell->again + cell->backward);
    case PP_W:
        *held -= op->granules * cell->left;
        return before;
    default:
        return before;
    }
}

/* Returns the tensors of a rank; `versions` [pipeline * stages + stage] is all 0. */
static double tensors_of(const struct pp_orders *lists, int rank, const struct pp_costs *costs,
                         const struct cell *cells, int *versions)
{
    double held = 0, most = 0, state = 0;

    for (int i = 0; i < lists->count[rank]; i++) {
        const struct pp_op *op = &lists->ops[rank][i];
        int *known = &versions[op->pipe * costs->stages + op->stage];
        const int count = op->kind == PP_F ? op->version + 1 : 1;
        if (*known < count) {
            const struct pp_stage_memory *m = &costs->memory[op->stage];
            state += state_bytes(m, count) - (*known ? state_bytes(m, *known) : 0);
            *known = count;
        }
        most = fmax(most, run(&cells[op->stage], op, &held));
    }
    return state + most;
}

double pp_memory_least_bytes(struct pp_arena *arena, const struct pp_orders *lists,
                             const struct pp_costs *costs, const struct pp_least_options *options)
{
    struct cell *cells = PP_ARRAY(arena, struct cell, costs->stages);
    int *versions = PP_ARRAY(arena, int, (size_t)options->pipelines *(size_t)costs->stages);
    double tensors = 0;

    for (int s = 0; s < costs->stages; s++)
        cells[s] = cell_of(&costs->memory[s], options, s);
    for (int rank = 0; rank < lists->ranks; rank++)
        tensors = fmax(tensors, tensors_of(lists, rank, costs, cells, versions));
    return (tensors + costs->other_bytes + pp_memory_wasted_bytes(costs, tensors)) * (1 - ROUNDING);
}
