/* exec/reference/reference.h — the oracle: the same training on one rank, without program, messages
 * or slots. It is a loop over micro-batches, forward, then backward. Same granules, same sequence
 * splits. The whole model is one stage, so a tied matrix is one tensor. */
#pragma once

#include "exec/backend/backend.h"
#include "exec/data/text.h"
#include "exec/stage/batch.h"
#include "exec/stage/state.h"

/* Where it runs: alone, but on a device as large as a worker of the machine has one. */
struct pp_place {
    const struct pp_backend *backend;
    enum pp_device_mode mode;
    int parts; /* of a partitioned GPU */
    int place; /* among the processes of this host: see pp_device_options */
    /* As in pp_machine_options, of one granule, where work runs later than it is launched. */
    double timeout_s;
    void (*on_stuck)(void *closure, const struct pp_error *err);
    void *stuck_closure;
};
struct pp_reference;
/* Memory that pp_reference_create will take, and what of that the host holds as well, where memory
 * of the backend is apart. */
void pp_reference_bytes(const struct pp_net *net, const struct pp_kernels *kernels,
                        const struct pp_batch *batch, bool is_exact, size_t *bytes,
                        size_t *staging_bytes);
/* All memory is taken here, of a device of its own; one granule's activations at a time. PP_EFAIL
 * when it is more than is left, with sizes. `net` and `kernels` are kept by reference;
 * the arena closes the device. mbs is a multiple of the granules, net->seq of the splits. */
enum pp_status pp_reference_create(struct pp_arena *arena, const struct pp_net *net,
                                   const struct pp_kernels *kernels, const struct pp_place *place,
                                   const struct pp_batch *batch, const struct pp_recipe *recipe,
                                   struct pp_reference **reference, struct pp_error *err);
/* Gradients of one step (kept until the next call of _step or _update), and its loss: the mean over
 * all tokens. PP_EFAIL for a loss that is not finite or a gradient that overflows, with the step.
 */
enum pp_status pp_reference_step(struct pp_reference *reference, const struct pp_text *text,
                                 int step, double *loss, struct pp_error *err);
/* PP_EFAIL for a gradient that is not finite, with step, tensor and layer. */
enum pp_status pp_reference_update(struct pp_reference *reference, int step, struct pp_error *err);

const struct pp_stage *pp_reference_stage(const struct pp_reference *reference);
/* As the host sees it, after the last step or update. */
const struct pp_state *pp_reference_state(const struct pp_reference *reference);
/* The caller has changed it: hand it to the device. */
enum pp_status pp_reference_changed(const struct pp_reference *reference, struct pp_error *err);

/* Differences between a stage's vectors and those of the reference, tensor by tensor (by id), added
 * to what `difference` holds. `what` says which vector; weights are master weights, where there
 * are. A tied matrix is compared wherever it is.
 */
enum pp_vector { PP_VECTOR_GRADIENTS, PP_VECTOR_WEIGHTS };
struct pp_difference {
    int64_t elements, differing; /* bit patterns that differ */
    double max_abs;
    double squares, reference_squares; /* sums: rel_l2 = sqrt of their ratio */
    const char *worst;                 /* tensor of max_abs */
    int worst_layer;
};
void pp_reference_compare(const struct pp_reference *reference, const struct pp_stage *stage,
                          const struct pp_state *state, enum pp_vector what,
                          struct pp_difference *difference);
