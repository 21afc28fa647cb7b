/* Files of data: finds them, and maps those that need not be read whole. */
#include "core/process/mapped.h"
#include "core/text/file.h"
#include "exec/data/format.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- paths ----------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add(struct pp_arena *arena, struct pp_data_paths *paths, const char *path)
{
    *PP_PUSH(arena, paths->path, paths->count, paths->capacity) = pp_arena_strdup(arena, path);
}

static enum pp_status add_matches(struct pp_arena *arena, struct pp_data_paths *paths,
                                  const char *pattern, struct pp_error *err)
{
    const int before = paths->count;
    glob_t found;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            add(arena, paths, found.gl_pathv[i]);
        globfree(&found);
    }
    paths->is_many = true;
    if (paths->count == before)
        return pp_error_set(err, PP_EFAIL, "no file matches %s", pattern);
    qsort(paths->path + before, (size_t)(paths->count - before), sizeof(*paths->path), by_bytes);
    return PP_OK;
}

/* Writes \ before each character that a pattern would match as another one. */
static const char *literal(struct pp_arena *arena, const char *text)
{
    char *out = pp_arena_alloc(arena, 2 * strlen(text) + 1), *to = out;

    for (; *text; *to++ = *text++)
        if (strchr("*?[]\\", *text))
            *to++ = '\\';
    return out;
}

static enum pp_status add_part(struct pp_arena *arena, struct pp_data_paths *paths,
                               const char *where, struct pp_error *err)
{
    struct stat info;

    if (stat(where, &info) == 0 && S_ISDIR(info.st_mode))
        return add_matches(arena, paths, pp_arena_printf(arena, "%s/*.bin", literal(arena, where)),
                           err);
    if (access(where, F_OK) != 0 && strpbrk(where, "*?["))
        return add_matches(arena, paths, where, err);
    add(arena, paths, where);
    return PP_OK;
}

enum pp_status pp_data_paths(struct pp_arena *arena, const char *where, struct pp_data_paths *paths,
                             struct pp_error *err)
{
    char *rest = pp_arena_strdup(arena, where);

    *paths = (struct pp_data_paths){0};
    if (!strchr(where, ',') || access(where, F_OK) == 0)
        return add_part(arena, paths, where, err);
    paths->is_many = true;
    for (char *part = strsep(&rest, ","); part; part = strsep(&rest, ",")) {
        if (!*part)
            return pp_error_set(err, PP_EINVAL, "--data %s: a name of the list is empty", where);
        PP_TRY(add_part(arena, paths, part, err));
    }
    return PP_OK;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void unmap(void *context)
{
    pp_unmap_file(context);
}

/* Maps a plain file that has bytes; NULL: it must be read. A pipe is not opened here: its writer
 * would lose its reader. */
static struct pp_mapped *map(struct pp_arena *arena, const char *path)
{
    struct pp_mapped *mapped = PP_NEW(arena, struct pp_mapped);
    struct stat info;
    const int fd = strcmp(path, "-") && !pp_has_suffix(path, ".gz") && stat(path, &info) == 0 &&
                           S_ISREG(info.st_mode)
                       ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
                       : -1;
    const bool is_mapped =
        fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
        pp_map_file(&mapped->file, pp_arena_strdup(arena, path), fd, (size_t)info.st_size);

    if (fd >= 0)
        close(fd);
    if (!is_mapped)
        return NULL;
    mapped->device = (uint64_t)info.st_dev;
    mapped->inode = (uint64_t)info.st_ino;
    pp_arena_defer(arena, unmap, &mapped->file);
    return mapped;
}

static bool is_packed(const struct pp_mapped *mapped)
{
    return mapped->file.length > 2 && memcmp(mapped->file.bytes, "\x1f\x8b", 2) == 0;
}

enum pp_status pp_data_open(struct pp_arena *arena, const char *path, struct pp_named_bytes *file,
                            const struct pp_mapped **mapped, struct pp_error *err)
{
    char *bytes;

    *mapped = map(arena, path);
    file->name = pp_arena_strdup(arena, path);
    if (*mapped && !is_packed(*mapped)) {
        file->bytes = (*mapped)->file.bytes;
        file->length = (*mapped)->file.length;
        return PP_OK;
    }
    *mapped = NULL;
    PP_TRY(pp_file_read(arena, path, &bytes, &file->length, err));
    file->bytes = bytes;
    return PP_OK;
}

void pp_data_read_sparsely(const struct pp_mapped *mapped)
{
    if (mapped)
        madvise(mapped->file.bytes, mapped->file.length, MADV_RANDOM);
}

/* A file that was replaced or removed leaves the mapped one as it was. */
enum pp_status pp_data_is_whole(const struct pp_mapped *mapped, struct pp_error *err)
{
    struct stat now;

    if (!mapped || stat(mapped->file.path, &now) != 0 || (uint64_t)now.st_dev != mapped->device ||
        (uint64_t)now.st_ino != mapped->inode || (uint64_t)now.st_size >= mapped->file.length)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "%s had %zu bytes when training began, and has %llu now",
                        mapped->file.path, mapped->file.length, (unsigned long long)now.st_size);
}
