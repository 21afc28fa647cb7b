/* sim/config/outcome.h — what a configuration comes to: refused, too large, or so fast. Planners
 * keep it of every choice that they simulate. */
#pragma once

#include <stdbool.h>

struct pp_error;
struct pp_result;

enum { PP_OUTCOME_REASON_BYTES = 192 };
struct pp_outcome {
    bool is_refused, fits;
    bool is_strained; /* it fits, if at all, only as the allocator gives blocks back: memory.h */
    double step_s, s_per_sample, exposed_frac, mfu, tokens_per_s_per_gpu; /* 0: not simulated */
    double state_bytes, peak_bytes;                                       /* of the fullest rank */
    char reason[PP_OUTCOME_REASON_BYTES]; /* of a refusal, perhaps cut off */
};
/* Of a simulation of any depth; in unit mode everything fits. */
struct pp_outcome pp_outcome_of(const struct pp_result *result);
struct pp_outcome pp_outcome_refused(const struct pp_error *err);

/* Whether `x` is better than `best`. The first rule that tells them apart decides. `x` is not
 * refused. It fits. Its step is shorter by more than rounding. If both do not fit, it needs less
 * memory. */
bool pp_outcome_is_better(const struct pp_outcome *x, const struct pp_outcome *best);
