/* exec/predict/predict.h — from measured durations to a prediction, and back: calibrate, predict,
 * replay.
 */
#pragma once

#include "exec/machine/machine.h"
#include "schedules/evaluate/band.h"
#include "traces/metrics.h"
#include "traces/trace.h"

/* The network of the virtual clock. */
struct pp_exec_wires {
    double alpha_s, bytes_per_s; /* of a message, and of a step of a ring sum */
    /* [source * ranks + destination] factor on bytes_per_s, at most 255 different ones; NULL = all
     * 1. From a rank to itself: between its replicas. */
    const double *factors;
};
/* Costs of a program: wires and ring sums filled, all compute entries zero. */
struct pp_costs *pp_exec_costs(struct pp_arena *arena, const struct pp_program *program,
                               const struct pp_stage *const *stages, const struct pp_batch *batch,
                               const struct pp_kernels *kernels, const struct pp_exec_wires *wires,
                               bool is_exact);

/* Measured durations, by part of an op: the embedding, one block, the head; by F, I, W; by sequence
 * split. They belong to a net, rows, tokens and kernels, not to a schedule: any program with the
 * same can be predicted from them. */
struct pp_calibration;
struct pp_calibration *pp_calibration_create(struct pp_arena *arena, const struct pp_batch *batch);
/* Take the durations of the machine's last step (probes on) as samples. */
void pp_calibration_take(struct pp_calibration *calibration, const struct pp_machine *machine,
                         const struct pp_machine_options *options);
/* Gives costs their own compute entries, in tables of the calibration's arena. Existing entries
 * stay as they are. An entry is the sum of medians over the layers of a stage, plus the op's time
 * outside its layers. Passes that were never run are derived if possible. B comes from I and W, I
 * and W from their passes of B, and R from F. PP_EINVAL if a part that the stages need was never
 * sampled, or only in other granules or splits.
 * Without `stages` (NULL) entries are by (kind, stage, split) as a whole, and by fused pair. These
 * are for the very program that was measured, the last one. PP_EINVAL for any other. */
enum pp_status pp_calibration_costs(const struct pp_calibration *calibration,
                                    const struct pp_program *program,
                                    const struct pp_stage *const *stages, struct pp_costs *costs,
                                    struct pp_error *err);

/* A wire as it was measured on the wall clock, by messages from when they could begin to their end.
 * False: no message was. */
struct pp_measured_wire {
    double alpha_s, s_per_byte;
};
bool pp_calibration_wire(const struct pp_calibration *calibration, struct pp_measured_wire *wire);
/* The pause before an op on the wall clock, by its predecessor. This is the number of WAITs since
 * the previous op (the last entry for all higher numbers), a BAR, or the start of the step.
 * Medians; all 0 on the virtual clock. */
enum { PP_GAP_WAITS = 4, PP_GAP_BAR = PP_GAP_WAITS, PP_GAP_STEP, PP_GAPS };
struct pp_pauses {
    int64_t ps[PP_GAPS];
};
struct pp_pauses pp_calibration_pauses(const struct pp_calibration *calibration);
/* To durations of compute ops [instruction * replicas + replica]. */
void pp_pauses_add(const struct pp_program *program, struct pp_pauses pauses, int replicas,
                   int64_t *compute_ps);

/* The replicas of a program, and their devices. */
struct pp_replicas {
    int count;
    const double *slow; /* [rank * count + replica] factor on the speed of compute, NULL = all 1 */
    struct pp_pauses pauses;
};
struct pp_prediction {
    struct pp_trace *trace;
    struct pp_metrics metrics;
    double step_s;
};
enum pp_status pp_predict(struct pp_arena *arena, const struct pp_program *program,
                          const struct pp_costs *costs, struct pp_replicas replicas,
                          struct pp_prediction *prediction, struct pp_error *err);
/* The band in which every op takes a sample of its own instead of the median. `stages` and errors
 * are those of pp_calibration_costs. It reads only the wires and sums of costs. */
enum pp_status pp_predict_band(const struct pp_calibration *calibration,
                               const struct pp_program *program,
                               const struct pp_stage *const *stages, const struct pp_costs *costs,
                               struct pp_replicas replicas, uint64_t seed, struct pp_band *band,
                               struct pp_error *err);
/* The evaluator, given the durations that the compute ops of a step took. */
struct pp_replay {
    double step_s;        /* what it makes of them */
    double step_error_s;  /* the step as it went minus that; both from the first compute op on */
    double event_error_s; /* largest difference of a start or an end, without sign */
};
/* Step k of `times`, which ran for `times->replicas` replicas, and the durations of its compute
 * ops, [instruction * replicas + replica]. Its messages and sums took what `costs` say. Both errors
 * are exactly 0 on the virtual clock. */
enum pp_status pp_replay(struct pp_arena *arena, const struct pp_program *program,
                         const struct pp_costs *costs, const struct pp_times *times, int k,
                         const int64_t *compute_ps, struct pp_replay *replay, struct pp_error *err);
/* The steps of `times` as a trace; metrics of it are those of the steps after the first. A fused
 * pair is shared out in proportion to what `costs` say of its two ops. */
struct pp_trace *pp_exec_trace(struct pp_arena *arena, const struct pp_program *program,
                               const struct pp_costs *costs, const struct pp_times *times,
                               const char *engine);
