/* exec/predict/predict.h — calibration by measured durations, prediction, and replay. */
#pragma once

#include "exec/machine/machine.h"
#include "schedules/evaluate/band.h"
#include "traces/metrics.h"
#include "traces/trace.h"

/* The network of the virtual clock. */
struct pp_exec_wires {
    double alpha_s, bytes_per_s; /* latency and speed of a message, and of a step of a ring sum */
    /* [source * ranks + destination] factor on bytes_per_s, at most 255 different ones; NULL = all
     * 1. From a rank to itself: between its replicas. */
    const double *factors;
    double
        tier_bytes_per_s[PP_TIERS]; /* between each tier and the device; 0 = copies take no time */
};
/* Returns the costs of a program: wires and ring sums are filled in, compute entries are zero. */
struct pp_costs *pp_exec_costs(struct pp_arena *arena, const struct pp_program *program,
                               const struct pp_stage *const *stages, const struct pp_batch *batch,
                               const struct pp_kernels *kernels, const struct pp_exec_wires *wires,
                               bool is_exact);

/* Measured durations by layer (embedding, one block, head), pass (F, I, W) and sequence split. They
 * predict any program with the same net, rows, tokens and kernels, whatever its schedule. */
struct pp_calibration;
struct pp_calibration *pp_calibration_create(struct pp_arena *arena, const struct pp_batch *batch);
/* Adds the durations of the machine's last step (probes on) as samples. */
void pp_calibration_take(struct pp_calibration *calibration, const struct pp_machine *machine,
                         const struct pp_machine_options *options);
/* Returns a calibration that prices the layout of profile `to`, in `arena`. Durations of layers
 * were measured in the layout of profile `from`. All are kept by reference. */
struct pp_profile;
struct pp_calibration *pp_calibration_of_layout(struct pp_arena *arena,
                                                const struct pp_calibration *calibration,
                                                const struct pp_profile *from,
                                                const struct pp_profile *to);
/* Gives `costs` new compute entries, in the calibration's arena; the old tables are not changed. An
 * entry is the sum of means over the layers of a stage, plus the op's time outside its layers.
 * Passes that were never run are derived: B from I and W, I and W from the passes of B, R from F.
 * PP_EINVAL if a part was never sampled, or only in other granules, splits or groups, or if R was
 * sampled with other modules.
 * Without `stages` (NULL), entries are whole ops by (kind, stage, split), and fused pairs.
 * PP_EINVAL if `program` is not the one that was measured last. */
enum pp_status pp_calibration_costs(const struct pp_calibration *calibration,
                                    const struct pp_program *program,
                                    const struct pp_stage *const *stages, struct pp_costs *costs,
                                    struct pp_error *err);

/* A wire as measured by messages on the wall clock, from their earliest begin to their end. */
struct pp_measured_wire {
    double alpha_s, s_per_byte;
};
/* Is false if no message was measured. */
bool pp_calibration_wire(const struct pp_calibration *calibration, struct pp_measured_wire *wire);
/* Median pauses before an op on the wall clock; 0 on the virtual clock. They follow a number of
 * WAITs (the last entry: that many or more), a BAR, or the start of a step. */
enum { PP_GAP_WAITS = 4, PP_GAP_BAR = PP_GAP_WAITS, PP_GAP_STEP, PP_GAPS };
struct pp_pauses {
    int64_t ps[PP_GAPS];
};
struct pp_pauses pp_calibration_pauses(const struct pp_calibration *calibration);
/* Adds the pauses to durations of compute ops, [instruction * replicas + replica]. */
void pp_pauses_add(const struct pp_program *program, struct pp_pauses pauses, int replicas,
                   int64_t *compute_ps);

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
/* Finds the band of step times if each op takes a random sample instead of the mean. `stages` and
 * errors: see pp_calibration_costs(). Only wires and sums of `costs` are read. */
enum pp_status pp_predict_band(const struct pp_calibration *calibration,
                               const struct pp_program *program,
                               const struct pp_stage *const *stages, const struct pp_costs *costs,
                               struct pp_replicas replicas, uint64_t seed, struct pp_band *band,
                               struct pp_error *err);
/* A step as evaluated with the measured durations of its compute ops. */
struct pp_replay {
    double step_s;        /* evaluated */
    double step_error_s;  /* measured minus evaluated, both from the first compute op on */
    double event_error_s; /* largest absolute difference of a start or an end */
};
/* Replays step k of `times` with durations `compute_ps` of compute ops, [instruction * replicas +
 * replica], and costs of messages and sums. Both errors are exactly 0 on the virtual clock. */
enum pp_status pp_replay(struct pp_arena *arena, const struct pp_program *program,
                         const struct pp_costs *costs, const struct pp_times *times, int k,
                         const int64_t *compute_ps, struct pp_replay *replay, struct pp_error *err);
/* Returns the steps of `times` as a trace, whose metrics are those of the steps after the first.
 * The time of a fused pair is divided in proportion to the costs of its ops. */
struct pp_trace *pp_exec_trace(struct pp_arena *arena, const struct pp_program *program,
                               const struct pp_costs *costs, const struct pp_times *times,
                               const char *engine);
