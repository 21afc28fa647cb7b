/* schedules/search/eager.h — the order in which a work-conserving rank runs its ops (AxoNN: Singh
 * and Bhatele, IPDPS'22, section IV). Whenever it is free it runs the first op in its list whose
 * inputs have arrived.
 *
 * The order depends on costs. A simulation of the compute ops finds it once, with transfers of p2p
 * cost and unbounded buffers. The result is a program like any other. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"

struct pp_eager_options {
    int limit;                    /* chunk activations held by a rank, from the start of F to the
                                   * end of B or W; further forwards wait. 0 = no limit */
    const double *recompute_frac; /* [stage]: > 0 if backwards will recompute first; or NULL */
};

/* Returns the compute-only `program` with its lists in eager order; overlapped pairs stay pairs.
 * PP_EINVAL if it is lowered already, PP_EPROGRAM if it is illegal or the limit blocks all ops. */
enum pp_status pp_eager_program(struct pp_arena *arena, const struct pp_program *program,
                                const struct pp_costs *costs,
                                const struct pp_eager_options *options, struct pp_program **eager,
                                struct pp_error *err);
