/* sim/run/prepare.h — what a simulation begins with: costs, program, memory. */
#pragma once

#include "sim/config/config.h"

/* What simulations of one configuration share, in the arena of the first. It remembers the
 * configuration that it was made of, and is made again for another one. */
struct pp_prepared {
    struct pp_result known; /* costs NULL: nothing yet. program: without slots, not verified; NULL:
                             * not yet */
    struct pp_eval *eval;   /* NULL: not yet */
    struct pp_eval_options eval_options;
};

/* Fill result->costs, program, memory, peak_rank and fits of result->config from `prepared`, or
 * make and remember them there. Unless `is_bare`, the program is made anew, with slots, and is
 * verified. */
enum pp_status pp_prepare(struct pp_arena *arena, bool is_bare, struct pp_prepared *prepared,
                          struct pp_result *result, struct pp_error *err);
/* Did the fabric find all routes so far? */
enum pp_status pp_prepare_check(const struct pp_config *config, struct pp_error *err);

/* The plan for these options, made unless it is known. */
enum pp_status pp_prepared_plan(struct pp_arena *arena, struct pp_prepared *prepared,
                                const struct pp_eval_options *options, const struct pp_eval **eval,
                                struct pp_error *err);
/* The plan if it is one of this program and these options, else NULL. */
const struct pp_eval *pp_prepared_known_plan(const struct pp_prepared *prepared,
                                             const struct pp_program *program,
                                             const struct pp_eval_options *options);
