/* core/cost/generation/generation.h — costs and memory of a run that generates: passes over
 * prompts, then token by token with a cache of keys and values. Formulas: docs/costs.md,
 * "Generation".
 *
 * Pass t of model stage s is stage v = t S + s of the tables. Passes differ only in the keys that
 * attention reads, so that everything else is computed once. */
#pragma once

#include "core/cost/analytic/roofline.h"
#include "core/cost/cost.h"

/* One pass of a group over one model stage; of pass 0, of one piece of its prompts. Seconds are not
 * rounded. */
struct pp_pass_cost {
    double s;                                /* all of it */
    double matrix_s, attention_s, kernels_s; /* products of matrices; other kernels */
    double tp_s, ep_s;                       /* exchanges */
    double host_s;              /* what launches and gaps of the host add to all of these */
    double flops;               /* of all devices of the rank */
    double bytes;               /* memory traffic of a device, without exchanges, ... */
    double weight_bytes;        /* ... of it parameters read, ... */
    double cache_bytes;         /* ... and keys and values read, those of its own token too */
    double compute_s, memory_s; /* kernels that products bound, that bytes bound */
    double launches;
};
struct pp_pass_cost pp_generation_pass(const struct pp_cost_inputs *in, int stage, int pass);

/* Fills costs, links and memory of all S T stages. The entry of pass 0 is the cost of a piece times
 * their number. PP_EINVAL for what pp_costs_analytic() refuses. */
enum pp_status pp_costs_generation(struct pp_arena *arena, const struct pp_cost_inputs *in,
                                   struct pp_costs **costs, struct pp_error *err);

/* Returns the experts of a mixture that `tokens` tokens meet on average, if all choices are equally
 * likely: E (1 - (1 - k/E)^tokens). */
double pp_generation_experts_met(const struct pp_experts *experts, double tokens);
