/* sim/sweep/lock.c — admits one writer of a result file, by a lock of the whole file. */
#include "sim/sweep/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* flock() would pass the lock on to workers. */
enum pp_status pp_sweep_lock(int fd, const char *path, struct pp_error *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(fd, F_SETLK, &whole) == 0)
        return PP_OK;
    if (errno != EACCES && errno != EAGAIN) /* a file system without locks */
        return PP_OK;
    pp_error_set(err, PP_EFAIL, "'%s' is being written by another sweep", path);
    if (fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK && whole.l_pid > 0)
        pp_error_append(err, " (process %ld)", (long)whole.l_pid);
    return pp_error_append(err, "\n  wait for its end, or choose another -o");
}

enum pp_sweep_place_state pp_sweep_place_state(int fd, const char *place)
{
    struct stat opened, there;

    if (stat(place, &there) != 0)
        return PP_PLACE_EMPTY;
    if (fstat(fd, &opened) == 0 && opened.st_dev == there.st_dev && opened.st_ino == there.st_ino)
        return PP_PLACE_HELD;
    return PP_PLACE_OTHER;
}
