/* exec/reference/reference.h — the oracle: the same training on one rank, without program, messages
 * or slots. A loop runs forward and backward of each micro-batch, with the same granules and
 * splits. The whole model is one stage, so a tied matrix is one tensor. With tensor parallelism, it
 * runs the devices of a group in turn, and adds up the parts of an exchange in their order. */
#pragma once

#include "exec/backend/backend.h"
#include "exec/data/text.h"
#include "exec/stage/batch.h"
#include "exec/stage/stage.h"
#include "exec/state/state.h"

/* The reference's own device, as large as that of a worker. */
struct pp_place {
    const struct pp_backend *backend;
    enum pp_device_mode mode;
    struct pp_stage_share share; /* of its first device */
    int parts;                   /* of a partitioned GPU */
    int left_free;               /* multiprocessors: see pp_device_options */
    int place;                   /* among the processes of this host: see pp_device_options */
    /* Watchdog as in pp_machine_options, of one granule; unused if work runs at once. */
    double timeout_s;
    void (*on_stuck)(void *closure, const struct pp_error *err);
    void *stuck_closure;
};
struct pp_reference;
/* Finds the memory that pp_reference_create() will take, for groups as in `share`. `*staging_bytes`
 * of it are also needed on the host if the backend has its own memory. */
void pp_reference_bytes(const struct pp_net *net, const struct pp_kernels *kernels,
                        const struct pp_batch *batch, struct pp_stage_share share, bool is_exact,
                        size_t *bytes, size_t *staging_bytes);
/* Opens a device and takes all memory; activations are those of one granule. PP_EFAIL, with sizes,
 * if there is not enough. `net` and `kernels` are kept by reference; the arena closes the device.
 * mbs is a multiple of the granules, net->seq of the splits. */
enum pp_status pp_reference_create(struct pp_arena *arena, const struct pp_net *net,
                                   const struct pp_kernels *kernels, const struct pp_place *place,
                                   const struct pp_batch *batch, const struct pp_recipe *recipe,
                                   struct pp_reference **reference, struct pp_error *err);
/* Computes gradients, kept until the next _step or _update, and the loss, a mean over all tokens.
 * PP_EFAIL, with the step, for a loss that is not finite or a gradient that overflows. */
enum pp_status pp_reference_step(struct pp_reference *reference, const struct pp_text *text,
                                 int step, double *loss, struct pp_error *err);
/* Computes the loss alone, on the samples of step `pass`. */
enum pp_status pp_reference_forward(struct pp_reference *reference, const struct pp_text *text,
                                    int pass, double *loss, struct pp_error *err);
/* Updates the weights. PP_EFAIL, with step, tensor and layer, for a gradient that is not finite. */
enum pp_status pp_reference_update(struct pp_reference *reference, int step, struct pp_error *err);

/* Return the stage and the state of a device of the group: the state after the last step or update,
 * as the host sees it. */
int pp_reference_devices(const struct pp_reference *reference);
const struct pp_stage *pp_reference_stage(const struct pp_reference *reference, int tp_index);
const struct pp_state *pp_reference_state(const struct pp_reference *reference, int tp_index);
/* Takes the state of another reference of the same net, batch and groups. */
enum pp_status pp_reference_take_state(struct pp_reference *reference,
                                       const struct pp_reference *from, struct pp_error *err);
/* Copies to the device a state that the caller has changed. */
enum pp_status pp_reference_changed(const struct pp_reference *reference, struct pp_error *err);

/* Vectors that are compared; weights are master weights, if there are any. */
enum pp_vector { PP_VECTOR_GRADIENTS, PP_VECTOR_WEIGHTS };
struct pp_difference {
    int64_t elements, differing; /* bit patterns that differ */
    double max_abs;
    double squares, reference_squares; /* sums: rel_l2 = sqrt of their ratio */
    double own_squares;                /* of the vector that is compared */
    const char *worst;                 /* tensor of max_abs */
    int worst_layer;
};
/* Compares a stage's vector with the reference by tensor id, and adds to `difference`. Every copy
 * of a tied matrix is compared. */
void pp_reference_compare(const struct pp_reference *reference, const struct pp_stage *stage,
                          const struct pp_state *state, enum pp_vector what,
                          struct pp_difference *difference);
