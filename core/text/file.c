/* Files, decompressed if they end in .gz. */
#include "core/text/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
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

struct pp_file {
    gzFile stream;
    char name[]; /* for messages */
};

static enum pp_status fail(struct pp_file *file, struct pp_error *err)
{
    int code = Z_OK;
    const char *text = gzerror(file->stream, &code);

    return pp_error_set(err, PP_EFAIL, "cannot read %s: %s", file->name,
                        code == Z_ERRNO || code == Z_OK ? strerror(errno) : text);
}

enum pp_status pp_file_next(struct pp_file *file, char *to, size_t most, size_t *got,
                            struct pp_error *err)
{
    const int read =
        gzread(file->stream, to, most < FILE_MAX_BYTES ? (unsigned)most : FILE_MAX_BYTES);
    int code = Z_OK;

    *got = read > 0 ? (size_t)read : 0;
    if (read != 0)
        return read > 0 ? PP_OK : fail(file, err);
    /* A truncated stream ends like a file, but leaves its mark. */
    gzerror(file->stream, &code);
    return code == Z_OK ? PP_OK : fail(file, err);
}

static enum pp_status read_all(struct pp_file *file, struct buffer *buffer, struct pp_error *err)
{
    for (size_t got = 1; got > 0; buffer->length += got) {
        if (buffer->length > buffer->limit)
            return refuse_size(file->name, buffer->limit, err);
        if (buffer->room - buffer->length < CHUNK_BYTES) {
            const size_t room = buffer->room ? 2 * buffer->room : 4 * CHUNK_BYTES;
            char *data = realloc(buffer->data, room);

            if (!data)
                return pp_error_set(err, PP_EFAIL, "cannot read %s: out of memory", file->name);
            buffer->data = data;
            buffer->room = room;
        }
        PP_TRY(pp_file_next(file, buffer->data + buffer->length, CHUNK_BYTES, &got, err));
    }
    return PP_OK;
}

bool pp_folder_make(const char *path)
{
    char part[PATH_MAX];

    if (strlen(path) >= sizeof(part)) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(part, path);
    for (char *end = part + 1; *part && (end = strchr(end, '/')); *end++ = '/') {
        *end = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return false;
    }
    return mkdir(path, 0777) == 0;
}

bool pp_has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);

    return length > tail && !strcmp(path + length - tail, suffix);
}

/* Opens a file, but no named pipe, which may wait for a writer for ever, and no device but those of
 * terminals and of nothing. Pipes of a shell, as <(COMMAND), have a writer. */
static int open_for_reading(const char *path, const char **refused)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const dev_t nothing = makedev(1, 3);
    struct statfs system;
    struct stat info;

    *refused = NULL;
    if (fd < 0 || fstat(fd, &info) != 0)
        return fd;
    if (S_ISFIFO(info.st_mode) && fstatfs(fd, &system) == 0 && system.f_type != PIPEFS_MAGIC)
        *refused = "a named pipe";
    if (S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && info.st_rdev != nothing && !isatty(fd)))
        *refused = "a device";
    fcntl(fd, F_SETFL, 0); /* reads wait again */
    return fd;
}

/* Opens a file and checks its size before any byte is read. */
static enum pp_status open_stream(const char *path, const char *name, size_t limit, gzFile *stream,
                                  struct pp_error *err)
{
    const bool is_stdin = !strcmp(path, "-");
    const char *refused = NULL;
    struct stat info;

    errno = 0;
    const int fd = is_stdin ? dup(STDIN_FILENO) : open_for_reading(path, &refused);
    if (fd < 0)
        return pp_error_set(err, PP_EFAIL, "cannot open %s: %s", name, strerror(errno));
    if (refused) {
        close(fd);
        return pp_error_set(err, PP_EINVAL, "%s is %s, no regular file", name, refused);
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size > limit) {
        close(fd);
        return refuse_size(name, limit, err);
    }
    *stream = gzdopen(fd, "rb");
    if (!*stream) {
        close(fd);
        return pp_error_set(err, PP_EFAIL, "cannot read %s: out of memory", name);
    }
    return PP_OK;
}

enum pp_status pp_file_open(const char *path, size_t limit, struct pp_file **file,
                            struct pp_error *err)
{
    const char *name = strcmp(path, "-") ? path : "standard input";
    gzFile stream;

    PP_TRY(open_stream(path, name, limit, &stream, err));
    *file = malloc(sizeof(**file) + strlen(name) + 1);
    if (!*file) {
        gzclose_r(stream);
        return pp_error_set(err, PP_EFAIL, "cannot read %s: out of memory", name);
    }
    (*file)->stream = stream;
    strcpy((*file)->name, name);
    if (pp_has_suffix(path, ".gz") && gzdirect(stream) && !gzeof(stream)) {
        pp_file_close(*file);
        return pp_error_set(err, PP_EFAIL, "cannot read %s: it is not in gzip format", name);
    }
    return PP_OK;
}

enum pp_status pp_file_rewind(struct pp_file *file, struct pp_error *err)
{
    errno = 0;
    return gzrewind(file->stream) == 0 ? PP_OK : fail(file, err);
}

void pp_file_close(struct pp_file *file)
{
    if (file)
        gzclose_r(file->stream);
    free(file);
}

enum pp_status pp_file_read_limited(struct pp_arena *arena, const char *path, size_t limit,
                                    struct pp_bytes *bytes, struct pp_error *err)
{
    struct buffer buffer = {.limit = limit};
    struct pp_file *file;

    PP_TRY(pp_file_open(path, limit, &file, err));
    const enum pp_status status = read_all(file, &buffer, err);
    pp_file_close(file);
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
