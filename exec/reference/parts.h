/* exec/reference/parts.h — private to exec/reference. */
#pragma once

#include "exec/backend/staging.h"
#include "exec/reference/alarm.h"
#include "exec/reference/turn.h"

/* A device of a tensor-parallel group, with its part of the model. They run in turn. */
struct pp_reference_part {
    struct pp_stage *stage;
    struct pp_state state, seen; /* on the device; as the host sees it */
    double *blocks;              /* [blocks of all tensors] */

    /* of one granule */
    void **kept, **saved; /* [splits] */
    double *losses;       /* on the device: [splits][rows * tokens] */
    void *scratch, *grad_scratch;
    double *block_scratch; /* [blocks of all tensors] */
};
struct pp_reference {
    const struct pp_net *net;
    const struct pp_kernels *kernels;
    const struct pp_backend *backend;
    struct pp_backend_device *device;
    struct pp_alarm *alarm; /* runs while the device works; NULL = no watchdog */
    struct pp_batch batch;
    struct pp_recipe recipe;
    int tp;
    struct pp_reference_part *parts; /* [tp] */
    struct pp_staging staging;       /* staging of all states */
    double *squares;                 /* [layers + 2] */
    bool has_gradients;              /* of a step, until an update uses and zeroes them */

    /* of one granule */
    struct pp_staging losses; /* of the first part */
    int32_t *ids, *targets;
    int *status; /* enum pp_fixed_status */
    struct pp_turn turn;

    /* of the current update */
    struct pp_adamw_step *adamw; /* shared with the device */
};

/* exec/reference/memory.c: takes all memory; PP_EFAIL, with sizes, if there is not enough */
enum pp_status pp_reference_take(struct pp_arena *arena, struct pp_reference *r,
                                 const struct pp_place *place, struct pp_error *err);
size_t pp_reference_granule_tokens(const struct pp_stage *stage);
