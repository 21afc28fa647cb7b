/* A folder that is complete under its name, or not there. One run at a time writes it. */
#define _GNU_SOURCE /* O_DIRECTORY, flock, pipe2 */
#include "exec/hub/folder.h"

#include "core/text/file.h"
#include "core/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum pp_status pp_hub_folder_fail(const char *path, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot write the folder %s: %s", path, strerror(errno));
}

/* ---- what is there --------------------------------------------------------------------------- */

static bool is_empty(DIR *entries)
{
    const struct dirent *entry;
    bool is_empty = true;

    while ((entry = readdir(entries)))
        is_empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    return is_empty;
}

/* True for "." and "..", which stay where they are. */
static bool is_fixed(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The folder is new, or there and empty: then its name goes over to the one that is written. */
static enum pp_status check_new(const char *path, struct pp_error *err)
{
    struct stat info;
    DIR *entries;

    if (lstat(path, &info) != 0)
        return PP_OK;
    if (S_ISLNK(info.st_mode))
        return pp_error_set(err, PP_EINVAL, "%s is a symbolic link; give the name of a new folder",
                            path);
    entries = S_ISDIR(info.st_mode) ? opendir(path) : NULL;
    if (!entries && S_ISDIR(info.st_mode))
        return pp_hub_folder_fail(path, err);
    const bool is_free = entries && is_empty(entries) && !is_fixed(path);
    if (entries)
        closedir(entries);
    return is_free ? PP_OK
                   : pp_error_set(err, PP_EINVAL,
                                  "%s is there already; give the name of a new folder", path);
}

/* ---- the temporary folder -------------------------------------------------------------------- */

/* True for the names of files that an export writes. */
static bool is_own(const char *name)
{
    return strcmp(name, "config.json") == 0 || strcmp(name, "model.safetensors.index.json") == 0 ||
           (strncmp(name, "model", 5) == 0 && pp_has_suffix(name, ".safetensors"));
}

/* Removes what an export has left; true if nothing else is there. */
static bool clean(int fd)
{
    const int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = own >= 0 ? fdopendir(own) : NULL;
    const struct dirent *entry;

    if (!entries)
        return false;
    while ((entry = readdir(entries)))
        if (is_own(entry->d_name))
            unlinkat(fd, entry->d_name, 0);
    rewinddir(entries);
    const bool is_clean = is_empty(entries);
    closedir(entries);
    return is_clean;
}

/* Is true if the name still leads to the open folder, which another run may have renamed. */
static bool is_same(const char *path, int fd)
{
    struct stat named, opened;

    return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/* Locks the folder, if its file system has locks. */
static enum pp_status lock(const struct pp_hub_folder *folder, struct pp_error *err)
{
    const bool is_locked = flock(folder->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;

    if (is_locked && is_same(folder->partial, folder->fd))
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "%s: another run writes it, in %s; wait for its end, or choose another "
                        "folder",
                        folder->path, folder->partial);
}

static enum pp_status check_space(const struct pp_hub_folder *folder, int64_t bytes,
                                  struct pp_error *err)
{
    char needed[PP_UNITS_TEXT_BYTES], left[PP_UNITS_TEXT_BYTES];
    struct statvfs space;

    if (fstatvfs(folder->fd, &space) != 0 || space.f_blocks == 0)
        return PP_OK;
    const double free_bytes = (double)space.f_bavail * (double)space.f_frsize;
    if ((double)bytes <= free_bytes)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "%s: the weights take %s, and its file system has %s left",
                        folder->path, pp_units_print((double)bytes, PP_UNIT_BYTES, needed),
                        pp_units_print(free_bytes, PP_UNIT_BYTES, left));
}

/* Removes the temporary folder, unless it has got its name. */
static void leave(const struct pp_hub_folder *folder)
{
    if (is_same(folder->partial, folder->fd) && clean(folder->fd))
        rmdir(folder->partial);
    close(folder->fd);
}

static void end(void *closure)
{
    struct pp_hub_folder *folder = closure;

    leave(folder);
    if (folder->watched_fd >= 0)
        close(folder->watched_fd);
}

/* Starts a process that removes the temporary folder when this one and those that it starts have
 * ended, even by SIGKILL. Without it, that is left to the next run. */
static void watch(struct pp_hub_folder *folder)
{
    int ends[2];
    char byte;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    const pid_t child = fork();
    if (child == 0) {
        setsid(); /* signals of the terminal and of a process group do not reach it */
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            close(fd);
        close(ends[1]);
        while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
            ;
        leave(folder);
        _exit(0);
    }
    close(ends[0]);
    if (child > 0)
        folder->watched_fd = ends[1];
    else
        close(ends[1]);
}

enum pp_status pp_hub_folder_open(struct pp_arena *arena, const char *path, int64_t bytes,
                                  struct pp_hub_folder *folder, struct pp_error *err)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    *folder =
        (struct pp_hub_folder){.path = pp_arena_printf(arena, "%.*s", (int)length, path),
                               .partial = pp_arena_printf(arena, "%.*s.partial", (int)length, path),
                               .differs = pp_arena_printf(arena, "%.*s.differs", (int)length, path),
                               .watched_fd = -1};
    PP_TRY(check_new(folder->path, err));
    PP_TRY(check_new(folder->differs, err));
    if (!pp_folder_make(folder->partial) && errno != EEXIST)
        return pp_hub_folder_fail(folder->path, err);
    folder->fd = open(folder->partial, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder->fd < 0)
        return pp_hub_folder_fail(folder->partial, err);
    if (lock(folder, err) != PP_OK) {
        close(folder->fd);
        return err->status;
    }
    pp_arena_defer(arena, end, folder);
    errno = EEXIST;
    if (!clean(folder->fd))
        return pp_hub_folder_fail(folder->partial, err);
    PP_TRY(check_space(folder, bytes, err));
    watch(folder);
    return PP_OK;
}

enum pp_status pp_hub_folder_publish(const struct pp_hub_folder *folder, const char *name,
                                     struct pp_error *err)
{
    const int above = openat(folder->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum pp_status status = PP_OK;

    if (fsync(folder->fd) != 0 || rename(folder->partial, name) != 0)
        status = pp_hub_folder_fail(name, err);
    if (above >= 0) {
        fsync(above); /* where folders can be read; the files are on the disk in any case */
        close(above);
    }
    return status;
}
