/* exec/copy/parts.h — private to exec/copy: what binds the copies of each purpose. */
#pragma once

#include "exec/copy/copy.h"

/* Fills the work and pieces of a copy. */
typedef void pp_copy_binder(const struct pp_worker *w, struct pp_bound_copy *copy);
/* Saved activations, in the slot of an F or of a COPY.up. */
pp_copy_binder pp_bind_saved;
/* Parameters, in a buffer of whole ones. */
pp_copy_binder pp_bind_params;

/* Appends a piece, in the arena. */
void pp_copy_add(struct pp_arena *arena, struct pp_bound_copy *copy, struct pp_copy_piece piece);
/* Work of a copy: moves all of its pieces, down or up. */
void pp_copy_run(const struct pp_kernels *k, void *stream, void *copy);
