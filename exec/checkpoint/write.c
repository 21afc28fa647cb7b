/* Writes checkpoints in an order that a power cut cannot reverse: files, the manifest, the folder's
 * name. Each is on the disk before the next begins.
 *
 * A layer's file has its full length before any process writes its parts, each at its place. So no
 * client of a network file system takes the parts of others for zeros. */
#define _GNU_SOURCE /* O_DIRECTORY */
#include "exec/checkpoint/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- one file -------------------------------------------------------------------------------- */

struct file {
    int folder_fd, fd;  /* fd < 0: not open */
    const char *folder; /* for messages */
    char name[PP_CHECKPOINT_NAME_BYTES];
};

static enum pp_status fail_file(const struct file *file, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot write %s/%s: %s", file->folder, file->name,
                        strerror(errno));
}

static enum pp_status open_file(struct file *file, int flags, struct pp_error *err)
{
    file->fd = openat(file->folder_fd, file->name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
    return file->fd >= 0 ? PP_OK : fail_file(file, err);
}

static enum pp_status write_at(const struct file *file, int64_t offset, const void *data,
                               size_t bytes, struct pp_error *err)
{
    const char *at = data;

    while (bytes > 0) {
        const ssize_t written = pwrite(file->fd, at, bytes, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fail_file(file, err);
        at += written;
        offset += written;
        bytes -= (size_t)written;
    }
    return PP_OK;
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

/* ---- parts of this process ------------------------------------------------------------------- */

struct writer {
    const struct pp_checkpoint_parts *parts;
    struct file file;    /* of the layer; opened for the first part that is here */
    int64_t bytes, done; /* of the layer in all; before the current vector */
    struct pp_checkpoint_sum *sum;
    char *chunk; /* [PP_CHECKPOINT_CHUNK_BYTES] */
};

/* Adds the checksum of these bytes as if all others of the file were zero: see checkpoint.h. */
static enum pp_status write_chunk(struct writer *w, int64_t offset, const void *data, size_t bytes,
                                  struct pp_error *err)
{
    const uLong crc = crc32_z(crc32_z(0, NULL, 0), data, bytes);

    if (w->file.fd < 0)
        PP_TRY(open_file(&w->file, 0, err));
    w->sum->crc ^= (uint32_t)crc32_combine(crc, 0, w->bytes - offset - (int64_t)bytes);
    w->sum->bytes += (int64_t)bytes;
    return write_at(&w->file, offset, data, bytes, err);
}

static enum pp_status write_run(struct writer *w, int part, int64_t offset, const char *at,
                                int64_t bytes, struct pp_error *err)
{
    const int64_t most = PP_CHECKPOINT_CHUNK_BYTES;

    for (int64_t done = 0; done < bytes; done += most) {
        const size_t some = (size_t)(bytes - done < most ? bytes - done : most);
        const void *data = pp_checkpoint_fetch(w->parts, part, at + done, some, w->chunk, err);

        if (!data)
            return err->status;
        PP_TRY(write_chunk(w, offset + done, data, some, err));
    }
    return PP_OK;
}

/* Takes each element of a vector from the first part that has it, and writes those that are here.
 */
static enum pp_status write_vector(struct writer *w, const struct pp_param *tensor, int v,
                                   struct pp_error *err)
{
    const int64_t element_bytes = (int64_t)w->parts->kernels->gradient_bytes;
    int64_t done = 0;

    for (int part = 0; done < tensor->count;) {
        const struct pp_param *param = pp_checkpoint_find(w->parts, tensor->id, &part);
        assert(param);
        const struct pp_range range = pp_checkpoint_range(w->parts, part - 1, param, v);

        if (range.until <= done)
            continue;
        assert(range.from <= done);
        if (!w->parts->part[part - 1].is_elsewhere) {
            const char *vector = pp_checkpoint_vector(w->parts, part - 1, param, v);
            PP_TRY(write_run(w, part - 1, w->done + done * element_bytes,
                             vector + (done - range.from) * element_bytes,
                             (range.until - done) * element_bytes, err));
        }
        done = range.until;
    }
    w->done += tensor->count * element_bytes;
    return PP_OK;
}

static enum pp_status write_layer(struct writer *w, int number, struct pp_error *err)
{
    const struct pp_stage *whole = w->parts->whole;
    enum pp_status status = PP_OK;

    pp_checkpoint_layer_name(number, w->file.name);
    w->file.fd = -1;
    w->bytes = pp_checkpoint_layer_bytes(w->parts, number);
    w->done = 0;
    for (int p = 0; p < whole->param_count; p++)
        for (int v = 0; v < PP_CHECKPOINT_VECTORS && whole->params[p].layer == number; v++)
            if (status == PP_OK)
                status = write_vector(w, &whole->params[p], v, err);
    return w->file.fd >= 0 ? close_file(&w->file, status, err) : status;
}

static enum pp_status open_folder(const char *path, int *fd, struct pp_error *err)
{
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 ? PP_OK
                    : pp_error_set(err, PP_EFAIL, "cannot open the folder %s: %s", path,
                                   strerror(errno));
}

enum pp_status pp_checkpoint_write_parts(const char *path, const struct pp_checkpoint_parts *parts,
                                         struct pp_checkpoint_sum *sums, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct writer writer = {.parts = parts,
                            .file = {.folder = path},
                            .chunk = pp_arena_alloc_raw(scratch, PP_CHECKPOINT_CHUNK_BYTES)};
    enum pp_status status = PP_OK;

    PP_TRY(open_folder(path, &writer.file.folder_fd, err));
    for (int i = 0; i < pp_checkpoint_layers(parts) && status == PP_OK; i++) {
        sums[i] = (struct pp_checkpoint_sum){0};
        writer.sum = &sums[i];
        status = write_layer(&writer, i, err);
    }
    close(writer.file.folder_fd);
    return status;
}

/* ---- a checkpoint ---------------------------------------------------------------------------- */

/* A checkpoint that is being written. */
struct draft {
    struct pp_arena *arena;
    const struct pp_checkpoint_writers *writers;
    const char *path;
    int fd;
    struct pp_manifest manifest;
};

static void name_tensors(const struct draft *draft, int number, struct pp_manifest_layer *layer)
{
    const struct pp_stage *whole = draft->writers->parts->whole;

    layer->tensors = PP_ARRAY(draft->arena, struct pp_manifest_tensor, whole->param_count);
    for (int p = 0; p < whole->param_count; p++)
        if (whole->params[p].layer == number)
            layer->tensors[layer->tensor_count++] =
                (struct pp_manifest_tensor){whole->params[p].name, whole->params[p].count};
}

static enum pp_status make_file(const struct draft *draft, int number, struct pp_error *err)
{
    struct pp_manifest_layer *layer = &draft->manifest.layers[number];
    struct file file = {.folder_fd = draft->fd, .folder = draft->path};

    name_tensors(draft, number, layer);
    layer->bytes = pp_checkpoint_layer_bytes(draft->writers->parts, number);
    pp_checkpoint_layer_name(number, file.name);
    PP_TRY(open_file(&file, O_CREAT | O_EXCL, err));
    const enum pp_status status =
        ftruncate(file.fd, layer->bytes) == 0 ? PP_OK : fail_file(&file, err);
    close(file.fd);
    return status;
}

static enum pp_status take_sums(const struct draft *draft, const struct pp_checkpoint_sum *sums,
                                struct pp_error *err)
{
    for (int i = 0; i < draft->manifest.layer_count; i++) {
        struct pp_manifest_layer *layer = &draft->manifest.layers[i];

        if (sums[i].bytes != layer->bytes)
            return pp_error_set(err, PP_EFAIL,
                                "%s: %" PRId64 " bytes of layer %d were written, not %" PRId64,
                                draft->path, sums[i].bytes, i, layer->bytes);
        layer->crc = sums[i].crc;
    }
    return PP_OK;
}

static enum pp_status write_manifest(const struct draft *draft, struct pp_error *err)
{
    struct file file = {
        .folder_fd = draft->fd, .folder = draft->path, .name = PP_CHECKPOINT_MANIFEST};
    size_t length;
    const char *text = pp_manifest_print(draft->arena, &draft->manifest, &length);

    PP_TRY(open_file(&file, O_CREAT | O_EXCL, err));
    PP_TRY(close_file(&file, write_at(&file, 0, text, length, err), err));
    return fsync(draft->fd) == 0 ? PP_OK : fail_file(&file, err);
}

static enum pp_status write_files(struct draft *draft, struct pp_error *err)
{
    const struct pp_checkpoint_writers *w = draft->writers;
    const int layers = pp_checkpoint_layers(w->parts);
    struct pp_checkpoint_sum *sums = PP_ARRAY(draft->arena, struct pp_checkpoint_sum, layers);

    draft->manifest.layer_count = layers;
    draft->manifest.layers = PP_ARRAY(draft->arena, struct pp_manifest_layer, layers);
    for (int i = 0; i < layers; i++)
        PP_TRY(make_file(draft, i, err));
    if (w->write)
        PP_TRY(w->write(w->closure, draft->path, sums, err));
    else
        PP_TRY(pp_checkpoint_write_parts(draft->path, w->parts, sums, err));
    PP_TRY(take_sums(draft, sums, err));
    return write_manifest(draft, err);
}

/* Writes a complete checkpoint under a temporary name. */
static enum pp_status write_aside(struct pp_arena *arena, const struct pp_checkpoint_folder *folder,
                                  const char *temporary, const struct pp_manifest *manifest,
                                  const struct pp_checkpoint_writers *writers, struct pp_error *err)
{
    struct draft draft = {.arena = arena,
                          .writers = writers,
                          .path = pp_arena_printf(arena, "%s/%s", folder->path, temporary),
                          .manifest = *manifest};

    if (mkdirat(folder->fd, temporary, 0777) != 0)
        return pp_error_set(err, PP_EFAIL, "cannot make the folder %s: %s", draft.path,
                            strerror(errno));
    PP_TRY(open_folder(draft.path, &draft.fd, err));
    const enum pp_status status = write_files(&draft, err);
    close(draft.fd);
    return status;
}

enum pp_status pp_checkpoint_write(struct pp_arena *arena,
                                   const struct pp_checkpoint_folder *folder,
                                   const struct pp_manifest *manifest,
                                   const struct pp_checkpoint_writers *writers, const char **path,
                                   struct pp_error *err)
{
    char name[PP_CHECKPOINT_NAME_BYTES], temporary[PP_CHECKPOINT_NAME_BYTES];

    pp_checkpoint_step_name(manifest->step, name);
    pp_checkpoint_temporary_name(manifest->step, temporary);
    enum pp_status status = write_aside(arena, folder, temporary, manifest, writers, err);
    if (status == PP_OK &&
        (renameat(folder->fd, temporary, folder->fd, name) != 0 || fsync(folder->fd) != 0))
        status = pp_error_set(err, PP_EFAIL, "cannot write checkpoints to %s: %s", folder->path,
                              strerror(errno));
    if (status != PP_OK) {
        pp_checkpoint_sweep(folder->fd);
        return status;
    }
    pp_checkpoint_keep(arena, folder->path, folder->fd, folder->keep);
    *path = pp_arena_printf(arena, "%s/%s", folder->path, name);
    return PP_OK;
}
