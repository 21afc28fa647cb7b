/* Writes checkpoints in an order that a power cut cannot reverse: files, the manifest, the folder's
 * name. Each is on the disk before the next begins. */
#define _GNU_SOURCE /* O_DIRECTORY, flock, syncfs */
#include "exec/checkpoint/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- the folder ------------------------------------------------------------------------------ */

static enum pp_status fail(const char *what, const char *path, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot %s %s: %s", what, path, strerror(errno));
}

/* Locks the folder, if its file system has locks. */
static enum pp_status lock(const struct pp_checkpoint_folder *folder, struct pp_error *err)
{
    if (flock(folder->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "%s: another run writes its checkpoints there; wait for its end, or choose "
                        "another folder",
                        folder->path);
}

/* Refuses a folder of another training, whose checkpoints this run would remove. */
static enum pp_status check_training(struct pp_arena *arena, const char *path,
                                     const struct pp_manifest *before, struct pp_error *err)
{
    struct pp_checkpoint newest;
    enum pp_status status = pp_checkpoint_read(arena, path, &newest, err);

    if (status == PP_OK)
        status = pp_manifest_check(newest.path, &newest.manifest, before, err);
    return status == PP_OK ? PP_OK : pp_error_append(err, "; choose another folder");
}

static enum pp_status check_order(struct pp_arena *arena, const char *path,
                                  const struct pp_manifest *before, struct pp_error *err)
{
    const int step = before ? before->step : 0;
    char name[PP_CHECKPOINT_NAME_BYTES];
    int *steps, count;

    PP_TRY(pp_checkpoint_steps(arena, path, &steps, &count, err));
    if (count == 0)
        return PP_OK;
    pp_checkpoint_step_name(steps[count - 1], name);
    if (before && steps[count - 1] <= step)
        return check_training(arena, pp_arena_printf(arena, "%s/%s", path, name), before, err);
    pp_error_set(err, PP_EINVAL, "%s has %s already, and this run begins at step %d: ", path, name,
                 step);
    return step > 0
               ? pp_error_append(err, "choose another folder, or remove the later ones")
               : pp_error_append(err, "continue with --resume %s, or choose another folder", path);
}

static enum pp_status check_writable(const struct pp_checkpoint_folder *folder,
                                     struct pp_error *err)
{
    return faccessat(folder->fd, ".", W_OK | X_OK, 0) == 0
               ? PP_OK
               : fail("write checkpoints to", folder->path, err);
}

/* Syncs the name of a new folder in its parent, or the file system if the parent is unreadable. */
static enum pp_status sync_name(const struct pp_checkpoint_folder *folder, struct pp_error *err)
{
    const int above = openat(folder->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int failed = above >= 0 ? fsync(above) : syncfs(folder->fd);
    const enum pp_status status = failed ? fail("make the folder", folder->path, err) : PP_OK;

    if (above >= 0)
        close(above);
    return status;
}

enum pp_status pp_checkpoint_open(struct pp_arena *arena, const char *path, int keep,
                                  const struct pp_manifest *before,
                                  struct pp_checkpoint_folder *folder, struct pp_error *err)
{
    *folder = (struct pp_checkpoint_folder){.path = path, .keep = keep, .fd = -1};
    const bool is_new = mkdir(path, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return fail("make the folder", path, err);
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return fail("open the folder", path, err);
    enum pp_status status = lock(folder, err);
    if (status == PP_OK)
        status = check_order(arena, path, before, err);
    if (status == PP_OK)
        status = check_writable(folder, err);
    if (status == PP_OK && is_new)
        status = sync_name(folder, err);
    if (status != PP_OK)
        pp_checkpoint_close(folder);
    else
        pp_checkpoint_sweep(folder->fd);
    return status;
}

void pp_checkpoint_close(struct pp_checkpoint_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}

/* ---- one file -------------------------------------------------------------------------------- */

struct file {
    int fd;
    const char *folder, *name; /* for messages */
    int64_t bytes;
    uint32_t crc;
};

static enum pp_status fail_file(const struct file *file, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot write %s/%s: %s", file->folder, file->name,
                        strerror(errno));
}

static enum pp_status write_bytes(struct file *file, const void *data, size_t bytes,
                                  struct pp_error *err)
{
    const char *at = data;

    file->crc = (uint32_t)crc32_z(file->crc, data, bytes);
    file->bytes += (int64_t)bytes;
    while (bytes > 0) {
        const ssize_t written = write(file->fd, at, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fail_file(file, err);
        at += written;
        bytes -= (size_t)written;
    }
    return PP_OK;
}

static enum pp_status open_file(int folder_fd, struct file *file, struct pp_error *err)
{
    file->crc = (uint32_t)crc32_z(0, NULL, 0);
    file->fd = openat(folder_fd, file->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file->fd >= 0 ? PP_OK : fail_file(file, err);
}

/* Syncs and closes a file; does not sync it if writing has failed. */
static enum pp_status close_file(struct file *file, enum pp_status status, struct pp_error *err)
{
    if (status == PP_OK && fsync(file->fd) != 0)
        status = fail_file(file, err);
    if (close(file->fd) != 0 && status == PP_OK)
        status = fail_file(file, err);
    return status;
}

/* ---- a checkpoint ---------------------------------------------------------------------------- */

/* Writes the parts of a vector in order, each from the first part that has its first element. */
static enum pp_status write_vector(const struct pp_checkpoint_parts *parts,
                                   const struct pp_param *tensor, int v, struct file *file,
                                   struct pp_error *err)
{
    const size_t element_bytes = parts->kernels->gradient_bytes;
    int64_t done = 0;

