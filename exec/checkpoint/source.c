/* The weights of a checkpoint alone, as initial weights of another run. */
#include "exec/checkpoint/checkpoint.h"

#include "core/process/mapped.h"
#include "kernels/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Weights of all tensors, in files that are mapped. */
struct weights {
    const struct pp_stage *whole;
    size_t element_bytes;
    const char **at; /* [parameters of `whole`] */
};

static void read_run(const struct weights *w, const char *tensor, int64_t from, int64_t count,
                     float *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)pp_number_get(tensor, w->element_bytes, from + i);
}

static void read_weights(const void *closure, const struct pp_param *param,
                         struct pp_slice_piece runs, float *values)
{
    const struct weights *w = closure;
    const char *tensor = w->at[pp_stage_find(w->whole, param->id) - w->whole->params];

    for (int64_t r = 0; r < runs.runs; r++)
        read_run(w, tensor, runs.first + r * runs.stride, runs.run, values + r * runs.run);
}

static int64_t bytes_of_layer(const struct weights *w, int number)
{
    int64_t elements = 0;

    for (int p = 0; p < w->whole->param_count; p++)
        elements += w->whole->params[p].layer == number ? w->whole->params[p].count : 0;
    return elements * PP_CHECKPOINT_VECTORS * (int64_t)w->element_bytes;
}

static enum pp_status check_sum(const struct pp_mapped_file *file,
                                const struct pp_manifest_layer *layer, struct pp_error *err)
{
    const uint32_t crc = (uint32_t)crc32_z(0, file->bytes, file->length);

    if (crc == layer->crc)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s is damaged: the checksum of its bytes is %08" PRIx32
                        ", that of what was written %08" PRIx32,
                        file->path, crc, layer->crc);
}

static void unmap(void *file)
{
    pp_unmap_file(file);
}

/* Maps a layer's file until the arena ends. */
static enum pp_status map_layer(struct pp_arena *arena, const char *path, int64_t bytes,
                                struct pp_mapped_file *file, struct pp_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat info;

    if (fd < 0 || fstat(fd, &info) != 0) {
        pp_error_set(err, PP_EFAIL, "cannot open %s: %s", path, strerror(errno));
    } else if (!S_ISREG(info.st_mode) || info.st_size != bytes) {
        pp_error_set(err, PP_EINVAL, "%s is damaged: it has %lld bytes, not %" PRId64, path,
                     (long long)info.st_size, bytes);
    } else if (!pp_map_file(file, path, fd, (size_t)bytes)) {
        pp_error_set(err, PP_EFAIL, "cannot map %s: %s", path, strerror(errno));
    } else {
        close(fd);
        pp_arena_defer(arena, unmap, file);
        return PP_OK;
    }
    if (fd >= 0)
        close(fd);
    return err->status;
}

/* Finds the weights of a layer: each tensor has m and v after them. */
static enum pp_status find_layer(struct pp_arena *arena, const struct pp_checkpoint *checkpoint,
                                 int number, struct weights *w, struct pp_error *err)
{
    struct pp_mapped_file *file = PP_NEW(arena, struct pp_mapped_file);
    char name[PP_CHECKPOINT_NAME_BYTES];

    pp_checkpoint_layer_name(number, name);
    PP_TRY(map_layer(arena, pp_arena_printf(arena, "%s/%s", checkpoint->path, name),
                     bytes_of_layer(w, number), file, err));
    PP_TRY(check_sum(file, &checkpoint->manifest.layers[number], err));
    const char *at = file->bytes;
    for (int p = 0; p < w->whole->param_count; p++) {
        if (w->whole->params[p].layer != number)
            continue;
        w->at[p] = at;
        at += (size_t)w->whole->params[p].count * PP_CHECKPOINT_VECTORS * w->element_bytes;
    }
    return PP_OK;
}

enum pp_status pp_checkpoint_source(struct pp_arena *arena, const struct pp_checkpoint *checkpoint,
                                    const struct pp_stage *whole, struct pp_weights_source *source,
                                    struct pp_error *err)
{
    const int64_t bits = checkpoint->manifest.identity.value[PP_IDENTITY_PRECISION];
    struct weights *w = PP_NEW(arena, struct weights);

    *w = (struct weights){whole, bits > 32 ? sizeof(double) : sizeof(float),
                          PP_ARRAY(arena, const char *, whole->param_count)};
    for (int number = 0; number < checkpoint->manifest.layer_count; number++)
        if (find_layer(arena, checkpoint, number, w, err) != PP_OK)
            return checkpoint->older
                       ? pp_error_append(err, "\n  the checkpoint before it: --resume %s",
                                         checkpoint->older)
                       : err->status;
    *source = (struct pp_weights_source){read_weights, w};
    return PP_OK;
}
