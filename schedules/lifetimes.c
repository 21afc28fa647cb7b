#include "schedules/lifetimes.h"

struct pp_lifetimes pp_lifetimes_create(struct pp_arena *arena, int stages, int granules,
                                        int splits, int64_t covered)
{
    struct pp_lifetimes lives = {
        .stages = stages,
        .granules = granules,
        .splits = splits,
        .row = (size_t)granules * (size_t)splits,
    };
    const double cells = (double)stages * (double)lives.row;

    /* A file may name a few cells of an immense grid. */
    lives.is_dense = cells <= 8.0 * (double)covered + 65536;
    if (lives.is_dense) {
        lives.cells = PP_ARRAY(arena, struct pp_cell_life, lives.row * (size_t)stages);
    } else {
        lives.map = pp_map64_create(arena, covered);
        lives.cells = PP_ARRAY(arena, struct pp_cell_life, covered + 1);
    }
    return lives;
}

struct pp_cell_life *pp_lifetimes_sparse(const struct pp_lifetimes *lives, uint64_t number)
{
    const int32_t *index = pp_map64_find(&lives->map, number);

    return index ? &lives->cells[*index] : NULL;
}

static void note_compute(struct pp_cell_life *cell, int kind, int32_t at)
{
    if (kind == PP_F)
        cell->forward = at;
    else if (kind == PP_R)
        cell->recompute = at;
    if (kind == PP_B || kind == PP_I)
        cell->backward = at;
    if (kind == PP_B || kind == PP_W)
        cell->freed = at;
}

void pp_lifetimes_note(struct pp_lifetimes *lives, const struct pp_op *op, int position)
{
    const bool is_compute = op->kind != PP_WAIT;

    if (!pp_lifetimes_notes(op->kind, op->aux))
        return;
    for (int g = op->mb; g < op->mb + op->granules; g++) {
        struct pp_cell_life *cell = pp_lifetimes_at(lives, op->stage, g, op->split);

        if (!cell && is_compute && !lives->is_dense && op->stage < lives->stages &&
            op->split < lives->splits && g < lives->granules) {
            const uint64_t number = pp_lifetimes_number(lives, op->stage, g, op->split);
            cell = &lives->cells[*pp_map64_at(&lives->map, number, lives->count)];
            lives->count++;
        }
        if (cell && is_compute)
            note_compute(cell, op->kind, position + 1);
        else if (cell)
            cell->wait[op->aux == PP_SEND_B] = position + 1;
    }
}

/* ---- questions -------------------------------------------------------------------------------*/

int pp_lifetimes_freed(const struct pp_lifetimes *lives, const struct pp_op *op)
{
    int last = 0;

    for (int g = op->mb; g < op->mb + op->granules; g++) {
        const int freed = pp_lifetimes_cell(lives, op->stage, g, op->split).freed;

        if (freed == 0)
            return -1;
        last = freed > last ? freed : last;
    }
    return last - 1;
}

bool pp_lifetimes_is_recomputed(const struct pp_lifetimes *lives, const struct pp_op *forward)
{
    for (int g = forward->mb; g < forward->mb + forward->granules; g++)
        if (!pp_lifetimes_cell(lives, forward->stage, g, forward->split).recompute)
            return false;
    return forward->granules > 0;
}

int pp_lifetimes_read(const struct pp_lifetimes *lives, const struct pp_op *op, int stage,
                      int direction)
{
    int last = 0;

    for (int g = op->mb; g < op->mb + op->granules; g++) {
        const struct pp_cell_life cell = pp_lifetimes_cell(lives, stage, g, op->split);
        const int at = direction ? cell.backward : cell.forward;

        last = at > last ? at : last;
    }
    return last - 1;
}

int pp_lifetimes_made(const struct pp_lifetimes *lives, const struct pp_op *send)
{
    return pp_lifetimes_read(lives, send, send->stage, send->kind == PP_SEND_B);
}

int pp_lifetimes_sent(const struct pp_lifetimes *lives, const struct pp_op *send)
{
    return pp_lifetimes_cell(lives, send->stage, send->mb, send->split)
               .wait[send->kind == PP_SEND_B] -
           1;
}
