/* schedules/verify/order.h — the instructions that must have finished before an op may start.
 *
 * A unit is one (stage, granule, sequence split); its pipeline follows from the granule. A table
 * maps a unit to the global index of an instruction. */
#pragma once

#include "schedules/program/program.h"

enum pp_verify_table {
    AT_F,      /* forward */
    AT_BACK,   /* B or I */
    AT_W,      /* W, or B again: frees the saved activation */
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
    int granules; /* number of granule ids: micro-batches * granules per micro-batch */
    int64_t units;
    int32_t *at[AT_TABLES]; /* [unit] instruction, -1 = none */
    uint8_t *is_waited;     /* [instruction] lowered: a WAIT names this post */
};

static inline int64_t pp_verify_unit(const struct pp_verify *v, int stage, int granule, int split)
{
    return ((int64_t)stage * v->granules + granule) * v->p->splits + split;
}
/* Returns the first instruction of the pair of `i`, or `i`: an op can use earlier results. */
static inline int pp_verify_start(const struct pp_program *p, int i)
{
    return pp_op_is_compute(p->kind[i]) && p->aux[i] == PP_FUSED_SECOND ? i - 1 : i;
}
static inline int pp_verify_pipe(const struct pp_verify *v, int granule)
{
    return v->p->pipelines > 1 ? v->p->pipe_of[granule] : 0;
}

/* Fills `needs` with instructions, on any rank, that must have finished before compute op `i` may
 * handle this unit. Returns their number. */
enum { VERIFY_NEEDS = 4 };
int pp_verify_needs(const struct pp_verify *v, int i, int64_t unit, int needs[VERIFY_NEEDS]);

/* Checks that each op exists once, on its rank; fills at[AT_F] to at[AT_R]. PP_EPROGRAM. */
enum pp_status pp_verify_units(struct pp_verify *v);