    for (int part = 0; done < tensor->count;) {
        const struct pp_param *param = pp_checkpoint_find(parts, tensor->id, &part);
        struct pp_range range;
        assert(param);
        const char *vector = pp_checkpoint_vector(parts, part - 1, param, v, &range);

        if (!vector || range.until <= done)
            continue;
        assert(range.from <= done);
        PP_TRY(write_bytes(file, vector + (size_t)(done - range.from) * element_bytes,
                           (size_t)(range.until - done) * element_bytes, err));
        done = range.until;
    }
    return PP_OK;
}

static enum pp_status write_tensors(struct pp_arena *arena, const struct pp_checkpoint_parts *parts,
                                    int number, struct pp_manifest_layer *layer, struct file *file,
                                    struct pp_error *err)
{
    const struct pp_stage *whole = parts->whole;

    layer->tensors = PP_ARRAY(arena, struct pp_manifest_tensor, whole->param_count);
    for (int p = 0; p < whole->param_count; p++) {
        const struct pp_param *param = &whole->params[p];
        if (param->layer != number)
            continue;
        for (int v = 0; v < PP_CHECKPOINT_VECTORS; v++)
            PP_TRY(write_vector(parts, param, v, file, err));
        layer->tensors[layer->tensor_count++] =
            (struct pp_manifest_tensor){param->name, param->count};
    }
    return PP_OK;
}

static enum pp_status write_layer(struct pp_arena *arena, int folder_fd, const char *folder,
                                  const struct pp_checkpoint_parts *parts, int number,
                                  struct pp_manifest_layer *layer, struct pp_error *err)
{
    char name[PP_CHECKPOINT_NAME_BYTES];
    struct file file = {.folder = folder, .name = name};

    pp_checkpoint_layer_name(number, name);
    PP_TRY(open_file(folder_fd, &file, err));
    const enum pp_status status =
        close_file(&file, write_tensors(arena, parts, number, layer, &file, err), err);
    layer->bytes = file.bytes;
    layer->crc = file.crc;
    return status;
}

static enum pp_status write_files(struct pp_arena *arena, int folder_fd, const char *folder,
                                  struct pp_manifest *manifest,
                                  const struct pp_checkpoint_parts *parts, struct pp_error *err)
{
    struct file file = {.folder = folder, .name = PP_CHECKPOINT_MANIFEST};
    size_t length;

    manifest->layer_count = (int)manifest->identity.value[PP_IDENTITY_LAYERS] + 2;
    manifest->layers = PP_ARRAY(arena, struct pp_manifest_layer, manifest->layer_count);
    for (int i = 0; i < manifest->layer_count; i++)
        PP_TRY(write_layer(arena, folder_fd, folder, parts, i, &manifest->layers[i], err));
    const char *text = pp_manifest_print(arena, manifest, &length);
    PP_TRY(open_file(folder_fd, &file, err));
    PP_TRY(close_file(&file, write_bytes(&file, text, length, err), err));
    return fsync(folder_fd) == 0 ? PP_OK : fail_file(&file, err);
}

static void remove_older(struct pp_arena *arena, const struct pp_checkpoint_folder *folder)
{
    char name[PP_CHECKPOINT_NAME_BYTES];
    struct pp_error ignored; /* a checkpoint that stays only takes space */
    int *steps, count;

    if (pp_checkpoint_steps(arena, folder->path, &steps, &count, &ignored) != PP_OK)
        return;
    for (int i = 0; i + folder->keep < count; i++) {
        pp_checkpoint_step_name(steps[i], name);
        pp_checkpoint_remove(folder->fd, name);
    }
}

/* Writes a complete checkpoint under a temporary name. */
static enum pp_status write_aside(struct pp_arena *arena, const struct pp_checkpoint_folder *folder,
                                  const char *temporary, const struct pp_manifest *manifest,
                                  const struct pp_checkpoint_parts *parts, struct pp_error *err)
{
    struct pp_manifest complete = *manifest;
    const char *place = pp_arena_printf(arena, "%s/%s", folder->path, temporary);

    if (mkdirat(folder->fd, temporary, 0777) != 0)
        return fail("make the folder", place, err);
    const int fd = openat(folder->fd, temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail("open the folder", place, err);
    const enum pp_status status = write_files(arena, fd, place, &complete, parts, err);
    close(fd);
    return status;
}

enum pp_status pp_checkpoint_write(struct pp_arena *arena,
                                   const struct pp_checkpoint_folder *folder,
                                   const struct pp_manifest *manifest,
                                   const struct pp_checkpoint_parts *parts, const char **path,
                                   struct pp_error *err)
{
    char name[PP_CHECKPOINT_NAME_BYTES], temporary[PP_CHECKPOINT_NAME_BYTES];

    pp_checkpoint_step_name(manifest->step, name);
    pp_checkpoint_temporary_name(manifest->step, temporary);
    enum pp_status status = write_aside(arena, folder, temporary, manifest, parts, err);
    if (status == PP_OK &&
        (renameat(folder->fd, temporary, folder->fd, name) != 0 || fsync(folder->fd) != 0))
        status = fail("write checkpoints to", folder->path, err);
    if (status != PP_OK) {
        pp_checkpoint_sweep(folder->fd);
        return status;
    }
    remove_older(arena, folder);
    *path = pp_arena_printf(arena, "%s/%s", folder->path, name);
    return PP_OK;
}
