/* schedules/lifetimes.h — from where to where in its rank's list a tensor lives. Shared by the
 * slots pass and by memory.c; private to schedules.
 *
 * Note every instruction of a rank with its position, then ask. A cell is (stage, granule, split);
 * it lies on one rank, so all ranks share the tables. Positions count from 0; -1 = never. */
#ifndef PP_SCHEDULES_LIFETIMES_H
#define PP_SCHEDULES_LIFETIMES_H

#include "core/arena.h"
#include "core/op.h"
#include "schedules/map64.h"

#include <stdbool.h>
#include <stddef.h>

/* What is known of a cell, 1 + position, 0 = never. */
struct pp_cell_life {
    int32_t forward;   /* F */
    int32_t backward;  /* B or I: reads the incoming gradient, makes the outgoing one */
    int32_t freed;     /* last of B, W: nothing is saved behind it */
    int32_t recompute; /* R */
    int32_t wait[2];   /* WAIT for the SEND of its output, by direction */
};

struct pp_lifetimes {
    struct pp_cell_life *cells;
    size_t row; /* cells of a stage: granules of all micro-batches * splits */
    int stages, granules, splits;
    bool is_dense; /* else `map` turns the number of a cell into its index in `cells` */
    int32_t count;
    struct pp_map64 map;
};

/* For a program of `stages` x `granules` ids x `splits` whose compute instructions cover `covered`
 * granules. */
struct pp_lifetimes pp_lifetimes_create(struct pp_arena *arena, int stages, int granules,
                                        int splits, int64_t covered);
void pp_lifetimes_note(struct pp_lifetimes *lives, const struct pp_op *op, int position);
/* Whether anything is noted of such an instruction. */
static inline bool pp_lifetimes_notes(int kind, int aux)
{
    return kind == PP_WAIT ? pp_op_is_send(aux)
                           : pp_op_is_compute(kind) && pp_op_kinds[kind].has_mb;
}

/* Of a table that is not dense. */
struct pp_cell_life *pp_lifetimes_sparse(const struct pp_lifetimes *lives, uint64_t number);

static inline uint64_t pp_lifetimes_number(const struct pp_lifetimes *lives, int stage, int granule,
                                           int split)
{
    return (uint64_t)stage * lives->row + (uint64_t)granule * (uint64_t)lives->splits +
           (uint64_t)split;
}
/* NULL outside of the table, or when no instruction named it. */
static inline struct pp_cell_life *pp_lifetimes_at(const struct pp_lifetimes *lives, int stage,
                                                   int granule, int split)
{
    if (stage < 0 || stage >= lives->stages || granule < 0 || granule >= lives->granules ||
        split < 0 || split >= lives->splits)
        return NULL;
    const uint64_t number = pp_lifetimes_number(lives, stage, granule, split);
    return lives->is_dense ? &lives->cells[number] : pp_lifetimes_sparse(lives, number);
}
/* The cell, all 0 when no instruction named it. */
static inline struct pp_cell_life pp_lifetimes_cell(const struct pp_lifetimes *lives, int stage,
                                                    int granule, int split)
{
    const struct pp_cell_life *cell = pp_lifetimes_at(lives, stage, granule, split);

    return cell ? *cell : (struct pp_cell_life){0};
}

/* F, R: the last B or W of what it saved, -1 when some granule of it is never freed. */
int pp_lifetimes_freed(const struct pp_lifetimes *lives, const struct pp_op *op);
/* F: every granule of it has an R. */
bool pp_lifetimes_is_recomputed(const struct pp_lifetimes *lives, const struct pp_op *forward);
/* Last reader of a tensor named by the stage that reads it (as a RECV is), 0 forward, 1 backward.
 */
int pp_lifetimes_read(const struct pp_lifetimes *lives, const struct pp_op *op, int stage,
                      int direction);
/* SEND: its producer, and the WAIT for it. */
int pp_lifetimes_made(const struct pp_lifetimes *lives, const struct pp_op *send);
int pp_lifetimes_sent(const struct pp_lifetimes *lives, const struct pp_op *send);

#endif
