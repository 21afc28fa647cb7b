/* Lifetimes in a dense table of cells if it is small enough, else in a hash table. */
#include "schedules/memory/lifetimes.h"

/* Creates the table of a program; `covered`: granules that its compute instructions cover. */
static struct pp_lifetimes create(struct pp_arena *arena, int stages, int granules, int splits,
                                  int64_t covered)
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

struct pp_lifetimes pp_lifetimes_of_program(struct pp_arena *arena, const struct pp_program *p)
{
    int64_t covered = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        covered += pp_op_is_compute(p->kind[i]) ? p->granule_count[i] : 0;
    struct pp_lifetimes lives =
        create(arena, p->stages, p->micro_batches * p->granules, p->splits, covered);
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            if (!pp_lifetimes_notes(p->kind[i], p->aux[i]))
                continue;
            const struct pp_op op = pp_program_op(p, i);
            pp_lifetimes_note(&lives, &op, i - p->begin[rank]);
        }
    return lives;
}

struct pp_cell_life *pp_lifetimes_sparse(const struct pp_lifetimes *lives, uint64_t number)
{
    const int32_t *index = pp_map64_find(&lives->map, number);

    return index ? &lives->cells[*index] : NULL;
}

struct pp_cell_life *pp_lifetimes_new(struct pp_lifetimes *lives, int stage, int granule, int split)
{
    if (lives->is_dense || stage < 0 || stage >= lives->stages || granule < 0 ||
        granule >= lives->granules || split < 0 || split >= lives->splits)
        return NULL;
    const uint64_t number = pp_lifetimes_number(lives, stage, granule, split);
    return &lives->cells[*pp_map64_at(&lives->map, number, lives->count++)];
}

bool pp_lifetimes_is_recomputed(const struct pp_lifetimes *lives, const struct pp_op *forward)
{
    for (int g = forward->mb; g < forward->mb + forward->granules; g++)
        if (!pp_lifetimes_cell(lives, forward->stage, g, forward->split).recompute)
            return false;
    return forward->granules > 0;
}
