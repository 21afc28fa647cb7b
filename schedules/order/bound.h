/* schedules/order/bound.h — lower bounds on a step's time and a rank's memory for any engine, from
 * the costs of stages alone. A search over a million layouts uses them instead of programs. */
#pragma once

#include "schedules/order/schedule.h"

/* Seconds of a micro-batch, [stage], at most the real times. Whole backward: input_s + weight_s. */
struct pp_bound_times {
    const double *forward_s, *input_s, *weight_s;
};
/* Least costs of the stages. The caller owns the arrays. */
struct pp_bound_stages {
    int stages;
    struct pp_bound_times times;
    struct pp_bound_times hidden; /* less exchanges of experts, which a pair F+B may hide */
    const double *again_s;        /* recomputation of one micro-batch, [stage]; 0 without it */
    double closing_s; /* least time after the last backward of any rank: sum, update, gather */
    double after_s;   /* most time from there to the end of a rank's step; 0 = not known */
    const double *state_bytes;   /* parameters, gradients, optimizer state of a copy, [stage] */
    const double *kept_bytes;    /* of a micro-batch from F to its backward, [stage] */
    const double *weights_bytes; /* from I to W of a micro-batch, [stage] */
    double other_bytes;          /* of every device */
};

/* Everything that bounds need of a shape that pp_schedule_check() has accepted. It is made once, in
 * the arena, and used for any costs. */
struct pp_bound_rule {
    const struct pp_schedule *schedule;
    struct pp_shape shape;
    const uint16_t *rank_of; /* [pipeline * stages + stage] */
    const int *of_pipe;      /* micro-batches, [pipeline] */
    const double *held;      /* least number of chunk activations at the peak, [rank] */
    const double *pending;   /* most weight gradients that are left after the last I, [rank] */
    int steps;               /* steps in a row without a barrier; 1 = with one */
    bool is_reordered;       /* ranks run what is ready: no closed form of the order holds */
};
struct pp_bound_rule pp_bound_rule_make(struct pp_arena *arena, const struct pp_schedule *schedule,
                                        const struct pp_shape *shape, int steps, bool is_reordered);

/* Returns a lower bound on the seconds of a step, the greater of two.
 *
 * 1. The greatest sum over the ranks of three times. They are the time until its first forward can
 * begin, its work, and a gradient's way from its last backward to the first stage. Weight gradients
 * of split backwards may come later, so that the way back starts before them. Each of these still
 * holds its activation, so they are no more than the exact form of the peak. For flushing schedules
 * the sum is N V (F + B) + (D - 1)(F + B).
 *
 * 2. Work over 1 - bubble_frac, where the schedule's row has an exact form, with the least cost of
 * any stage. With a fixed order a longer op never shortens a step.
 *
 * Steps without a barrier overlap. The time of one is (T_K - T_1) / (K - 1), T_k being the end of
 * step k on all ranks. Its bound is the greater of two others.
 *
 * 3. The least busy rank's work: the rank that ended T_1 still has all of it to do in every step.
 *
 * 4. The time of rule 1 for the first stage's rank, from one update to its next. Work that other
 * ranks may do after its update in the first step is subtracted, spread over K - 1 steps. That work
 * is weight gradients, and after_s. */
double pp_bound_step_s(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages);
/* Returns a lower bound on the bytes of the fullest rank: its state and the activations of the
 * row's exact form (else one). Each activation is as small as the smallest on this rank. */
double pp_bound_peak_bytes(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages);
