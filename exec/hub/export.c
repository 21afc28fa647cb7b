/* The files of a model for the hub: which tensors are where. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "exec/hub/export.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

static struct pp_safetensor tensor_of(const struct pp_hub_piece *piece)
{
    if (piece->tensor)
        return *piece->tensor;
    struct pp_safetensor tensor = {.name = piece->name,
                                   .type = pp_number_type("F32"),
                                   .dimensions = piece->is_vector ? 1 : 2,
                                   .count = piece->stored_rows * piece->columns};
    tensor.shape[0] = piece->order->is_transposed ? piece->columns : piece->stored_rows;
    tensor.shape[1] = piece->order->is_transposed ? piece->stored_rows : piece->columns;
    return tensor;
}

static int64_t bytes_of(const struct pp_safetensor *tensor)
{
    return tensor->count * tensor->type->bytes;
}

int64_t pp_hub_export_bytes(const struct pp_hub_layout *layout)
{
    int64_t bytes = 0;

    for (int i = 0; i < layout->count; i++) {
        const struct pp_safetensor tensor = tensor_of(&layout->pieces[i]);
        bytes += bytes_of(&tensor);
    }
    return bytes;
}

int64_t pp_hub_trained_bytes(const struct pp_hub_layout *layout)
{
    int64_t bytes = 0;

    for (int i = 0; i < layout->count; i++) {
        const struct pp_hub_piece *piece = &layout->pieces[i];
        bytes += piece->rows * piece->columns * tensor_of(piece).type->bytes;
    }
    return bytes;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Cuts into files of at most so many bytes; a larger tensor has one of its own. */
struct pp_hub_draft pp_hub_draft_of(struct pp_arena *arena, const struct pp_hub_export *export,
                                    const char *path)
{
    const int count = export->layout->count;
    struct pp_hub_draft d = {.arena = arena,
                             .export = export,
                             .path = path,
                             .tensors = PP_ARRAY(arena, struct pp_safetensor, count),
                             .offset = PP_ARRAY(arena, int64_t, count),
                             .begin = PP_ARRAY(arena, int, count + 1)};
    int64_t end = 0;

    for (int i = 0; i < count; i++) {
        d.tensors[i] = tensor_of(&export->layout->pieces[i]);
        if (i == 0 || end + bytes_of(&d.tensors[i]) > export->shard_bytes) {
            d.begin[d.shards++] = i;
            end = 0;
        }
        d.offset[i] = end;
        end += bytes_of(&d.tensors[i]);
    }
    d.begin[d.shards] = count;
    for (int shard = 0; shard < d.shards; shard++) {
        const int first = d.begin[shard], tensors = d.begin[shard + 1] - first;
        size_t head;
        pp_safetensors_head(arena, d.tensors + first, tensors, &head);
        for (int i = first; i < first + tensors; i++)
            d.offset[i] += (int64_t)head;
    }
    return d;
}

static const char *name_of(const struct pp_hub_draft *d, int shard)
{
    return d->shards == 1
               ? PP_SAFETENSORS_FILE
               : pp_arena_printf(d->arena, "model-%05d-of-%05d.safetensors", shard + 1, d->shards);
}

const char *pp_hub_draft_file(const struct pp_hub_draft *draft, int shard)
{
    return pp_arena_printf(draft->arena, "%s/%s", draft->path, name_of(draft, shard));
}

/* Rows that the model does not train are those of the file that was read. They are copied here, so
 * that a file that has become shorter is named. */
static enum pp_status copy_rest(int fd, const char *path, const unsigned char *from, int64_t bytes,
                                int64_t at, struct pp_error *err)
{
    unsigned char chunk[1 << 16];

    for (int64_t done = 0; done < bytes;) {
        const int64_t left = bytes - done, most = sizeof(chunk), some = left < most ? left : most;
        memcpy(chunk, from + done, (size_t)some);
        PP_TRY(pp_hub_write_at(fd, path, chunk, (size_t)some, at + done, err));
        done += some;
    }
    return fsync(fd) == 0 ? PP_OK : pp_hub_write_fail(path, err);
}

static enum pp_status put_rest(const struct pp_hub_draft *d, int i, const char *path,
                               struct pp_error *err)
{
    const struct pp_hub_piece *piece = &d->export->layout->pieces[i];
    const struct pp_safetensor *tensor = &d->tensors[i];
    const int64_t trained = piece->rows * piece->columns * tensor->type->bytes,
                  rest = bytes_of(tensor) - trained;

    if (rest == 0)
        return PP_OK;
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return pp_hub_write_fail(path, err);
    const enum pp_status status =
        copy_rest(fd, path, tensor->data + trained, rest, d->offset[i] + trained, err);
    close(fd);
    return status;
}

static enum pp_status make_file(const struct pp_hub_draft *d, int shard, struct pp_error *err)
{
    const int first = d->begin[shard], end = d->begin[shard + 1];
    const char *path = pp_hub_draft_file(d, shard);
    size_t bytes;
    const char *head = pp_safetensors_head(d->arena, d->tensors + first, end - first, &bytes);

    PP_TRY(pp_hub_write_new(path, head, bytes, d->offset[end - 1] + bytes_of(&d->tensors[end - 1]),
                            err));
    for (int i = first; i < end; i++)
        PP_TRY(put_rest(d, i, path, err));
    return PP_OK;
}

enum pp_status pp_hub_draft_begin(const struct pp_hub_draft *draft, struct pp_error *err)
{
    for (int shard = 0; shard < draft->shards; shard++)
        PP_TRY(make_file(draft, shard, err));
    return PP_OK;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static enum pp_status write_text(const struct pp_hub_draft *d, const char *name, const char *text,
                                 struct pp_error *err)
{
    const size_t length = strlen(text);

    return pp_hub_write_new(pp_arena_printf(d->arena, "%s/%s", d->path, name), text, length,
                            (int64_t)length, err);
}

static enum pp_status write_index(const struct pp_hub_draft *d, struct pp_error *err)
{
    json_t *files = json_object();

    for (int shard = 0; shard < d->shards; shard++)
        for (int i = d->begin[shard]; i < d->begin[shard + 1]; i++)
            json_object_set_new(files, d->tensors[i].name, json_string(name_of(d, shard)));
    json_t *index =
        json_pack("{s{sI} so}", "metadata", "total_size",
                  (json_int_t)pp_hub_export_bytes(d->export->layout), "weight_map", files);
    char *text = json_dumps(index, JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(index);
    const enum pp_status status = write_text(d, PP_SAFETENSORS_INDEX, text ? text : "", err);
    free(text);
    return status;
}

enum pp_status pp_hub_draft_end(const struct pp_hub_draft *draft, struct pp_error *err)
{
    if (draft->shards > 1)
        PP_TRY(write_index(draft, err));
    return write_text(draft, "config.json", draft->export->config, err);
}
