/* exec/copy/parts.h — private to exec/copy: what binds the copies of each purpose. */
#pragma once

#include "exec/copy/copy.h"

/* Fills the work and pieces of a copy. */
typedef void pp_copy_binder(const struct pp_worker *w, struct pp_bound_copy *copy);
/* Saved activations, in the slot of an F or of a COPY.up. */
pp_copy_binder pp_bind_saved;
/* Parameters, in a buffer of whole ones. */
pp_copy_binder pp_bind_params;
/* Gradients of a visit, in the buffer that its backwards fill. */
pp_copy_binder pp_bind_gradients;
/* Gradients down to the host, which updates; what it has updated up. */
pp_copy_binder pp_bind_grads, pp_bind_updated;
/* Optimizer state for an update of the device: the first bucket, and back, the last. */
pp_copy_binder pp_bind_fetch, pp_bind_store;
/* The update itself, on the host's stream. */
pp_copy_binder pp_bind_update;

/* Appends a piece, in the arena, unless it is empty. */
void pp_copy_add(struct pp_arena *arena, struct pp_bound_copy *copy, struct pp_copy_piece piece);
/* Reads or writes the bytes of a piece in the worker's file, in work on `stream`. `memory` is the
 * device's or the host's. An error fails the step. */
void pp_copy_file(const struct pp_kernels *k, void *stream, const struct pp_bound_copy *copy,
                  const struct pp_copy_piece *piece, void *memory, bool is_read);
/* Counts the calls of a step that read and write all pieces of a copy. Then takes memory for those
 * of a worker; PP_EFAIL: there is not enough. */
void pp_copy_count_calls(struct pp_copier *copier, const struct pp_bound_copy *copy);
enum pp_status pp_copy_take_buffers(struct pp_worker *w, struct pp_error *err);
/* Counts bytes that a copy of a step has moved from or to the device. */
void pp_copy_count(const struct pp_bound_copy *copy, size_t bytes);
/* Work of a copy: moves all of its pieces, down or up. */
void pp_copy_run(const struct pp_kernels *k, void *stream, void *copy);
