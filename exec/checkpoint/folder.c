/* Names of checkpoints and of their files; checkpoints in a folder. */
#define _GNU_SOURCE /* O_DIRECTORY, fdopendir */
#include "exec/checkpoint/checkpoint.h"

#include "core/quantile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Prefix of folders that are being written or removed; no checkpoint has it. */
static const char TEMPORARY[] = ".pipeexec-tmp-";

void pp_checkpoint_step_name(int step, char name[static PP_CHECKPOINT_NAME_BYTES])
{
    snprintf(name, PP_CHECKPOINT_NAME_BYTES, "step-%09d", step);
}

void pp_checkpoint_temporary_name(int step, char name[static PP_CHECKPOINT_NAME_BYTES])
{
    snprintf(name, PP_CHECKPOINT_NAME_BYTES, "%sstep-%09d", TEMPORARY, step);
}

void pp_checkpoint_layer_name(int layer, char name[static PP_CHECKPOINT_NAME_BYTES])
{
    snprintf(name, PP_CHECKPOINT_NAME_BYTES, "layer-%05d.bin", layer);
}

const char *pp_checkpoint_probe(struct pp_arena *arena, const char *path, int folder_fd)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        return NULL;
    const char *name =
        pp_arena_printf(arena, "%sprobe-%016llx", TEMPORARY, (unsigned long long)number);
    return mkdirat(folder_fd, name, 0777) == 0 ? pp_arena_printf(arena, "%s/%s", path, name) : NULL;
}

/* Returns the step of a checkpoint's name; -1 for any other name. */
static int step_of(const char *name)
{
    char again[PP_CHECKPOINT_NAME_BYTES];
    const long step = strncmp(name, "step-", 5) == 0 ? strtol(name + 5, NULL, 10) : -1;

    if (step < 0 || step > 2147483647L)
        return -1;
    pp_checkpoint_step_name((int)step, again);
    return strcmp(name, again) == 0 ? (int)step : -1;
}

enum pp_status pp_checkpoint_steps(struct pp_arena *arena, const char *path, int **steps,
                                   int *count, struct pp_error *err)
{
    DIR *folder = opendir(path);
    int room = 0;

    *steps = NULL;
    *count = 0;
    if (!folder)
        return pp_error_set(err, PP_EFAIL, "cannot open %s: %s", path, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (step_of(entry->d_name) >= 0)
            *PP_PUSH(arena, *steps, *count, room) = step_of(entry->d_name);
    closedir(folder);
    if (*count > 0)
        qsort(*steps, (size_t)*count, sizeof **steps, pp_ascending_ints);
    return PP_OK;
}

static DIR *open_at(int folder_fd, const char *name)
{
    const int fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

    if (!folder && fd >= 0)
        close(fd);
    return folder;
}

static void empty_and_remove(int folder_fd, const char *name)
{
    DIR *folder = open_at(folder_fd, name);

    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    unlinkat(folder_fd, name, AT_REMOVEDIR);
}

/* Renames a checkpoint, then removes it, so that a part of it never looks complete. */
static void remove_one(int folder_fd, int step)
{
    char name[PP_CHECKPOINT_NAME_BYTES], gone[PP_CHECKPOINT_NAME_BYTES];

    pp_checkpoint_step_name(step, name);
    pp_checkpoint_temporary_name(step, gone);
    empty_and_remove(folder_fd, gone);
    if (renameat(folder_fd, name, folder_fd, gone) == 0)
        empty_and_remove(folder_fd, gone);
}

void pp_checkpoint_keep(struct pp_arena *arena, const char *path, int folder_fd, int keep)
{
    struct pp_error ignored; /* a checkpoint that stays only takes space */
    int *steps, count;

    if (pp_checkpoint_steps(arena, path, &steps, &count, &ignored) != PP_OK)
        return;
    for (int i = 0; i + keep < count; i++)
        remove_one(folder_fd, steps[i]);
}

void pp_checkpoint_sweep(int folder_fd)
{
    DIR *folder = open_at(folder_fd, ".");

    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strncmp(entry->d_name, TEMPORARY, sizeof TEMPORARY - 1) == 0)
            empty_and_remove(folder_fd, entry->d_name);
    closedir(folder);
}
