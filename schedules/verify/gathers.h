/* schedules/verify/gathers.h — shared by gathers.c and scatters.c only. */
#pragma once

#include "schedules/verify/parts.h"

/* The unit of a chunk that is there: as it was gathered, or with which the last use ended. */
enum pp_gather_unit { ANY_UNIT, FIRST_UNIT, LAST_UNIT };

/* A stage on the rank at hand: places in the list, -1 = none. */
struct pp_gather_stage {
    int load, loaded;         /* MOVE of a share, its WAIT: for a gather that is not posted */
    int posted;               /* gather that nothing has waited for */
    int present;              /* WAIT for the gather whose parameters are there */
    enum pp_gather_unit unit; /* of these, where a chunk has several */
    int used;                 /* last use of them */
    int dropped;              /* DROP after which nothing is there */
    int dirty;                /* last B or W whose gradients are whole */
    int pending;              /* last B, W or RS.visit whose gradients are in no shards */
    int scatter[PP_PURPOSES]; /* post that nothing has waited for */
    int sum, rest;            /* RS of the step, AR.rest: their last buckets so far */
    int open_rests;           /* buckets of AR.rest that nothing has waited for */
    int update;
};

struct pp_gathers {
    struct pp_verify *v;
    const struct pp_state_spec *spec; /* as the program states it */
    struct pp_gather_stage *stages;
    bool *is_waited; /* [instruction] some WAIT names it */
    int rank;
    int held, loads; /* units gathered, or about to be; shares loaded, or about to be */
};

/* Instruction i, whose gradients wait for a shard, or scatters, sums or uses them: see
 * scatters.c. */
enum pp_status pp_gathers_check_pending(struct pp_gathers *g, int i);
enum pp_status pp_gathers_check_scatter(struct pp_gathers *g, int i);
enum pp_status pp_gathers_check_sum(struct pp_gathers *g, int i);
enum pp_status pp_gathers_check_update(struct pp_gathers *g, int i);
