/* Sums of the parts of a checkpoint, which each process leaves in the folder of the draft once its
 * parts are on the disk. With them the checkpoint can be completed when processes are gone. */
#include "exec/checkpoint/file.h"

#include "core/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char LEFT[] = "sums", FAILED[] = "failed";
/* A look counts as at most MOST_S. */
enum { LOOK_NS = 20 * 1000 * 1000 };
static const double MOST_S = 5e-9 * LOOK_NS;

static void name_file(const char *kind, int process, char name[static PP_CHECKPOINT_NAME_BYTES])
{
    snprintf(name, PP_CHECKPOINT_NAME_BYTES, "%s-%09d", kind, process);
}

static enum pp_status leave(int folder_fd, const char *kind, int process, const void *data,
                            size_t bytes)
{
    struct pp_checkpoint_file file = {.folder_fd = folder_fd, .folder = ""};
    struct pp_error ignored = {0};

    name_file(kind, process, file.name);
    PP_TRY(pp_checkpoint_file_open(&file, O_CREAT | O_EXCL, &ignored));
    const enum pp_status status = pp_checkpoint_file_write(&file, 0, data, bytes, &ignored);
    close(file.fd);
    return status;
}

void pp_checkpoint_leave_sums(int folder_fd, int process, enum pp_status status,
                              const struct pp_checkpoint_sum *sums, int layers)
{
    if (status == PP_OK)
        status = leave(folder_fd, LEFT, process, sums, sizeof(*sums) * (size_t)layers);
    if (status != PP_OK)
        leave(folder_fd, FAILED, process, "", 0);
}

void pp_checkpoint_clear_sums(const struct pp_checkpoint_draft *draft)
{
    char name[PP_CHECKPOINT_NAME_BYTES];

    for (int process = 0; process < draft->writers; process++) {
        name_file(LEFT, process, name);
        unlinkat(draft->fd, name, 0);
    }
}

/* ---- sums of others -------------------------------------------------------------------------- */

struct wait {
    const struct pp_checkpoint_draft *draft;
    const struct pp_checkpoint_others *others;
    struct pp_checkpoint_sum *sums, *of_file; /* [layers] */
    bool *is_done;                            /* [writers] */
    double now_s, waited_s;
};

/* Adds the sums of a process, if its file is whole. */
static bool take_file(const struct wait *w, int process)
{
    const int layers = w->draft->manifest.layer_count;
    const size_t bytes = sizeof(*w->sums) * (size_t)layers;
    char name[PP_CHECKPOINT_NAME_BYTES];

    name_file(LEFT, process, name);
    const int fd = openat(w->draft->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool is_whole = fd >= 0 && read(fd, w->of_file, bytes) == (ssize_t)bytes;
    if (fd >= 0)
        close(fd);
    for (int i = 0; is_whole && i < layers; i++) {
        w->sums[i].bytes += w->of_file[i].bytes;
        w->sums[i].crc ^= w->of_file[i].crc;
    }
    return is_whole;
}

/* A process may end once it has left its sums, so `is_gone` is older than the look for them. */
static enum pp_status look_at(struct wait *w, int process, struct pp_error *err)
{
    const struct pp_checkpoint_others *others = w->others;
    const bool is_gone = others->is_gone(others->closure, process);
    char failed[PP_CHECKPOINT_NAME_BYTES];

    name_file(FAILED, process, failed);
    w->is_done[process] = take_file(w, process);
    if (w->is_done[process])
        return PP_OK;
    if (faccessat(w->draft->fd, failed, F_OK, 0) == 0)
        return pp_error_set(err, PP_EFAIL, "a process could not write its part (process %d)",
                            process);
    if (is_gone)
        return pp_error_set(err, PP_EFAIL,
                            "a process ended before its part was written (process %d)", process);
    if (others->timeout_s > 0 && w->waited_s >= others->timeout_s)
        return pp_error_set(err, PP_EFAIL,
                            "a process has not written its part for %.1f s (--timeout; process %d)",
                            w->waited_s, process);
    return PP_OK;
}

enum pp_status pp_checkpoint_await_sums(const struct pp_checkpoint_draft *draft,
                                        const struct pp_checkpoint_others *others,
                                        struct pp_checkpoint_sum *sums, struct pp_error *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    struct wait w = {
        .draft = draft,
        .others = others,
        .sums = sums,
        .of_file = PP_ARRAY(draft->arena, struct pp_checkpoint_sum, draft->manifest.layer_count),
        .is_done = PP_ARRAY(draft->arena, bool, draft->writers),
        .now_s = pp_clock_s()};

    for (int left = 1; left > 0;) {
        left = 0;
        for (int process = 1; process < draft->writers; process++) {
            if (!w.is_done[process])
                PP_TRY(look_at(&w, process, err));
            left += !w.is_done[process];
        }
        if (left > 0)
            nanosleep(&pause, NULL);
        w.waited_s += pp_clock_passed_s(&w.now_s, MOST_S);
    }
    return PP_OK;
}
