/* exec/predict/calibration.h — contents of a calibration. Private to exec/predict and its tests.
 *
 * All durations are picoseconds of one granule. A part is a kind of layer in one pass of an op.
 * Passes of a full backward and of I, W are kept apart; each replaces the other if that was never
 * run. */
#pragma once

#include "exec/predict/predict.h"

enum pp_timed_pass {
    PP_TIMED_F,
    PP_TIMED_R,
    PP_TIMED_I,
    PP_TIMED_W,
    PP_TIMED_BI,
    PP_TIMED_BW,
    PP_TIMED_PASSES
};
/* Each pass: the op that has it, its row in a probe, and the pass that replaces it if it was never
 * measured. Those of I and W replace those of B, and the other way round; F replaces R of a
 * whole stage. */
struct pp_pass {
    int kind, row;
    enum pp_timed_pass substitute;
};
extern const struct pp_pass pp_passes[PP_TIMED_PASSES];

struct pp_samples {
    double *ps;
    int count, capacity;
    bool is_signed; /* differences around 0: their median is their mean */
};

/* Durations by size: messages by bytes, updates by elements. */
struct pp_sized_samples {
    double size;
    struct pp_samples took;
};
struct pp_by_size {
    struct pp_sized_samples *at;
    int count, capacity;
};

/* Layout of the first op, and modules of the first R. */
struct pp_measured_layout {
    int tp, etp, ep; /* 0 = nothing was measured; `ep` replicas share experts */
    bool is_sequence_parallel, has_again;
    unsigned again; /* modules that R recomputes; 0 = whole blocks */
};

struct pp_calibration {
    struct pp_arena *arena;
    struct pp_batch batch;
    struct pp_measured_layout layout;
    const struct pp_profile *from, *to; /* of the measured layout and another one; NULL = none */
    bool is_same_group;                 /* then R alone is another one */
    struct pp_samples *part[PP_TIMED_PASSES][PP_PARTS]; /* [split]; BLOCK, EXPERTS: of one block */
    struct pp_samples outside[PP_OP_KINDS];             /* time of an op outside its layers */
    bool omits_exchanges; /* of groups, outside of layers: `exchanged_ps` of pp_timed_op */
    struct pp_samples
        delay[PP_OP_KINDS]; /* by an event of a probe, with neither granule nor part */
    int64_t *before_ps;     /* [row] of the step before; NULL = none */
    bool before_has_probes;
    double update_frac, zeroed_frac; /* of the program that was begun last */
    struct pp_by_size updates;       /* by elements * update_frac */

    /* wall clock only: see calibration_gaps.c, calibration_wires.c */
    struct pp_samples gap[PP_GAPS];
    struct pp_by_size messages;
    struct pp_samples sum[PP_OP_KINDS];    /* collectives: duration as a multiple of the cost */
    struct pp_samples copied[PP_PURPOSES]; /* copies between tiers, likewise */

    /* whole ops of the program that was begun last, in steps without probes */
    uint64_t program_hash;
    int stages;
    struct pp_samples *whole[PP_OP_KINDS];   /* [stage * splits + split]; U: of the stage */
    struct pp_samples *in_pair[PP_OP_KINDS]; /* [stage * splits + split]: share in a pair */
    struct pp_samples *pair; /* [stage of F * stages + stage of B]: a micro-batch each way */
};

/* calibration_updates.c: returns the work of an update on one of `copies` copies of a stage. It is
 * a share of that of all elements. */
double pp_update_frac(const struct pp_program *program, int copies);
/* Returns how often a backward zeroes gradients. */
double pp_zeroed_frac(const struct pp_program *program);
/* Begins measurements on this program; drops samples of whole ops of any other program. */
void pp_calibration_begin(struct pp_calibration *c, const struct pp_program *program);

struct pp_timed_op {
    struct pp_op op;
    const struct pp_stage *stage;
    const struct pp_probe *probe; /* of the call; NULL = only the op's duration is known */
    int64_t exchanged_ps;         /* of its duration: exchanges of its group, by formula */
};
/* Adds an op, or both of a fused pair, that took duration_ps. Its parts are taken if it has probes,
 * and otherwise its whole duration: probes delay a device. */
void pp_calibration_add(struct pp_calibration *c, const struct pp_timed_op *ops, int count,
                        int64_t duration_ps);

