/* exec/train/parts.h — parts of a training run: private to exec/train. */
#pragma once

#include "exec/train/train.h"

/* A training's state on disk, as each process of the run has it. */
struct pp_keeper {
    const struct pp_training *training;
    const struct pp_reference *reference; /* NULL = none */
    int blind; /* process 0: 1 + a process that does not see the folder of checkpoints; 0 = none */
};

/* Answers questions of process 0 about the state; the closure is the keeper. */
enum pp_status pp_train_answer(void *keeper, const struct pp_machine *machine,
                               const struct pp_question *question, void *answer,
                               struct pp_error *err);
/* Finds out whether all processes see the folder of checkpoints, if there is one. PP_EFAIL: a
 * process has failed or is gone. */
enum pp_status pp_train_look(struct pp_keeper *keeper, const struct pp_machine *machine,
                             struct pp_error *err);
/* Loads the state of training->resumed, if set, into all copies and the reference. */
enum pp_status pp_train_resume(const struct pp_keeper *keeper, const struct pp_machine *machine,
                               struct pp_error *err);
/* Writes a checkpoint if one is due after `done` steps; its path or error goes to `result`. */
void pp_train_save(struct pp_arena *arena, const struct pp_keeper *keeper,
                   const struct pp_machine *machine, int done, struct pp_training_result *result);

/* Fills in slowdown and predicted_slowdown; `costs` are those of the prediction. */
enum pp_status pp_train_slowdown(const struct pp_training *training,
                                 const struct pp_machine *machine, const struct pp_costs *costs,
                                 struct pp_training_result *result, struct pp_error *err);
