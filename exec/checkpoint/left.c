/* Sums of the parts of a checkpoint, which each process leaves in the folder of the draft once its
 * parts are on the disk. With them the checkpoint can be completed when processes are gone. */
#define _GNU_SOURCE /* O_DIRECTORY */
#include "exec/checkpoint/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const char LEFT[] = "sums-";

/* Without the file, only a failure of the next step would lose the checkpoint. */
void pp_checkpoint_leave_sums(int folder_fd, const struct pp_checkpoint_sum *sums, int layers)
{
    struct pp_checkpoint_file file = {.folder_fd = folder_fd, .folder = ""};
    struct pp_error ignored = {0};
    uint64_t own;

    if (getrandom(&own, sizeof(own), 0) != sizeof(own))
        return;
    snprintf(file.name, sizeof(file.name), "%s%016" PRIx64, LEFT, own);
    if (pp_checkpoint_file_open(&file, O_CREAT | O_EXCL, &ignored) != PP_OK)
        return;
    pp_checkpoint_file_write(&file, 0, sums, sizeof(*sums) * (size_t)layers, &ignored);
    close(file.fd);
}

/* Adds the sums of a file to the first ones, if it is whole. */
static bool add_file(int folder_fd, const char *name, struct pp_checkpoint_sum *of_file,
                     struct pp_checkpoint_sum *sums, int layers)
{
    const size_t bytes = sizeof(*sums) * (size_t)layers;
    const int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool is_whole = fd >= 0 && read(fd, of_file, bytes) == (ssize_t)bytes;

    if (fd >= 0)
        close(fd);
    for (int i = 0; is_whole && i < layers; i++) {
        sums[i].bytes += of_file[i].bytes;
        sums[i].crc ^= of_file[i].crc;
    }
    return is_whole;
}

/* Adds up the files, or removes them. Returns how many there are. */
static int each_file(const struct pp_checkpoint_draft *draft, struct pp_checkpoint_sum *of_file,
                     struct pp_checkpoint_sum *sums)
{
    const int fd = openat(draft->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    int count = 0;

    if (!folder && fd >= 0)
        close(fd);
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (strncmp(entry->d_name, LEFT, sizeof(LEFT) - 1) == 0)
            count += sums ? add_file(draft->fd, entry->d_name, of_file, sums,
                                     draft->manifest.layer_count)
                          : unlinkat(draft->fd, entry->d_name, 0) == 0;
    if (folder)
        closedir(folder);
    return count;
}

int pp_checkpoint_left_sums(const struct pp_checkpoint_draft *draft, struct pp_checkpoint_sum *sums)
{
    const int layers = draft->manifest.layer_count;

    memset(sums, 0, sizeof(*sums) * (size_t)layers);
    return each_file(draft, PP_ARRAY(draft->arena, struct pp_checkpoint_sum, layers), sums);
}

void pp_checkpoint_clear_sums(const struct pp_checkpoint_draft *draft)
{
    each_file(draft, NULL, NULL);
}
