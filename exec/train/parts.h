/* exec/train/parts.h — parts of a training run: private to exec/train. */
#pragma once

#include "exec/train/train.h"

/* A training's state on disk, as each process of the run has it. */
struct pp_keeper {
    const struct pp_training *training;
    const struct pp_reference *reference; /* NULL = none */
    int blind[PP_FOLDERS];                /* see struct pp_training_result */
    struct pp_checkpoint_copy *copy;      /* parts that this process writes; NULL = none */
    /* First process: the checkpoint that all write; arena NULL = none. */
    struct pp_checkpoint_draft draft;
    struct pp_checkpoint_parts layers; /* of `draft` */
    bool has_failed;                   /* the step after it: other processes answer no more */
};

struct pp_train_ranges {  /* steps counted from the first that is run here */
    int calibrate, judge; /* first step of each; calibration ends before `judge` */
};
/* A run, as the process that conducts it has it. */
struct pp_train_run {
    struct pp_arena *arena;
    const struct pp_training *training;
    struct pp_training_result *result;
    struct pp_machine *machine;
    struct pp_reference *reference; /* NULL: nothing is checked */
    struct pp_reference *plain;     /* without few bits; NULL: there are none */
    struct pp_keeper keeper;
    struct pp_calibration *calibration;
    struct pp_train_ranges ranges;
    struct pp_costs costs; /* wires of the machine, durations as measured */
    double reference_loss;
    double ended_s; /* by pp_clock_s(): the last step */
};

/* check.c: how workers share the model, as the first of them sees it. */
struct pp_stage_share pp_train_share(const struct pp_machine_options *options);

static inline int pp_train_steps(const struct pp_training *training)
{
    return training->steps - training->first_step;
}

/* ---- answers.c ------------------------------------------------------------------------------- */

/* Describes the model whose parts are to come. */
struct pp_checkpoint_parts pp_train_no_parts(struct pp_arena *arena,
                                             const struct pp_training *training);
/* Lists all copies of all stages, in one order for all processes. The states of all are fetched, or
 * those of this process are taken as they are here. */
enum pp_status pp_train_parts(struct pp_arena *arena, const struct pp_training *training,
                              const struct pp_machine *machine, bool are_all_here,
                              struct pp_checkpoint_parts *parts, struct pp_error *err);
/* NULL = none. There is room for its parts. */
void pp_train_add_reference(struct pp_checkpoint_parts *parts,
                            const struct pp_reference *reference);

enum pp_train_question {
    PP_TRAIN_SEES,   /* whether a folder is there: yes or no, a byte */
    PP_TRAIN_WRITES, /* that it begins to write its part of a checkpoint */
    PP_TRAIN_COPIES, /* that it copies that part, and begins to write the copy */
    PP_TRAIN_WROTE,  /* that it has written its part: struct pp_checkpoint_sum, [layers] */
    PP_TRAIN_HAS,    /* whether its part of the checkpoint to resume is there: a byte */
    PP_TRAIN_READS,  /* that part */
    PP_TRAIN_SAVES,  /* that it writes its weights for the hub: their bytes, int64_t */
    PP_TRAIN_COPIED, /* what it did on other tiers: struct pp_rank_tiers */
    PP_TRAIN_QUESTIONS
};
/* Asks all processes; "" = no path. Errors: pp_machine_ask(). */
enum pp_status pp_train_ask(struct pp_arena *arena, const struct pp_keeper *keeper,
                            const struct pp_machine *machine, enum pp_train_question what,
                            const char *path, struct pp_answers *answers, struct pp_error *err);
/* Returns what a process has answered. */
const char *pp_train_answer_at(const struct pp_answers *answers, const struct pp_keeper *keeper,
                               int process);
/* Returns 1 + the first process that has answered no; 0 = none. */
int pp_train_first_no(const struct pp_answers *answers, const struct pp_keeper *keeper);
/* Answer of a process with a worker of the first replica; rank -1: it has none. */
struct pp_rank_tiers {
    int64_t rank;
    struct pp_tier_figures figures;
};
const struct pp_rank_tiers *pp_train_rank_tiers(const struct pp_answers *answers,
                                                const struct pp_keeper *keeper, int process);
/* Returns the sum of answers that are numbers. */
int64_t pp_train_total(const struct pp_answers *answers, const struct pp_keeper *keeper);
/* Answers such a question; the closure is the keeper. */
enum pp_status pp_train_answer(void *keeper, const struct pp_machine *machine,
                               const struct pp_question *question, void *answer,
                               struct pp_error *err);

/* ---- checkpoint.c ---------------------------------------------------------------------------- */

