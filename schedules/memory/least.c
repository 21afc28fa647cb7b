/* Walks the compute ops of every rank once, with the bytes that a chunk holds for certain. */
#include "schedules/memory/least.h"

#include "schedules/memory/changes.h"

#include <math.h>

#define ROUNDING 1e-6 /* relative */

/* Bytes of one cell that an op adds for good, and that it needs while it runs. */
struct effect {
    double change, most;
    double away; /* adds on another tier */
};
enum { EFFECTS = PP_W + 1 }; /* kinds of ops in an order */

/* The last forwards may not have moved their activations: those that are used again before two
 * other ops have run stay on the device (schedules/lower/moves.c). */
enum { UNMOVED = 4 };

static double share_of(double bytes, int cells)
{
    return rint(bytes / cells);
}

/* A recomputed stage keeps its checkpoint until its backward. What is moved is whole at its forward
 * and at its backward. */
static void set_effects(const struct pp_stage_memory *m, const struct pp_least_options *o,
                        int stage, struct effect effects[EFFECTS])
{
    const bool is_recomputed = o->recompute_frac && o->recompute_frac[stage] > 0;
    const double saved = share_of(m->saved_bytes, o->cells),
                 kept =
                     is_recomputed ? fmin(saved, share_of(m->checkpoint_bytes, o->cells)) : saved,
                 left = rint(saved * m->weight_grad_frac),
                 backward = saved - kept + share_of(m->backward_bytes, o->cells);

    effects[PP_F] = (struct effect){kept, kept + share_of(m->forward_bytes, o->cells)};
    effects[PP_B] = (struct effect){-kept, backward};
    effects[PP_I] = (struct effect){left - kept, backward};
    effects[PP_W] = (struct effect){-left, 0};
    if (!o->is_moved)
        return;
    const double resting = m->resting_frac > 0 ? rint(m->resting_frac * kept) : kept,
                 moved = m->moved_frac > 0 ? rint(m->moved_frac * resting) : resting;
    for (int kind = 0; kind < EFFECTS; kind++) {
        effects[kind].most += kind == PP_B || kind == PP_I ? kept : 0;
        effects[kind].change = 0;
        effects[kind].away = kind == PP_F ? moved : kind == PP_W ? 0 : -moved;
    }
}

static double state_bytes(const struct pp_stage_memory *m, int versions)
{
    return m->params_bytes * versions + m->grads_bytes + m->optimizer_bytes;
}

/* Returns the state of the chunks whose ops are in the list; `versions` [pipeline * stages + stage]
 * is all 0. */
static struct pp_least state_of(const struct pp_orders *lists, int rank,
                                const struct pp_costs *costs, int *versions)
{
    struct pp_least state = {0};

    for (int i = 0; i < lists->count[rank]; i++) {
        const struct pp_op *op = &lists->ops[rank][i];
        int *known = &versions[op->pipe * costs->stages + op->stage];
        if (*known > op->version)
            continue;
        const struct pp_stage_memory *m = &costs->memory[op->stage];
        state.bytes += state_bytes(m, op->version + 1) - (*known ? state_bytes(m, *known) : 0);
        state.away_bytes += *known ? 0 : m->away_bytes[costs->saved_home];
        *known = op->version + 1;
    }
    return state;
}

/* Returns the most bytes of activations and scratch of a rank. */
static double held_of(const struct pp_orders *lists, int rank, const struct effect *effects)
{
    const struct pp_op *ops = lists->ops[rank];
    double held = 0, most = 0;

    for (int i = 0; i < lists->count[rank]; i++) {
        const struct effect *effect = &effects[ops[i].stage * EFFECTS + ops[i].kind];
        const double now = held + ops[i].granules * effect->most;
        most = now > most ? now : most;
        held += ops[i].granules * effect->change;
    }
    return most;
}

/* Returns the most bytes of activations of a rank on another tier; 0 if an op does several
 * granules, whose backwards may be far apart. */
static double away_of(const struct pp_orders *lists, int rank, const struct effect *effects)
{
    const struct pp_op *ops = lists->ops[rank];
    double held = 0, most = 0, largest = 0;

    for (int i = 0; i < lists->count[rank]; i++) {
        const double away = effects[ops[i].stage * EFFECTS + ops[i].kind].away;
        if (ops[i].granules > 1)
            return 0;
        held += away;
        most = held > most ? held : most;
        largest = away > largest ? away : largest;
    }
    return fmax(0, most - UNMOVED * largest);
}

struct pp_least pp_memory_least(struct pp_arena *arena, const struct pp_orders *lists,
                                const struct pp_costs *costs,
                                const struct pp_least_options *options)
{
    struct effect *effects = PP_ARRAY(arena, struct effect, EFFECTS * (size_t)costs->stages);
    int *versions = PP_ARRAY(arena, int, (size_t)options->pipelines *(size_t)costs->stages);
    double tensors = 0, away_bytes = 0;

    for (int s = 0; s < costs->stages; s++)
        set_effects(&costs->memory[s], options, s, &effects[s * EFFECTS]);
    for (int rank = 0; rank < lists->ranks; rank++) {
        const struct pp_least state = state_of(lists, rank, costs, versions);
        tensors = fmax(tensors, state.bytes + held_of(lists, rank, effects));
        if (options->is_moved)
            away_bytes = fmax(away_bytes, state.away_bytes + away_of(lists, rank, effects));
    }
    return (struct pp_least){
        (tensors + costs->other_bytes + pp_memory_wasted_bytes(costs, tensors)) * (1 - ROUNDING),
        away_bytes * (1 - ROUNDING)};
}
