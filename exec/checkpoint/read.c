/* Reads checkpoints. A file is used only after its checksum has proved right. */
#include "exec/checkpoint/checkpoint.h"

#include "core/text/file.h"
#include "kernels/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MANIFEST_MAX_BYTES = 1 << 28 };

/* ---- which one ------------------------------------------------------------------------------- */

static const char *path_of(struct pp_arena *arena, const char *folder, int step)
{
    char name[PP_CHECKPOINT_NAME_BYTES];

    pp_checkpoint_step_name(step, name);
    return pp_arena_printf(arena, "%s/%s", folder, name);
}

static enum pp_status choose(struct pp_arena *arena, const char *path,
                             struct pp_checkpoint *checkpoint, struct pp_error *err)
{
    int *steps, count;

    *checkpoint = (struct pp_checkpoint){.path = path};
    if (access(pp_arena_printf(arena, "%s/" PP_CHECKPOINT_MANIFEST, path), F_OK) == 0)
        return PP_OK;
    PP_TRY(pp_checkpoint_steps(arena, path, &steps, &count, err));
    if (count == 0)
        return pp_error_set(err, PP_EFAIL,
                            "%s has no checkpoint: neither a manifest nor a folder step-NNNNNNNNN",
                            path);
    checkpoint->path = path_of(arena, path, steps[count - 1]);
    if (count > 1)
        checkpoint->older = path_of(arena, path, steps[count - 2]);
    return PP_OK;
}

/* Appends the previous checkpoint to the error of a damaged one. */
static enum pp_status advise(const struct pp_checkpoint *checkpoint, enum pp_status status,
                             struct pp_error *err)
{
    if (status != PP_OK && checkpoint->older)
        pp_error_append(err, "\n  the checkpoint before it: --resume %s", checkpoint->older);
    return status;
}

enum pp_status pp_checkpoint_read(struct pp_arena *arena, const char *path,
                                  struct pp_checkpoint *checkpoint, struct pp_error *err)
{
    struct pp_bytes bytes;

    PP_TRY(choose(arena, path, checkpoint, err));
    const char *name = pp_arena_printf(arena, "%s/" PP_CHECKPOINT_MANIFEST, checkpoint->path);
    enum pp_status status = pp_file_read_limited(arena, name, MANIFEST_MAX_BYTES, &bytes, err);
    if (status == PP_OK)
        status =
            pp_manifest_parse(arena, name, bytes.data, bytes.length, &checkpoint->manifest, err);
    return advise(checkpoint, status, err);
}

/* ---- one layer ------------------------------------------------------------------------------- */

static enum pp_status check_tensors(const struct pp_checkpoint *checkpoint,
                                    const struct pp_stage *whole, int number, struct pp_error *err)
{
    const struct pp_manifest_layer *layer = &checkpoint->manifest.layers[number];
    int found = 0;

    for (int p = 0; p < whole->param_count; p++) {
        const struct pp_param *param = &whole->params[p];
        if (param->layer != number)
            continue;
        if (found == layer->tensor_count || layer->tensors[found].count != param->count ||
            strcmp(layer->tensors[found].name, param->name) != 0)
            return pp_error_set(err, PP_EINVAL,
                                "%s/" PP_CHECKPOINT_MANIFEST ": tensor %d of layer %d should be %s "
                                "of %" PRId64 " elements",
                                checkpoint->path, found, number, param->name, param->count);
        found++;
    }
    if (found == layer->tensor_count)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s/" PP_CHECKPOINT_MANIFEST ": layer %d has %d tensors, not %d",
                        checkpoint->path, number, found, layer->tensor_count);
}

static enum pp_status read_file(const char *name, int fd, int64_t bytes, char *data,
                                struct pp_error *err)
{
    struct stat info;
    int64_t done = 0;

