/* exec/train/train.h — a training run: steps, checks, calibration, prediction and measurement. */
#pragma once

#include "exec/checkpoint/checkpoint.h"
#include "exec/copy/figures.h"
#include "exec/hub/export.h"
#include "exec/predict/predict.h"
#include "exec/reference/reference.h"
#include "exec/train/log.h"
#include "traces/compare/compare.h"

struct pp_training {
    /* what to run; stages, costs and batch belong to machine.program */
    struct pp_machine_options machine;
    /* machine.costs with plain wires; NULL without slow wires or devices */
    const struct pp_costs *plain_costs;
    const struct pp_schedule *schedule; /* NULL for a file */
    struct pp_net net;
    struct pp_text text;
    int first_step, steps;               /* first step of this run; steps of the whole training */
    const struct pp_checkpoint *resumed; /* checkpoint to continue; NULL = start from the seed */
    /* Folder of checkpoints; NULL = none. They are written every `checkpoint_every` steps (0 = none
     * of these) and at the end. */
    const struct pp_checkpoint_folder *folder;
    const struct pp_manifest *manifest; /* all but step and layers */
    int checkpoint_every;
    /* Each is on the disk before the next step; else it is written from a copy in host memory while
     * that runs. The last one always is. */
    bool checkpoint_sync;
    const struct pp_hub_export *export; /* weights to write at the end; NULL = none */
    /* Text whose loss is computed every `valid_every` steps and at the end, on its first
     * `valid_steps` steps of samples; NULL = none. */
    const struct pp_text *valid;
    int valid_every, valid_steps;
    int warmup; /* steps that calibrate the prediction, before the judged ones */
    /* FIRST: gradients of the first step; ALL: of every step, and the weights. */
    enum { PP_CHECK_NONE, PP_CHECK_FIRST, PP_CHECK_ALL } check;
    /* Durations measured on another program; NULL = those of the warm-up steps. One step warms up,
     * `warmup` steps calibrate, and at least one is judged. */
    const struct pp_calibration *calibration;
    /* Calibration: a training with other groups, whose layers are profiled, too; NULL = none. */
    const struct pp_training *profiled;
    struct pp_log *log; /* receives a row after each step; NULL = none */
    /* Called after each step, e.g. to print progress; may be NULL. */
    void (*on_step)(void *closure, int step, const struct pp_step_result *result);
    /* Called when a checkpoint ("checkpoint") or the first row of the log ("row of the log") cannot
     * be written; training continues. May be NULL. */
    void (*on_unwritten)(void *closure, const char *what, const struct pp_error *error);
    void *closure;
};

/* Folders: of the checkpoint that is resumed, of those that are written, and of the model. */
enum pp_train_folder { PP_RESUMED, PP_WRITTEN, PP_SAVED, PP_FOLDERS };

struct pp_training_result {
    struct pp_machine_way way;
    bool is_member; /* a process other than the first: all else is unset */
    struct pp_machine_clock clock;
    int steps_done;                       /* in this run */
    double *losses, *grad_norms, *step_s; /* [steps_done] */
    double *valid_losses;                 /* [steps_done]: after the step; NAN = not computed */
    double *expert_tokens;                /* [pp_net_expert_tokens()] of all steps of this run */
    int first_judged;                     /* first of the judged steps that are kept */
    double step_median_s;                 /* of the judged steps that are kept */
    /* Time by the watch from the end of a step to that of the next: with the host's work between
     * them. And its median over the same steps. */
    double *elapsed_s; /* [steps_done] */
    double elapsed_median_s;
    double wall_s, cpu_s, outside_s; /* of the judged steps */
    double issue_s;                  /* of the judged steps, see pp_step_result */
    int64_t instructions, issued;
    struct pp_graph_stats graphs;
    struct pp_fallbacks fallbacks; /* of all processes in the last step: pp_machine_fallbacks() */
    /* duration by formula, and errors of prediction and formula; NAN if there is none */
    double null_step_s, model_error_frac, null_error_frac;
    bool is_contended; /* ranks shared a device, so both errors are NAN */
    struct pp_band predicted_band;
    /* Wall clock: pauses and wire of the prediction. */
    struct pp_pauses pauses;
    bool is_wire_measured; /* false: messages have the costs of the machine */
    struct pp_measured_wire wire;
    /* Factor by which slow devices and wires lengthen a step; NAN without any. The measured one is
     * the median over the kept steps, each relative to its own durations. */
    double slowdown, predicted_slowdown;
    /* Virtual clock: largest replay error of the kept steps and of their events; else 0. */
    double structural_error_s;
    /* Wall clock, else 0: time of a step that its replay leaves unexplained (median). */
    double unattributed_s;
    struct pp_prediction prediction;
    struct pp_trace *trace; /* measured */
    struct pp_metrics metrics;
    /* check */
    bool is_checked;
    struct pp_difference gradients, weights; /* weights: elements 0 unless PP_CHECK_ALL */
    bool is_loss_equal;
    /* Few bits, checked, against training with full saved activations on one rank: gradients of
     * the first step. And its losses, of the first step or of all. */
    struct pp_difference gap;
    double *plain_losses; /* [steps_done] */
    /* memory of the worst rank; measured is NAN if memory was not poisoned */
    int peak_rank;
    double peak_mem_bytes, predicted_peak_mem_bytes;
    double *touched_bytes; /* [rank] of replica 0 */
    const struct pp_rank_layout *layout;
    /* [rank] of replica 0: what it has on other tiers, and copies in a step. NULL: nothing. */
    struct pp_tier_figures *tiers, *predicted_tiers;
    struct pp_rank_memory *lifetimes; /* [rank]: peak_activations, see schedules/memory/memory.h */
    int blind[PP_FOLDERS]; /* 1 + the first process that does not see that folder; 0 = all do */
    /* checkpoints written in this run: number, last path (NULL = none), error of the last due
     * one */
    int checkpoints;
    const char *checkpoint;
    size_t checkpoint_copy_bytes; /* largest copy in this process; 0 = none was made */
    struct pp_error checkpoint_error;
    struct pp_error export_error; /* PP_OK: the weights are written, if that was wanted */
    struct pp_error log_error;    /* of the first row that is missing */
    int missing_rows;             /* of the log: they could not be written */
};

/* Trains. PP_EFAIL as pp_machine_step(); `result` then keeps the steps before the error. */
enum pp_status pp_train(struct pp_arena *arena, const struct pp_training *training,
                        struct pp_training_result *result, struct pp_error *err);

/* Measures a few steps of another program on the same net, data and recipe. With `profiled`, the
 * calibration prices the layout of that training. */
enum pp_status pp_train_calibrate(struct pp_arena *arena, const struct pp_training *training,
                                  int steps, struct pp_calibration **calibration,
                                  struct pp_error *err);
