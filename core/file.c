#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK_BYTES = 1 << 16, FILE_MAX_BYTES = 1 << 30 };

struct buffer {
    char *data;
    size_t length, room, limit;
};

static enum pp_status refuse_size(const char *name, size_t limit, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot read %s: it has more than %zu bytes (%zu MiB)", name,
                        limit, limit >> 20);
}

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
        if (buffer->length > buffer->limit)
            return refuse_size(name, buffer->limit, err);
    }
    /* A truncated stream ends like a file, but leaves its mark. */
    int code = Z_OK;
    gzerror(file, &code);
    return code == Z_OK ? PP_OK : fail(name, file, err);
}

bool pp_has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);

    return length > tail && !strcmp(path + length - tail, suffix);
}

/* Open and look, before a byte is read into memory. */
static enum pp_status open_stream(const char *path, const char *name, size_t limit, gzFile *file,
                                  struct pp_error *err)
{
    const bool is_stdin = !strcmp(path, "-");
    struct stat info;

    errno = 0;
    const int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return pp_error_set(err, PP_EFAIL, "cannot open %s: %s", name, strerror(errno));
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size > limit) {
        close(fd);
        return refuse_size(name, limit, err);
    }
    *file = gzdopen(fd, "rb");
    if (!*file) {
        close(fd);
        return pp_error_set(err, PP_EFAIL, "cannot read %s: out of memory", name);
    }
    return PP_OK;
}

enum pp_status pp_file_read_limited(struct pp_arena *arena, const char *path, size_t limit,
                                    struct pp_bytes *bytes, struct pp_error *err)
{
    const char *name = strcmp(path, "-") ? path : "standard input";
    struct buffer buffer = {.limit = limit};
    gzFile file = NULL;

    PP_TRY(open_stream(path, name, limit, &file, err));
    enum pp_status status = PP_OK;
    if (pp_has_suffix(path, ".gz") && gzdirect(file) && !gzeof(file))
        status = pp_error_set(err, PP_EFAIL, "cannot read %s: it is not in gzip format", name);
    if (status == PP_OK)
        status = read_all(name, file, &buffer, err);
    gzclose_r(file);
    if (status == PP_OK) {
        *bytes = (struct pp_bytes){pp_arena_alloc_raw(arena, buffer.length + 1), buffer.length};
        if (buffer.length > 0)
            memcpy(bytes->data, buffer.data, buffer.length);
        bytes->data[buffer.length] = '\0';
    }
    free(buffer.data);
    return status;
}

enum pp_status pp_file_read(struct pp_arena *arena, const char *path, char **text, size_t *length,
                            struct pp_error *err)
{
    struct pp_bytes bytes;

    PP_TRY(pp_file_read_limited(arena, path, FILE_MAX_BYTES, &bytes, err));
    *text = bytes.data;
    *length = bytes.length;
    return PP_OK;
}
