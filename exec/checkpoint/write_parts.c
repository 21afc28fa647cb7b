/* Writes the parts of this process: at once, or from a copy in a thread while training goes on. */
#include "exec/checkpoint/file.h"

#include "core/free_memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* ---- parts ----------------------------------------------------------------------------------- */

/* Consecutive bytes of a layer's file that are here. */
struct run {
    int layer, part;
    int64_t offset, bytes;
    const char *at;
};

struct writer {
    const struct pp_checkpoint_parts *parts;
    enum pp_status (*take)(struct writer *w, const struct run *run, struct pp_error *err);
    struct pp_checkpoint_file file; /* of the layer; opened for the first run */
    int layer;
    int64_t bytes, done;            /* of the layer in all; before the current vector */
    struct pp_checkpoint_sum *sums; /* [layers] */
    char *chunk;                    /* [PP_CHECKPOINT_CHUNK_BYTES] of the file, not written yet */
    int64_t chunk_at;               /* of its first byte in the file */
    size_t chunk_bytes;             /* used */
    struct pp_checkpoint_copy *copy;
};

/* Adds the checksum of these bytes as if all others of the file were zero: see checkpoint.h. */
static enum pp_status write_chunk(struct writer *w, int64_t offset, const void *data, size_t bytes,
                                  struct pp_error *err)
{
    const uLong crc = crc32_z(crc32_z(0, NULL, 0), data, bytes);

    if (w->file.fd < 0)
        PP_TRY(pp_checkpoint_file_open(&w->file, 0, err));
    w->sums[w->layer].crc ^= (uint32_t)crc32_combine(crc, 0, w->bytes - offset - (int64_t)bytes);
    w->sums[w->layer].bytes += (int64_t)bytes;
    return pp_checkpoint_file_write(&w->file, offset, data, bytes, err);
}

static enum pp_status flush(struct writer *w, struct pp_error *err)
{
    const size_t bytes = w->chunk_bytes;

    w->chunk_bytes = 0;
    return bytes ? write_chunk(w, w->chunk_at, w->chunk, bytes, err) : PP_OK;
}

/* Gathers bytes until others than the next ones come: devices of --tp have columns of each row. */
static enum pp_status write_run(struct writer *w, const struct run *run, struct pp_error *err)
{
    for (int64_t done = 0; done < run->bytes;) {
        const int64_t at = run->offset + done, left = run->bytes - done;
        if (at != w->chunk_at + (int64_t)w->chunk_bytes ||
            w->chunk_bytes == PP_CHECKPOINT_CHUNK_BYTES) {
            PP_TRY(flush(w, err));
            w->chunk_at = at;
        }
        char *to = w->chunk + w->chunk_bytes;
        const int64_t room = PP_CHECKPOINT_CHUNK_BYTES - (int64_t)w->chunk_bytes,
                      some = left < room ? left : room;
        const void *data =
            pp_checkpoint_fetch(w->parts, run->part, run->at + done, (size_t)some, to, err);
        if (!data)
            return err->status;
        if (data != to)
            memcpy(to, data, (size_t)some);
        w->chunk_bytes += (size_t)some;
        done += some;
    }
    return PP_OK;
}

static void begin_layer(struct writer *w, int number, int64_t bytes)
{
    pp_checkpoint_layer_name(number, w->file.name);
    w->file.fd = -1;
    w->layer = number;
    w->bytes = bytes;
    w->done = 0;
    w->sums[number] = (struct pp_checkpoint_sum){0};
}

static enum pp_status end_layer(struct writer *w, enum pp_status status, struct pp_error *err)
{
    if (status == PP_OK)
        status = flush(w, err);
    return w->file.fd >= 0 ? pp_checkpoint_file_close(&w->file, status, err) : status;
}

/* Takes each element of a vector from the first part that has it, if that is here. */
static enum pp_status walk_vector(struct writer *w, const struct pp_param *tensor, int v,
                                  struct pp_error *err)
{
    const int64_t element_bytes = (int64_t)w->parts->kernels->gradient_bytes;
    struct pp_checkpoint_run from;

