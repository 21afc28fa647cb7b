/* Headers of safetensors files, and new files that begin with them. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "exec/hub/export.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 8 };

enum pp_status pp_hub_write_fail(const char *path, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot write %s: %s", path, strerror(errno));
}

enum pp_status pp_hub_write_at(int fd, const char *path, const void *bytes, size_t count,
                               int64_t at, struct pp_error *err)
{
    for (size_t done = 0; done < count;) {
        const ssize_t some =
            pwrite(fd, (const char *)bytes + done, count - done, at + (int64_t)done);
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return pp_hub_write_fail(path, err);
        done += (size_t)some;
    }
    return PP_OK;
}

enum pp_status pp_hub_write_new(const char *path, const void *bytes, size_t count, int64_t length,
                                struct pp_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

    if (fd < 0)
        return pp_hub_write_fail(path, err);
    enum pp_status status = pp_hub_write_at(fd, path, bytes, count, 0, err);
    if (status == PP_OK && (ftruncate(fd, length) != 0 || fsync(fd) != 0))
        status = pp_hub_write_fail(path, err);
    if (close(fd) != 0 && status == PP_OK)
        status = pp_hub_write_fail(path, err);
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

char *pp_safetensors_head(struct pp_arena *arena, const struct pp_safetensor *tensors, int count,
                          size_t *bytes)
{
    json_t *header = json_pack("{s{ss}}", "__metadata__", "format", "pt");
    int64_t end = 0;

    for (int i = 0; i < count; i++)
        json_object_set_new(header, tensors[i].name, entry_of(&tensors[i], &end));
    char *text = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    const size_t used = text ? strlen(text) : 0, length = (used + WORD - 1) / WORD * WORD;
    char *head = pp_arena_alloc_raw(arena, WORD + length);
    for (size_t i = 0; i < WORD; i++)
        head[i] = (char)((uint64_t)length >> (8 * i));
    memset(head + WORD, ' ', length); /* whole words, as the format asks for */
    memcpy(head + WORD, text ? text : "", used);
    free(text);
    *bytes = WORD + length;
    return head;
}
