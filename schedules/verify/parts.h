/* schedules/verify/parts.h — shared by verify*.c and eager.c only.
 *
 * A unit is one (stage, granule, sequence split); its pipeline follows from the granule. Tables map
 * a unit to the global index of the instruction that does something for it. */
#ifndef PP_SCHEDULES_VERIFY_PARTS_H
#define PP_SCHEDULES_VERIFY_PARTS_H

#include "schedules/verify/verify.h"

enum pp_verify_table {
    AT_F,      /* forward */
    AT_BACK,   /* B or I */
    AT_W,      /* W, or B again: what frees the saved activation */
    AT_R,      /* recompute */
    AT_SEND_F, /* posts of the messages named by this unit, and the WAITs for the received ones */
    AT_SEND_B,
    AT_RECV_F,
    AT_RECV_B,
    AT_WAIT_F,
    AT_WAIT_B,
    AT_TABLES
};

struct pp_verify {
    const struct pp_program *p;
    struct pp_arena *arena;
    struct pp_error *err;
    int granules; /* all granule ids: micro_batches * granules per micro-batch */
    int64_t units;
    int32_t *at[AT_TABLES]; /* [unit] instruction, -1 = none */
};

static inline int64_t pp_verify_unit(const struct pp_verify *v, int stage, int granule, int split)
{
    return ((int64_t)stage * v->granules + granule) * v->p->splits + split;
}
/* First instruction of the fused pair that `i` belongs to, or `i`: an op can use what was finished
 * before this one. */
static inline int pp_verify_start(const struct pp_program *p, int i)
{
    return pp_op_is_compute(p->kind[i]) && p->aux[i] == PP_FUSED_SECOND ? i - 1 : i;
}
static inline int pp_verify_pipe(const struct pp_verify *v, int granule)
{
    return v->p->pipelines > 1 ? v->p->pipe_of[granule] : 0;
}

/* Up to VERIFY_NEEDS instructions that must have finished before compute op `i` may handle this
 * unit, on any rank. Returns how many. */
enum { VERIFY_NEEDS = 4 };
int pp_verify_needs(const struct pp_verify *v, int i, int64_t unit, int needs[VERIFY_NEEDS]);

/* The checks, in the order in which they run; each builds on the earlier ones. */
enum pp_status
pp_verify_units(struct pp_verify *v); /* each op once, where it belongs; fills AT_F.. */
enum pp_status pp_verify_sync(struct pp_verify *v);    /* U, gradient collectives, BAR */
enum pp_status pp_verify_gathers(struct pp_verify *v); /* sharded state: AG, RS, DROP of visits */
enum pp_status pp_verify_moves(struct pp_verify *v);   /* memory tiers: COPY, MOVE, Q, DQ */
enum pp_status pp_verify_comm(struct pp_verify *v);    /* messages and WAITs; fills AT_SEND_F.. */
enum pp_status pp_verify_order(struct pp_verify *v); /* lowered: data is there when an op starts */
enum pp_status pp_verify_slots(struct pp_verify *v); /* no buffer slot overwritten while in use */
enum pp_status pp_verify_run(struct pp_verify *v);   /* no deadlock */

/* ---- words (verify_text.c) ------------------------------------------------------------------- */
enum { VERIFY_TEXT_BYTES = PP_OP_TEXT_BYTES + 8 };
const char *pp_verify_name(const struct pp_program *p);
int pp_verify_rank(const struct pp_program *p, int i);
/* The cell of instruction i, in `text` of VERIFY_TEXT_BYTES; returns text. */
const char *pp_verify_op_text(const struct pp_program *p, int i, char *text);
/* A cell that the program lacks. */
const char *pp_verify_unit_text(const struct pp_verify *v, int kind, int64_t unit, char *text);
/* "rank 1 line 2 col 4" or "rank 1 op 4". */
const char *pp_verify_place(const struct pp_program *p, int i, char *text);
/* PP_EPROGRAM: "file:line:column: rank r: message" (or "name: rank r: message"), then the grid with
 * instruction `mark` marked. _rank: no instruction to blame, "name: rank r: message".
 */
enum pp_status pp_verify_fail(struct pp_verify *v, int mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum pp_status pp_verify_fail_rank(struct pp_verify *v, int rank, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Append the grid with that cell marked; position -1: only the rank. */
enum pp_status pp_verify_add_grid(struct pp_verify *v, int rank, int position);
/* "  fix: move A before B on rank r", as a line to append. */
const char *pp_verify_fix(struct pp_verify *v, int needed, int before);

#endif
