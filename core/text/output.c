/* Output files: written to a temporary name, renamed when complete. */
#define _GNU_SOURCE /* fopencookie, faccessat */
#include "core/text/output.h"

#include "core/text/file.h"
#include "core/units.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static ssize_t gz_write(void *cookie, const char *data, size_t bytes)
{
    return gzwrite((gzFile)cookie, data, (unsigned)bytes); /* 0 is a failure to stdio as well */
}

static int gz_close(void *cookie)
{
    return gzclose((gzFile)cookie) == Z_OK ? 0 : EOF;
}

static FILE *gz_stream(int fd)
{
    const gzFile gz = gzdopen(fd, "wb6");

    if (gz == NULL)
        return NULL;
    FILE *file =
        fopencookie(gz, "w", (cookie_io_functions_t){.write = gz_write, .close = gz_close});
    if (file == NULL)
        gzclose(gz);
    return file;
}

/* Creates a temporary file. Its name is unique, as several runs may write the same target. */
static int create_temporary(struct pp_arena *arena, struct pp_output *output)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        output->temporary =
            pp_arena_printf(arena, "%s.%ld-%d.tmp", output->place, (long)getpid(), attempt);
        const int fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Is false for a link of another user in a folder where everybody may put files, as the kernel has
 * it with fs.protected_symlinks. Sets errno. */
static bool may_follow(struct pp_arena *arena, const char *link)
{
    const char *folder = dirname(pp_arena_strdup(arena, link));
    struct stat of_link, of_folder;

    if (lstat(link, &of_link) != 0 || stat(folder, &of_folder) != 0)
        return false;
    errno = EACCES;
    return (of_folder.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH) ||
           of_link.st_uid == geteuid() || of_link.st_uid == of_folder.st_uid;
}

char *pp_output_place(struct pp_arena *arena, const char *path)
{
    enum { LINKS_MAX = 40 };
    char *place = pp_arena_strdup(arena, path), target[PATH_MAX];

    for (int i = 0; i < LINKS_MAX; i++) {
        const ssize_t length = readlink(place, target, sizeof target - 1);
        if (length < 0) {
            char *real = realpath(path, NULL);
            place = real ? pp_arena_strdup(arena, real) : place;
            free(real);
            return place;
        }
        if (!may_follow(arena, place))
            return NULL;
        target[length] = '\0';
        const char *slash = strrchr(place, '/');
        const int folder = target[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - place);
        place = pp_arena_printf(arena, "%.*s%s", folder, place, target);
    }
    errno = ELOOP;
    return NULL;
}

/* Returns a descriptor of the shell, "/dev/fd/63" for >(command), else -1. Opening it again could
 * lose its position, and fails for a socket. */
static int inherited(const char *path)
{
    static const char folder[] = "/dev/fd/";
    int64_t fd;

    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    if (strncmp(path, folder, sizeof folder - 1) != 0 ||
        pp_units_parse_int(path + sizeof folder - 1, 0, INT_MAX, &fd, NULL) != PP_OK)
        return -1;
    return (int)fd;
}

/* False for a file without any write permission, even for root. Sets errno. */
static bool may_replace(const char *place, const struct stat *info)
{
    if ((info->st_mode & 0222) != 0 && faccessat(AT_FDCWD, place, W_OK, AT_EACCESS) == 0)
        return true;
    errno = EACCES;
    return false;
}

/* Devices, pipes, files with other names or another owner are written in place, others replaced. */
static int open_place(struct pp_arena *arena, struct pp_output *output)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    struct stat info;

    if (stat(output->place, &info) != 0)
        return create_temporary(arena, output);
    if (!S_ISREG(info.st_mode))
        return open(output->place, flags);
    if (!may_replace(output->place, &info))
        return -1;
    if (info.st_nlink > 1 || info.st_uid != geteuid())
        return open(output->place, flags | O_TRUNC);
    const int fd = create_temporary(arena, output);
    if (fd >= 0)
        fchmod(fd, info.st_mode & 0777);
    return fd;
}

