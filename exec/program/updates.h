/* exec/program/updates.h — where an update finds the vectors of a chunk's optimizer state, of which
 * a first share may live on another tier. Elements count from the begin of a moment, as laid out in
 * a state (exec/state/state.h). */
#pragma once

#include "core/cost/state.h"
#include "exec/state/state.h"
#include "exec/tiers/tiers.h"

#include <stdint.h>

enum { PP_MOMENTS = 3 }; /* m, v, master */

struct pp_update_layout {
    int64_t elements; /* of a moment */
    int64_t moved;    /* the first of them live on the home tier of optimizer state */
    struct pp_tier_place moved_at[PP_MOMENTS], rest_at[PP_MOMENTS]; /* their first elements */
    /* Gradients, and updated weights, with which the host updates, in its memory. PP_TIER_DEVICE:
     * there are none, as these live there, or the device updates. */
    struct pp_tier_place grads, weights;
    /* State that streams through an update of the device. Elements of a bucket, of which the last
     * may have fewer; 0: nothing streams. Their number, and where the buffer is. */
    int64_t bucket;
    int buckets;
    size_t buffer_at;
};

/* Room in the host's memory for a bucket of each vector that is in a file while the host updates.
 */
enum pp_bucket_vector {
    PP_BUCKET_M,
    PP_BUCKET_V,
    PP_BUCKET_MASTER,
    PP_BUCKET_WEIGHTS,
    PP_BUCKET_GRADS,
    PP_BUCKET_VECTORS
};
struct pp_update_bucket {
    int64_t elements;                           /* 0: there is none */
    struct pp_tier_place at[PP_BUCKET_VECTORS]; /* PP_TIER_DEVICE: none for this vector */
};

/* Returns the elements of a moment that live on another tier: whole units of tensors. */
int64_t pp_update_moved(const struct pp_state_spec *spec, int64_t elements);
/* Returns the elements of a bucket of `moved`: whole units of tensors, and blocks of a file. 0: the
 * update streams nothing. */
int64_t pp_update_streamed(const struct pp_state_spec *spec, const struct pp_kernels *kernels,
                           int64_t moved);
/* Returns the bytes of an element of a bucket: moments, and gradients that live elsewhere. */
size_t pp_update_element_bytes(const struct pp_state_spec *spec, const struct pp_kernels *kernels,
                               bool is_exact);
