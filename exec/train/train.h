/* exec/train/train.h — a training run: steps, checks, calibration, prediction and measurement. */
#pragma once

#include "exec/checkpoint/checkpoint.h"
#include "exec/predict/predict.h"
#include "exec/reference/reference.h"
#include "traces/compare/compare.h"

struct pp_training {
    /* what to run; stages, costs and batch belong to machine.program */
    struct pp_machine_options machine;
    const struct pp_costs *plain_costs; /* as machine.costs, but for slow wires; NULL where neither
                                         * wires nor devices are slowed */
    const struct pp_schedule *schedule; /* NULL for a file */
    struct pp_net net;
    struct pp_text text;
    int first_step, steps; /* those of the whole training, and the first that is run here */
    const struct pp_checkpoint *resumed; /* whose state it begins with; NULL = that of the seed */
    /* Checkpoints after every so many steps, 0 = none of these, and one at the end. NULL = none. */
    const struct pp_checkpoint_folder *folder;
    const struct pp_manifest *manifest; /* all but step and layers */
    int checkpoint_every;
    int warmup; /* steps whose durations calibrate the prediction, before those that are judged */
    enum {
        PP_CHECK_NONE,
        PP_CHECK_FIRST,
        PP_CHECK_ALL
    } check; /* gradients of the first step; or of
              * every step, and the weights */
    /* Durations measured on another program instead of the warm-up steps; NULL = these. Steps are
     * one that warms up, `warmup` that calibrate, and those that are judged: at least one. */
    const struct pp_calibration *calibration;
    /* After each step, e.g. to print progress; may be NULL. */
    void (*on_step)(void *closure, int step, const struct pp_step_result *result);
    /* A checkpoint could not be written: training goes on. May be NULL. */
    void (*on_unwritten)(void *closure, const struct pp_error *error);
    void *closure;
};

struct pp_training_result {
    bool is_member; /* one of several processes, and not the first: nothing else is known here */
    struct pp_machine_clock clock;
    int steps_done;                       /* here */
    double *losses, *grad_norms, *step_s; /* [steps_done] */
    int first_judged;                     /* steps before it warm up or calibrate */
    double step_median_s;                 /* of the steps after the warm-up */
    double wall_s, cpu_s, outside_s;      /* of the steps after the warm-up */
    double issue_s;                       /* likewise, see pp_step_result */
    int64_t instructions, issued;
    struct pp_graph_stats graphs;
    /* what the prediction is held against; NAN where there is none */
    double null_step_s, model_error_frac, null_error_frac;
    bool is_contended; /* ranks took each other's time: there is no error, both are NAN */
    struct pp_band predicted_band;
    /* Wall clock: what the prediction has in addition to durations. */
    struct pp_pauses pauses;
    bool is_wire_measured; /* false: messages take what the costs of the machine say */
    struct pp_measured_wire wire;
    /* The factor by which slow devices and wires lengthen a step. Measured, it is the median over
     * the kept steps, each relative to its own durations. NAN without any. */
    double slowdown, predicted_slowdown;
    /* Virtual clock, else 0: largest over the kept steps, of steps and of single events. */
    double structural_error_s;
    /* Wall clock, else 0: what the replay of a step does not explain, median over the judged steps
     * that are kept. */
    double unattributed_s;
    struct pp_prediction prediction;
    struct pp_trace *trace; /* measured */
    struct pp_metrics metrics;
    /* check */
    bool is_checked;
    struct pp_difference gradients, weights; /* weights: elements 0 unless PP_CHECK_ALL */
    bool is_loss_equal;
    /* memory of the worst rank; measured is NAN when memory was not poisoned */
    int peak_rank;
    double peak_mem_bytes, predicted_peak_mem_bytes;
    double *touched_bytes; /* [rank] of replica 0 */
    const struct pp_rank_layout *layout;
    struct pp_rank_memory *lifetimes; /* [rank]: peak_activations, see schedules/memory/memory.h */
    /* checkpoints written here: how many, the last one (NULL = none), and what came of the last
     * that was due */
    int checkpoints;
    const char *checkpoint;
    struct pp_error checkpoint_error;
};

/* PP_EFAIL as pp_machine_step. On an error, results of the steps before it are kept. */
enum pp_status pp_train(struct pp_arena *arena, const struct pp_training *training,
                        struct pp_training_result *result, struct pp_error *err);

/* Durations of a few steps of another program on the same net, data and recipe. */
enum pp_status pp_train_calibrate(struct pp_arena *arena, const struct pp_training *training,
                                  int steps, struct pp_calibration **calibration,
                                  struct pp_error *err);
