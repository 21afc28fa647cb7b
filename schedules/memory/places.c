/* Places of tensors in the lists of a program: the part of its memory that no cost changes. */
#include "schedules/memory/changes.h"

struct list {
    const struct pp_program *p;
    struct pp_lifetimes lives;
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
    else
        find_saved(list, op, at, &place);
    return place;
}

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
    struct list list = {.p = p, .lives = pp_lifetimes_of_program(scratch, p)};
    struct pp_memory_place *places =
        pp_arena_alloc_raw(arena, sizeof(*places) * ((size_t)pp_program_size(p) + 1));

    for (int rank = 0; rank < p->ranks; rank++) {
        list.begin = p->begin[rank];
        list.count = p->begin[rank + 1] - list.begin;
        for (int i = list.begin; i < p->begin[rank + 1]; i++) {
            if (!has_place(p, i))
                continue;
            const struct pp_op op = pp_program_op(p, i);
            places[i] = place_of(&list, &op, i - list.begin);
        }
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
