/* Opens the file of a tier: no name, all bytes reserved, direct I/O where the file system has it.
 */
#define _GNU_SOURCE /* O_DIRECT, O_TMPFILE, fallocate */
#include "exec/tiers/parts.h"

#include "core/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static bool is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Longest part of `dir` that is a directory: its folders above, or "." */
static const char *nearest(struct pp_arena *arena, const char *dir)
{
    char *path = pp_arena_strdup(arena, dir);

    for (char *slash; (slash = strrchr(path, '/')) && slash != path;) {
        *slash = '\0';
        if (is_directory(path))
            return path;
    }
    return *dir == '/' ? "/" : ".";
}

/* A file without a name. Where the file system has none, a file that is unlinked at once. */
static int create(struct pp_arena *arena, const char *dir)
{
    const int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char *path = pp_arena_printf(arena, "%s/pipeexec-XXXXXX", dir);
    const int named = mkostemp(path, O_CLOEXEC);
    if (named >= 0)
        unlink(path);
    return named;
}

/* Reserves all bytes. A file system that cannot reserve tells of a full disk at a write. */
static int reserve_bytes(const struct pp_tier_file *file)
{
    if (file->bytes == 0 || fallocate(file->fd, 0, 0, (off_t)file->bytes) == 0)
        return 0;
    return errno == EOPNOTSUPP && ftruncate(file->fd, (off_t)file->bytes) == 0 ? 0 : errno;
}

/* Looks at the room first: a file system in memory would take all of it before it fails. */
static enum pp_status reserve(const struct pp_tier_file *file, struct pp_error *err)
{
    char needed[PP_UNITS_TEXT_BYTES], has[PP_UNITS_TEXT_BYTES];
    struct statvfs room;
    const bool is_known = fstatvfs(file->fd, &room) == 0;
    const double free_bytes = is_known ? (double)room.f_bavail * (double)room.f_frsize : 0;
    const int failed = is_known && (double)file->bytes > free_bytes ? ENOSPC : reserve_bytes(file);

    pp_units_print((double)file->bytes, PP_UNIT_BYTES, needed);
    if (failed == ENOSPC && is_known)
        return pp_error_set(err, PP_EFAIL, "%s needs %s in %s, which has %s free", file->owner,
                            needed, file->dir, pp_units_print(free_bytes, PP_UNIT_BYTES, has));
    if (failed)
        return pp_error_set(err, PP_EFAIL, "%s needs %s in %s: %s", file->owner, needed, file->dir,
                            strerror(failed));
    return PP_OK;
}

/* Goes around the page cache if a sector can be written and read so. */
static bool go_direct(const struct pp_tier_file *file)
{
    const int flags = fcntl(file->fd, F_GETFL);
    char *sector = file->lanes[0].bounce[0];

    if (file->bytes == 0 || flags < 0 || fcntl(file->fd, F_SETFL, flags | O_DIRECT) != 0)
        return false;
    if (pwrite(file->fd, sector, PP_TIER_SECTOR, 0) == PP_TIER_SECTOR &&
        pread(file->fd, sector, PP_TIER_SECTOR, 0) == PP_TIER_SECTOR)
        return true;
    fcntl(file->fd, F_SETFL, flags);
    return false;
}

static void close_file(void *context)
{
    const struct pp_tier_file *file = context;

    close(file->fd);
}

enum {
    BUFFER_BYTES =
        PP_TIER_LANES * PP_TIER_IN_FLIGHT * PP_TIER_PIECE + PP_TIER_BLOCK + PP_TIER_SECTOR
};

size_t pp_tier_file_memory_bytes(size_t bytes)
{
    const size_t blocks = pp_tier_round(bytes) / PP_TIER_BLOCK;

    return blocks > 0 ? BUFFER_BYTES + blocks * (sizeof(uint64_t) + sizeof(uint32_t)) : 0;
}

static void take_memory(struct pp_arena *arena, struct pp_tier_file *file)
{
    const size_t blocks = file->bytes / PP_TIER_BLOCK;
    char *at = pp_arena_alloc(arena, BUFFER_BYTES);

    at += (PP_TIER_SECTOR - (uintptr_t)at % PP_TIER_SECTOR) % PP_TIER_SECTOR;
    file->sums = PP_ARRAY(arena, uint64_t, blocks);
    file->filled = PP_ARRAY(arena, uint32_t, blocks);
    for (int lane = 0; lane < PP_TIER_LANES; lane++)
        for (int i = 0; i < PP_TIER_IN_FLIGHT; i++, at += PP_TIER_PIECE)
            file->lanes[lane].bounce[i] = at;
    file->patched = at;
    pthread_mutex_init(&file->patch_mutex, NULL);
}

enum pp_status pp_tier_file_open(struct pp_arena *arena, const char *dir, size_t bytes,
                                 const char *owner, struct pp_tier_file **out, struct pp_error *err)
{
    if (!is_directory(dir))
        return pp_error_set(err, PP_EFAIL, "%s is not a directory; nearest: %s", dir,
                            nearest(arena, dir));
    struct pp_tier_file *file = PP_NEW(arena, struct pp_tier_file);
    file->bytes = pp_tier_round(bytes);
    file->dir = pp_arena_strdup(arena, dir);
    file->owner = pp_arena_strdup(arena, owner);
    file->fd = create(arena, dir);
    if (file->fd < 0)
        return pp_error_set(err, PP_EFAIL, "cannot create a file in %s: %s", dir, strerror(errno));
    pp_arena_defer(arena, close_file, file);
    PP_TRY(reserve(file, err));
    take_memory(arena, file);
    file->is_direct = go_direct(file);
    *out = file;
    return PP_OK;
}

bool pp_tier_file_is_direct(const struct pp_tier_file *file)
{
    return file->is_direct;
}

size_t pp_tier_file_written_bytes(const struct pp_tier_file *file)
{
    size_t bytes = 0;

    for (size_t block = 0; block < file->bytes / PP_TIER_BLOCK; block++)
        bytes += file->filled[block];
    return bytes;
}
