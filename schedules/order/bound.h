/* schedules/order/bound.h — what no engine can beat: a step and a rank's memory from below, from
 * the costs of stages alone, without any program. For those who look at a million layouts and play
 * few of them. */
#pragma once

#include "schedules/order/schedule.h"

/* Seconds of one whole micro-batch in a stage, [stage]; at most what they really are. A whole
 * backward is `input_s` and `weight_s` together. */
struct pp_bound_times {
    const double *forward_s, *input_s, *weight_s;
};
/* What stages take at least. The arrays are the caller's. */
struct pp_bound_stages {
    int stages;
    struct pp_bound_times times;
    struct pp_bound_times hidden; /* less the exchanges of experts, which a pair F+B may hide */
    const double *again_s;        /* R of one micro-batch, [stage]; 0 without recomputation */
    double closing_s;          /* after the last backward of any rank: a sum, an update, a gather */
    double after_s;            /* at most: from there until a rank's step is over; 0 = not known */
    const double *state_bytes; /* parameters, gradients, optimizer state of a copy, [stage] */
    const double *kept_bytes;  /* of a micro-batch from F to its backward, [stage] */
    const double *weights_bytes; /* ... from I to W, [stage] */
    double other_bytes;          /* of every device */
};

/* All that bounds need of a shape that pp_schedule_check() has accepted: made once, in the arena,
 * used for any costs. */
struct pp_bound_rule {
    const struct pp_schedule *schedule;
    struct pp_shape shape;
    const uint16_t *rank_of; /* [pipeline * stages + stage] */
    const int *of_pipe;      /* micro-batches, [pipeline] */
    const double *held;      /* chunk activations at the peak, at least, [rank] */
    int steps;               /* that follow each other without a barrier; 1 = with one */
    bool is_reordered;       /* ranks run what is ready: no closed form of the order holds */
};
struct pp_bound_rule pp_bound_rule_make(struct pp_arena *arena, const struct pp_schedule *schedule,
                                        const struct pp_shape *shape, int steps, bool is_reordered);

/* A lower bound on the seconds of a step, the greater of two.
 *
 * 1. For every rank the sum of three times. They are the time until its first forward can begin,
 * its work, and a gradient's way from its last backward to the first stage. Where backwards have
 * two parts the second may come later, so that the way back starts before it. This is N V (F + B) +
 * (D - 1)(F + B) of flushing schedules.
 *
 * 2. Work over 1 - bubble_frac, where the schedule's row has an exact form, with the least cost of
 * any stage. With a fixed order a longer op never shortens a step.
 *
 * Steps without a barrier between them overlap. The time of one is (T_K - T_1) / (K - 1), T_k being
 * the end of step k on all ranks. The bound is then the greater of two others.
 *
 * 3. The least busy rank's work: the rank that ended T_1 still has all of it to do in every step.
 *
 * 4. The way of the first stage's rank from one update to its next, which is that of rule 1. Work
 * that others may do after its update in the first step is subtracted, with K - 1 steps to make up
 * for it. That work is weight gradients, and after_s. */
double pp_bound_step_s(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages);
/* A lower bound on the bytes of the fullest rank: its state, and the activations of the row's exact
 * form (else one). Each activation is as small as the smallest on this rank. */
double pp_bound_peak_bytes(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages);
