/* Bytes that move between memory tiers, by class. */
#include "schedules/memory/copied.h"

#include "schedules/program/whole.h"

#include <string.h>

bool pp_program_brings_sum(const struct pp_program *p, int i)
{
    const int first = p->begin[pp_program_rank_at(p, i)];

    for (int k = i - 1; k >= first; k--) {
        const bool is_same = p->stage[k] == p->stage[i] && p->pipe[k] == p->pipe[i];
        if (is_same && p->kind[k] == PP_MOVE && p->purpose[k] == PP_FOR_GRAD_UP)
            return true;
        if (is_same && (p->kind[k] == PP_B || p->kind[k] == PP_W))
            return false;
    }
    return false;
}

/* Adds the parameters of inner units, which F, B and I load. */
static void add_loads(const struct pp_costs *costs, int kind, int stage, struct pp_copied *by_class)
{
    const struct pp_stage_gathers *g = costs->gathers;

    if (g && (kind == PP_F || kind == PP_B || kind == PP_I))
        by_class[PP_STATE_PARAMS].up_bytes +=
            kind == PP_F ? g[stage].load_bytes : g[stage].reload_bytes;
}

/* Adds the saved activations that move inside of F, and of R, B or I. */
static void add_saved(const struct pp_program *p, const struct pp_costs *costs, int i,
                      struct pp_copied *by_class)
{
    const struct pp_cost *inner = costs->inner[p->kind[i]];
    struct pp_copied *copied = &by_class[PP_STATE_ACTIVATIONS];

    if (inner)
        *(p->kind[i] == PP_F ? &copied->down_bytes : &copied->up_bytes) +=
            inner[p->stage[i] * costs->splits + p->split[i]].bytes * p->granule_count[i] /
            costs->granules;
}

/* Adds the keys and values that move inside of F. */
static void add_cached(const struct pp_program *p, const struct pp_costs *costs, int i,
                       struct pp_copied *by_class)
{
    struct pp_copied *copied = &by_class[PP_STATE_CACHE];
    const double share = (double)p->granule_count[i] / costs->granules;

    if (!costs->cached[PP_COPY_UP] || p->kind[i] != PP_F)
        return;
    copied->up_bytes += share * costs->cached[PP_COPY_UP][p->stage[i]].bytes;
    copied->down_bytes += share * costs->cached[PP_COPY_DOWN][p->stage[i]].bytes;
}

/* Adds the inner buckets of an update, each way. */
static void add_buckets(const struct pp_costs *costs, int stage, struct pp_copied *by_class)
{
    const struct pp_stage_memory *memory = &costs->memory[stage];

    by_class[PP_STATE_OPTIMIZER].down_bytes += memory->down_bytes;
    by_class[PP_STATE_OPTIMIZER].up_bytes += memory->up_bytes;
}

/* Adds the gradients of inner units, which B and W move down, and up before that. */
static void add_parts(const struct pp_program *p, const struct pp_costs *costs, int i,
                      struct pp_copied *by_class)
{
    const struct pp_stage_gathers *g = costs->gathers;

    if (!g || (p->kind[i] != PP_B && p->kind[i] != PP_W))
        return;
    by_class[PP_STATE_GRADS].down_bytes += g[p->stage[i]].part_bytes;
    if (g[p->stage[i]].sum_bytes > 0 && pp_program_brings_sum(p, i))
        by_class[PP_STATE_GRADS].up_bytes += g[p->stage[i]].sum_bytes;
}

static void add_move(const struct pp_program *p, const struct pp_costs *costs, int i,
                     struct pp_copied *by_class)
{
    const struct pp_op op = pp_program_op(p, i);
    const int cause = pp_move_cause(op.kind, op.purpose);

    if (cause == PP_MOVES_HOST)
        return;
    const double bytes = pp_costs_op(costs, &op, NULL).bytes;
    *(pp_move_is_up(op.purpose) ? &by_class[cause].up_bytes : &by_class[cause].down_bytes) += bytes;
}

void pp_copied_of_rank(const struct pp_program *p, const struct pp_costs *costs, int rank,
                       struct pp_copied by_class[PP_STATE_CLASSES])
{

    memset(by_class, 0, sizeof(*by_class) * PP_STATE_CLASSES);
    for (struct pp_whole_walk walk = pp_whole_walk(p, rank); walk.at < p->begin[rank + 1];
         pp_whole_next(p, &walk)) {
        const int i = walk.at, kind = p->kind[i];
        if (pp_op_is_move(kind))
            add_move(p, costs, i, by_class);
        else if (kind == PP_U)
            add_buckets(costs, p->stage[i], by_class);
        else
            add_loads(costs, kind, p->stage[i], by_class);
        add_parts(p, costs, i, by_class);
        add_saved(p, costs, i, by_class);
        add_cached(p, costs, i, by_class);
    }
}

static double all_bytes(const struct pp_program *p, const struct pp_costs *costs, int rank)
{
    struct pp_copied by_class[PP_STATE_CLASSES];
    double bytes = 0;

    pp_copied_of_rank(p, costs, rank, by_class);
    for (int c = 0; c < PP_STATE_CLASSES; c++)
        bytes += by_class[c].down_bytes + by_class[c].up_bytes;
    return bytes;
}

int pp_copied_most(const struct pp_program *p, const struct pp_costs *costs)
{
    double most_bytes = 0;
    int most = 0;

    for (int rank = 0; rank < p->ranks; rank++) {
        const double bytes = all_bytes(p, costs, rank);
        if (bytes > most_bytes) {
            most_bytes = bytes;
            most = rank;
        }
    }
    return most;
}