enum pp_status pp_output_open(struct pp_arena *arena, const char *path, struct pp_output *output,
                              struct pp_error *err)
{
    *output = (struct pp_output){.path = path};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        output->file = stdout;
        return PP_OK;
    }
    int fd = inherited(path);
    if (fd >= 0)
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    else if ((output->place = pp_output_place(arena, path)) != NULL)
        fd = open_place(arena, output);
    if (fd < 0)
        return pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", path, strerror(errno));
    output->file = pp_has_suffix(path, ".gz") ? gz_stream(fd) : fdopen(fd, "w");
    if (output->file == NULL) {
        const int code = errno;
        close(fd);
        if (output->temporary != NULL)
            unlink(output->temporary);
        return pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", path, strerror(code));
    }
    return PP_OK;
}

/* Flushes and closes; returns NULL, or why not all bytes are written. The reason of an earlier
 * failure is not known any more. */
static const char *finish(struct pp_output *output)
{
    FILE *file = output->file;

    output->file = NULL;
    errno = 0;
    const bool is_good = fflush(file) == 0 && !ferror(file);
    const int code = errno;
    if (file != stdout && fclose(file) != 0 && is_good)
        return errno ? strerror(errno) : "write error";
    return is_good ? NULL : code ? strerror(code) : "write error";
}

static void forget(struct pp_output *outputs, int count)
{
    for (int i = 0; i < count; i++)
        if (outputs[i].temporary != NULL)
            unlink(outputs[i].temporary);
}

enum pp_status pp_output_commit_all(struct pp_output *outputs, int count, struct pp_error *err)
{
    enum pp_status status = PP_OK;

    for (int i = 0; i < count; i++) {
        const char *fault = finish(&outputs[i]);
        if (fault != NULL && status == PP_OK)
            status = pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", outputs[i].path, fault);
    }
    for (int i = 0; i < count && status == PP_OK; i++) {
        if (outputs[i].temporary == NULL)
            continue;
        if (rename(outputs[i].temporary, outputs[i].place) != 0)
            status = pp_error_set(err, PP_EFAIL, "cannot replace '%s': %s", outputs[i].path,
                                  strerror(errno));
        else
            outputs[i].temporary = NULL;
    }
    forget(outputs, count);
    return status;
}

enum pp_status pp_output_commit(struct pp_output *output, struct pp_error *err)
{
    return pp_output_commit_all(output, 1, err);
}

void pp_output_tell(const char *const *paths, int count)
{
    if (!isatty(STDERR_FILENO) || !strcmp(paths[0], "-"))
        return;
    for (int i = 0; i < count; i++)
        fprintf(stderr, "%s%s", i ? " and " : "wrote ", paths[i]);
    fputc('\n', stderr);
}

void pp_output_discard(struct pp_output *output)
{
    finish(output);
    forget(output, 1);
}

/* ---- checks before the work ------------------------------------------------------------------ */

static char *folder_of(struct pp_arena *arena, const char *place)
{
    return dirname(pp_arena_strdup(arena, place));
}

static bool may_write(struct pp_arena *arena, const char *place)
{
    struct stat info;

    if (place == NULL)
        return false;
    if (stat(place, &info) != 0)
        return access(folder_of(arena, place), W_OK) == 0;
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return false;
    }
    return !S_ISREG(info.st_mode) || may_replace(place, &info);
}

enum pp_status pp_output_clash(const char *first, const char *second, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "%s and %s both write to stdout; give one of them", first,
                        second);
}

enum pp_status pp_output_check(struct pp_arena *arena, const char *path, struct pp_error *err)
{
    if (may_write(arena, pp_output_place(arena, path)))
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", path, strerror(errno));
}

static bool is_same_node(const char *a, const char *b)
{
    struct stat left, right;

    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

bool pp_output_is_same(struct pp_arena *arena, const char *a, const char *b)
{
    const char *left = pp_output_place(arena, a), *right = pp_output_place(arena, b);

    if (left == NULL || right == NULL)
        return false;
    if (is_same_node(left, right))
        return true;
    const bool is_alike = strcmp(basename(pp_arena_strdup(arena, left)),
                                 basename(pp_arena_strdup(arena, right))) == 0;
    return is_alike && is_same_node(folder_of(arena, left), folder_of(arena, right));
}
