/* exec/hub/weights.h — the weights of a model of the hub, read as ours. */
#pragma once

#include "exec/hub/families.h"
#include "exec/hub/safetensors.h"
#include "exec/state/state.h"

/* ---- exec/hub/layout.c ----------------------------------------------------------------------- */

/* A tensor of the hub and its place in one of ours. */
struct pp_hub_piece {
    const char *name;
    const struct pp_param *param; /* of the whole model as one stage */
    int64_t from;                 /* first element in ours */
    int64_t rows, columns;        /* in ours */
    int64_t stored_rows;          /* in the file: at least as many */
    int head_dim;
    bool is_vector;
    float added; /* to numbers of the file, to make them ours */
    const struct pp_hub_order *order;
    const struct pp_safetensor *tensor; /* NULL = there is no file */
};
struct pp_hub_layout {
    const struct pp_hub_family *family;
    const struct pp_model *model;
    struct pp_hub_piece *pieces; /* [count], by id of `param`, then by `from` */
    int count;
};
/* Finds the tensors of a model. PP_EINVAL if its family is not known, or has no place for one of
 * ours. `model` is kept by reference. */
enum pp_status pp_hub_layout(struct pp_arena *arena, const struct pp_model *model,
                             const struct pp_net *net, struct pp_hub_layout *layout,
                             struct pp_error *err);

/* ---- exec/hub/order.c ------------------------------------------------------------------------ */

/* Returns the next block of runs in ours, counted in the piece, whose first `*done` elements were
 * taken, and takes it. It has at most `most` elements, or one row. */
struct pp_hub_block pp_hub_next_block(const struct pp_hub_piece *piece, struct pp_slice_piece runs,
                                      int64_t most, int64_t *done);

/* ---- exec/hub/weights.c ---------------------------------------------------------------------- */

/* Finds the tensors of a layout in files: name, shape and type. PP_EINVAL, with the file and the
 * tensor, for those that are missing, differ, or belong to no part of the model. */
enum pp_status pp_hub_match(struct pp_arena *arena, const struct pp_safetensors *files,
                            const char *path, struct pp_hub_layout *layout, struct pp_error *err);
/* Returns the source of initial weights, which keeps the layout by reference. */
struct pp_weights_source pp_hub_source(const struct pp_hub_layout *layout);