/* calibration_layout.c: notes the layout of the first op that is measured. PP_EINVAL if a stage has
 * another one: `has_r`, if it recomputes. The message has both. */
void pp_layout_note(struct pp_calibration *c, const struct pp_stage *stage, int kind);
enum pp_status pp_layout_check(const struct pp_calibration *c, const struct pp_stage *stage,
                               bool has_r, struct pp_error *err);

static inline size_t pp_step_row(const struct pp_step_times *times, int instruction, int replica)
{
    return (size_t)instruction * (size_t)times->replicas + (size_t)replica;
}

/* Add pauses, or messages and sums (sizes in `costs`), of a step on the wall clock. */
void pp_calibration_gaps(struct pp_calibration *c, const struct pp_program *program,
                         const struct pp_step_times *times);
void pp_calibration_wires(struct pp_calibration *c, const struct pp_program *program,
                          const struct pp_costs *costs, const struct pp_step_times *times);
/* calibration_copies.c: likewise, the copies between memory tiers. */
void pp_calibration_copies(struct pp_calibration *c, const struct pp_program *program,
                           const struct pp_costs *costs, const struct pp_step_times *times);
void pp_calibration_fill_copies(struct pp_arena *arena, const struct pp_calibration *c,
                                struct pp_costs *costs);
/* Replaces wires and sums of `costs` by measured ones; what was not measured stays. */
void pp_calibration_fill_wires(struct pp_arena *arena, const struct pp_calibration *c,
                               struct pp_costs *costs);

void pp_samples_push(struct pp_arena *arena, struct pp_samples *samples, double value);
void pp_samples_add(struct pp_calibration *c, struct pp_samples *samples, double value);
/* Returns the samples of a size; adds an empty set if there is none. */
struct pp_samples *pp_sized(struct pp_arena *arena, struct pp_by_size *by_size, double size);
/* Finds the samples of the smallest and the largest size; NULL if there are none. */
void pp_sized_ends(const struct pp_by_size *by_size, const struct pp_sized_samples **least,
                   const struct pp_sized_samples **most);

/* Returns the layers of a part that an op of a kind computes in a stage. */
int pp_calibration_layers(const struct pp_stage *stage, int kind, enum pp_layer_part part);
/* Returns the median; NAN without samples. Sorts them. */
double pp_samples_median(const struct pp_samples *samples);
/* Returns the mean of those between half and four times the median, or the median without any; NAN
 * without samples. Sorts them. */
double pp_samples_mean(const struct pp_samples *samples);
/* Adds the delay of each op by probes, from two steps in a row with and without them. */
void pp_calibration_probes(struct pp_calibration *c, const struct pp_program *program,
                           const struct pp_stage *const *stages, const struct pp_step_times *times,
                           bool has_probes);

/* A duration as a sum: a sample of each term times its factor; 0 without terms. */
struct pp_term {
    const struct pp_samples *samples;
    double factor;
};
struct pp_terms {
    /* time outside layers, parts of two passes; delays; gradients that are zeroed */
    struct pp_term term[3 + 4 * PP_PARTS];
    int count;
};
/* Terms of the compute entries of costs, in their layout: of a whole micro-batch, U of a stage. */
struct pp_op_terms {
    int stages, splits;
    bool omits_exchanges;             /* of groups: costs add theirs, by formula */
    struct pp_terms *op[PP_OP_KINDS]; /* [stage * splits + split], U: [stage]; NULL = no compute */
    struct pp_terms *pair; /* [stage of F * stages + stage of B]; NULL = those of the two ops */
};
/* Finds terms of stages with so many copies; errors as pp_calibration_costs(). The table refers to
 * the calibration. */
enum pp_status pp_terms_find(struct pp_arena *arena, const struct pp_calibration *c,
                             const struct pp_program *program, const struct pp_stage *const *stages,
                             int copies, struct pp_op_terms *table, struct pp_error *err);
/* Adds terms of an update, and of zeroed gradients where the measured program zeroed others. */
enum pp_status pp_terms_update(const struct pp_calibration *c, const struct pp_stage *stage,
                               double frac, struct pp_terms *terms, struct pp_error *err);
void pp_terms_zeroed(const struct pp_calibration *c, const struct pp_stage *stage, double frac,
                     struct pp_terms *terms);