/* Finds out whether all processes see the folders of checkpoints and of the model, if there are
 * any. PP_EFAIL: a process has failed or is gone. */
enum pp_status pp_train_look(struct pp_keeper *keeper, const struct pp_machine *machine,
                             struct pp_error *err);
/* Loads the state of training->resumed, if set, into all copies and the reference. */
enum pp_status pp_train_resume(struct pp_keeper *keeper, const struct pp_machine *machine,
                               struct pp_error *err);
/* Completes the checkpoint that is being written in the background. Then writes one, or begins to,
 * if it is due after `done` steps. Path or error goes to `result`. */
void pp_train_save(struct pp_arena *arena, struct pp_keeper *keeper,
                   const struct pp_machine *machine, int done, struct pp_training_result *result);
/* Ends what is written in the background after a failure. A checkpoint is completed if all
 * processes write their parts. */
void pp_train_leave(struct pp_arena *arena, struct pp_keeper *keeper,
                    const struct pp_machine *machine, struct pp_training_result *result);

/* ---- export_parts.c -------------------------------------------------------------------------- */

/* Writes the weights of which a part of this process is the first to have them, into files of the
 * folder `path`. Sets their bytes. PP_EFAIL. */
enum pp_status pp_train_export_parts(const struct pp_hub_export *export, const char *path,
                                     const struct pp_checkpoint_parts *parts, int64_t *bytes,
                                     struct pp_error *err);

/* ---- export.c -------------------------------------------------------------------------------- */

/* Writes the weights for the hub, if that is wanted; an error goes to `result`. */
void pp_train_export(struct pp_keeper *keeper, const struct pp_machine *machine,
                     struct pp_training_result *result);

/* ---- after.c --------------------------------------------------------------------------------- */

/* Sets result->valid_losses[k], and compares it with that of a reference (NULL = none) that has
 * made the same updates. Errors: pp_machine_forward(). */
enum pp_status pp_train_validate(const struct pp_training *training, struct pp_machine *machine,
                                 struct pp_reference *reference, int k,
                                 struct pp_training_result *result, struct pp_error *err);
/* Adds the row of step k, if there is a log; its error goes to `result`. */
void pp_train_log(const struct pp_training *training, int k, struct pp_training_result *result);

/* Fills in slowdown and predicted_slowdown; `costs` are those of the prediction. */
enum pp_status pp_train_slowdown(const struct pp_training *training,
                                 const struct pp_machine *machine, const struct pp_costs *costs,
                                 struct pp_training_result *result, struct pp_error *err);

/* ---- metrics.c ------------------------------------------------------------------------------- */

/* Sets the metrics of the median step as pipesim compare finds them, without the host's time
 * between steps. Prediction and trace are there. Errors: pp_compare(). */
enum pp_status pp_train_metrics(struct pp_arena *arena, const struct pp_training *training,
                                const struct pp_machine *machine, const struct pp_costs *costs,
                                struct pp_training_result *result, struct pp_error *err);

/* ---- check.c --------------------------------------------------------------------------------- */

/* Creates the reference, unless nothing is checked; with few bits of saved activations also one
 * without. Errors: pp_reference_create(). */
enum pp_status pp_train_begin_check(struct pp_train_run *run, struct pp_error *err);
/* Returns whether the gradients of a step are checked. */
bool pp_train_is_checked(const struct pp_train_run *run, int step);
/* Sets the memory that these will take. */
void pp_train_reserve(const struct pp_training *training, struct pp_machine_options *options);
/* Run a step of them, or its update. Errors: pp_reference_step(), pp_reference_update(). */
enum pp_status pp_train_reference_step(struct pp_train_run *run, int step, struct pp_error *err);
enum pp_status pp_train_reference_update(struct pp_train_run *run, int step, struct pp_error *err);
/* Compares a vector of all copies of all stages with that of a reference. Errors:
 * pp_machine_state_of(). */
enum pp_status pp_train_compare(const struct pp_train_run *run,
                                const struct pp_reference *reference, enum pp_vector what,
                                struct pp_difference *difference, struct pp_error *err);
/* For pp_machine_on_gradients(): compares them; `closure` is the run. */
void pp_train_on_gradients(void *closure, const struct pp_machine *machine, int step);

/* ---- judge.c --------------------------------------------------------------------------------- */

/* Predicts the run, and compares it with its judged steps. Fills in the result. */
enum pp_status pp_train_judge(struct pp_train_run *run, struct pp_error *err);

/* ---- tiers.c --------------------------------------------------------------------------------- */

/* Reads what ranks have written and copied on other tiers, and predicts it, into the result. */
enum pp_status pp_train_read_tiers(struct pp_train_run *run, struct pp_error *err);
