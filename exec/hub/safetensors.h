/* exec/hub/safetensors.h — tensors in safetensors files: one file, or the shards of a folder.
 *
 * A file is the length of a header (8 bytes, little endian), the header in JSON, and the data. The
 * header gives type, shape and offsets of each tensor. Readers map a file and check the header
 * before they use it: offsets must agree with shapes, and cover the data without gap or overlap. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- exec/hub/number_types.c ----------------------------------------------------------------- */

/* How numbers are stored. Numbers of types without `read` are known by their size only. */
struct pp_number_type {
    const char *name; /* "BF16" */
    int bytes;
    void (*read)(const void *from, int64_t count, float *to);
    void (*write)(const float *from, int64_t count, void *to);
};
/* Returns the type of that name; NULL if the format has none. */
const struct pp_number_type *pp_number_type(const char *name);

/* ---- exec/hub/safetensors.c ------------------------------------------------------------------ */

enum { PP_SAFETENSOR_DIMENSIONS = 8 };
struct pp_safetensor {
    const char *name, *file; /* file: for messages */
    const struct pp_number_type *type;
    int dimensions;
    int64_t shape[PP_SAFETENSOR_DIMENSIONS];
    int64_t count;             /* elements */
    const unsigned char *data; /* as in the file: at any address */
};
struct pp_safetensors {
    struct pp_safetensor *tensors; /* [count], by name */
    int count;
};

/* Reads the header of a file that is in memory; tensors point into `bytes`. PP_EINVAL, with the
 * file and the tensor, for anything that the format forbids. `name` is kept by reference. */
enum pp_status pp_safetensors_parse(struct pp_arena *arena, const char *name,
                                    const unsigned char *bytes, size_t length,
                                    struct pp_safetensors *tensors, struct pp_error *err);
/* Returns the tensor of that name; NULL if there is none. */
const struct pp_safetensor *pp_safetensors_find(const struct pp_safetensors *tensors,
                                                const char *name);
void pp_safetensors_sort(struct pp_safetensors *tensors);

/* ---- exec/hub/safetensors_open.c ------------------------------------------------------------- */

#define PP_SAFETENSORS_FILE  "model.safetensors"
#define PP_SAFETENSORS_INDEX "model.safetensors.index.json"

/* Finds the weights of a folder: its file or the index of its shards, in the arena; NULL = none.
 * PP_EINVAL if weights are there in another form. */
enum pp_status pp_safetensors_look(struct pp_arena *arena, const char *folder, const char **path,
                                   struct pp_error *err);
/* Maps a file, or all files of an index (.json), for as long as the arena lives. PP_EFAIL if one is
 * missing or cannot be read. PP_EINVAL as pp_safetensors_parse(), and where index and shards
 * contradict each other. For files that become shorter meanwhile see pp_map_file(). */
enum pp_status pp_safetensors_open(struct pp_arena *arena, const char *path,
                                   struct pp_safetensors *tensors, struct pp_error *err);
