/* Reads checkpoints. No training continues from a file whose checksum is wrong. */
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
    if (count == 0) {
        pp_error_set(err, PP_EFAIL,
                     "%s has no checkpoint: neither a manifest nor a folder step-NNNNNNNNN", path);
        return access(pp_arena_printf(arena, "%s/config.json", path), F_OK) != 0
                   ? PP_EFAIL
                   : pp_error_append(err, "; it is a model, from which --model %s%s starts",
                                     strchr(path, '/') ? "" : "./", path);
    }
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

static const char *path_of_layer(struct pp_arena *arena, const struct pp_checkpoint *checkpoint,
                                 int number)
{
    char name[PP_CHECKPOINT_NAME_BYTES];

    pp_checkpoint_layer_name(number, name);
    return pp_arena_printf(arena, "%s/%s", checkpoint->path, name);
}

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

/* A layer's file on its way into the parts of this process. */
struct reader {
    const struct pp_checkpoint_parts *parts;
    const char *name;
    int fd;
    uint32_t crc;          /* of the bytes so far */
    char *chunk, *rounded; /* [PP_CHECKPOINT_CHUNK_BYTES] */
};

static enum pp_status check_length(const struct reader *r, int64_t bytes, struct pp_error *err)
{
    struct stat info;

    if (fstat(r->fd, &info) != 0)
        return pp_error_set(err, PP_EFAIL, "cannot read %s: %s", r->name, strerror(errno));
    if (S_ISREG(info.st_mode) && info.st_size == bytes)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s is damaged: it has %lld bytes, but %" PRId64 " were written", r->name,
                        (long long)info.st_size, bytes);
}

static enum pp_status read_chunk(struct reader *r, size_t bytes, struct pp_error *err)
{
    size_t done = 0;

    while (done < bytes) {
        const ssize_t got = read(r->fd, r->chunk + done, bytes - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return pp_error_set(err, PP_EFAIL, "cannot read %s: %s", r->name,
                                got ? strerror(errno) : "it has become shorter");
        done += (size_t)got;
    }
    r->crc = (uint32_t)crc32_z(r->crc, (const unsigned char *)r->chunk, bytes);
    return PP_OK;
}

/* Rounds master weights to the weights that layers read, if the part has both. */
static enum pp_status round_weights(const struct reader *r, int part, const struct pp_param *param,
                                    struct pp_range range, struct pp_error *err)
{
    const struct pp_kernels *k = r->parts->kernels;
    const struct pp_state *state = &r->parts->part[part].state;
    const struct pp_range held = pp_state_held(state, pp_state_part_of(state, param->offset));
    struct pp_checkpoint_run run;

    for (int64_t from = range.from;
         state->master && pp_checkpoint_run(param, held, from, &run) && run.of.from < range.until;
         from = run.of.until) {
        const struct pp_range some = pp_range_common(run.of, range);

        for (int64_t i = some.from; i < some.until; i++)
            pp_number_put(r->rounded, k->element_bytes, i - some.from,
                          pp_number_get(r->chunk, k->gradient_bytes, i - range.from));
        PP_TRY(pp_checkpoint_put(r->parts, part, pp_state_weight(state, k, run.at), r->rounded,
                                 (size_t)(some.until - some.from) * k->element_bytes, err));
    }
    return PP_OK;
}

/* Copies what a part has of the chunk, a range of a vector. */
static enum pp_status put_chunk(const struct reader *r, int part, const struct pp_param *param,
                                int v, struct pp_range range, struct pp_error *err)
{
    const size_t element_bytes = r->parts->kernels->gradient_bytes;
    const struct pp_range held = pp_checkpoint_held(r->parts, part, v, param);
    struct pp_checkpoint_run run;

    for (int64_t from = range.from;
         pp_checkpoint_run(param, held, from, &run) && run.of.from < range.until;
         from = run.of.until) {
        const struct pp_range some = pp_range_common(run.of, range);

        PP_TRY(pp_checkpoint_put(r->parts, part, pp_checkpoint_vector(r->parts, part, v, run.at),
                                 r->chunk + (size_t)(some.from - range.from) * element_bytes,
                                 (size_t)(some.until - some.from) * element_bytes, err));
    }
    return PP_OK;
}

/* Copies the chunk into every part that has some of it. */
static enum pp_status scatter(const struct reader *r, const struct pp_param *from, int v,
                              struct pp_range range, struct pp_error *err)
{
    const struct pp_param *to;

