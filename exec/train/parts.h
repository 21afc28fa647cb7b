/* exec/train/parts.h — parts of a training run: private to exec/train. */
#pragma once

#include "exec/train/train.h"

/* Loads the state of training->resumed, if set, into all copies and the reference (NULL = none). */
enum pp_status pp_train_resume(const struct pp_training *training, const struct pp_machine *machine,
                               const struct pp_reference *reference, struct pp_error *err);
/* Writes a checkpoint if one is due after `done` steps; its path or error goes to `result`. */
void pp_train_save(struct pp_arena *arena, const struct pp_training *training,
                   const struct pp_machine *machine, int done, struct pp_training_result *result);

/* Fills in slowdown and predicted_slowdown; `costs` are those of the prediction. */
enum pp_status pp_train_slowdown(const struct pp_training *training,
                                 const struct pp_machine *machine, const struct pp_costs *costs,
                                 struct pp_training_result *result, struct pp_error *err);
