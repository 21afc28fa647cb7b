/* Opens the folder of a run's checkpoints: for one run at a time, and for one training. */
#define _GNU_SOURCE /* O_DIRECTORY, flock, syncfs */
#include "exec/checkpoint/checkpoint.h"

#include "core/text/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static enum pp_status fail(const char *what, const char *path, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot %s %s: %s", what, path, strerror(errno));
}

/* Locks the folder, if its file system has locks. */
static enum pp_status lock(const struct pp_checkpoint_folder *folder, struct pp_error *err)
{
    if (flock(folder->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "%s: another run writes its checkpoints there; wait for its end, or choose "
                        "another folder",
                        folder->path);
}

/* Refuses a folder of another training, whose checkpoints this run would remove. */
static enum pp_status check_training(struct pp_arena *arena, const char *path,
                                     const struct pp_manifest *before, struct pp_error *err)
{
    struct pp_checkpoint newest;
    enum pp_status status = pp_checkpoint_read(arena, path, &newest, err);

    if (status == PP_OK)
        status = pp_manifest_check(newest.path, &newest.manifest, before, err);
    return status == PP_OK ? PP_OK : pp_error_append(err, "; choose another folder");
}

static enum pp_status check_order(struct pp_arena *arena, const char *path,
                                  const struct pp_manifest *before, struct pp_error *err)
{
    const int step = before ? before->step : 0;
    char name[PP_CHECKPOINT_NAME_BYTES];
    int *steps, count;

    PP_TRY(pp_checkpoint_steps(arena, path, &steps, &count, err));
    if (count == 0)
        return PP_OK;
    pp_checkpoint_step_name(steps[count - 1], name);
    if (before && steps[count - 1] <= step)
        return check_training(arena, pp_arena_printf(arena, "%s/%s", path, name), before, err);
    pp_error_set(err, PP_EINVAL, "%s has %s already, and this run begins at step %d: ", path, name,
                 step);
    return step > 0
               ? pp_error_append(err, "choose another folder, or remove the later ones")
               : pp_error_append(err, "continue with --resume %s, or choose another folder", path);
}

static enum pp_status check_writable(const struct pp_checkpoint_folder *folder,
                                     struct pp_error *err)
{
    return faccessat(folder->fd, ".", W_OK | X_OK, 0) == 0
               ? PP_OK
               : fail("write checkpoints to", folder->path, err);
}

/* Syncs the name of a new folder in its parent, or the file system if the parent is unreadable or
 * new. */
static enum pp_status sync_name(const struct pp_checkpoint_folder *folder, bool has_new_parents,
                                struct pp_error *err)
{
    const int above =
        has_new_parents ? -1 : openat(folder->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int failed = above >= 0 ? fsync(above) : syncfs(folder->fd);
    const enum pp_status status = failed ? fail("make the folder", folder->path, err) : PP_OK;

    if (above >= 0)
        close(above);
    return status;
}

enum pp_status pp_checkpoint_open(struct pp_arena *arena, const char *path, int keep,
                                  const struct pp_manifest *before,
                                  struct pp_checkpoint_folder *folder, struct pp_error *err)
{
    *folder = (struct pp_checkpoint_folder){.path = path, .keep = keep, .fd = -1};
    bool is_new = mkdir(path, 0777) == 0;
    const bool lacks_parents = !is_new && errno == ENOENT;
    if (lacks_parents)
        is_new = pp_folder_make(path) || errno == EEXIST; /* "a/b/" */
    if (!is_new && errno != EEXIST)
        return fail("make the folder", path, err);
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return fail("open the folder", path, err);
    enum pp_status status = lock(folder, err);
    if (status == PP_OK)
        status = check_order(arena, path, before, err);
    if (status == PP_OK)
        status = check_writable(folder, err);
    if (status == PP_OK && is_new)
        status = sync_name(folder, lacks_parents, err);
    if (status != PP_OK)
        pp_checkpoint_close(folder);
    else
        pp_checkpoint_sweep(folder->fd);
    return status;
}

void pp_checkpoint_close(struct pp_checkpoint_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}
