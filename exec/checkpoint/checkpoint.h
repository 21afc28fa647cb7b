/* exec/checkpoint/checkpoint.h — the state of a training on disk: weights, moments, and position in
 * the data and random numbers. It is stored by layers, independent of schedule, ranks and replicas.
 * Format and guarantees: docs/checkpoints.md.
 *
 * FOLDER/step-000000012/ is a checkpoint after 12 steps: layer-00000.bin, ... and a manifest. It is
 * written to disk under a temporary name, and renamed when it is complete. */
#pragma once

#include "exec/backend/backend.h"
#include "exec/state/state.h"

/* ---- exec/checkpoint/manifest.c -------------------------------------------------------------- */

/* Facts that must agree before a state can be loaded, one number a field. Those from FIRST_UNUSUAL
 * on are in a manifest only if they are not usual. Reals are the bits of a float. */
enum { PP_IDENTITY_FIRST_UNUSUAL = 16, PP_IDENTITY_FIELDS = 43 };
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
    int64_t bytes; /* of its file: weights (master weights if there are any), m, v of each tensor */
    uint32_t crc;
    int tensor_count;
    struct pp_manifest_tensor *tensors;
};
struct pp_manifest {
    int step; /* steps done, and the number of the next step, from 0 */
    struct pp_identity identity;
    int64_t tokens; /* in the training data */
    uint32_t tokens_crc;
    int option_count, layer_count;
    struct pp_manifest_option *options;
    struct pp_manifest_layer *layers; /* embedding, blocks, head */
};

/* Returns the text of a manifest, in the arena. */
char *pp_manifest_print(struct pp_arena *arena, const struct pp_manifest *manifest, size_t *length);
/* Parses the text of a manifest. PP_EINVAL, "NAME: ..." or "NAME:LINE: ...", for another format, a
 * wrong checksum, or an invalid line. */
enum pp_status pp_manifest_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, struct pp_manifest *manifest, struct pp_error *err);

/* ---- exec/checkpoint/identity.c -------------------------------------------------------------- */
struct pp_identity pp_identity_of(const struct pp_net *net, const struct pp_kernels *kernels);
const char *pp_identity_name(int field);
/* Returns the value of a field of most models, such as GPT-2 and Llama 2, with the others given. */
int64_t pp_identity_usual(const struct pp_identity *identity, int field);
/* Fields that others need: bits of a number, blocks, whether the activation is that of a gate. */
enum {
    PP_IDENTITY_PRECISION = 0,
    PP_IDENTITY_LAYERS = 1,
    PP_IDENTITY_POSITIONS = 8,
    PP_IDENTITY_GATED = 9
};
/* PP_EINVAL with every field that differs, and the options that set them. */
enum pp_status pp_identity_check(const char *path, const struct pp_identity *stored,
                                 const struct pp_identity *own, struct pp_error *err);
/* PP_EINVAL if the manifests are of two trainings: another model, seed or data. */
enum pp_status pp_manifest_check(const char *path, const struct pp_manifest *stored,
                                 const struct pp_manifest *own, struct pp_error *err);
/* Returns the value of an option; NULL if it is not given. */
const char *pp_manifest_value(const struct pp_manifest *manifest, const char *name);

/* ---- the state in memory --------------------------------------------------------------------- */
struct pp_checkpoint_part {
    const struct pp_stage *stage;
    struct pp_state state;
    bool is_elsewhere; /* in another process: of `state`, only ranges are set */
    struct pp_state_reach reach;
};
struct pp_checkpoint_parts {
    const struct pp_stage *whole; /* the model as one stage, for the order of tensors */
    const struct pp_kernels *kernels;
    struct pp_checkpoint_part *part;
    int count;
    int process; /* which has the parts that are here, from 0; it leaves their sums */
};
/* Finds the next part that holds a tensor, from part `*from` on, and moves `*from` after it.
 * Returns the tensor; NULL if there is none. */
const struct pp_param *pp_checkpoint_find(const struct pp_checkpoint_parts *parts, int id,
                                          int *from);
/* Consecutive elements of a whole tensor that a part has, and the first of them in its stage. */
struct pp_checkpoint_run {
    struct pp_range of;
    int64_t at;
};
/* Finds the first run, of the stage's elements `held`, that ends after element `from` of the whole
 * tensor, and cuts off what is before. False: there is none. */
bool pp_checkpoint_run(const struct pp_param *param, struct pp_range held, int64_t from,
                       struct pp_checkpoint_run *run);
/* Returns the elements of the stage that a vector of a part has. Vectors are weights (or master
 * weights), m and v. */
