/* exec/hub/families.h — names of tensors by family, and how ours are made of them. */
#pragma once

#include "core/model/model.h"

#include <stddef.h>

/* Widths of matrices. Q are the rows of all queries, KV those of all keys. QKV are the rows of all
 * three, in families with as many keys as queries. */
enum pp_hub_size {
    PP_HUB_ONE, /* columns of a vector */
    PP_HUB_HIDDEN,
    PP_HUB_Q,
    PP_HUB_KV,
    PP_HUB_QKV,
    PP_HUB_HEAD,
    PP_HUB_FFN,
    PP_HUB_EXPERTS,
    PP_HUB_EXPERT_FFN,
    PP_HUB_VOCAB,
    PP_HUB_POSITIONS,
    PP_HUB_TYPES,
};

/* Columns of some rows of a tensor, in ours. Their numbers are one after the other. */
struct pp_hub_block {
    int64_t row, rows, column, columns;
};
/* Takes numbers that follow one another in a file, from element `at` of the tensor on. */
struct pp_hub_piece;
typedef enum pp_status (*pp_hub_take)(void *closure, int64_t at, const float *values, int64_t count,
                                      struct pp_error *err);
/* How the numbers of a tensor are stored. `read` finds those of a block of ours. `write` gives
 * those of a block to `take`, in the order of the file. */
struct pp_hub_order {
    bool is_transposed; /* stored as [columns][rows] */
    void (*read)(const struct pp_hub_piece *piece, const struct pp_hub_block *block, float *values);
    enum pp_status (*write)(const struct pp_hub_piece *piece, const struct pp_hub_block *block,
                            const float *values, pp_hub_take take, void *closure,
                            struct pp_error *err);
};
/* BY_HEAD: query, key and value of each head in turn. */
extern const struct pp_hub_order pp_hub_plain, pp_hub_transposed, pp_hub_by_head;

/* A tensor of a file. Its rows are those of one of ours, after the rows of the names before it that
 * have the same `ours`. */
struct pp_hub_name {
    const char *ours; /* as in struct pp_param; NULL ends a list */
    const char *name; /* with %d for the block, and for the expert after it */
    enum pp_hub_size rows, columns;
    const struct pp_hub_order *order;
};

/* A tensor that files may have as a copy of one of ours. */
struct pp_hub_copy {
    const char *name, *ours; /* NULL ends a list */
};

/* A key of config.json, and the field that it has in struct pp_model. */
struct pp_hub_setting {
    const char *key; /* NULL ends a list */
    /* COUNT: an int whose 0 is null there. DENSE: blocks without experts, a list there */
    enum {
        PP_HUB_INT,
        PP_HUB_COUNT,
        PP_HUB_DENSE,
        PP_HUB_BOOL,
        PP_HUB_NOT,
        PP_HUB_REAL,
        PP_HUB_TEXT
    } kind;
    size_t offset;
};

struct pp_hub_family {
    const char *family;              /* of struct pp_model */
    const char *type, *architecture; /* of config.json */
    const char *prefix; /* of names; files of the model without its head leave it out */
    const struct pp_hub_name *names;
    const char *const *ignored; /* ends of names; NULL ends the list */
    const struct pp_hub_setting *settings;
    const struct pp_hub_name *experts; /* of blocks with experts, after `names`; NULL = none */
    bool is_switchable; /* files say which blocks have experts, and how they are weighed */
    const struct pp_hub_copy *copies; /* NULL = none */
    bool is_always_tied;              /* the head shares the matrix of the embedding */
};

/* Returns the family of a model. PP_EINVAL, with the known ones, if its names are not known. */
enum pp_status pp_hub_family(const struct pp_model *model, const struct pp_hub_family **family,
                             struct pp_error *err);
int64_t pp_hub_size(const struct pp_model *model, enum pp_hub_size size);

/* ---- exec/hub/class.c ------------------------------------------------------------------------ */

/* Checks that the class in the file has the head that is trained: words that follow, or hidden
 * words for an encoder. PP_EINVAL with the legal ones. */
enum pp_status pp_hub_check_class(const struct pp_model *model, struct pp_error *err);
