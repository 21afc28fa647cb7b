/* exec/state/state.h — weights, gradient sums and optimizer state of one copy of a stage:
 * initialization, norm, update. Vectors are flat, laid out as in pp_stage; gaps stay zero. */
#pragma once

#include "exec/stage/stage.h"

/* A range of elements, of a tensor or of the flat vectors. */
struct pp_range {
    int64_t from, until;
};

/* Initial weights that are given: `read` finds runs of elements of a tensor, in [out][in] order,
 * one after the other. Threads call it concurrently. */
struct pp_weights_source {
    void (*read)(const void *closure, const struct pp_param *param, struct pp_slice_piece runs,
                 float *values);
    const void *closure;
};

/* All that the weights depend on, except model, data and batch. */
struct pp_recipe {
    uint64_t seed;
    const struct pp_weights_source *source; /* NULL = initial weights are drawn */
    bool is_exact;                          /* gradients as int64 fixed point, see stage.h */
    double rate, end_rate; /* warmup_steps linear from 0, then a cosine from rate to end_rate over
                            * all `steps` */
    int warmup_steps, steps;
    double beta1, beta2, epsilon, decay;
    double clip; /* limit of the norm of all gradients; 0 = none */
};
double pp_recipe_rate(const struct pp_recipe *recipe, int step); /* step 0, 1, ... */

/* If the copies of a stage shard its optimizer state, each has that of one range of the flat
 * vectors, and updates only these weights. Ranges begin at multiples of 16 elements and are equally
 * long, but the last ones may be shorter or empty. */
int64_t pp_share_elements(const struct pp_stage *stage, int copies); /* of the longest */
struct pp_range pp_share_of(const struct pp_stage *stage, int copy, int copies);
/* The flat vectors have two parts: tensors of which all copies of a stage have the same, then
 * experts that replicas share. */
enum pp_state_part { PP_OF_ALL, PP_OF_EXPERTS, PP_STATE_PARTS };
/* Over how many copies of a stage each class of its state is cut; 1 = each has all of it. Gradients
 * are cut as parameters or as the optimizer state. A part of a class that is cut less finely than
 * the optimizer state has whole shares of it, one after the other. */
struct pp_cuts {
    int params, grads, optimizer;
    int ep; /* replicas that share experts: of these there are 1 / ep as many copies; 0 = none */
    int64_t most_grads[PP_STATE_PARTS]; /* pp_most_grads(), which walks all copies; 0 = not known */
    bool has_weights_alone;             /* of a run that generates: no gradients, m, v and master */
};
static inline struct pp_cuts pp_cuts_none(void)
{
    return (struct pp_cuts){.params = 1, .grads = 1, .optimizer = 1};
}
/* Is true for a scatter of parts before an update, and for the gather after it. Parameters are cut,
 * and the optimizer state more finely. */
static inline bool pp_cuts_has_update(struct pp_cuts cuts, int kind, int purpose)
{
    return cuts.params > 1 && (kind == PP_RS || kind == PP_AG) && purpose == PP_FOR_STEP;
}
/* Returns the cuts of a part. Those of all copies that lie within the replicas that share experts
 * do not cut experts. */
struct pp_cuts pp_cuts_of(struct pp_cuts cuts, enum pp_state_part part);
/* Returns the elements of gradients of a part that the copy with the most keeps. */
int64_t pp_most_grads(const struct pp_stage *stage, enum pp_state_part part, struct pp_cuts cuts);
struct pp_range pp_range_common(struct pp_range a, struct pp_range b); /* empty if from >= until */
struct pp_range pp_range_of(const struct pp_param *param);
int64_t pp_flat_unit_from(int64_t element); /* earliest begin of a tensor that is not before it */