    for (int64_t done = 0; done < tensor->count; done = from.of.until) {
        const int part = pp_checkpoint_take(w->parts, tensor->id, v, done, &from);

        assert(part >= 0);
        if (w->parts->part[part].is_elsewhere)
            continue;
        const struct run run = {w->layer, part, w->done + done * element_bytes,
                                (from.of.until - done) * element_bytes,
                                pp_checkpoint_vector(w->parts, part, v, from.at)};
        PP_TRY(w->take(w, &run, err));
    }
    w->done += tensor->count * element_bytes;
    return PP_OK;
}

static enum pp_status walk_layer(struct writer *w, int number, struct pp_error *err)
{
    const struct pp_stage *whole = w->parts->whole;
    enum pp_status status = PP_OK;

    begin_layer(w, number, pp_checkpoint_layer_bytes(w->parts, number));
    for (int p = 0; p < whole->param_count; p++)
        for (int v = 0; v < PP_CHECKPOINT_VECTORS && whole->params[p].layer == number; v++)
            if (status == PP_OK)
                status = walk_vector(w, &whole->params[p], v, err);
    return end_layer(w, status, err);
}

static enum pp_status walk(struct writer *w, struct pp_error *err)
{
    for (int i = 0; i < pp_checkpoint_layers(w->parts); i++)
        PP_TRY(walk_layer(w, i, err));
    return PP_OK;
}

enum pp_status pp_checkpoint_write_parts(const char *path, const struct pp_checkpoint_parts *parts,
                                         struct pp_checkpoint_sum *sums, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct writer writer = {.parts = parts,
                            .take = write_run,
                            .file = {.folder = path},
                            .sums = sums,
                            .chunk = pp_arena_alloc_raw(scratch, PP_CHECKPOINT_CHUNK_BYTES)};

    PP_TRY(pp_checkpoint_folder_open(path, &writer.file.folder_fd, err));
    const enum pp_status status = walk(&writer, err);
    pp_checkpoint_leave_sums(writer.file.folder_fd, parts->process, status, sums,
                             pp_checkpoint_layers(parts));
    close(writer.file.folder_fd);
    return status;
}

/* ---- a copy ---------------------------------------------------------------------------------- */

struct pp_checkpoint_copy {
    struct pp_arena *arena;
    const char *path;
    struct run *runs; /* [run_count], by layer; their bytes are in `data` */
    int run_count, layers, process;
    char *data;
    size_t bytes;
    int64_t *layer_bytes;           /* [layers] */
    struct pp_checkpoint_sum *sums; /* [layers] */
    pthread_t thread;
    bool is_running;
    struct pp_error error;
};

static enum pp_status count_run(struct writer *w, const struct run *run, struct pp_error *err)
{
    (void)err;
    w->copy->bytes += (size_t)run->bytes;
    w->copy->run_count++;
    return PP_OK;
}

static enum pp_status copy_run(struct writer *w, const struct run *run, struct pp_error *err)
{
    struct pp_checkpoint_copy *copy = w->copy;
    char *to = copy->data + copy->bytes;
    const void *from =
        pp_checkpoint_fetch(w->parts, run->part, run->at, (size_t)run->bytes, to, err);

    if (!from)
        return err->status;
    if (from != to)
        memcpy(to, from, (size_t)run->bytes);
    copy->bytes += (size_t)run->bytes;
    struct run *last = copy->runs + copy->run_count - 1;
    if (copy->run_count > 0 && last->layer == run->layer &&
        last->offset + last->bytes == run->offset) {
        last->bytes += run->bytes;
        return PP_OK;
    }
    copy->runs[copy->run_count] = *run;
    copy->runs[copy->run_count++].at = to;
    return PP_OK;
}

