/* What a configuration comes to. */
#include "sim/config/outcome.h"

#include "sim/config/config.h"

#include <stdio.h>

#define ROUNDING 1e-9 /* of steps */

struct pp_outcome pp_outcome_of(const struct pp_result *result)
{
    const struct pp_rank_memory *fullest = &result->memory[result->peak_rank];
    const double step_s = result->metrics.iteration_s;

    return (struct pp_outcome){
        .fits = result->config.is_unit || result->fits,
        .is_strained = pp_memory_is_strained(result->memory, result->program->ranks),
        .step_s = step_s,
        .s_per_sample =
            result->config.is_unit ? step_s : step_s / (double)result->config.layout.gbs,
        .exposed_frac = result->metrics.exposed_comm_frac,
        .mfu = result->mfu,
        .tokens_per_s_per_gpu = result->tokens_per_s_per_gpu,
        .state_bytes = pp_memory_state_bytes(fullest),
        .peak_bytes = fullest->peak_bytes,
    };
}

struct pp_outcome pp_outcome_refused(const struct pp_error *err)
{
    struct pp_outcome outcome = {.is_refused = true};

    snprintf(outcome.reason, sizeof(outcome.reason), "%.*s", (int)sizeof(outcome.reason) - 1,
             err->message);
    return outcome;
}

bool pp_outcome_is_better(const struct pp_outcome *x, const struct pp_outcome *best)
{
    if (x->is_refused != best->is_refused)
        return best->is_refused;
    if (x->fits != best->fits)
        return x->fits;
    return x->fits ? x->s_per_sample < best->s_per_sample * (1 - ROUNDING)
                   : x->peak_bytes < best->peak_bytes;
}
