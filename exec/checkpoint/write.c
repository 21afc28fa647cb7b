/* Writes checkpoints in an order that a power cut cannot reverse: files, the manifest, the folder's
 * name. Each is on the disk before the next begins.
 *
 * A layer's file has its full length before any process writes its parts, each at its place. So no
 * client of a network file system takes the parts of others for zeros. */
#include "exec/checkpoint/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a checkpoint ---------------------------------------------------------------------------- */

static void name_tensors(const struct pp_checkpoint_draft *draft, int number,
                         struct pp_manifest_layer *layer)
{
    const struct pp_stage *whole = draft->parts->whole;

    layer->tensors = PP_ARRAY(draft->arena, struct pp_manifest_tensor, whole->param_count);
    for (int p = 0; p < whole->param_count; p++)
        if (whole->params[p].layer == number)
            layer->tensors[layer->tensor_count++] =
                (struct pp_manifest_tensor){whole->params[p].name, whole->params[p].count};
}

static enum pp_status make_file(const struct pp_checkpoint_draft *draft, int number,
                                struct pp_error *err)
{
    struct pp_manifest_layer *layer = &draft->manifest.layers[number];
    struct pp_checkpoint_file file = {.folder_fd = draft->fd, .folder = draft->path};

    name_tensors(draft, number, layer);
    layer->bytes = pp_checkpoint_layer_bytes(draft->parts, number);
    pp_checkpoint_layer_name(number, file.name);
    PP_TRY(pp_checkpoint_file_open(&file, O_CREAT | O_EXCL, err));
    const enum pp_status status =
        ftruncate(file.fd, layer->bytes) == 0 ? PP_OK : pp_checkpoint_file_fail(&file, err);
    close(file.fd);
    return status;
}

static enum pp_status take_sums(const struct pp_checkpoint_draft *draft,
                                const struct pp_checkpoint_sum *sums, struct pp_error *err)
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

static enum pp_status write_manifest(const struct pp_checkpoint_draft *draft, struct pp_error *err)
{
    struct pp_checkpoint_file file = {
        .folder_fd = draft->fd, .folder = draft->path, .name = PP_CHECKPOINT_MANIFEST};
    size_t length;
    const char *text = pp_manifest_print(draft->arena, &draft->manifest, &length);

    PP_TRY(pp_checkpoint_file_open(&file, O_CREAT | O_EXCL, err));
    PP_TRY(pp_checkpoint_file_close(&file, pp_checkpoint_file_write(&file, 0, text, length, err),
                                    err));
    return fsync(draft->fd) == 0 ? PP_OK : pp_checkpoint_file_fail(&file, err);
}

static enum pp_status make_files(struct pp_checkpoint_draft *draft, struct pp_error *err)
{
    const int layers = pp_checkpoint_layers(draft->parts);

    draft->manifest.layer_count = layers;
    draft->manifest.layers = PP_ARRAY(draft->arena, struct pp_manifest_layer, layers);
    for (int i = 0; i < layers; i++)
        PP_TRY(make_file(draft, i, err));
    return PP_OK;
}

void pp_checkpoint_abandon(const struct pp_checkpoint_draft *draft)
{
    close(draft->fd);
    pp_checkpoint_sweep(draft->folder->fd);
}

enum pp_status pp_checkpoint_begin(struct pp_arena *arena,
                                   const struct pp_checkpoint_folder *folder,
                                   const struct pp_manifest *manifest,
                                   const struct pp_checkpoint_parts *parts,
                                   struct pp_checkpoint_draft *draft, struct pp_error *err)
{
    char temporary[PP_CHECKPOINT_NAME_BYTES];

    pp_checkpoint_temporary_name(manifest->step, temporary);
    *draft = (struct pp_checkpoint_draft){
        .arena = arena,
        .folder = folder,
        .parts = parts,
        .path = pp_arena_printf(arena, "%s/%s", folder->path, temporary),
        .fd = -1,
        .writers = 1,
        .manifest = *manifest};
    if (mkdirat(folder->fd, temporary, 0777) != 0)
        return pp_error_set(err, PP_EFAIL, "cannot make the folder %s: %s", draft->path,
                            strerror(errno));
    if (pp_checkpoint_folder_open(draft->path, &draft->fd, err) == PP_OK &&
        make_files(draft, err) == PP_OK)
        return PP_OK;
    pp_checkpoint_abandon(draft);
    return err->status;
}

static enum pp_status publish(const struct pp_checkpoint_draft *draft, const char *name,
                              struct pp_error *err)
{
    const struct pp_checkpoint_folder *folder = draft->folder;
    char temporary[PP_CHECKPOINT_NAME_BYTES];

    pp_checkpoint_temporary_name(draft->manifest.step, temporary);
    if (renameat(folder->fd, temporary, folder->fd, name) == 0 && fsync(folder->fd) == 0)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "cannot write checkpoints to %s: %s", folder->path,
                        strerror(errno));
}

enum pp_status pp_checkpoint_end(const struct pp_checkpoint_draft *draft,
                                 const struct pp_checkpoint_sum *sums, const char **path,
                                 struct pp_error *err)
{
    const struct pp_checkpoint_folder *folder = draft->folder;
    char name[PP_CHECKPOINT_NAME_BYTES];

    pp_checkpoint_step_name(draft->manifest.step, name);
    pp_checkpoint_clear_sums(draft);
    if (take_sums(draft, sums, err) != PP_OK || write_manifest(draft, err) != PP_OK ||
        publish(draft, name, err) != PP_OK) {
        pp_checkpoint_abandon(draft);
        return err->status;
    }
    close(draft->fd);
    pp_checkpoint_keep(draft->arena, folder->path, folder->fd, folder->keep);
    *path = pp_arena_printf(draft->arena, "%s/%s", folder->path, name);
    return PP_OK;
}
