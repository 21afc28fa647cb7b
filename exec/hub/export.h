/* exec/hub/export.h — writes a model for the hub: config.json and weights in safetensors. */
#pragma once

#include "exec/hub/folder.h"
#include "exec/hub/weights.h"

/* ---- exec/hub/safetensors_write.c ------------------------------------------------------------ */

/* Returns how a file with these tensors begins: the length of its header, and the header. */
char *pp_safetensors_head(struct pp_arena *arena, const struct pp_safetensor *tensors, int count,
                          size_t *bytes);
/* Writes a new file of `length` bytes to the disk, of which the first `count` are given. PP_EFAIL.
 */
enum pp_status pp_hub_write_new(const char *path, const void *bytes, size_t count, int64_t length,
                                struct pp_error *err);
/* Writes bytes at a place of a file. PP_EFAIL. */
enum pp_status pp_hub_write_at(int fd, const char *path, const void *bytes, size_t count,
                               int64_t at, struct pp_error *err);
/* Sets PP_EFAIL from errno. */
enum pp_status pp_hub_write_fail(const char *path, struct pp_error *err);

/* ---- exec/hub/config.c ----------------------------------------------------------------------- */

/* Returns the text of config.json for a model. It is that of the file `base` (NULL = none), with
 * the settings of the model unless they are the same. */
enum pp_status pp_hub_config(struct pp_arena *arena, const struct pp_hub_layout *layout,
                             const char *base, bool is_same, const char **text,
                             struct pp_error *err);

/* ---- exec/hub/export.c ----------------------------------------------------------------------- */

#define PP_HUB_SHARD_BYTES INT64_C(5000000000) /* as transformers cuts */

struct pp_hub_export {
    const struct pp_hub_folder *folder; /* open; NULL in processes that do not publish it */
    const char *config;                 /* text of config.json */
    const struct pp_hub_layout *layout; /* types are those of its files, else F32 */
    int64_t shard_bytes;
};

/* Where the tensors of a model go: the same in all processes that write parts of them. */
struct pp_hub_draft {
    struct pp_arena *arena;
    const struct pp_hub_export *export;
    const char *path;              /* of the folder */
    struct pp_safetensor *tensors; /* [layout->count] */
    int64_t *offset;               /* [layout->count] in their files */
    int *begin;                    /* [shards + 1] first tensor of each file */
    int shards;
};
/* Returns the bytes of all weights. */
int64_t pp_hub_export_bytes(const struct pp_hub_layout *layout);
/* Returns those of the elements that the model trains; rows beyond the sample are not. */
int64_t pp_hub_trained_bytes(const struct pp_hub_layout *layout);
/* Cuts the tensors into files. All arguments live as long as the draft. */
struct pp_hub_draft pp_hub_draft_of(struct pp_arena *arena, const struct pp_hub_export *export,
                                    const char *path);
const char *pp_hub_draft_file(const struct pp_hub_draft *draft, int shard); /* its path */
/* Makes all files in their length, with headers, and with what the model does not train. PP_EFAIL.
 */
enum pp_status pp_hub_draft_begin(const struct pp_hub_draft *draft, struct pp_error *err);
/* Adds index and config.json, once all parts are on the disk. PP_EFAIL. */
enum pp_status pp_hub_draft_end(const struct pp_hub_draft *draft, struct pp_error *err);

/* ---- exec/hub/export_parts.c ----------------------------------------------------------------- */

/* Finds runs of elements of one of our tensors, one after the other. */
typedef enum pp_status (*pp_hub_fetch)(void *closure, const struct pp_param *param,
                                       struct pp_slice_piece runs, float *values,
                                       struct pp_error *err);
/* Writes parts of tensors at their places, in files that are there. */
struct pp_hub_writer;
struct pp_hub_writer *pp_hub_writer_open(struct pp_arena *arena, const struct pp_hub_draft *draft);
/* Writes runs of a piece of the layout, counted in our tensor. PP_EFAIL. */
enum pp_status pp_hub_writer_put(struct pp_hub_writer *writer, int piece,
                                 struct pp_slice_piece runs, pp_hub_fetch fetch, void *closure,
                                 struct pp_error *err);
/* Brings all to the disk, unless writing has failed. Sets the bytes that were written. */
enum pp_status pp_hub_writer_close(struct pp_hub_writer *writer, enum pp_status status,
                                   int64_t *bytes, struct pp_error *err);
/* Does all of that, where all tensors are here, and publishes the folder. PP_EFAIL. */
enum pp_status pp_hub_export_write(struct pp_arena *arena, const struct pp_hub_export *export,
                                   pp_hub_fetch fetch, void *closure, struct pp_error *err);