struct pp_state {
    void *weights;        /* of T, see kernels.h; all other vectors are of G */
    void *master;         /* the weights of the share in G; NULL where T is G */
    void *m, *v;          /* of the share, from its first element on, as master */
    void *sum;            /* gradients; NULL if exact. Without training, all but weights are NULL */
    int64_t *fixed;       /* exact gradients; NULL otherwise */
    bool keeps_gradients; /* an update on the host leaves them: they are read after it */
    struct pp_range share; /* range where a step's gradients are sure to be complete */
    struct pp_range held;  /* elements of `weights` */
    /* Elements of `sum` or `fixed`. If gradients are cut: the share, to the end of its last block
     * of squares. */
    struct pp_range summed;
    /* Shared experts: the same ranges of their part, and where in its vector each begins. */
    struct pp_state_experts {
        int64_t from; /* first element of the part; 0 = there is none */
        struct pp_portion {
            struct pp_range range;
            int64_t at;
        } share, held, summed;
    } experts;
};
/* Returns the vectors of a copy, one after the other from `at` on. `copy`: its share number
 * among those that share the part. */
struct pp_state pp_state_of_copy(const struct pp_stage *stage, const struct pp_kernels *k,
                                 bool is_exact, const int copy[static PP_STATE_PARTS],
                                 struct pp_cuts cuts, char *at);
/* The same, without shared experts. */
struct pp_state pp_state_at(const struct pp_stage *stage, const struct pp_kernels *k, bool is_exact,
                            int copy, struct pp_cuts cuts, char *at);
/* Return the ranges of a part, and the part of an element. */
struct pp_range pp_state_share(const struct pp_state *state, enum pp_state_part part);
struct pp_range pp_state_held(const struct pp_state *state, enum pp_state_part part);
struct pp_range pp_state_summed(const struct pp_state *state, enum pp_state_part part);
enum pp_state_part pp_state_part_of(const struct pp_state *state, int64_t element);
/* Return the address of an element of `weights`, or of `sum` or `fixed`, which have it. */
void *pp_state_weight(const struct pp_state *state, const struct pp_kernels *k, int64_t element);
void *pp_state_gradient(const struct pp_state *state, const struct pp_kernels *k, int64_t element);
/* Returns `state` with its gradients in another vector, which has the same elements. */
struct pp_state pp_state_with(const struct pp_state *state, void *gradients);
/* Returns that of an element of the share in `vector`: master, m or v; NULL if that is NULL. */
void *pp_state_in_share(const struct pp_state *state, const struct pp_kernels *k, void *vector,
                        int64_t element);
/* Returns `state` with a part of its share: elements `window` of m, v and master. Those of shared
 * experts follow the others. These vectors are to begin with the window. */
struct pp_state pp_state_window(const struct pp_state *state, struct pp_range window);
/* Give a part weights or gradients of its own, which are as long as its share. */
void pp_state_own_weights(struct pp_state *part, void *weights);
void pp_state_own_gradients(struct pp_state *part, void *gradients);
/* Returns the vectors of `state` after a copy of their memory from `there` to `here`. */
struct pp_state pp_state_shifted(const struct pp_state *state, const char *there, char *here);
/* How to reach vectors whose addresses are not of the host's memory, between steps. A zero struct:
 * they are in the host's memory. PP_EFAIL: a device or a file does not answer. */
struct pp_state_reach {
    const void *closure;
    enum pp_status (*read)(const void *closure, const void *from, void *to, size_t bytes,
                           struct pp_error *err);
    enum pp_status (*write)(const void *closure, const void *from, void *to, size_t bytes,
                            struct pp_error *err);
};
struct pp_state_bytes {
    size_t weights, gradients;
    size_t optimizer; /* m, v, and master if there is one */
    size_t moment;    /* m alone */
};
/* Returns the bytes of a state, as large as that of the copy with the most. */
struct pp_state_bytes pp_state_bytes(const struct pp_stage *stage, const struct pp_kernels *k,
                                     bool is_exact, struct pp_cuts cuts);
/* Initializes a state in host memory. Weights and master are those of the recipe's source, or
 * depend on tensor id and seed, not on the division into stages. Gradients, m, v and gaps become
 * zero. `cuts`: see pp_state_bytes(). */
void pp_state_init(const struct pp_stage *stage, const struct pp_kernels *k,
                   const struct pp_recipe *recipe, const struct pp_state *state,
                   struct pp_cuts cuts);
