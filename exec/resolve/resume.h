/* exec/resolve/resume.h — --checkpoint and --resume: what a run takes from a checkpoint, and what
 * it writes into one. */
#pragma once

#include "exec/resolve/config.h"

/* `with` is `wish` over what the checkpoint of --resume has recorded of its own command line:
 * model, data, recipe, and the samples of a step. `*resumed` is that checkpoint, NULL without
 * --resume. Errors: pp_checkpoint_read(). */
enum pp_status pp_exec_resume_open(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   struct pp_exec_wish *with, const struct pp_checkpoint **resumed,
                                   struct pp_error *err);
/* PP_EINVAL for a model or precision other than the checkpoint's, and for data that have changed
 * unless --data is typed. */
enum pp_status pp_exec_resume_check(const struct pp_exec_wish *with,
                                    const struct pp_exec_config *config, struct pp_error *err);
/* Open the folder of --checkpoint and give it to run->training; it is closed with the arena. Of
 * processes that a launcher has started only the first does so. PP_EINVAL for --checkpoint-every or
 * -keep without it, else pp_checkpoint_open(). */
enum pp_status pp_exec_checkpoints_open(struct pp_arena *arena, const struct pp_exec_wish *with,
                                        struct pp_exec_run *run, struct pp_error *err);
/* What differs from the checkpoint's options, for a note: "" where nothing does. */
void pp_exec_resume_note(const struct pp_exec_run *run, char *text, size_t bytes);
