/* Writes safetensors files. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "exec/hub/export.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pp_safetensor_sink {
    const char *path;
    FILE *file;
};

static enum pp_status fail(const char *path, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot write %s: %s", path, strerror(errno));
}

enum pp_status pp_safetensor_put(struct pp_safetensor_sink *sink, const void *bytes, size_t count,
                                 struct pp_error *err)
{
    return fwrite(bytes, 1, count, sink->file) == count ? PP_OK : fail(sink->path, err);
}

static enum pp_status open_sink(const char *path, struct pp_safetensor_sink *sink,
                                struct pp_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

    *sink = (struct pp_safetensor_sink){path, fd < 0 ? NULL : fdopen(fd, "wb")};
    if (sink->file)
        return PP_OK;
    fail(path, err);
    if (fd >= 0)
        close(fd);
    return err->status;
}

/* Brings the bytes to the disk, unless writing has failed. */
static enum pp_status close_sink(struct pp_safetensor_sink *sink, enum pp_status status,
                                 struct pp_error *err)
{
    if (status == PP_OK && (fflush(sink->file) != 0 || fsync(fileno(sink->file)) != 0))
        status = fail(sink->path, err);
    if (fclose(sink->file) != 0 && status == PP_OK)
        status = fail(sink->path, err);
    return status;
}

/* ---- header ---------------------------------------------------------------------------------- */

static json_t *entry_of(const struct pp_safetensor *tensor, int64_t *end)
{
    const int64_t from = *end;
    json_t *shape = json_array();

    *end += tensor->count * tensor->type->bytes;
    for (int i = 0; i < tensor->dimensions; i++)
        json_array_append_new(shape, json_integer(tensor->shape[i]));
    return json_pack("{ss so s[II]}", "dtype", tensor->type->name, "shape", shape, "data_offsets",
                     (json_int_t)from, (json_int_t)*end);
}

/* Returns the text of a header, padded with blanks to whole words, as the format asks for. */
static char *header_of(const struct pp_safetensor_file *file, size_t *length)
{
    enum { WORD = 8 };
    json_t *header = json_pack("{s{ss}}", "__metadata__", "format", "pt");
    int64_t end = 0;

    for (int i = 0; i < file->count; i++)
        json_object_set_new(header, file->tensors[i].name, entry_of(&file->tensors[i], &end));
    char *text = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    const size_t bytes = strlen(text);
    *length = (bytes + WORD - 1) / WORD * WORD;
    char *padded = realloc(text, *length + 1);
    if (padded)
        memset(padded + bytes, ' ', *length - bytes);
    return padded;
}

static enum pp_status put_header(const struct pp_safetensor_file *file,
                                 struct pp_safetensor_sink *sink, struct pp_error *err)
{
    unsigned char word[8];
    size_t length;
    char *header = header_of(file, &length);

    if (!header)
        return fail(file->path, err);
    for (size_t i = 0; i < sizeof(word); i++)
        word[i] = (unsigned char)((uint64_t)length >> (8 * i));
    enum pp_status status = pp_safetensor_put(sink, word, sizeof(word), err);
    if (status == PP_OK)
        status = pp_safetensor_put(sink, header, length, err);
    free(header);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

enum pp_status pp_safetensors_write(const struct pp_safetensor_file *file, pp_safetensor_fill fill,
                                    void *closure, struct pp_error *err)
{
    struct pp_safetensor_sink sink;

    PP_TRY(open_sink(file->path, &sink, err));
    enum pp_status status = put_header(file, &sink, err);
    for (int i = 0; i < file->count && status == PP_OK; i++)
        status = fill(closure, i, &sink, err);
    return close_sink(&sink, status, err);
}

enum pp_status pp_hub_write_text(const char *path, const char *text, struct pp_error *err)
{
    struct pp_safetensor_sink sink;

    PP_TRY(open_sink(path, &sink, err));
    return close_sink(&sink, pp_safetensor_put(&sink, text, strlen(text), err), err);
}
