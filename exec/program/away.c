/* Gives places to what COPY.down moves: the lowest free one of the rank. */
#include "exec/program/away.h"

#include "core/map64.h"
#include "exec/program/none.h"

struct walk {
    struct pp_arena *scratch;
    const struct pp_program *p;
    struct pp_away *away;
    struct pp_map64 made, down; /* [cell] of the rank: the F, the COPY.down */
    int32_t *left;              /* [instruction] of a COPY.down: granules that have not come back */
    bool *is_taken;             /* [place] */
    int count, capacity;
};

static uint64_t cell_at(const struct pp_program *p, int i, int granule)
{
    const uint64_t row = (uint64_t)(p->micro_batches * p->granules) * (uint64_t)p->splits;

    return (uint64_t)p->stage[i] * row + (uint64_t)granule * (uint64_t)p->splits + p->split[i];
}

static int32_t find(const struct pp_map64 *map, const struct pp_program *p, int i, int granule)
{
    const int32_t *at = pp_map64_find(map, cell_at(p, i, granule));

    return at ? *at : PP_NONE;
}

/* Notes instruction i for all of its cells; the last one counts. */
static void note(struct pp_map64 *map, const struct pp_program *p, int i)
{
    for (int g = p->mb[i]; g < p->mb[i] + p->granule_count[i]; g++)
        *pp_map64_at(map, cell_at(p, i, g), i) = i;
}

static int32_t take(struct walk *w)
{
    int at = 0;

    while (at < w->count && w->is_taken[at])
        at++;
    if (at == w->count)
        *PP_PUSH(w->scratch, w->is_taken, w->count, w->capacity) = false;
    w->is_taken[at] = true;
    return at;
}

static void go_down(struct walk *w, int i)
{
    w->away->of[i] = take(w);
    w->away->from[i] = find(&w->made, w->p, i, w->p->mb[i]);
    w->left[i] = w->p->granule_count[i];
    note(&w->down, w->p, i);
}

static void come_up(struct walk *w, int i)
{
    const int32_t down = find(&w->down, w->p, i, w->p->mb[i]);

    w->away->down[i] = down;
    w->away->from[i] = find(&w->made, w->p, i, w->p->mb[i]);
    w->away->of[i] = down < 0 ? PP_NONE : w->away->of[down];
}

/* The place is free once all that went down has arrived. */
static void arrive(struct walk *w, int up)
{
    const int32_t down = w->away->down[up];

    if (down < 0)
        return;
    w->left[down] -= w->p->granule_count[up];
    if (w->left[down] <= 0)
        w->is_taken[w->away->of[down]] = false;
}

static void walk_rank(struct walk *w, int rank)
{
    const struct pp_program *p = w->p;
    const int length = p->begin[rank + 1] - p->begin[rank];

    w->made = pp_map64_create(w->scratch, length);
    w->down = pp_map64_create(w->scratch, length);
    w->count = 0;
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        if (p->kind[i] == PP_F)
            note(&w->made, p, i);
        else if (p->kind[i] == PP_COPY && p->purpose[i] == PP_FOR_DOWN)
            go_down(w, i);
        else if (p->kind[i] == PP_COPY && p->purpose[i] == PP_FOR_UP)
            come_up(w, i);
        else if (p->kind[i] == PP_WAIT && p->aux[i] == PP_COPY && p->purpose[i] == PP_FOR_UP)
            arrive(w, p->begin[rank] + p->arg[i]);
    }
    w->away->count[rank] = w->count;
}

struct pp_away *pp_away_find(struct pp_arena *arena, const struct pp_program *p)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_away *away = PP_NEW(arena, struct pp_away);
    struct walk w = {.scratch = scratch,
                     .p = p,
                     .away = away,
                     .left = PP_ARRAY(scratch, int32_t, pp_program_size(p) + 1)};

    *away = (struct pp_away){.of = pp_none_of(arena, p),
                             .from = pp_none_of(arena, p),
                             .down = pp_none_of(arena, p),
                             .count = PP_ARRAY(arena, int, p->ranks)};
    for (int rank = 0; rank < p->ranks; rank++)
        walk_rank(&w, rank);
    return away;
}
