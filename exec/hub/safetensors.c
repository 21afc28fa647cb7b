/* Headers of safetensors files, checked in full: the format's own reader refuses the same. */
#include "exec/hub/safetensors.h"

#include "core/text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, MOST_HEADER_BYTES = 100000000 };

/* A file while its header is read. */
struct source {
    struct pp_arena *arena;
    const char *name;
    const unsigned char *data; /* after the header */
    int64_t bytes;             /* of the data */
};

/* A tensor, and the data that it says it has. */
struct entry {
    struct pp_safetensor tensor;
    int64_t from, until;
};

static enum pp_status refuse(const struct source *s, const char *tensor, const char *reason,
                             struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "%s: tensor '%.200s': %s", s->name, tensor, reason);
}

/* ---- fields of a tensor ---------------------------------------------------------------------- */

static enum pp_status read_type(const struct source *s, const json_t *value,
                                struct pp_safetensor *tensor, struct pp_error *err)
{
    const char *name = json_string_value(json_object_get(value, "dtype"));

    if (!name)
        return refuse(s, tensor->name, "\"dtype\" is missing, or no string", err);
    tensor->type = pp_number_type(name);
    return tensor->type
               ? PP_OK
               : pp_error_set(err, PP_EINVAL,
                              "%s: tensor '%.200s': unknown dtype '%.40s': F32, BF16 and F16 can "
                              "be read",
                              s->name, tensor->name, name);
}

static enum pp_status read_shape(const struct source *s, const json_t *value,
                                 struct pp_safetensor *tensor, struct pp_error *err)
{
    const json_t *shape = json_object_get(value, "shape");
    const size_t dimensions = json_array_size(shape);
    int64_t bytes;

    if (!json_is_array(shape))
        return refuse(s, tensor->name, "\"shape\" is missing, or no list", err);
    if (dimensions > PP_SAFETENSOR_DIMENSIONS)
        return refuse(s, tensor->name, "\"shape\" has more than 8 dimensions", err);
    tensor->dimensions = (int)dimensions;
    tensor->count = 1;
    for (size_t i = 0; i < dimensions; i++) {
        const json_t *size = json_array_get(shape, i);
        const int64_t rows = json_is_integer(size) ? json_integer_value(size) : -1;
        if (rows < 0)
            return refuse(s, tensor->name, "\"shape\" must be whole numbers, 0 or more", err);
        if (__builtin_mul_overflow(tensor->count, rows, &tensor->count))
            return refuse(s, tensor->name, "\"shape\" has more elements than can be counted", err);
        tensor->shape[i] = rows;
    }
    return __builtin_mul_overflow(tensor->count, tensor->type->bytes, &bytes)
               ? refuse(s, tensor->name, "\"shape\" has more bytes than can be counted", err)
               : PP_OK;
}

static enum pp_status read_offsets(const struct source *s, const json_t *value, struct entry *entry,
                                   struct pp_error *err)
{
    const struct pp_safetensor *tensor = &entry->tensor;
    const json_t *offsets = json_object_get(value, "data_offsets"),
                 *from = json_array_get(offsets, 0), *until = json_array_get(offsets, 1);

    if (json_array_size(offsets) != 2 || !json_is_integer(from) || !json_is_integer(until))
        return refuse(s, tensor->name, "\"data_offsets\" must be two whole numbers", err);
    entry->from = json_integer_value(from);
    entry->until = json_integer_value(until);
    if (entry->from < 0 || entry->until < entry->from || entry->until > s->bytes)
        return pp_error_set(err, PP_EINVAL,
                            "%s: tensor '%.200s': \"data_offsets\" [%" PRId64 ", %" PRId64
                            "] are not in the %" PRId64 " bytes of data: is the file truncated?",
                            s->name, tensor->name, entry->from, entry->until, s->bytes);
    if (entry->until - entry->from != tensor->count * tensor->type->bytes)
        return pp_error_set(err, PP_EINVAL,
                            "%s: tensor '%.200s': \"data_offsets\" have %" PRId64
                            " bytes, \"shape\" and \"dtype\" %" PRId64,
                            s->name, tensor->name, entry->until - entry->from,
                            tensor->count * tensor->type->bytes);
    entry->tensor.data = s->data + entry->from;
    return PP_OK;
}

static enum pp_status read_entry(const struct source *s, const char *name, const json_t *value,
                                 struct entry *entry, struct pp_error *err)
{
    *entry = (struct entry){.tensor = {.name = pp_arena_strdup(s->arena, name), .file = s->name}};
    if (!json_is_object(value))
        return refuse(s, name, "an object with dtype, shape and data_offsets is expected", err);
    PP_TRY(read_type(s, value, &entry->tensor, err));
    PP_TRY(read_shape(s, value, &entry->tensor, err));
    return read_offsets(s, value, entry, err);
}

