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
                 moved = m->moved_frac > 0 ? rint(m->moved_frac * resting) : resting,
                 inner = ceil(m->inner_frac * moved), /* never all at once on the device */
        here = kept - fmax(0, 2 * inner - moved);
    effects[PP_F].most -= kept - here;
    for (int kind = 0; kind < EFFECTS; kind++) {
        effects[kind].most += kind == PP_B || kind == PP_I ? here : 0;
        effects[kind].change = 0;
        effects[kind].away = kind == PP_F ? moved : kind == PP_W ? 0 : -moved;
    }
}

/* A pass adds to the cache of its group; the last one ends it. */
static void set_cached(const struct pp_costs *costs, const struct pp_least_options *o,
                       struct effect *effects)
{
    const int model = costs->stages / o->passes;

    for (int s = 0; s < model; s++) {
        double cached = 0;
        for (int v = s; v < costs->stages; v += model) {
            const struct pp_stage_memory *m = &costs->memory[v];
            const double kv = share_of(m->kv_bytes, o->cells);
            cached += kv;
            effects[v * EFFECTS + PP_F] =
                (struct effect){.change = v + model < costs->stages ? kv : kv - cached,
                                .most = kv + share_of(m->forward_bytes, o->cells) +
                                        share_of(m->kv_room_bytes, o->cells)};
        }
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

/* A walk over the list of a rank. */
struct walk {
    const struct pp_op *ops;
    int count;
    const struct effect *effects;
    const struct pp_program_cut *cut; /* NULL = the list is whole */
    int place, last_place;            /* of the cut */
};

static struct walk walk_of(const struct pp_orders *lists, int rank, const struct effect *effects,
                           const struct pp_program_cut *cut)
{
    return (struct walk){.ops = lists->ops[rank],
                         .count = lists->count[rank],
                         .effects = effects,
                         .cut = cut,
                         .place = cut ? cut->begin[rank] : 0,
                         .last_place = cut ? cut->begin[rank + 1] : 0};
}

static const struct effect *effect_of(const struct walk *w, int i)
{
    return &w->effects[w->ops[i].stage * EFFECTS + w->ops[i].kind];
}

/* Returns the bytes that the periods left out before an op add, on another tier or not. Each adds
 * as much as the one before. */
static double left_out(struct walk *w, int i, bool is_away)
{
    double bytes = 0;

    if (w->place == w->last_place || w->cut->places[w->place].at != i)
        return 0;
    for (int k = i - w->cut->places[w->place++].length; k < i; k++)
        bytes += is_away ? effect_of(w, k)->away : w->ops[k].granules * effect_of(w, k)->change;
    return bytes * w->cut->periods;
}

/* Returns the most bytes of activations and scratch of a rank. The periods that are left out hold
 * no more than that before or that after them. */
static double held_of(struct walk w)
{
    double held = 0, most = 0;

    for (int i = 0; i < w.count; i++) {
        held += left_out(&w, i, false);
        const double now = held + w.ops[i].granules * effect_of(&w, i)->most;
        most = now > most ? now : most;
        held += w.ops[i].granules * effect_of(&w, i)->change;
    }
    return most;
}

/* Returns the most bytes of activations of a rank on another tier; 0 if an op does several
 * granules, whose backwards may be far apart. */
static double away_of(struct walk w)
{
    double held = 0, most = 0, largest = 0;

    for (int i = 0; i < w.count; i++) {
        const double away = effect_of(&w, i)->away;
        if (w.ops[i].granules > 1)
            return 0;
        held += left_out(&w, i, true) + away;
        most = held > most ? held : most;
        largest = away > largest ? away : largest;
    }
    return fmax(0, most - UNMOVED * largest);
}

struct pp_least pp_memory_least(struct pp_arena *arena, const struct pp_orders *lists,
                                const struct pp_program_cut *cut, const struct pp_costs *costs,
                                const struct pp_least_options *options)
{
    struct effect *effects = PP_ARRAY(arena, struct effect, EFFECTS * (size_t)costs->stages);
    int *versions = PP_ARRAY(arena, int, (size_t)options->pipelines *(size_t)costs->stages);
    double tensors = 0, away_bytes = 0;

    for (int s = 0; s < costs->stages && options->passes == 0; s++)
        set_effects(&costs->memory[s], options, s, &effects[s * EFFECTS]);
    if (options->passes > 0)
        set_cached(costs, options, effects);
    for (int rank = 0; rank < lists->ranks; rank++) {
        const struct pp_least state = state_of(lists, rank, costs, versions);
        const struct walk walk = walk_of(lists, rank, effects, cut);
        tensors = fmax(tensors, state.bytes + held_of(walk));
        if (options->is_moved)
            away_bytes = fmax(away_bytes, state.away_bytes + away_of(walk));
    }
    return (struct pp_least){
        (tensors + costs->other_bytes + pp_memory_wasted_bytes(costs, tensors)) * (1 - ROUNDING),
        away_bytes * (1 - ROUNDING)};
}
