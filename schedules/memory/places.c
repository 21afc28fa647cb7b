/* Places of tensors in the lists of a program: the part of its memory that no cost changes. */
#include "schedules/memory/changes.h"

struct list {
    const struct pp_program *p;
    struct pp_lifetimes lives;
    struct pp_memory_place *places; /* [instruction] */
    int32_t *holder;  /* [cell] 1 + instruction in whose slot it is, 0 = none; NULL: none moves */
    int begin, count; /* of the current rank */
};

/* Returns the position at which memory is released whose last reader is at `until`: never, if that
 * is before `from`. */
static int end_of(const struct list *list, int from, int until)
{
    return until < from ? list->count : pp_memory_end_of(list->p, list->begin, list->count, until);
}

/* Returns the end of an op's output for the next stage if that is on the same rank, else -1. */
static int handed_over(const struct list *list, const struct pp_op *op, int at)
{
    const struct pp_program *p = list->p;
    const int direction = op->kind != PP_F, reader = op->stage + (direction ? -1 : 1);

    if (reader < 0 || reader >= p->stages ||
        pp_program_rank_of(p, op->pipe, reader) != pp_program_rank_of(p, op->pipe, op->stage))
        return -1;
    return end_of(list, at + 1, pp_lifetimes_read(&list->lives, op, reader, direction));
}

/* Returns the granules of an op that have an R. */
static int recomputed(const struct list *list, const struct pp_op *op)
{
    int again = 0;

    for (int g = op->mb; g < op->mb + op->granules; g++) {
        const struct pp_cell_life *cell = pp_lifetimes_at(&list->lives, op->stage, g, op->split);
        again += cell && cell->recompute;
    }
    return again;
}

/* Fills `again` and `freed` of an op that saves activations, or packs them. */
static void find_saved(const struct list *list, const struct pp_op *op, int at,
                       struct pp_memory_place *place)
{
    int last = 0;
    bool is_freed = true;

    for (int g = op->mb; g < op->mb + op->granules; g++) {
        const struct pp_cell_life *cell = pp_lifetimes_at(&list->lives, op->stage, g, op->split);
        const int freed = cell ? cell->freed : 0;
        is_freed &= freed > 0;
        last = freed > last ? freed : last;
    }
    place->again = recomputed(list, op);
    place->freed = end_of(list, at, is_freed ? last - 1 : -1);
}

/* Returns the position at which the cache of a forward is released: that of the last pass. */
static int cache_end(const struct list *list, const struct pp_op *op, int at)
{
    const int model = pp_program_model_stages(list->p),
              last_stage = list->p->stages - model + op->stage % model;

    return end_of(list, at, pp_lifetimes_read(&list->lives, op, last_stage, 0));
}

static struct pp_memory_place place_of(const struct list *list, const struct pp_op *op, int at)
{
    const struct pp_lifetimes *lives = &list->lives;
    const int kind = op->kind;

    if (pp_op_is_recv(kind))
        return (struct pp_memory_place){
            .taken = at,
            .given = end_of(list, at, pp_lifetimes_read(lives, op, op->stage, kind == PP_RECV_B))};
    if (pp_op_is_send(kind)) {
        const int made = pp_lifetimes_made(lives, op);
        return (struct pp_memory_place){.taken = made >= 0 && made < at ? made : at,
                                        .given = end_of(list, at, pp_lifetimes_sent(lives, op))};
    }
    const bool is_backward = kind == PP_B || kind == PP_I;
    struct pp_memory_place place = {.given = kind == PP_F || is_backward ? handed_over(list, op, at)
                                                                         : -1};
    if (is_backward)
        place.again = recomputed(list, op);
    else if (kind == PP_F && list->p->passes > 0)
        place.freed = cache_end(list, op, at);
    else if (kind == PP_COPY && pp_move_is_cache(op->purpose))
        place.freed = end_of(list, at, pp_lifetimes_read(lives, op, op->stage, 0));
    else
        find_saved(list, op, at, &place);
    return place;
}

/* ---- saved activations that move ------------------------------------------------------------- */

static bool is_copy(const struct pp_program *p, int i, enum pp_purpose purpose)
{
    return p->kind[i] == PP_COPY && p->purpose[i] == purpose;
}

/* Instruction `by` at `at` takes, or leaves, the cells of instruction i. A slot is free once all of
 * its cells have left it. */
