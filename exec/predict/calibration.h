/* exec/predict/calibration.h — inside of a calibration: durations by what was measured. Private to
 * the files calibration*.c and their tests; all others include predict.h.
 *
 * All durations are picoseconds of one granule. A part is a kind of layer in one pass of an op. The
 * two passes of a full backward are kept apart from I and W. Each stands in for the other where
 * that was never run. */
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

struct pp_samples {
    double *ps;
    int count, capacity;
};

/* What takes the longer the larger it is, by size: messages by bytes, updates by elements. */
struct pp_sized_samples {
    double size;
    struct pp_samples took;
};
struct pp_by_size {
    struct pp_sized_samples *at;
    int count, capacity;
};

struct pp_calibration {
    struct pp_arena *arena;
    struct pp_batch batch;
    struct pp_samples *part[PP_TIMED_PASSES][PP_PARTS]; /* [split]; BLOCK: of one block */
    struct pp_samples outside[PP_OP_KINDS];             /* of an op, without its layers */
    struct pp_by_size updates;

    /* wall clock, else none: see calibration_gaps.c, calibration_wires.c */
    struct pp_samples gap[PP_GAPS];
    struct pp_by_size messages;
    struct pp_samples sum[PP_OP_KINDS]; /* collectives: how many times what the costs say */

    /* whole ops of one program, the last that was begun */
    uint64_t program_hash;
    int stages;
    struct pp_samples *whole[PP_OP_KINDS];   /* [stage * splits + split]; U: of the stage */
    struct pp_samples *in_pair[PP_OP_KINDS]; /* the same, of an op's share of a fused pair */
    struct pp_samples *pair; /* [stage of F * stages + stage of B]: a micro-batch each way */
};

/* What follows is measured on this program: samples of whole ops of another one are dropped. */
void pp_calibration_begin(struct pp_calibration *c, const struct pp_program *program);

struct pp_timed_op {
    struct pp_op op;
    const struct pp_stage *stage;
    const struct pp_probe *probe; /* of the call; NULL: only the whole is known */
};
/* One op, or both of a fused pair, that took duration_ps. */
void pp_calibration_add(struct pp_calibration *c, const struct pp_timed_op *ops, int count,
                        int64_t duration_ps);

/* Where the times of a step have an instruction. */
static inline size_t pp_step_row(const struct pp_step_times *times, int instruction, int replica)
{
    return (size_t)instruction * (size_t)times->replicas + (size_t)replica;
}
static inline int64_t pp_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What a step on the wall clock tells in addition to durations: the pause before each op; messages
 * and sums, of which `costs` know sizes. */
void pp_calibration_gaps(struct pp_calibration *c, const struct pp_program *program,
                         const struct pp_step_times *times);
void pp_calibration_wires(struct pp_calibration *c, const struct pp_program *program,
                          const struct pp_costs *costs, const struct pp_step_times *times);
/* Give costs wires and sums of their own, as measured; what was not measured stays. */
void pp_calibration_fill_wires(struct pp_arena *arena, const struct pp_calibration *c,
                               struct pp_costs *costs);

void pp_samples_add(struct pp_calibration *c, struct pp_samples *samples, double value);
/* The samples of a size, made where there are none. */
struct pp_samples *pp_sized(struct pp_arena *arena, struct pp_by_size *by_size, double size);
/* Smallest and largest; NULL: there is nothing. */
void pp_sized_ends(const struct pp_by_size *by_size, const struct pp_sized_samples **least,
                   const struct pp_sized_samples **most);

/* Layers of a kind in a stage. */
int pp_calibration_layers(const struct pp_stage_shape *shape, enum pp_layer_part part);
/* NAN when there is none. Sorts. */
double pp_samples_median(const struct pp_samples *samples);

/* What something takes: the sum of one sample of each term times its factor. Nothing: 0. */
struct pp_term {
    const struct pp_samples *samples;
    double factor;
};
struct pp_terms {
    struct pp_term term[1 + 2 * PP_PARTS]; /* an op without its layers; two passes */
    int count;
};
/* For the compute entries of a program's costs, in their layout: a whole micro-batch, U a stage. */
struct pp_op_terms {
    int stages, splits;
    struct pp_terms *op[PP_OP_KINDS]; /* [stage * splits + split], U: [stage]; NULL: no compute */
    struct pp_terms *pair; /* [stage of F * stages + stage of B]; NULL: what the two ops take */
};
/* As pp_calibration_costs. The table refers to the calibration. */
enum pp_status pp_terms_find(struct pp_arena *arena, const struct pp_calibration *c,
                             const struct pp_program *program, const struct pp_stage *const *stages,
                             struct pp_op_terms *table, struct pp_error *err);
