/* schedules/search/eager.h — the order in which a work-conserving rank runs its ops (AxoNN: Singh
 * and Bhatele, IPDPS'22, section IV). Whenever it is free it runs the first op in its list whose
 * inputs have arrived.
 *
 * The order depends on costs. It is found once, by simulating the compute ops with transfers of p2p
 * cost, buffered without bound, and then is a program like any other. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"

struct pp_eager_options {
    int limit;                    /* chunk activations that a rank may hold (from the start of F to
                                   * the end of B or W): forwards beyond it wait. 0 = no limit */
    const double *recompute_frac; /* [stage]: > 0 where backwards will recompute first; or NULL */
};

/* The compute-only `program` with its lists in eager order; overlapped pairs stay pairs. PP_EINVAL
 * when it is lowered already, PP_EPROGRAM when it is illegal or the limit lets nothing run. */
enum pp_status pp_eager_program(struct pp_arena *arena, const struct pp_program *program,
                                const struct pp_costs *costs,
                                const struct pp_eager_options *options, struct pp_program **eager,
                                struct pp_error *err);