static enum pp_status write_copy(struct pp_checkpoint_copy *copy, struct pp_error *err)
{
    struct writer w = {.file = {.folder = copy->path}, .sums = copy->sums};
    const struct run *run = copy->runs, *end = run + copy->run_count;
    enum pp_status status = PP_OK;

    PP_TRY(pp_checkpoint_folder_open(copy->path, &w.file.folder_fd, err));
    for (int i = 0; i < copy->layers && status == PP_OK; i++) {
        begin_layer(&w, i, copy->layer_bytes[i]);
        for (; run < end && run->layer == i && status == PP_OK; run++)
            status = write_chunk(&w, run->offset, run->at, (size_t)run->bytes, err);
        status = end_layer(&w, status, err);
    }
    pp_checkpoint_leave_sums(w.file.folder_fd, copy->process, status, copy->sums, copy->layers);
    close(w.file.folder_fd);
    return status;
}

static void *run_thread(void *argument)
{
    struct pp_checkpoint_copy *copy = argument;

    write_copy(copy, &copy->error);
    return NULL;
}

static struct pp_checkpoint_copy *make_copy(const char *path,
                                            const struct pp_checkpoint_parts *parts)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_checkpoint_copy *copy = PP_NEW(arena, struct pp_checkpoint_copy);

    copy->arena = arena;
    copy->path = pp_arena_strdup(arena, path);
    copy->layers = pp_checkpoint_layers(parts);
    copy->process = parts->process;
    copy->layer_bytes = PP_ARRAY(arena, int64_t, copy->layers);
    copy->sums = PP_ARRAY(arena, struct pp_checkpoint_sum, copy->layers);
    for (int i = 0; i < copy->layers; i++)
        copy->layer_bytes[i] = pp_checkpoint_layer_bytes(parts, i);
    return copy;
}

/* False: there is no memory for it, or the device does not answer. */
static bool fill_copy(struct pp_checkpoint_copy *copy, const struct pp_checkpoint_parts *parts)
{
    struct writer w = {.parts = parts, .take = count_run, .sums = copy->sums, .copy = copy};
    struct pp_error ignored = {0};

    walk(&w, &ignored);
    copy->data = copy->bytes < pp_free_memory_bytes() / 2 ? malloc(copy->bytes + 1) : NULL;
    if (!copy->data)
        return false;
    copy->runs = PP_ARRAY(copy->arena, struct run, copy->run_count + 1);
    copy->run_count = 0;
    copy->bytes = 0;
    w.take = copy_run;
    return walk(&w, &ignored) == PP_OK;
}

enum pp_status pp_checkpoint_copy_begin(const char *path, const struct pp_checkpoint_parts *parts,
                                        bool in_background, struct pp_checkpoint_copy **copy,
                                        struct pp_error *err)
{
    struct pp_checkpoint_copy *made = *copy = make_copy(path, parts);

    if (in_background && fill_copy(made, parts))
        made->is_running = pthread_create(&made->thread, NULL, run_thread, made) == 0;
    if (made->is_running)
        return PP_OK;
    made->bytes = 0;
    return pp_checkpoint_write_parts(path, parts, made->sums, err);
}

size_t pp_checkpoint_copy_bytes(const struct pp_checkpoint_copy *copy)
{
    return copy ? copy->bytes : 0;
}

enum pp_status pp_checkpoint_copy_end(struct pp_checkpoint_copy **copy,
                                      struct pp_checkpoint_sum *sums, struct pp_error *err)
{
    struct pp_checkpoint_copy *ended = *copy;
    enum pp_status status = PP_OK;

    *copy = NULL;
    if (!ended)
        return pp_error_set(err, PP_EFAIL, "this process writes no checkpoint");
    if (ended->is_running) {
        pthread_join(ended->thread, NULL);
        status = ended->error.status;
    }
    if (status != PP_OK)
        *err = ended->error;
    else if (sums)
        memcpy(sums, ended->sums, sizeof(*sums) * (size_t)ended->layers);
    free(ended->data);
    pp_arena_destroy(ended->arena);
    return status;
}
