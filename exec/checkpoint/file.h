/* exec/checkpoint/file.h — files that are being written: private to exec/checkpoint. */
#pragma once

#include "exec/checkpoint/checkpoint.h"

struct pp_checkpoint_file {
    int folder_fd, fd;  /* fd < 0: not open */
    const char *folder; /* for messages */
    char name[PP_CHECKPOINT_NAME_BYTES];
};
/* All are PP_EFAIL, with the file and errno's text. */
enum pp_status pp_checkpoint_file_fail(const struct pp_checkpoint_file *file, struct pp_error *err);
enum pp_status pp_checkpoint_file_open(struct pp_checkpoint_file *file, int flags,
                                       struct pp_error *err);
enum pp_status pp_checkpoint_file_write(const struct pp_checkpoint_file *file, int64_t offset,
                                        const void *data, size_t bytes, struct pp_error *err);
/* Syncs and closes a file; does not sync it if writing has failed. */
enum pp_status pp_checkpoint_file_close(struct pp_checkpoint_file *file, enum pp_status status,
                                        struct pp_error *err);
/* left.c: leaves the sums of a process in the folder of a draft. After an error it leaves a mark
 * that there will be none. The second function removes the sums of all. */
void pp_checkpoint_leave_sums(int folder_fd, int process, enum pp_status status,
                              const struct pp_checkpoint_sum *sums, int layers);
void pp_checkpoint_clear_sums(const struct pp_checkpoint_draft *draft);
enum pp_status pp_checkpoint_folder_open(const char *path, int *fd, struct pp_error *err);