    if (fstat(fd, &info) != 0)
        return pp_error_set(err, PP_EFAIL, "cannot read %s: %s", name, strerror(errno));
    if (!S_ISREG(info.st_mode) || info.st_size != bytes)
        return pp_error_set(err, PP_EINVAL,
                            "%s is damaged: it has %lld bytes, but %" PRId64 " were written", name,
                            (long long)info.st_size, bytes);
    while (done < bytes) {
        const ssize_t got = read(fd, data + done, (size_t)(bytes - done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return pp_error_set(err, PP_EFAIL, "cannot read %s: %s", name,
                                got ? strerror(errno) : "it has become shorter");
        done += got;
    }
    return PP_OK;
}

static enum pp_status check_crc(const char *name, const struct pp_manifest_layer *layer,
                                const char *data, struct pp_error *err)
{
    const uint32_t crc =
        (uint32_t)crc32_z(crc32_z(0, NULL, 0), (const unsigned char *)data, (size_t)layer->bytes);

    if (crc == layer->crc)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s is damaged: the checksum of its bytes is %08" PRIx32 ", that of what "
                        "was written %08" PRIx32,
                        name, crc, layer->crc);
}

/* Rounds master weights to the weights that layers read, if the part has both. */
static void round_weights(const struct pp_checkpoint_parts *parts, const struct pp_state *state,
                          const struct pp_param *param, const char *data)
{
    const struct pp_kernels *k = parts->kernels;

    for (int64_t i = 0; state->master != NULL && i < param->count; i++)
        pp_number_put(state->weights, k->element_bytes, param->offset + i,
                      pp_number_get(data, k->gradient_bytes, i));
}

/* Copies the tensors of a layer into every part that has them. */
static void scatter(const struct pp_checkpoint_parts *parts, int number, const char *data)
{
    const size_t element_bytes = parts->kernels->gradient_bytes;

    for (int p = 0; p < parts->whole->param_count; p++) {
        const struct pp_param *from = &parts->whole->params[p], *to;
        const size_t bytes = (size_t)from->count * element_bytes;

        if (from->layer != number)
            continue;
        for (int part = 0; (to = pp_checkpoint_find(parts, from->id, &part)) != NULL;) {
            if (parts->part[part - 1].is_elsewhere)
                continue;
            round_weights(parts, &parts->part[part - 1].state, to, data);
            for (int v = 0; v < PP_CHECKPOINT_VECTORS; v++) {
                const struct pp_range range = pp_checkpoint_range(parts, part - 1, to, v);
                if (range.from < range.until)
                    memcpy(pp_checkpoint_vector(parts, part - 1, to, v),
                           data + (size_t)v * bytes + (size_t)range.from * element_bytes,
                           (size_t)(range.until - range.from) * element_bytes);
            }
        }
        data += PP_CHECKPOINT_VECTORS * bytes;
    }
}

static enum pp_status load_layer(const struct pp_checkpoint *checkpoint,
                                 const struct pp_checkpoint_parts *parts, int number,
                                 struct pp_error *err)
{
    const struct pp_manifest_layer *layer = &checkpoint->manifest.layers[number];
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    char file[PP_CHECKPOINT_NAME_BYTES];

    PP_TRY(check_tensors(checkpoint, parts->whole, number, err));
    pp_checkpoint_layer_name(number, file);
    const char *name = pp_arena_printf(scratch, "%s/%s", checkpoint->path, file);
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return pp_error_set(err, PP_EFAIL, "cannot open %s: %s", name, strerror(errno));
    char *data = pp_arena_alloc_raw(scratch, (size_t)layer->bytes + 1);
    enum pp_status status = read_file(name, fd, layer->bytes, data, err);
    close(fd);
    if (status == PP_OK)
        status = check_crc(name, layer, data, err);
    if (status == PP_OK)
        scatter(parts, number, data);
    return status;
}

enum pp_status pp_checkpoint_load(const struct pp_checkpoint *checkpoint,
                                  const struct pp_checkpoint_parts *parts, struct pp_error *err)
{
    for (int number = 0; number < checkpoint->manifest.layer_count; number++)
        if (pp_checkpoint_is_layer_here(parts, number))
            PP_TRY(advise(checkpoint, load_layer(checkpoint, parts, number, err), err));
    return PP_OK;
}
