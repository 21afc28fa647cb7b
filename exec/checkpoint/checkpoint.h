/* exec/checkpoint/checkpoint.h — the state of a training on disk: weights, moments, and where in
 * the data and the random numbers it stands. Nothing in it depends on schedule, ranks or replicas:
 * the state is cut by layers. Format, and what it promises: docs/checkpoints.md.
 *
 * FOLDER/step-000000012/ is a checkpoint after 12 steps: layer-00000.bin, ... and a manifest. It is
 * written under another name, file by file to the disk, and gets its own when all of it is there.
 */
#pragma once

#include "exec/stage/state.h"

/* ---- exec/checkpoint/manifest.c: what a checkpoint says of itself ---- */

/* What has to agree before a state can be loaded: one number a field. */
enum { PP_IDENTITY_FIELDS = 16 };
struct pp_identity {
    int64_t value[PP_IDENTITY_FIELDS];
};

struct pp_manifest_option {   /* of the command line that began or continued the training */
    const char *name, *value; /* "lr", "1e-3"; "" for a flag */
};
struct pp_manifest_tensor {
    const char *name;
    int64_t count; /* elements */
};
struct pp_manifest_layer {
    int64_t bytes; /* of its file: weights (master weights, where there are), m, v of each tensor */
    uint32_t crc;
    int tensor_count;
    struct pp_manifest_tensor *tensors;
};
struct pp_manifest {
    int step; /* steps done; the next one has this number, counted from 0 */
    struct pp_identity identity;
    int64_t tokens; /* of the data that were learned */
    uint32_t tokens_crc;
    int option_count, layer_count;
    struct pp_manifest_option *options;
    struct pp_manifest_layer *layers; /* embedding, blocks, head */
};

/* The text of a manifest, in the arena. */
char *pp_manifest_print(struct pp_arena *arena, const struct pp_manifest *manifest, size_t *length);
/* The other way round. PP_EINVAL, "NAME: ..." or "NAME:LINE: ...", for another format, for bytes
 * that are not those its checksum was made of, and for lines that say nothing sensible. */
enum pp_status pp_manifest_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, struct pp_manifest *manifest, struct pp_error *err);

/* ---- exec/checkpoint/identity.c ---- */
struct pp_identity pp_identity_of(const struct pp_net *net, const struct pp_kernels *kernels);
/* Name of a field, as manifests spell it. */
const char *pp_identity_name(int field);
/* Fields that a reader of files needs: bits of a number, blocks. */
enum { PP_IDENTITY_PRECISION = 0, PP_IDENTITY_LAYERS = 1 };
/* PP_EINVAL with every field that differs and the options that set it. */
enum pp_status pp_identity_check(const char *path, const struct pp_identity *stored,
                                 const struct pp_identity *own, struct pp_error *err);
/* PP_EINVAL where they are of two trainings: another model, seed, or data. */
enum pp_status pp_manifest_check(const char *path, const struct pp_manifest *stored,
                                 const struct pp_manifest *own, struct pp_error *err);
/* What an option was given; NULL = it was not. */
const char *pp_manifest_value(const struct pp_manifest *manifest, const char *name);

/* ---- where the state lies in memory ---- */
struct pp_checkpoint_part {
    const struct pp_stage *stage;
    struct pp_state state;
};
struct pp_checkpoint_parts {
    const struct pp_stage *whole; /* the model as one stage: the order of tensors */
    const struct pp_kernels *kernels;
    struct pp_checkpoint_part *part;
    int count;
};
/* The part that holds a tensor, beginning at part `*from`; `*from` is then the next. NULL = none.
 */
const struct pp_param *pp_checkpoint_find(const struct pp_checkpoint_parts *parts, int id,
                                          int *from);
/* The part's elements of a tensor, if any: weights (or master weights), m and v, of G. Their place
 * in the tensor goes to `*range`. */
enum { PP_CHECKPOINT_VECTORS = 3 };
void *pp_checkpoint_vector(const struct pp_checkpoint_parts *parts, int part,
                           const struct pp_param *param, int vector, struct pp_range *range);

/* ---- exec/checkpoint/write.c ---- */
struct pp_checkpoint_folder {
    const char *path;
    int keep; /* complete checkpoints that stay */
    int fd;   /* of the folder, locked */
};
/* Make the folder where it is missing (not those above it), lock it, and remove what interrupted
 * runs have left half-written. `before` is the checkpoint that the training continues, or NULL.
 * PP_EINVAL if the folder has later ones already, or one of another training. PP_EFAIL for what
 * cannot be made or written, or is locked by another run. */
enum pp_status pp_checkpoint_open(struct pp_arena *arena, const char *path, int keep,
                                  const struct pp_manifest *before,
                                  struct pp_checkpoint_folder *folder, struct pp_error *err);
void pp_checkpoint_close(struct pp_checkpoint_folder *folder);
/* Write `manifest` (all but its layers is given) and the state in `parts`, then remove what is
 * older than the newest `keep`. `*path` is the checkpoint's own folder, in the arena. PP_EFAIL
 * leaves those before it as they were, and nothing half-written. */
enum pp_status pp_checkpoint_write(struct pp_arena *arena,
                                   const struct pp_checkpoint_folder *folder,
                                   const struct pp_manifest *manifest,
                                   const struct pp_checkpoint_parts *parts, const char **path,
                                   struct pp_error *err);

/* ---- exec/checkpoint/folder.c: names ---- */
enum { PP_CHECKPOINT_NAME_BYTES = 64 };
void pp_checkpoint_step_name(int step, char name[static PP_CHECKPOINT_NAME_BYTES]);
void pp_checkpoint_temporary_name(int step, char name[static PP_CHECKPOINT_NAME_BYTES]);
void pp_checkpoint_layer_name(int layer, char name[static PP_CHECKPOINT_NAME_BYTES]);
#define PP_CHECKPOINT_MANIFEST "manifest"
/* Steps of the checkpoints in a folder, ascending, in the arena. PP_EFAIL when it cannot be read.
 */
enum pp_status pp_checkpoint_steps(struct pp_arena *arena, const char *path, int **steps,
                                   int *count, struct pp_error *err);
/* Remove a checkpoint, whole or half: the name is gone first, so that none looks complete that is
 * not. */
void pp_checkpoint_remove(int folder_fd, const char *name);
/* What other processes left half-written or half-removed. */
void pp_checkpoint_sweep(int folder_fd);

/* ---- exec/checkpoint/read.c ---- */
struct pp_checkpoint {
    const char *path;  /* its own folder */
    const char *older; /* the one before it; NULL = none, or not looked for */
    struct pp_manifest manifest;
};
/* The newest checkpoint of a folder, or the one that `path` itself is: its manifest. PP_EFAIL if
 * there is none or it cannot be read, PP_EINVAL if it is damaged. The message names the file, and
 * the previous checkpoint if there is one. */
enum pp_status pp_checkpoint_read(struct pp_arena *arena, const char *path,
                                  struct pp_checkpoint *checkpoint, struct pp_error *err);
/* Its state into all `parts`: every tensor of theirs. The identity has been checked. PP_EINVAL for
 * a file that is longer, shorter or other than the manifest says. */
enum pp_status pp_checkpoint_load(const struct pp_checkpoint *checkpoint,
                                  const struct pp_checkpoint_parts *parts, struct pp_error *err);