enum { PP_CHECKPOINT_VECTORS = 3 };
struct pp_range pp_checkpoint_held(const struct pp_checkpoint_parts *parts, int part, int vector,
                                   const struct pp_param *param);
/* Finds the first part from which element `from` of a tensor is taken, and its run, which begins
 * there. Returns the part; -1 = none has it. */
int pp_checkpoint_take(const struct pp_checkpoint_parts *parts, int id, int vector, int64_t from,
                       struct pp_checkpoint_run *run);
/* Returns element `at` of the stage, of G, in a part that is here and has it. */
void *pp_checkpoint_vector(const struct pp_checkpoint_parts *parts, int part, int vector,
                           int64_t at);
/* Parts that are not in the host's memory go through it in chunks of so many bytes at most. Fetch
 * returns where the host sees the bytes, here or in `chunk`; NULL, with *err: they do not come. */
enum { PP_CHECKPOINT_CHUNK_BYTES = 1 << 20 };
const void *pp_checkpoint_fetch(const struct pp_checkpoint_parts *parts, int part, const void *at,
                                size_t bytes, void *chunk, struct pp_error *err);
enum pp_status pp_checkpoint_put(const struct pp_checkpoint_parts *parts, int part, void *to,
                                 const void *from, size_t bytes, struct pp_error *err);
static inline int pp_checkpoint_layers(const struct pp_checkpoint_parts *parts)
{
    return parts->whole->net->layers + 2;
}
int64_t pp_checkpoint_layer_bytes(const struct pp_checkpoint_parts *parts, int layer);
/* True if a part of this process has a tensor of the layer. */
bool pp_checkpoint_is_layer_here(const struct pp_checkpoint_parts *parts, int layer);

/* ---- exec/checkpoint/open.c ------------------------------------------------------------------ */
struct pp_checkpoint_folder {
    const char *path;
    int keep; /* number of complete checkpoints to keep */
    int fd;   /* of the folder, locked */
};
/* Makes the folder and its parents if they are missing, locks it, and removes incomplete
 * checkpoints of interrupted runs. `before` is the checkpoint that the training continues, or NULL.
 * PP_EINVAL if the folder has later ones already, or one of another training. PP_EFAIL if it cannot
 * be made or written, or is locked by another run. */
enum pp_status pp_checkpoint_open(struct pp_arena *arena, const char *path, int keep,
                                  const struct pp_manifest *before,
                                  struct pp_checkpoint_folder *folder, struct pp_error *err);
void pp_checkpoint_close(struct pp_checkpoint_folder *folder);

/* ---- exec/checkpoint/write_parts.c ----------------------------------------------------------- */

/* Bytes that a process has written of a layer's file. The checksum is that of its parts, each as if
 * it stood alone before as many zeros as bytes follow it in the file. The sums of all processes,
 * their checksums combined by exclusive or, are those of the file: CRC-32 is linear. */
struct pp_checkpoint_sum {
    int64_t bytes;
    uint32_t crc, zero;
};
/* Writes the parts of this process into the files of the folder `path`, which have their length,
 * and syncs these. Each range is written by the first part that has it. Sets sums[layers]. */
enum pp_status pp_checkpoint_write_parts(const char *path, const struct pp_checkpoint_parts *parts,
                                         struct pp_checkpoint_sum *sums, struct pp_error *err);
/* Does so in a thread, from a copy in host memory. Without memory or thread for that, and if it is
 * not to be in the background, all is written when this returns. */
struct pp_checkpoint_copy;
enum pp_status pp_checkpoint_copy_begin(const char *path, const struct pp_checkpoint_parts *parts,
                                        bool in_background, struct pp_checkpoint_copy **copy,
                                        struct pp_error *err);
size_t pp_checkpoint_copy_bytes(const struct pp_checkpoint_copy *copy); /* NULL: 0 */
/* Waits for the thread, frees the copy and sets *copy to NULL. `sums` may be NULL. Errors:
 * pp_checkpoint_write_parts(). */
enum pp_status pp_checkpoint_copy_end(struct pp_checkpoint_copy **copy,
                                      struct pp_checkpoint_sum *sums, struct pp_error *err);

/* ---- exec/checkpoint/write.c ----------------------------------------------------------------- */

/* A checkpoint whose parts are being written, in a folder with a temporary name. */
struct pp_checkpoint_draft {
    struct pp_arena *arena;
    const struct pp_checkpoint_folder *folder;
    const struct pp_checkpoint_parts *parts; /* for the order of tensors */
    const char *path;                        /* its own folder, for pp_checkpoint_write_parts() */
    int fd;
    int writers; /* processes that write; 1 until the caller sets it */
    struct pp_manifest manifest;
};
/* Makes the files of all layers; `manifest` lacks only these. All arguments live as long as the
 * draft. PP_EFAIL leaves no draft. */
