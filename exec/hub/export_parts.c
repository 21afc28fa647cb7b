/* Parts of tensors, written at their places in the files of a model. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "exec/hub/export.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_ELEMENTS = 1 << 22, BUFFER_BYTES = 1 << 20 };

struct pp_hub_writer {
    const struct pp_hub_draft *draft;
    float *values; /* [CHUNK_ELEMENTS] */
    /* the file that is open: fd -1 = none; its bytes that are not written yet */
    const char *path;
    int shard, fd;
    char *buffer; /* [BUFFER_BYTES] */
    int64_t at;   /* of its first byte */
    size_t used;
    int64_t bytes; /* written in all */
    /* the tensor that is put */
    const struct pp_number_type *type;
    int64_t offset;
};

struct pp_hub_writer *pp_hub_writer_open(struct pp_arena *arena, const struct pp_hub_draft *draft)
{
    struct pp_hub_writer *w = PP_NEW(arena, struct pp_hub_writer);

    w->draft = draft;
    w->values = pp_arena_alloc_raw(arena, sizeof(float) * CHUNK_ELEMENTS);
    w->buffer = pp_arena_alloc_raw(arena, BUFFER_BYTES);
    w->shard = w->fd = -1;
    return w;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static enum pp_status flush(struct pp_hub_writer *w, struct pp_error *err)
{
    const size_t used = w->used;

    w->used = 0;
    w->bytes += (int64_t)used;
    return used ? pp_hub_write_at(w->fd, w->path, w->buffer, used, w->at, err) : PP_OK;
}

static enum pp_status close_file(struct pp_hub_writer *w, enum pp_status status,
                                 struct pp_error *err)
{
    if (w->fd < 0)
        return status;
    if (status == PP_OK)
        status = flush(w, err);
    if (status == PP_OK && fsync(w->fd) != 0)
        status = pp_hub_write_fail(w->path, err);
    if (close(w->fd) != 0 && status == PP_OK)
        status = pp_hub_write_fail(w->path, err);
    w->fd = -1;
    return status;
}

static enum pp_status open_file(struct pp_hub_writer *w, int piece, struct pp_error *err)
{
    int shard = w->shard < 0 ? 0 : w->shard;

    while (piece >= w->draft->begin[shard + 1]) /* pieces come in order */
        shard++;
    if (shard == w->shard)
        return PP_OK;
    PP_TRY(close_file(w, PP_OK, err));
    w->shard = shard;
    w->path = pp_hub_draft_file(w->draft, shard);
    w->fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    return w->fd >= 0 ? PP_OK : pp_hub_write_fail(w->path, err);
}

/* Takes numbers that follow one another in the file, from element `at` of the tensor on. */
static enum pp_status take(void *closure, int64_t at, const float *values, int64_t count,
                           struct pp_error *err)
{
    struct pp_hub_writer *w = closure;
    const int64_t size = w->type->bytes;

    for (int64_t done = 0; done < count;) {
        const int64_t place = w->offset + (at + done) * size;
        if (w->used > 0 && (place != w->at + (int64_t)w->used || w->used + 8 > BUFFER_BYTES))
            PP_TRY(flush(w, err));
        if (w->used == 0)
            w->at = place;
        const int64_t room = (BUFFER_BYTES - (int64_t)w->used) / size, left = count - done,
                      some = left < room ? left : room;
        w->type->write(values + done, some, w->buffer + w->used);
        w->used += (size_t)(some * size);
        done += some;
    }
    return PP_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static enum pp_status put_block(struct pp_hub_writer *w, const struct pp_hub_piece *p,
                                const struct pp_hub_block *block, pp_hub_fetch fetch, void *closure,
                                struct pp_error *err)
{
    const int64_t first = p->from + block->row * p->columns + block->column,
                  count = block->rows * block->columns;
    const bool is_whole = block->columns == p->columns;

    PP_TRY(fetch(closure, p->param,
                 is_whole ? pp_slice_run(first, first + count)
                          : (struct pp_slice_piece){first, block->columns, p->columns, block->rows},
                 w->values, err));
    for (int64_t i = 0; p->added != 0 && i < count; i++)
        w->values[i] -= p->added;
    return p->order->write(p, block, w->values, take, w, err);
}

enum pp_status pp_hub_writer_put(struct pp_hub_writer *writer, int piece,
                                 struct pp_slice_piece runs, pp_hub_fetch fetch, void *closure,
                                 struct pp_error *err)
{
    const struct pp_hub_piece *p = &writer->draft->export->layout->pieces[piece];

    if (runs.runs == 0)
        return PP_OK;
    PP_TRY(open_file(writer, piece, err));
    writer->type = writer->draft->tensors[piece].type;
    writer->offset = writer->draft->offset[piece];
    runs.first -= p->from;
    for (int64_t done = 0; done < runs.run * runs.runs;) {
        const struct pp_hub_block block = pp_hub_next_block(p, runs, CHUNK_ELEMENTS, &done);
        PP_TRY(put_block(writer, p, &block, fetch, closure, err));
    }
    return PP_OK;
}

enum pp_status pp_hub_writer_close(struct pp_hub_writer *writer, enum pp_status status,
                                   int64_t *bytes, struct pp_error *err)
{
    status = close_file(writer, status, err);
    *bytes = writer->bytes;
    return status;
}

enum pp_status pp_hub_export_write(struct pp_arena *arena, const struct pp_hub_export *export,
                                   pp_hub_fetch fetch, void *closure, struct pp_error *err)
{
    const struct pp_hub_draft draft = pp_hub_draft_of(arena, export, export->folder->partial);
    enum pp_status status = PP_OK;
    int64_t bytes;

    PP_TRY(pp_hub_draft_begin(&draft, err));
    struct pp_hub_writer *writer = pp_hub_writer_open(arena, &draft);
    for (int i = 0; i < export->layout->count && status == PP_OK; i++) {
        const struct pp_hub_piece *p = &export->layout->pieces[i];
        status = pp_hub_writer_put(writer, i, pp_slice_run(p->from, p->from + p->rows * p->columns),
                                   fetch, closure, err);
    }
    PP_TRY(pp_hub_writer_close(writer, status, &bytes, err));
    PP_TRY(pp_hub_draft_end(&draft, err));
    return pp_hub_folder_publish(export->folder, export->folder->path, err);
}
