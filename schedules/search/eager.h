/* schedules/search/eager.h — the order in which a work-conserving rank runs its ops. Whenever it is
 * free it runs the first op whose inputs have arrived, by one of the rules of rule.h.
 *
 * The order depends on durations. A simulation of the compute ops finds it once, with transfers of
 * p2p cost and unbounded buffers. The result is a program like any other. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"
#include "schedules/search/rule.h"

struct pp_eager_options {
    struct pp_order_choice order; /* a chunk activation is held from the start of F to the end of B
                                   * or W. While too many are held, further forwards wait */
    const double *recompute_frac; /* [stage]: > 0 if backwards will recompute first; or NULL */
    const int64_t *unit_ps;       /* [op]: durations with those of recomputation, of an overlapped
                                   * pair at its first op; NULL = those of the costs */
    const int64_t *again_ps;      /* [op]: the part of unit_ps that is recomputation */
    bool skips_again;             /* no R where a backward follows its own forward at once */
};

/* Returns the compute-only `program` with its lists in the order of the rule; overlapped pairs stay
 * pairs. PP_EINVAL if it is lowered already, PP_EPROGRAM if it is illegal or the limit blocks all
 * ops. */
enum pp_status pp_eager_program(struct pp_arena *arena, const struct pp_program *program,
                                const struct pp_costs *costs,
                                const struct pp_eager_options *options, struct pp_program **eager,
                                struct pp_error *err);