enum pp_status pp_checkpoint_begin(struct pp_arena *arena,
                                   const struct pp_checkpoint_folder *folder,
                                   const struct pp_manifest *manifest,
                                   const struct pp_checkpoint_parts *parts,
                                   struct pp_checkpoint_draft *draft, struct pp_error *err);
/* Waits for the parts that processes 1 to writers - 1 write in the background, and adds their sums
 * to sums[layers]. PP_EFAIL: a process has ended before, could not write, or still has not after
 * timeout_s. */
struct pp_checkpoint_others {
    bool (*is_gone)(const void *closure, int process); /* it has ended */
    const void *closure;
    double timeout_s; /* 0 = no limit */
};
enum pp_status pp_checkpoint_await_sums(const struct pp_checkpoint_draft *draft,
                                        const struct pp_checkpoint_others *others,
                                        struct pp_checkpoint_sum *sums, struct pp_error *err);
/* Makes the draft a checkpoint, once all parts are written: their sums, added up, are sums[layers].
 * Then removes all but the newest `keep`. `*path` is its folder, in the arena. PP_EFAIL leaves
 * earlier checkpoints unchanged, and no incomplete one. */
enum pp_status pp_checkpoint_end(const struct pp_checkpoint_draft *draft,
                                 const struct pp_checkpoint_sum *sums, const char **path,
                                 struct pp_error *err);
/* Removes the draft. */
void pp_checkpoint_abandon(const struct pp_checkpoint_draft *draft);

/* ---- exec/checkpoint/folder.c: names --------------------------------------------------------- */
enum { PP_CHECKPOINT_NAME_BYTES = 64 };
void pp_checkpoint_step_name(int step, char name[static PP_CHECKPOINT_NAME_BYTES]);
void pp_checkpoint_temporary_name(int step, char name[static PP_CHECKPOINT_NAME_BYTES]);
void pp_checkpoint_layer_name(int layer, char name[static PP_CHECKPOINT_NAME_BYTES]);
#define PP_CHECKPOINT_MANIFEST "manifest"
/* Lists the steps of a folder's checkpoints, ascending, in the arena. PP_EFAIL if unreadable. */
enum pp_status pp_checkpoint_steps(struct pp_arena *arena, const char *path, int **steps,
                                   int *count, struct pp_error *err);
/* Removes all checkpoints but the newest `keep`. */
void pp_checkpoint_keep(struct pp_arena *arena, const char *path, int folder_fd, int keep);
/* Makes a folder of a new name, which all see who see the folder of checkpoints; the sweep removes
 * it. Returns its path, in the arena; NULL if it cannot be made. */
const char *pp_checkpoint_probe(struct pp_arena *arena, const char *path, int folder_fd);
/* Removes what other processes have left half-written or half-removed. */
void pp_checkpoint_sweep(int folder_fd);

/* ---- exec/checkpoint/read.c ------------------------------------------------------------------ */
struct pp_checkpoint {
    const char *path;  /* its own folder */
    const char *older; /* the previous one; NULL = none, or not searched for */
    struct pp_manifest manifest;
};
/* Reads the manifest of the checkpoint `path`, or of the newest one in the folder `path`. PP_EFAIL
 * if missing or unreadable, PP_EINVAL if damaged, with the file and the previous checkpoint. */
enum pp_status pp_checkpoint_read(struct pp_arena *arena, const char *path,
                                  struct pp_checkpoint *checkpoint, struct pp_error *err);
/* True if the files of all layers that parts of this process have can be read. */
bool pp_checkpoint_has_files(const struct pp_checkpoint *checkpoint,
                             const struct pp_checkpoint_parts *parts);
/* Loads the state of a checkpoint into every tensor of the `parts` of this process, from the whole
 * files of their layers, chunk by chunk. The caller has checked the identity. PP_EINVAL if length
 * or checksum of a file differ from the manifest; the parts are then of no use. */
enum pp_status pp_checkpoint_load(const struct pp_checkpoint *checkpoint,
                                  const struct pp_checkpoint_parts *parts, struct pp_error *err);

/* ---- exec/checkpoint/source.c ---------------------------------------------------------------- */

/* Returns the weights of a checkpoint (master weights, if there are any) as initial ones of another
 * run, rounded to single precision. Files are mapped until the arena ends. `whole` is kept by
 * reference. The caller has checked the identity. Errors: pp_checkpoint_load(). */
enum pp_status pp_checkpoint_source(struct pp_arena *arena, const struct pp_checkpoint *checkpoint,
                                    const struct pp_stage *whole, struct pp_weights_source *source,
                                    struct pp_error *err);
