/* sim/run/prepare.h — inputs of a simulation: costs, program, memory. */
#pragma once

#include "schedules/build/known.h"
#include "sim/config/config.h"

/* Inputs that simulations of one configuration share, in the arena of the first simulation. They
 * are made again for another configuration. */
struct pp_prepared {
    struct pp_result known; /* costs NULL: not made yet. program: without slots, not verified; NULL:
                             * not made yet */
    struct pp_eval *eval;   /* NULL = not made yet */
    struct pp_eval_options eval_options;
    struct pp_known_programs *programs; /* of other configurations; NULL = keeps none */
    bool is_alone;     /* no other configuration competes: a choice of state needs no times */
    bool is_by_fit;    /* others compete by time if they fit, else by memory, without a time */
    double most_bytes; /* orders that need more for certain are no programs (schedules/build). Then
                        * `result` has no memory, and does not fit. 0 = any */
    bool needs_fit;    /* the same for a choice of state that another tier has no room for */
};

/* How complete a program is. */
enum pp_made {
    PP_MADE_CUT,   /* bare; periods of its steady state may be left out */
    PP_MADE_BARE,  /* without slots, and not verified */
    PP_MADE_WHOLE, /* new, with slots, and verified */
};

/* Finds lower bounds of a configuration's memory by its order, without a program. They are 0 if the
 * programs of other configurations are not kept by their orders. Keeps costs and order. */
enum pp_status pp_prepare_least(struct pp_arena *arena, const struct pp_config *config,
                                struct pp_prepared *prepared, struct pp_least *least,
                                struct pp_error *err);
/* Fills costs, program, memory, peak_rank, fits and is_tight of `result` from `prepared`, which
 * keeps what is made. */
enum pp_status pp_prepare(struct pp_arena *arena, enum pp_made made, struct pp_prepared *prepared,
                          struct pp_result *result, struct pp_error *err);
/* Gives the bare program of `result` its buffers, and proves it. */
enum pp_status pp_prepare_proof(struct pp_arena *arena, struct pp_result *result,
                                struct pp_error *err);
/* Reports the error of the fabric, if it has not found all routes so far. */
enum pp_status pp_prepare_check(const struct pp_config *config, struct pp_error *err);

/* Plan for these options, made if it is missing. */
enum pp_status pp_prepared_plan(struct pp_arena *arena, struct pp_prepared *prepared,
                                const struct pp_eval_options *options, const struct pp_eval **eval,
                                struct pp_error *err);
/* Plan of this program and these options; NULL if there is none. */
const struct pp_eval *pp_prepared_known_plan(const struct pp_prepared *prepared,
                                             const struct pp_program *program,
                                             const struct pp_eval_options *options);
