/* schedules/verify/gathers.h — shared by gathers.c and scatters.c only. */
#pragma once

#include "schedules/verify/parts.h"

/* The unit of a chunk that is present: as gathered, or the one at the end of the last use. */
enum pp_gather_unit { ANY_UNIT, FIRST_UNIT, LAST_UNIT };

/* A stage on the current rank: places in the list, -1 = none. */
struct pp_gather_stage {
    int load, loaded;         /* MOVE of a share, its WAIT: for a gather not yet posted */
    int posted;               /* gather without a WAIT so far */
    int present;              /* WAIT for the gather of the present parameters */
    enum pp_gather_unit unit; /* of the present parameters, if a chunk has several */
    int used;                 /* last use of the present parameters */
    int dropped;              /* DROP of the parameters, if none are present */
    int dirty;                /* last B or W whose gradients are whole */
    int pending;              /* last B, W or RS.visit whose gradients are not in shards */
    int scatter[PP_PURPOSES]; /* post without a WAIT so far */
    int sum, rest;            /* RS of the step, AR.rest: their last buckets so far */
    int open_rests;           /* buckets of AR.rest without a WAIT so far */
    int update;
};

struct pp_gathers {
    struct pp_verify *v;
    const struct pp_state_spec *spec; /* as the program states it */
    struct pp_gather_stage *stages;
    bool *is_waited; /* [instruction] some WAIT names it */
    int rank;
    int room;        /* units that the rank may have gathered or posted, 0 = unknown */
    int held, loads; /* units gathered or posted; shares loaded or posted */
};

/* Returns the state of the parameters that instruction i names. All passes of a generating program
 * have those of the first. */
static inline struct pp_gather_stage *pp_gathers_of(const struct pp_gathers *g, int i)
{
    return &g->stages[g->v->p->stage[i] % pp_program_model_stages(g->v->p)];
}

/* Checks of instruction i, in scatters.c: it makes, scatters, sums or uses gradients. */
enum pp_status pp_gathers_check_pending(struct pp_gathers *g, int i);
enum pp_status pp_gathers_check_scatter(struct pp_gathers *g, int i);
enum pp_status pp_gathers_check_sum(struct pp_gathers *g, int i);
enum pp_status pp_gathers_check_update(struct pp_gathers *g, int i);
