/* Gives places to edges, in list order. */
#include "exec/program/edges.h"

#include "exec/program/none.h"

struct walk {
    struct pp_arena *scratch;
    const struct pp_program *p;
    struct pp_edges *edges;
    struct pp_place_list places;
};

static bool is_back(int kind)
{
    return kind == PP_B || kind == PP_I;
}

/* Returns `stage` if it moves and the next one is on the same rank; else -1. */
static int edge_after(const struct pp_edges *edges, const struct pp_program *p, int pipe, int stage)
{
    return stage >= 0 && stage + 1 < p->stages && edges->is_moved[stage] &&
                   pp_program_rank_of(p, pipe, stage) == pp_program_rank_of(p, pipe, stage + 1)
               ? stage
               : PP_NONE;
}

int pp_edges_filled(const struct pp_edges *edges, const struct pp_program *p, int i)
{
    return p->kind[i] == PP_F    ? edge_after(edges, p, p->pipe[i], p->stage[i])
           : is_back(p->kind[i]) ? edge_after(edges, p, p->pipe[i], p->stage[i] - 1)
                                 : PP_NONE;
}

static enum pp_edge_way way_of(const struct pp_program *p, int i)
{
    return is_back(p->kind[i]) ? PP_EDGE_GRADIENT : PP_EDGE_OUTPUT;
}

int32_t pp_edges_place(const struct pp_edges *edges, const struct pp_program *p, int i, int g)
{
    return edges->of[way_of(p, i)][pp_cell_of(p, pp_edges_filled(edges, p, i), g, p->split[i])];
}

/* Returns the stage of the edge that an op empties; -1: none. */
static int emptied(const struct pp_edges *edges, const struct pp_program *p, int i)
{
    return p->kind[i] == PP_F    ? edge_after(edges, p, p->pipe[i], p->stage[i] - 1)
           : is_back(p->kind[i]) ? edge_after(edges, p, p->pipe[i], p->stage[i])
                                 : PP_NONE;
}

static void change(struct walk *w, int i, int stage, bool is_filled)
{
    const struct pp_program *p = w->p;
    int32_t *of = w->edges->of[way_of(p, i)];

    for (int g = p->mb[i]; stage >= 0 && g < p->mb[i] + p->granule_count[i]; g++) {
        int32_t *place = &of[pp_cell_of(p, stage, g, p->split[i])];
        if (is_filled)
            *place = pp_places_take(w->scratch, &w->places);
        else if (*place >= 0)
            w->places.is_taken[*place] = false;
    }
}

/* Both ops of an overlapped pair fill their edges before either empties one. */
static void walk_rank(struct walk *w, int rank)
{
    const struct pp_program *p = w->p;

    w->places.count = 0;
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const bool is_pair = p->kind[i] == PP_F && p->aux[i] == PP_FUSED_FIRST;

        for (int k = i; k <= i + is_pair; k++)
            change(w, k, pp_edges_filled(w->edges, p, k), true);
        for (int k = i; k <= i + is_pair; k++)
            change(w, k, emptied(w->edges, p, k), false);
        i += is_pair;
    }
    w->edges->count[rank] = w->places.count;
}

struct pp_edges pp_edges_find(struct pp_arena *arena, const struct pp_program *p)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const size_t cells = pp_cell_of(p, p->stages, 0, 0);
    struct pp_edges edges = {.is_moved = PP_ARRAY(arena, bool, p->stages),
                             .count = PP_ARRAY(arena, int, p->ranks)};
    struct walk w = {.scratch = scratch, .p = p, .edges = &edges};

    for (int way = 0; way < PP_EDGE_WAYS; way++) {
        edges.of[way] = PP_ARRAY(arena, int32_t, cells + 1);
        for (size_t cell = 0; cell < cells; cell++)
            edges.of[way][cell] = PP_NONE;
    }
    for (int i = 0; i < pp_program_size(p); i++)
        if (p->kind[i] == PP_COPY && p->purpose[i] == PP_FOR_DOWN)
            edges.is_moved[p->stage[i]] = true;
    for (int rank = 0; rank < p->ranks; rank++)
        walk_rank(&w, rank);
    return edges;
}