/* Sets weights and master of a state that is zero. */
void pp_state_fill(const struct pp_stage *stage, const struct pp_kernels *k,
                   const struct pp_recipe *recipe, const struct pp_state *state);
/* Makes all of a state zero, as pp_state_init() does before it draws. */
void pp_state_clear(const struct pp_stage *stage, const struct pp_kernels *k,
                    const struct pp_state *state, struct pp_cuts cuts);
/* Returns `hash` continued with the first weights of each tensor of a new state. The second draws
 * these alone, of another process's state, whose vectors it does not read. Both are equal where the
 * functions of the C library round alike. */
uint64_t pp_state_hash(const struct pp_stage *stage, const struct pp_kernels *k,
                       const struct pp_state *state, uint64_t hash);
uint64_t pp_state_drawn_hash(const struct pp_stage *stage, const struct pp_kernels *k,
                             const struct pp_recipe *recipe, const struct pp_state *there,
                             uint64_t hash);

/* Sums of squares of gradients by block of PP_SQUARES_BLOCK elements of a tensor, tensors in the
 * order of the flat vectors. Only blocks that begin in the state's share are written; `scratch` has
 * room for all, NULL: they are written at once. */
int64_t pp_squares_blocks(const struct pp_stage *stage);
int64_t pp_squares_before(const struct pp_stage *stage, int64_t element); /* that begin earlier */
void pp_state_squares_of(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                         const struct pp_state *state, enum pp_state_part part, double *scratch,
                         double *blocks);
/* The same for all parts. */
void pp_state_squares(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                      const struct pp_state *state, double *scratch, double *blocks);
/* Returns where gradients must be complete: the end of the last block that begins in the share. */
int64_t pp_squares_end(const struct pp_stage *stage, struct pp_range share);
/* Adds all blocks of a stage to squares[layer], [net->layers + 2], a tied matrix to layer 0 only.
 * `parts`: of each replica that shares its experts, or one. The order is fixed, so the sum does not
 * depend on the division into stages, shares or parts. */
struct pp_squares_part {
    const struct pp_stage *stage;
    const double *blocks, *experts; /* experts: set by pp_squares_add() */
};
void pp_squares_add(struct pp_squares_part *parts, int count, double *squares);
/* Moves what another process needs to add a share's blocks in that order. Blocks with which the sum
 * of a tensor begins go as one. pp_squares_fold() has put their sum into the first one, and 0 into
 * the others. So `blocks` of the share hold what pp_squares_add() needs at both ends. */
typedef void (*pp_move)(void *closure, void *memory, size_t bytes);
void pp_squares_fold(const struct pp_stage *stage, struct pp_range share, double *blocks);
void pp_squares_move(const struct pp_stage *stage, struct pp_range share, double *blocks,
                     pp_move move, void *closure);
/* Returns the first tensor with a sum that is not finite; NULL if all are finite. */
const struct pp_param *pp_squares_not_finite(const struct pp_stage *stage, const double *blocks);
/* Returns the norm of all gradients; squares [layers + 2]. */
double pp_squares_norm(const double *squares, int layers);
/* Returns the factor of the gradients: 1 without clipping, else min(1, clip / norm), or NAN if the
 * norm is not finite. */
double pp_recipe_grad_scale(const struct pp_recipe *recipe, double norm);
/* Fills in all of `now` but grad_scale, for a step counted from 0. */
void pp_recipe_adamw_step(const struct pp_recipe *recipe, int step, struct pp_adamw_step *now);
/* Zeroes all gradients. */
void pp_state_clear_gradients(const struct pp_kernels *k, void *stream,
                              const struct pp_state *state);
/* Updates the share by one AdamW step and zeroes all gradients; pp_state_step(), those of the
 * share. The work reads *now when it runs, so it is the same in every step. */
void pp_state_update(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                     const struct pp_state *state, const struct pp_recipe *recipe,
                     const struct pp_adamw_step *now);
void pp_state_step(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                   const struct pp_state *state, const struct pp_recipe *recipe,
                   const struct pp_adamw_step *now);
