/* Gates, and what the strict order holds at them. */
#include "schedules/search/gates.h"

#include "schedules/verify/order.h"

#include <string.h>

enum { NONE = -1 };

static int64_t cells_of(const struct pp_program *p)
{
    return (int64_t)p->granules * p->splits;
}

static int gate_at(const struct pp_gates *g, int rank, int i)
{
    return g->is_by_pipe ? g->p->pipe[i] : rank;
}

static int rank_of(const struct pp_program *p, int i)
{
    return pp_program_rank_of(p, p->pipe[i], p->stage[i]);
}

int pp_gates_of(const struct pp_gates *g, int unit)
{
    const struct pp_program *p = g->p;

    if (p->kind[unit] != PP_F || (g->is_by_pipe && p->stage[unit] > 0))
        return NONE;
    return gate_at(g, rank_of(p, unit), unit);
}

/* Returns the rank for which op i makes room when it ends, or -1. */
static int room_on(const struct pp_gates *g, int i)
{
    const struct pp_program *p = g->p;
    const bool is_infer = p->mode == PP_MODE_INFER;
    const int kind = p->kind[i], last = is_infer ? p->stages - 1 : 0;

    if (is_infer ? kind != PP_F : kind != PP_B && kind != PP_W)
        return NONE;
    if (!g->is_by_pipe)
        return rank_of(p, i);
    return p->stage[i] == last ? pp_program_rank_of(p, p->pipe[i], 0) : NONE;
}

/* Is true if the rank may run what is left before `unit` after it, in the order of its list. */
static bool may_follow(const struct pp_gates *g, int unit, int gate)
{
    const struct pp_program *p = g->p;
    int64_t held = g->held[gate] + p->granule_count[unit];
    int32_t *first = &g->first[rank_of(p, unit)];

    while (*first < unit && g->has_begun[pp_verify_start(p, *first)])
        ++*first;
    for (int i = *first; i < unit && held <= g->limit[gate]; i++) {
        if (g->has_begun[pp_verify_start(p, i)])
            continue;
        held += pp_gates_of(g, i) == gate ? p->granule_count[i] : 0;
        if (held > g->limit[gate])
            return false;
        held -=
            room_on(g, i) != NONE && gate_at(g, rank_of(p, i), i) == gate ? p->granule_count[i] : 0;
    }
    return held <= g->limit[gate];
}

bool pp_gates_have_room(const struct pp_gates *g, int unit)
{
    const int gate = pp_gates_of(g, unit);

    return g->is_multiple ? may_follow(g, unit, gate)
                          : g->held[gate] + g->p->granule_count[unit] <= g->limit[gate];
}

void pp_gates_enter(struct pp_gates *g, int unit)
{
    const int gate = pp_gates_of(g, unit);

    g->has_begun[unit] = true;
    if (gate == NONE)
        return;
    g->held[gate] += g->p->granule_count[unit];
    g->peak[gate] = g->held[gate] > g->peak[gate] ? g->held[gate] : g->peak[gate];
}

int pp_gates_leave(struct pp_gates *g, int i)
{
    const int rank = room_on(g, i);

    if (rank != NONE)
        g->held[gate_at(g, rank_of(g->p, i), i)] -= g->p->granule_count[i];
    return rank;
}

/* Plays the lists in their own order, rank by rank, and leaves the peaks. How many micro-batches
 * without a backward are in a pipeline is no matter of its order: one a rank. */
static void hold_strict(struct pp_gates *g)
{
    if (g->is_by_pipe && g->p->mode == PP_MODE_INFER) {
        for (int k = 0; k < g->count; k++)
            g->peak[k] = g->p->ranks * cells_of(g->p);
        return;
    }
    for (int i = 0; i < pp_program_size(g->p); i++) {
        pp_gates_enter(g, i);
        pp_gates_leave(g, i);
    }
}

struct pp_gates pp_gates_make(struct pp_arena *arena, const struct pp_program *p,
                              struct pp_order_choice order)
{
    const bool is_by_pipe = order.rule == PP_ORDER_ARRIVAL;
    const int count = is_by_pipe ? p->pipelines : p->ranks,
              usual = is_by_pipe ? p->ranks : PP_GATES_OPEN;
    struct pp_gates g = {.p = p,
                         .is_by_pipe = is_by_pipe,
                         .is_multiple = order.is_multiple,
                         .count = count,
                         .limit = PP_ARRAY(arena, int64_t, count),
                         .held = PP_ARRAY(arena, int64_t, count),
                         .peak = PP_ARRAY(arena, int64_t, count),
                         .has_begun = PP_ARRAY(arena, bool, pp_program_size(p) + 1),
                         .first = PP_ARRAY(arena, int32_t, p->ranks)};

    for (int r = 0; r < p->ranks; r++)
        g.first[r] = p->begin[r];
    if (order.is_multiple)
        hold_strict(&g);
    memset(g.has_begun, 0, sizeof(bool) * (size_t)pp_program_size(p));
    for (int k = 0; k < count; k++) {
        g.limit[k] = order.is_multiple ? order.limit * g.peak[k]
                                       : (order.limit ? order.limit : usual) * cells_of(p);
        g.held[k] = g.peak[k] = 0;
    }
    return g;
}

int64_t pp_gates_most(const struct pp_gates *g)
{
    int64_t most = 0;

    for (int k = 0; k < g->count; k++)
        most = g->peak[k] > most ? g->peak[k] : most;
    return (most + cells_of(g->p) - 1) / cells_of(g->p);
}

void pp_gates_explain(const struct pp_gates *g, int unit, struct pp_error *err)
{
    const int gate = pp_gates_of(g, unit);
    const double held = (double)g->held[gate] / (double)cells_of(g->p);

    if (g->is_by_pipe)
        pp_error_append(err, "pipeline %d holds %g micro-batch%s", gate, held,
                        held == 1 ? "" : "es");
    else
        pp_error_append(err, "rank %d holds %g chunk activation%s", gate, held,
                        held == 1 ? "" : "s");
}