    for (int part = 0; (to = pp_checkpoint_find(r->parts, from->id, &part)) != NULL;) {
        if (r->parts->part[part - 1].is_elsewhere)
            continue;
        if (v == 0)
            PP_TRY(round_weights(r, part - 1, to, range, err));
        PP_TRY(put_chunk(r, part - 1, to, v, range, err));
    }
    return PP_OK;
}

static enum pp_status load_vector(struct reader *r, const struct pp_param *tensor, int v,
                                  struct pp_error *err)
{
    const int64_t element_bytes = (int64_t)r->parts->kernels->gradient_bytes,
                  most = PP_CHECKPOINT_CHUNK_BYTES / element_bytes;

    for (int64_t from = 0; from < tensor->count; from += most) {
        const int64_t left = tensor->count - from;
        const struct pp_range range = {from, from + (left < most ? left : most)};

        PP_TRY(read_chunk(r, (size_t)((range.until - from) * element_bytes), err));
        PP_TRY(scatter(r, tensor, v, range, err));
    }
    return PP_OK;
}

static enum pp_status load_tensors(struct reader *r, int number,
                                   const struct pp_manifest_layer *layer, struct pp_error *err)
{
    const struct pp_stage *whole = r->parts->whole;

    PP_TRY(check_length(r, layer->bytes, err));
    for (int p = 0; p < whole->param_count; p++)
        for (int v = 0; v < PP_CHECKPOINT_VECTORS && whole->params[p].layer == number; v++)
            PP_TRY(load_vector(r, &whole->params[p], v, err));
    if (r->crc == layer->crc)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s is damaged: the checksum of its bytes is %08" PRIx32 ", that of what "
                        "was written %08" PRIx32,
                        r->name, r->crc, layer->crc);
}

static enum pp_status load_layer(const struct pp_checkpoint *checkpoint,
                                 const struct pp_checkpoint_parts *parts, int number,
                                 struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct reader reader = {.parts = parts,
                            .name = path_of_layer(scratch, checkpoint, number),
                            .chunk = pp_arena_alloc_raw(scratch, PP_CHECKPOINT_CHUNK_BYTES),
                            .rounded = pp_arena_alloc_raw(scratch, PP_CHECKPOINT_CHUNK_BYTES)};

    PP_TRY(check_tensors(checkpoint, parts->whole, number, err));
    reader.fd = open(reader.name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (reader.fd < 0)
        return pp_error_set(err, PP_EFAIL, "cannot open %s: %s", reader.name, strerror(errno));
    const enum pp_status status =
        load_tensors(&reader, number, &checkpoint->manifest.layers[number], err);
    close(reader.fd);
    return status;
}

bool pp_checkpoint_has_files(const struct pp_checkpoint *checkpoint,
                             const struct pp_checkpoint_parts *parts)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();

    for (int number = 0; number < checkpoint->manifest.layer_count; number++)
        if (pp_checkpoint_is_layer_here(parts, number) &&
            access(path_of_layer(scratch, checkpoint, number), R_OK) != 0)
            return false;
    return true;
}

enum pp_status pp_checkpoint_load(const struct pp_checkpoint *checkpoint,
                                  const struct pp_checkpoint_parts *parts, struct pp_error *err)
{
    for (int number = 0; number < checkpoint->manifest.layer_count; number++)
        if (pp_checkpoint_is_layer_here(parts, number))
            PP_TRY(advise(checkpoint, load_layer(checkpoint, parts, number, err), err));
    return PP_OK;
}
