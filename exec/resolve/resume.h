/* exec/resolve/resume.h — --checkpoint and --resume: options that checkpoints give and record. */
#pragma once

#include "exec/resolve/config.h"

/* Opens the checkpoint of --resume; NULL without it. `with` is `wish` with the checkpoint's
 * defaults: model, data, recipe, and the samples of a step. Errors: pp_checkpoint_read(). */
enum pp_status pp_exec_resume_open(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   struct pp_exec_wish *with, const struct pp_checkpoint **resumed,
                                   struct pp_error *err);
/* Returns err's status. If a file of a checkpoint's option could not be opened, says whose path it
 * is, and which option gives another. `resumed`: NULL = no checkpoint. */
enum pp_status pp_exec_resume_explain(const struct pp_given *path,
                                      const struct pp_checkpoint *resumed, struct pp_error *err);
/* PP_EINVAL for a model or precision other than the checkpoint's, and for data that have changed
 * unless --data is typed. */
enum pp_status pp_exec_resume_check(const struct pp_exec_wish *with,
                                    const struct pp_exec_config *config, struct pp_error *err);
/* Opens the folder of --checkpoint for run->training until the arena ends; under a launcher, only
 * in the first process. PP_EINVAL for --checkpoint-every or -keep without it, else
 * pp_checkpoint_open(). */
enum pp_status pp_exec_checkpoints_open(struct pp_arena *arena, const struct pp_exec_wish *with,
                                        struct pp_exec_run *run, struct pp_error *err);
/* Opens --log for run->training, which may be continued and does not change yet; under a
 * launcher, only in the first process. Errors: pp_log_open(). */
enum pp_status pp_exec_log_open(struct pp_arena *arena, const struct pp_exec_wish *with,
                                struct pp_exec_run *run, struct pp_error *err);
/* Writes options that differ from the checkpoint's as a note; leaves `text` if there are none. */
void pp_exec_resume_note(const struct pp_exec_run *run, char *text, size_t bytes);
