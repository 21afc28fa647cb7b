#include "core/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK_BYTES = 1 << 16, FILE_MAX_BYTES = 1 << 30 };

struct buffer {
    char *data;
    size_t length, room;
};

static enum pp_status fail(const char *name, gzFile file, struct pp_error *err)
{
    int code = Z_OK;
    const char *text = gzerror(file, &code);

    return pp_error_set(err, PP_EFAIL, "cannot read %s: %s", name,
                        code == Z_ERRNO || code == Z_OK ? strerror(errno) : text);
}

static enum pp_status read_all(const char *name, gzFile file, struct buffer *buffer,
                               struct pp_error *err)
{
    for (;;) {
        if (buffer->room - buffer->length < CHUNK_BYTES) {
            const size_t room = buffer->room ? 2 * buffer->room : 4 * CHUNK_BYTES;
            char *data = realloc(buffer->data, room);

            if (!data)
                return pp_error_set(err, PP_EFAIL, "cannot read %s: out of memory", name);
            buffer->data = data;
            buffer->room = room;
        }
        const int got = gzread(file, buffer->data + buffer->length, CHUNK_BYTES);
        if (got < 0)
            return fail(name, file, err);
        if (got == 0)
            break;
        buffer->length += (size_t)got;
        if (buffer->length > FILE_MAX_BYTES)
            return pp_error_set(err, PP_EFAIL, "cannot read %s: it has more than 1 GiB", name);
    }
    /* A truncated stream ends like a file, but leaves its mark. */
    int code = Z_OK;
    gzerror(file, &code);
    return code == Z_OK ? PP_OK : fail(name, file, err);
}

static bool has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);

    return length > tail && !strcmp(path + length - tail, suffix);
}

enum pp_status pp_file_read(struct pp_arena *arena, const char *path, char **text, size_t *length,
                            struct pp_error *err)
{
    const bool is_stdin = !strcmp(path, "-");
    const char *name = is_stdin ? "standard input" : path;
    struct buffer buffer = {0};

    errno = 0;
    const int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return pp_error_set(err, PP_EFAIL, "cannot open %s: %s", name, strerror(errno));
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        close(fd);
        return pp_error_set(err, PP_EFAIL, "cannot read %s: out of memory", name);
    }
    enum pp_status status = PP_OK;
    if (has_suffix(path, ".gz") && gzdirect(file) && !gzeof(file))
        status = pp_error_set(err, PP_EFAIL, "cannot read %s: it is not in gzip format", name);
    if (status == PP_OK)
        status = read_all(name, file, &buffer, err);
    gzclose_r(file);
    if (status == PP_OK) {
        *text = pp_arena_alloc_raw(arena, buffer.length + 1);
        if (buffer.length > 0)
            memcpy(*text, buffer.data, buffer.length);
        (*text)[buffer.length] = '\0';
        *length = buffer.length;
    }
    free(buffer.data);
    return status;
}
