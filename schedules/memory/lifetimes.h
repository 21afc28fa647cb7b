/* schedules/memory/lifetimes.h — begin and end of a tensor's life in its rank's list. Shared by
 * lower/slots.c and memory.c; private to schedules.
 *
 * Note every instruction of a rank with its position, then query. A cell is (stage, granule,
 * split); it is on one rank, so all ranks share the tables. Positions count from 0; -1 = never. */
#pragma once

#include "core/map64.h"
#include "schedules/program/program.h"

/* Positions of a cell's instructions, 1 + position, 0 = never. */
struct pp_cell_life {
    int32_t forward;   /* F */
    int32_t backward;  /* B or I: reads the incoming gradient, makes the outgoing one */
    int32_t freed;     /* last of B, W: nothing is saved after it */
    int32_t recompute; /* R */
    int32_t wait[2];   /* WAIT for the SEND of its output, by direction */
};

struct pp_lifetimes {
    struct pp_cell_life *cells;
    size_t row; /* cells of a stage: granules of all micro-batches * splits */
    int stages, granules, splits;
    bool is_dense; /* if not, `map` has the index in `cells` by the number of a cell */
    int32_t count;
    struct pp_map64 map;
};

/* Returns the table of a program, with all instructions noted. */
struct pp_lifetimes pp_lifetimes_of_program(struct pp_arena *arena, const struct pp_program *p);
/* Is true if pp_lifetimes_note() notes such an instruction. */
static inline bool pp_lifetimes_notes(int kind, int aux)
{
    return kind == PP_WAIT ? pp_op_is_send(aux) : pp_op_has_cell(kind);
}

/* Returns a cell of a table that is not dense, or NULL. */
struct pp_cell_life *pp_lifetimes_sparse(const struct pp_lifetimes *lives, uint64_t number);

static inline uint64_t pp_lifetimes_number(const struct pp_lifetimes *lives, int stage, int granule,
                                           int split)
{
    return (uint64_t)stage * lives->row + (uint64_t)granule * (uint64_t)lives->splits +
           (uint64_t)split;
}
/* Returns the cell, or NULL if it is outside of the table or no instruction has named it. */
static inline struct pp_cell_life *pp_lifetimes_at(const struct pp_lifetimes *lives, int stage,
                                                   int granule, int split)
{
    if (stage < 0 || stage >= lives->stages || granule < 0 || granule >= lives->granules ||
        split < 0 || split >= lives->splits)
        return NULL;
    const uint64_t number = pp_lifetimes_number(lives, stage, granule, split);
    return lives->is_dense ? &lives->cells[number] : pp_lifetimes_sparse(lives, number);
}
/* Returns the number of `cells`; each is at an index below it. */
static inline size_t pp_lifetimes_size(const struct pp_lifetimes *lives)
{
    return lives->is_dense ? lives->row * (size_t)lives->stages : (size_t)lives->count;
}
/* Returns the cell, all 0 if no instruction has named it. */
static inline struct pp_cell_life pp_lifetimes_cell(const struct pp_lifetimes *lives, int stage,
                                                    int granule, int split)
{
    const struct pp_cell_life *cell = pp_lifetimes_at(lives, stage, granule, split);

    return cell ? *cell : (struct pp_cell_life){0};
}

/* Is true if every granule of an F has an R. */
bool pp_lifetimes_is_recomputed(const struct pp_lifetimes *lives, const struct pp_op *forward);

/* Adds a new cell to a table that is not dense; else NULL. */
struct pp_cell_life *pp_lifetimes_new(struct pp_lifetimes *lives, int stage, int granule,
                                      int split);

static inline void pp_lifetimes_note(struct pp_lifetimes *lives, const struct pp_op *op,
                                     int position)
{
    const int kind = op->kind;
    const bool is_compute = kind != PP_WAIT;

    if (!pp_lifetimes_notes(kind, op->aux))
        return;
    for (int g = op->mb; g < op->mb + op->granules; g++) {
        struct pp_cell_life *cell = pp_lifetimes_at(lives, op->stage, g, op->split);

        if (!cell && is_compute)
            cell = pp_lifetimes_new(lives, op->stage, g, op->split);
        if (!cell)
            continue;
        if (!is_compute)
            cell->wait[op->aux == PP_SEND_B] = position + 1;
        if (kind == PP_F)
            cell->forward = position + 1;
        if (kind == PP_R)
            cell->recompute = position + 1;
        if (kind == PP_B || kind == PP_I)
            cell->backward = position + 1;
        if (kind == PP_B || kind == PP_W)
            cell->freed = position + 1;
    }
}

/* Last reader of a tensor named by its reading stage (as a RECV is), 0 forward, 1 backward. */
static inline int pp_lifetimes_read(const struct pp_lifetimes *lives, const struct pp_op *op,
                                    int stage, int direction)
{
    int last = 0;

    for (int g = op->mb; g < op->mb + op->granules; g++) {
        const struct pp_cell_life *cell = pp_lifetimes_at(lives, stage, g, op->split);
        const int at = !cell ? 0 : direction ? cell->backward : cell->forward;

        last = at > last ? at : last;
    }
    return last - 1;
}
/* Return the producer of a SEND, and the WAIT for it. */
static inline int pp_lifetimes_made(const struct pp_lifetimes *lives, const struct pp_op *send)
{
    return pp_lifetimes_read(lives, send, send->stage, send->kind == PP_SEND_B);
}
static inline int pp_lifetimes_sent(const struct pp_lifetimes *lives, const struct pp_op *send)
{
    const struct pp_cell_life *cell = pp_lifetimes_at(lives, send->stage, send->mb, send->split);

    return cell ? cell->wait[send->kind == PP_SEND_B] - 1 : -1;
}

/* Costs change none of these. Positions are those of the rank's list; its length means never. */
struct pp_memory_place {
    union {
        int32_t taken; /* SEND, RECV: start of their tensor's life */
        int32_t freed; /* F, R, COPY.up: the last B or W that reads what is in their slot, or the
                        * WAIT for the COPY.down that moves it. F of a generating program: the last
                        * pass of its granules, which reads what it caches */
    };
    int32_t given; /* SEND, RECV: its end. F, B, I: the end of their output's life, -1 = it is not
                    * read here */
    int32_t again; /* F, B, I, and ops on saved activations: granules with an R */
};
/* Returns the places of all tensors, of instructions that have one: those that the program keeps,
 * else new ones in `scratch`. */
const struct pp_memory_place *pp_memory_places(struct pp_arena *scratch,
                                               const struct pp_program *p);
