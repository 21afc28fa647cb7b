/* The files of a model for the hub. */
#include "exec/hub/export.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one tensor ------------------------------------------------------------------------------ */

/* Files that are written, and where their numbers come from. */
struct draft {
    struct pp_arena *arena;
    const struct pp_hub_export *export;
    struct pp_safetensor *tensors; /* [layout->count] */
    int *begin;                    /* [shards + 1] first tensor of each */
    int shards, shard;
    pp_hub_fetch fetch;
    void *closure;
};

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

/* Finds the numbers of a tensor as the file has them, in one of both buffers. */
static enum pp_status find_numbers(const struct draft *d, const struct pp_hub_piece *piece,
                                   float *buffers[2], struct pp_error *err)
{
    const int64_t count = piece->rows * piece->columns;
    float *values = buffers[0];

    PP_TRY(d->fetch(d->closure, piece->param, (struct pp_range){piece->from, piece->from + count},
                    values, err));
    for (int64_t i = 0; piece->added != 0 && i < count; i++)
        values[i] -= piece->added;
    if (piece->order->arrange) {
        piece->order->arrange(piece, values, buffers[1]);
        buffers[0] = buffers[1];
        buffers[1] = values;
    }
    return PP_OK;
}

/* Puts the bytes of a tensor. Rows that the model does not train are those of the file. */
static enum pp_status put_tensor(const struct draft *d, const struct pp_hub_piece *piece,
                                 const struct pp_safetensor *tensor, float *buffers[2],
                                 struct pp_safetensor_sink *sink, struct pp_error *err)
{
    const int64_t count = piece->rows * piece->columns;
    const size_t bytes = (size_t)(count * tensor->type->bytes),
                 all = (size_t)(tensor->count * tensor->type->bytes);

    PP_TRY(find_numbers(d, piece, buffers, err));
    tensor->type->write(buffers[0], count, buffers[1]);
    if (bytes < all)
        memcpy((char *)buffers[1] + bytes, tensor->data + bytes, all - bytes);
    return pp_safetensor_put(sink, buffers[1], all, err);
}

static enum pp_status fill(void *closure, int number, struct pp_safetensor_sink *sink,
                           struct pp_error *err)
{
    const struct draft *d = closure;
    const int i = d->begin[d->shard] + number;
    const size_t bytes = (size_t)d->tensors[i].count * sizeof(float);
    float *buffers[2] = {malloc(bytes + 1), malloc(bytes + 1)};
    const enum pp_status status =
        buffers[0] && buffers[1]
            ? put_tensor(d, &d->export->layout->pieces[i], &d->tensors[i], buffers, sink, err)
            : pp_error_set(err, PP_EFAIL, "no memory for tensor '%s' of %zu bytes",
                           d->tensors[i].name, bytes);

    free(buffers[0]);
    free(buffers[1]);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

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

/* Cuts the tensors into files of at most so many bytes; a larger tensor has one of its own. */
static void cut(struct draft *d)
{
    const int count = d->export->layout->count;
    int64_t bytes = 0;

    d->tensors = PP_ARRAY(d->arena, struct pp_safetensor, count);
    d->begin = PP_ARRAY(d->arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        d->tensors[i] = tensor_of(&d->export->layout->pieces[i]);
        bytes += bytes_of(&d->tensors[i]);
        if (i == 0 || bytes > d->export->shard_bytes) {
            d->begin[d->shards++] = i;
            bytes = bytes_of(&d->tensors[i]);
        }
    }
    d->begin[d->shards] = count;
}

static const char *file_name(const struct draft *d, int shard)
{
    return d->shards == 1
               ? PP_SAFETENSORS_FILE
               : pp_arena_printf(d->arena, "model-%05d-of-%05d.safetensors", shard + 1, d->shards);
}

static const char *path_of(const struct draft *d, const char *name)
{
    return pp_arena_printf(d->arena, "%s/%s", d->export->folder->partial, name);
}

static enum pp_status write_index(const struct draft *d, struct pp_error *err)
{
    json_t *files = json_object();
    int64_t bytes = 0;

    for (int shard = 0; shard < d->shards; shard++)
        for (int i = d->begin[shard]; i < d->begin[shard + 1]; i++) {
            json_object_set_new(files, d->tensors[i].name, json_string(file_name(d, shard)));
            bytes += bytes_of(&d->tensors[i]);
        }
    json_t *index =
        json_pack("{s{sI} so}", "metadata", "total_size", (json_int_t)bytes, "weight_map", files);
    char *text = json_dumps(index, JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(index);
    const enum pp_status status =
        pp_hub_write_text(path_of(d, PP_SAFETENSORS_INDEX), text ? text : "", err);
    free(text);
    return status;
}

static enum pp_status write_files(struct draft *d, struct pp_error *err)
{
    cut(d);
    for (d->shard = 0; d->shard < d->shards; d->shard++) {
        const int first = d->begin[d->shard];
        const struct pp_safetensor_file file = {path_of(d, file_name(d, d->shard)),
                                                d->tensors + first, d->begin[d->shard + 1] - first};
        PP_TRY(pp_safetensors_write(&file, fill, d, err));
    }
    if (d->shards > 1)
        PP_TRY(write_index(d, err));
    PP_TRY(pp_hub_write_text(path_of(d, "config.json"), d->export->config, err));
    return pp_hub_folder_publish(d->export->folder, err);
}

enum pp_status pp_hub_export_write(struct pp_arena *arena, const struct pp_hub_export *export,
                                   pp_hub_fetch fetch, void *closure, struct pp_error *err)
{
    struct draft draft = {.arena = arena, .export = export, .fetch = fetch, .closure = closure};

    return write_files(&draft, err);
}