static void move_cells(struct list *list, int i, int by, int at)
{
    const struct pp_program *p = list->p;
    const bool is_taken = by == i;

    for (int g = p->mb[i]; g < p->mb[i] + p->granule_count[i]; g++) {
        const struct pp_cell_life *cell =
            pp_lifetimes_at(&list->lives, p->stage[i], g, p->split[i]);
        if (!cell)
            continue;
        int32_t *holder = &list->holder[cell - list->lives.cells];
        const int left = *holder - 1;
        if (!is_taken && left >= list->begin && list->places[left].freed < at)
            list->places[left].freed = at;
        *holder = is_taken ? i + 1 : 0;
    }
}

/* Ends the lives of what F or COPY.up has taken and no COPY.down has moved. */
static void end_cells(struct list *list, int i)
{
    const struct pp_program *p = list->p;
    const int at = i - list->begin;
    int32_t *freed = &list->places[i].freed;

    for (int g = p->mb[i]; g < p->mb[i] + p->granule_count[i]; g++) {
        const struct pp_cell_life *cell =
            pp_lifetimes_at(&list->lives, p->stage[i], g, p->split[i]);
        if (!cell || list->holder[cell - list->lives.cells] != i + 1)
            continue;
        const int end = end_of(list, at, cell->freed - 1);
        *freed = end > *freed ? end : *freed;
    }
}

/* A slot of F or COPY.up has its cells until a COPY.down has moved them, or until the end. */
static void move_saved(struct list *list)
{
    const struct pp_program *p = list->p;
    const int end = list->begin + list->count;

    for (int i = list->begin; i < end; i++) {
        const int at = i - list->begin;
        if (p->kind[i] == PP_F || is_copy(p, i, PP_FOR_UP)) {
            list->places[i].freed = at;
            move_cells(list, i, i, at);
        } else if (p->kind[i] == PP_WAIT && is_copy(p, list->begin + p->arg[i], PP_FOR_DOWN)) {
            move_cells(list, list->begin + p->arg[i], i, at);
        }
    }
    for (int i = list->begin; i < end; i++)
        if (p->kind[i] == PP_F || is_copy(p, i, PP_FOR_UP))
            end_cells(list, i);
}

/* Makes the table of holders if some saved activation moves. */
static void make_holders(struct pp_arena *scratch, struct list *list)
{
    for (int i = 0; i < pp_program_size(list->p) && !list->holder; i++)
        if (is_copy(list->p, i, PP_FOR_DOWN))
            list->holder = PP_ARRAY(scratch, int32_t, pp_lifetimes_size(&list->lives) + 1);
}

/* ---- the places ------------------------------------------------------------------------------ */

/* Is true for instructions whose place is read. */
static bool has_place(const struct pp_program *p, int i)
{
    const int kind = p->kind[i] == PP_WAIT ? p->aux[i] : p->kind[i];

    return p->kind[i] == PP_WAIT ? kind == PP_COPY
                                 : kind == PP_F || kind == PP_R || kind == PP_B || kind == PP_I ||
                                       pp_op_is_packing(kind) || kind == PP_COPY ||
                                       pp_op_is_send(kind) || pp_op_is_recv(kind);
}

static struct pp_memory_place *find_places(struct pp_arena *arena, const struct pp_program *p)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_memory_place *places =
        pp_arena_alloc_raw(arena, sizeof(*places) * ((size_t)pp_program_size(p) + 1));
    struct list list = {.p = p, .lives = pp_lifetimes_of_program(scratch, p), .places = places};

    make_holders(scratch, &list);
    for (int rank = 0; rank < p->ranks; rank++) {
        list.begin = p->begin[rank];
        list.count = p->begin[rank + 1] - list.begin;
        for (int i = list.begin; i < p->begin[rank + 1]; i++) {
            if (!has_place(p, i))
                continue;
            const struct pp_op op = pp_program_op(p, i);
            places[i] = place_of(&list, &op, i - list.begin);
        }
        if (list.holder)
            move_saved(&list);
    }
    return places;
}

const struct pp_memory_place *pp_memory_places(struct pp_arena *scratch, const struct pp_program *p)
{
    struct pp_program_forms *forms = p->forms;

    if (!forms)
        return find_places(scratch, p);
    if (!forms->places)
        forms->places = find_places(forms->arena, p);
    return forms->places;
}
