/* Finds the places of a cut in the program that was lowered from it. */
#include "schedules/build/cut.h"

#include <stdlib.h>
#include <string.h>

struct binding {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_program_cut *cut; /* places of ops */
    int count, capacity;              /* of `bound` */
    struct pp_cut_place *bound;
    int32_t *wait_of; /* [instruction]: its WAIT; -1: none */
};

/* Is true if two instructions do the same; WAITs, for instructions that do the same. */
static bool is_same(const struct pp_program *p, int begin, int i, int k)
{
    const bool is_wait = p->kind[i] == PP_WAIT, is_posted = pp_op_is_posted(p->kind[i]);

    if (p->kind[i] != p->kind[k] || p->aux[i] != p->aux[k] || p->stage[i] != p->stage[k] ||
        p->pipe[i] != p->pipe[k] || p->split[i] != p->split[k] || p->peer[i] != p->peer[k] ||
        p->granule_count[i] != p->granule_count[k])
        return false;
    if ((is_wait || is_posted) && p->purpose[i] != p->purpose[k])
        return false;
    if (!is_wait || p->arg[i] < 0 || p->arg[k] < 0)
        return !is_wait || p->arg[i] == p->arg[k];
    return p->arg[i] < p->arg[k] && is_same(p, begin, begin + p->arg[i], begin + p->arg[k]);
}

/* Is true if the instructions of the period before a place and of that after it are the same. */
static bool repeats(const struct pp_program *p, int rank, const struct pp_cut_place *place)
{
    const int length = place->length, begin = p->begin[rank];

    if (place->at - length < begin || place->at + length > p->begin[rank + 1])
        return false;
    for (int i = place->at - length; i < place->at; i++)
        if (!is_same(p, begin, i, i + length))
            return false;
    return true;
}

static void add(struct binding *b, int at, int length)
{
    *PP_PUSH(b->arena, b->bound, b->count, b->capacity) = (struct pp_cut_place){at, length};
}

/* ---- places of ops --------------------------------------------------------------------------- */

/* Finds the instructions of the ops at which places begin, and one period before. */
static bool bind_ops(struct binding *b, int rank)
{
    const struct pp_program *p = b->p;
    const struct pp_cut_place *place = &b->cut->places[b->cut->begin[rank]],
                              *end = &b->cut->places[b->cut->begin[rank + 1]];
    int op = 0, before = -1;

    for (int i = p->begin[rank]; i < p->begin[rank + 1] && place < end; i++) {
        if (p->kind[i] > PP_W)
            continue;
        if (op == place->at - place->length)
            before = i;
        if (op++ != place->at)
            continue;
        if (before < 0)
            return false;
        add(b, i, i - before);
        before = -1;
        place++;
    }
    return place == end;
}

/* ---- places of WAITs ------------------------------------------------------------------------- */

static void find_waits(struct binding *b, int rank)
{
    const struct pp_program *p = b->p;
    const int begin = p->begin[rank];

    for (int i = begin; i < p->begin[rank + 1]; i++)
        if (p->kind[i] == PP_WAIT && p->arg[i] >= 0)
            b->wait_of[begin + p->arg[i]] = i;
}

/* Is true if all instructions of a range are WAITs. */
static bool are_waits(const struct pp_program *p, int first, int end)
{
    for (int i = first; i < end; i++)
        if (p->kind[i] != PP_WAIT)
            return false;
    return true;
}

static bool is_in(const struct pp_cut_place *place, int i)
{
    return i >= place->at && i < place->at + place->length;
}

/* WAITs for all that the periods of a zone post may stand together in another part of the list. So
 * each period there is one of WAITs only. Adds a place before the first WAIT for the period after
 * the gap. */
static void bind_waits(struct binding *b, int first, const struct pp_cut_place *zone)
{
    for (int i = zone->at; i < zone->at + zone->length; i++) {
        const int wait = b->wait_of[i], before = b->wait_of[i - zone->length];
        bool is_known = before < 0 || wait <= before || !are_waits(b->p, before, wait);
        for (int k = first; k < b->count && !is_known; k++)
            is_known = is_in(&b->bound[k], wait);
        if (!is_known)
            add(b, wait, wait - before);
    }
}

/* ---- all places ------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const struct pp_cut_place *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Finds the places of a rank. False unless its instructions repeat around each. */
static bool bind_rank(struct binding *b, int rank)
{
    const int first = b->count;

    if (!bind_ops(b, rank))
        return false;
    find_waits(b, rank);
    const int zones = b->count;
    for (int k = first; k < zones; k++) {
        const struct pp_cut_place zone = b->bound[k];
        if (!repeats(b->p, rank, &zone))
            return false;
        bind_waits(b, first, &zone);
    }
    qsort(&b->bound[first], (size_t)(b->count - first), sizeof(*b->bound), by_place);
    for (int k = first; k < b->count; k++) {
        const struct pp_cut_place *place = &b->bound[k];
        if (!repeats(b->p, rank, place) || (k > first && place->at - place->length < place[-1].at))
            return false;
    }
    return true;
}

bool pp_cut_bind(struct pp_arena *arena, const struct pp_program_cut *cut,
                 struct pp_program *program)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const size_t bytes = sizeof(int32_t) * (size_t)pp_program_size(program);
    struct binding b = {.arena = arena,
                        .p = program,
                        .cut = cut,
                        .wait_of = memset(pp_arena_alloc_raw(scratch, bytes), 0xff, bytes)};
    struct pp_program_cut *bound = PP_NEW(arena, struct pp_program_cut);

    bound->periods = cut->periods;
    bound->begin = PP_ARRAY(arena, int32_t, program->ranks + 1);
    for (int r = 0; r < program->ranks; r++) {
        if (!bind_rank(&b, r))
            return false;
        bound->begin[r + 1] = b.count;
    }
    bound->places = b.bound;
    if (!pp_cut_number(arena, bound, program))
        return false;
    program->cut = bound;
    return true;
}
