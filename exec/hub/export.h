/* exec/hub/export.h — writes a model for the hub: config.json and weights in safetensors. */
#pragma once

#include "exec/hub/folder.h"
#include "exec/hub/weights.h"

/* ---- exec/hub/safetensors_write.c ------------------------------------------------------------ */

struct pp_safetensor_file {
    const char *path;
    const struct pp_safetensor *tensors; /* [count], in the order of their data; data is not used */
    int count;
};
/* Appends a tensor's bytes by pp_safetensor_put(). */
struct pp_safetensor_sink;
typedef enum pp_status (*pp_safetensor_fill)(void *closure, int tensor,
                                             struct pp_safetensor_sink *sink, struct pp_error *err);
enum pp_status pp_safetensor_put(struct pp_safetensor_sink *sink, const void *bytes, size_t count,
                                 struct pp_error *err);
/* Writes a new file to the disk: the header, and what `fill` puts for each tensor. PP_EFAIL. */
enum pp_status pp_safetensors_write(const struct pp_safetensor_file *file, pp_safetensor_fill fill,
                                    void *closure, struct pp_error *err);
/* Writes a new file of plain bytes to the disk. PP_EFAIL. */
enum pp_status pp_hub_write_text(const char *path, const char *text, struct pp_error *err);

/* ---- exec/hub/config.c ----------------------------------------------------------------------- */

/* Returns the text of config.json for a model. It is that of the file `base` (NULL = none), with
 * the settings of the model unless they are the same. */
enum pp_status pp_hub_config(struct pp_arena *arena, const struct pp_hub_layout *layout,
                             const char *base, bool is_same, const char **text,
                             struct pp_error *err);

/* ---- exec/hub/export.c ----------------------------------------------------------------------- */

#define PP_HUB_SHARD_BYTES INT64_C(5000000000) /* as transformers cuts */

struct pp_hub_export {
    const struct pp_hub_folder *folder; /* open */
    const char *config;                 /* text of config.json */
    const struct pp_hub_layout *layout; /* types are those of its files, else F32 */
    int64_t shard_bytes;
};
/* Finds elements of one of our tensors. */
typedef enum pp_status (*pp_hub_fetch)(void *closure, const struct pp_param *param,
                                       struct pp_range range, float *values, struct pp_error *err);
/* Returns the bytes of all weights. */
int64_t pp_hub_export_bytes(const struct pp_hub_layout *layout);
/* Writes all files into the folder, and publishes it when they are on the disk. PP_EFAIL. */
enum pp_status pp_hub_export_write(struct pp_arena *arena, const struct pp_hub_export *export,
                                   pp_hub_fetch fetch, void *closure, struct pp_error *err);
