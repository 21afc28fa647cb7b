/* exec/stage/state.h — weights, gradient sums and optimizer state of one copy of a stage, and what
 * is done with them: fill, norm, update. Flat vectors as pp_stage lays them out; gaps stay zero. */
#pragma once

#include "exec/stage/stage.h"

/* Everything that the weights depend on, except model, data and batch. */
struct pp_recipe {
    uint64_t seed;
    bool is_exact;         /* gradients as int64 fixed point, see stage.h */
    double rate, end_rate; /* warmup_steps linear from 0, then a cosine from rate to end_rate over
                            * all `steps` */
    int warmup_steps, steps;
    double beta1, beta2, epsilon, decay;
    double clip; /* of the norm of all gradients; 0 = none */
};
double pp_recipe_rate(const struct pp_recipe *recipe, int step); /* step 0, 1, ... */

/* Elements of the flat vectors. Where the optimizer state of a stage is sharded among its copies,
 * each has that of one range and updates only these weights. All ranges but the last are equally
 * long. Ranges begin at multiples of 16 elements. */
struct pp_range {
    int64_t from, until;
};
int64_t pp_share_elements(const struct pp_stage *stage, int copies); /* of the longest */
struct pp_range pp_share_of(const struct pp_stage *stage, int copy, int copies);
struct pp_range pp_range_common(struct pp_range a, struct pp_range b); /* from >= until: none */
struct pp_range pp_range_of(const struct pp_param *param);

struct pp_state {
    void *weights;         /* of T, as kernels.h calls it, all others of G */
    void *master;          /* the weights of the share in G; NULL where T is G */
    void *m, *v;           /* of the share, from its first element on, like master */
    void *sum;             /* gradients; NULL when exact */
    int64_t *fixed;        /* gradients; NULL otherwise */
    struct pp_range share; /* gradients of a step are complete there, and maybe nowhere else */
};
/* The vectors of copy `copy` of `copies`, one after the other from `at` on. */
struct pp_state pp_state_at(const struct pp_stage *stage, const struct pp_kernels *k, bool is_exact,
                            int copy, int copies, char *at);
/* The same vectors where their memory has been copied from `there` to `here`. */
struct pp_state pp_state_shifted(const struct pp_state *state, const char *there, char *here);
struct pp_state_bytes {
    size_t weights, gradients;
    size_t optimizer; /* m, v, and master where there is one */
    size_t moment;    /* one of these */
};
/* `copies` share the optimizer state out; 1 = each has all of it. */
struct pp_state_bytes pp_state_bytes(const struct pp_stage *stage, const struct pp_kernels *k,
                                     bool is_exact, int copies);
/* Host memory: weights and master by tensor id and seed, the same in every division into stages;
 * gradients, m and v zero (`copies` as above). Also zeroes gaps. */
void pp_state_init(const struct pp_stage *stage, const struct pp_kernels *k, uint64_t seed,
                   const struct pp_state *state, int copies);

/* Sums of squares of the gradients by block of PP_SQUARES_BLOCK elements of a tensor, tensors in
 * order. Only blocks that begin in the state's share are written; the rest of blocks[] stays as it
 * is. `scratch` has room for all. */
int64_t pp_squares_blocks(const struct pp_stage *stage);
void pp_state_squares(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                      const struct pp_state *state, double *scratch, double *blocks);
/* Where the last block ends that begins in the share: so far the gradients have to be complete. */
int64_t pp_squares_end(const struct pp_stage *stage, struct pp_range share);
/* All blocks of a stage, added to squares[layer], [net->layers + 2]; a tied matrix counts in layer
 * 0 only. Blocks, tensors and layers are added up in one order, so the result does not depend on
 * the division into stages or shares. */
void pp_squares_add(const struct pp_stage *stage, const double *blocks, double *squares);
/* The first tensor with a sum that is not finite, for a message; NULL when all are. */
const struct pp_param *pp_squares_not_finite(const struct pp_stage *stage, const double *blocks);
/* Of all gradients; squares [layers + 2]. */
double pp_squares_norm(const double *squares, int layers);
/* What gradients are multiplied with: min(1, clip / norm); 1 without clipping. NAN when the norm is
 * not finite. */
double pp_recipe_grad_scale(const struct pp_recipe *recipe, double norm);
/* All of a step (counted from 0) but grad_scale. */
void pp_recipe_adamw_step(const struct pp_recipe *recipe, int step, struct pp_adamw_step *now);
/* One AdamW step of the share, then all gradients become zero. The work reads *now when it runs, so
 * it is the same work in every step. */
void pp_state_update(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                     const struct pp_state *state, const struct pp_recipe *recipe,
                     const struct pp_adamw_step *now);