static enum pp_status check_metadata(const struct source *s, json_t *metadata, struct pp_error *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(metadata))
        return pp_error_set(err, PP_EINVAL, "%s: \"__metadata__\" must be an object", s->name);
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return pp_error_set(err, PP_EINVAL, "%s: \"__metadata__\": '%.200s' must be a string",
                                s->name, key);
    }
    return PP_OK;
}

/* ---- all tensors ----------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->until < y->until ? -1 : x->until > y->until;
}

/* Refuses an overlap of two tensors, and bytes that belong to none. */
static enum pp_status check_places(const struct source *s, struct entry *entries, int count,
                                   struct pp_error *err)
{
    int64_t end = 0;

    qsort(entries, (size_t)count, sizeof(*entries), by_place);
    for (int i = 0; i < count; i++) {
        const struct entry *e = &entries[i];
        if (e->from < end)
            return pp_error_set(err, PP_EINVAL,
                                "%s: tensor '%.200s' overlaps '%.200s' at byte %" PRId64, s->name,
                                e->tensor.name, entries[i - 1].tensor.name, e->from);
        if (e->from > end)
            return pp_error_set(err, PP_EINVAL,
                                "%s: bytes %" PRId64 " to %" PRId64 ", before tensor '%.200s', "
                                "belong to no tensor",
                                s->name, end, e->from, e->tensor.name);
        end = e->until;
    }
    return end == s->bytes ? PP_OK
                           : pp_error_set(err, PP_EINVAL,
                                          "%s: %" PRId64 " bytes at the end belong to no tensor",
                                          s->name, s->bytes - end);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pp_safetensor *)a)->name, ((const struct pp_safetensor *)b)->name);
}

void pp_safetensors_sort(struct pp_safetensors *tensors)
{
    if (tensors->count > 0)
        qsort(tensors->tensors, (size_t)tensors->count, sizeof(*tensors->tensors), by_name);
}

const struct pp_safetensor *pp_safetensors_find(const struct pp_safetensors *tensors,
                                                const char *name)
{
    const struct pp_safetensor key = {.name = name};

    return tensors->count == 0 ? NULL
                               : bsearch(&key, tensors->tensors, (size_t)tensors->count,
                                         sizeof(*tensors->tensors), by_name);
}

static enum pp_status read_header(const struct source *s, json_t *root,
                                  struct pp_safetensors *tensors, struct pp_error *err)
{
    const size_t most = json_object_size(root);
    struct entry *entries = PP_ARRAY(s->arena, struct entry, most + 1);
    const char *name;
    json_t *value;
    int count = 0;

    if (!json_is_object(root))
        return pp_error_set(err, PP_EINVAL, "%s: the header must be an object of tensors", s->name);
    json_object_foreach(root, name, value)
    {
        if (strcmp(name, "__metadata__") == 0)
            PP_TRY(check_metadata(s, value, err));
        else
            PP_TRY(read_entry(s, name, value, &entries[count++], err));
    }
    PP_TRY(check_places(s, entries, count, err));
    *tensors = (struct pp_safetensors){PP_ARRAY(s->arena, struct pp_safetensor, count + 1), count};
    for (int i = 0; i < count; i++)
        tensors->tensors[i] = entries[i].tensor;
    pp_safetensors_sort(tensors);
    return PP_OK;
}

enum pp_status pp_safetensors_parse(struct pp_arena *arena, const char *name,
                                    const unsigned char *bytes, size_t length,
                                    struct pp_safetensors *tensors, struct pp_error *err)
{
    struct pp_json json;
    uint64_t header = 0;

    if (length < LENGTH_BYTES)
        return pp_error_set(err, PP_EINVAL,
                            "%s: %zu bytes are no safetensors file: it is too short", name, length);
    for (int i = LENGTH_BYTES; i-- > 0;)
        header = header << 8 | bytes[i];
    if (header > MOST_HEADER_BYTES || header > length - LENGTH_BYTES)
        return pp_error_set(err, PP_EINVAL,
                            "%s: a header of %" PRIu64 " bytes is not in a file of %zu: it is no "
                            "safetensors file, or truncated",
                            name, header, length);
    const struct source s = {arena, name, bytes + LENGTH_BYTES + header,
                             (int64_t)(length - LENGTH_BYTES - header)};
    PP_TRY(pp_json_parse(name, (const char *)bytes + LENGTH_BYTES, header, &json, err));
    const enum pp_status status = read_header(&s, json.root, tensors, err);
    pp_json_close(&json);
    return status;
}
