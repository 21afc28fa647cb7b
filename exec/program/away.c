/* Gives places to what COPY.down moves: the lowest free one of the rank. */
#include "exec/program/away.h"

#include "exec/program/none.h"

struct walk {
    struct pp_arena *arena, *scratch;
    const struct pp_program *p;
    struct pp_away *away;
    int32_t *slot, *down; /* [cell] F or COPY.up that has it, and its last COPY.down, so far */
    bool *is_again;       /* [cell] an R makes it again */
    int32_t *left;        /* [instruction] of a COPY.down: granules that have not come back */
    struct pp_place_list places;
    int cell_count, cell_capacity;
};

static size_t cell_at(const struct walk *w, int i, int granule)
{
    return pp_cell_of(w->p, w->p->stage[i], granule, w->p->split[i]);
}

/* Notes instruction i for all of its cells; the last one counts. */
static void note(const struct walk *w, int32_t *of, int i)
{
    for (int g = w->p->mb[i]; g < w->p->mb[i] + w->p->granule_count[i]; g++)
        of[cell_at(w, i, g)] = i;
}

static void add_cells(struct walk *w, int i)
{
    struct pp_away *away = w->away;

    away->first[i] = w->cell_count;
    for (int g = w->p->mb[i]; g < w->p->mb[i] + w->p->granule_count[i]; g++) {
        const size_t cell = cell_at(w, i, g);
        *PP_PUSH(w->arena, away->cells, w->cell_count, w->cell_capacity) =
            (struct pp_away_cell){w->slot[cell], w->down[cell], w->is_again[cell]};
    }
}

static void go_down(struct walk *w, int i)
{
    w->away->of[i] = pp_places_take(w->scratch, &w->places);
    w->left[i] = w->p->granule_count[i];
    note(w, w->down, i);
    add_cells(w, i);
}

static void come_up(struct walk *w, int i)
{
    note(w, w->slot, i);
    add_cells(w, i);
}

/* A place is free once all that went down has arrived. */
static void arrive(struct walk *w, int up)
{
    for (int g = w->p->mb[up]; g < w->p->mb[up] + w->p->granule_count[up]; g++) {
        const int32_t down = pp_away_cell(w->away, w->p, up, g)->down;
        if (--w->left[down] == 0)
            w->places.is_taken[w->away->of[down]] = false;
    }
}

static void walk_rank(struct walk *w, int rank)
{
    const struct pp_program *p = w->p;

    w->places.count = 0;
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const bool is_up = p->purpose[i] == PP_FOR_UP;

        if (p->kind[i] == PP_F)
            note(w, w->slot, i);
        else if (p->kind[i] == PP_COPY && p->purpose[i] == PP_FOR_DOWN)
            go_down(w, i);
        else if (p->kind[i] == PP_COPY && is_up)
            come_up(w, i);
        else if (p->kind[i] == PP_WAIT && p->aux[i] == PP_COPY && is_up)
            arrive(w, p->begin[rank] + p->arg[i]);
    }
    w->away->count[rank] = w->places.count;
}

static void walk_all(struct walk *w)
{
    const struct pp_program *p = w->p;
    const size_t cells = pp_cell_of(p, p->stages, 0, 0);

    w->slot = PP_ARRAY(w->scratch, int32_t, cells);
    w->down = PP_ARRAY(w->scratch, int32_t, cells);
    w->is_again = PP_ARRAY(w->scratch, bool, cells);
    w->left = PP_ARRAY(w->scratch, int32_t, pp_program_size(p) + 1);
    for (int i = 0; i < pp_program_size(p); i++)
        for (int g = p->mb[i]; p->kind[i] == PP_R && g < p->mb[i] + p->granule_count[i]; g++)
            w->is_again[cell_at(w, i, g)] = true;
    for (int rank = 0; rank < p->ranks; rank++)
        walk_rank(w, rank);
}

struct pp_away *pp_away_find(struct pp_arena *arena, const struct pp_program *p)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_away *away = PP_NEW(arena, struct pp_away);
    struct walk w = {.arena = arena, .scratch = scratch, .p = p, .away = away};

    *away = (struct pp_away){.of = pp_none_of(arena, p),
                             .first = pp_none_of(arena, p),
                             .count = PP_ARRAY(arena, int, p->ranks)};
    walk_all(&w);
    away->edges = pp_edges_find(arena, p);
    return away;
}
