/* Files that are being written. */
#define _GNU_SOURCE /* O_DIRECTORY */
#include "exec/checkpoint/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum pp_status pp_checkpoint_file_fail(const struct pp_checkpoint_file *file, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot write %s/%s: %s", file->folder, file->name,
                        strerror(errno));
}

enum pp_status pp_checkpoint_file_open(struct pp_checkpoint_file *file, int flags,
                                       struct pp_error *err)
{
    file->fd = openat(file->folder_fd, file->name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
    return file->fd >= 0 ? PP_OK : pp_checkpoint_file_fail(file, err);
}

enum pp_status pp_checkpoint_file_write(const struct pp_checkpoint_file *file, int64_t offset,
                                        const void *data, size_t bytes, struct pp_error *err)
{
    const char *at = data;

    while (bytes > 0) {
        const ssize_t written = pwrite(file->fd, at, bytes, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return pp_checkpoint_file_fail(file, err);
        at += written;
        offset += written;
        bytes -= (size_t)written;
    }
    return PP_OK;
}

enum pp_status pp_checkpoint_file_close(struct pp_checkpoint_file *file, enum pp_status status,
                                        struct pp_error *err)
{
    if (status == PP_OK && fsync(file->fd) != 0)
        status = pp_checkpoint_file_fail(file, err);
    if (close(file->fd) != 0 && status == PP_OK)
        status = pp_checkpoint_file_fail(file, err);
    return status;
}

enum pp_status pp_checkpoint_folder_open(const char *path, int *fd, struct pp_error *err)
{
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 ? PP_OK
                    : pp_error_set(err, PP_EFAIL, "cannot open the folder %s: %s", path,
                                   strerror(errno));
}
