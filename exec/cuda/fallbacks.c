/* Multiplications of a step that cuBLASLt has refused, and the first one that has failed. */
#include "exec/cuda/backend.h"

#include <stdio.h>

void pp_cuda_fallbacks_begin(struct cuda_stream *target)
{
    if (target->cuda.plans)
        pp_cuda_plans_counts(target->cuda.plans)->multiplied = (struct pp_cuda_multiplied){0};
}

void pp_cuda_fallbacks(const struct pp_backend_device *d, struct pp_fallbacks *f)
{
    const char *(*attention)(void) = d->options.kernels->attention;

    *f = (struct pp_fallbacks){0};
    snprintf(f->attention, sizeof(f->attention), "%s", attention ? attention() : "own");
    for (int i = 0; i < d->cuda_stream_count; i++) {
        struct pp_cuda_plans *plans = d->cuda_streams[i].cuda.plans;

        if (!plans)
            continue;
        const struct pp_cuda_plan_counts *counts = pp_cuda_plans_counts(plans);
        const char *refusal = pp_cuda_plans_refusal(plans);
        f->gemms += counts->multiplied.all;
        f->own += counts->multiplied.own;
        f->finished += counts->multiplied.finished;
        f->refused += counts->refused;
        if (refusal && !f->first[0])
            snprintf(f->first, sizeof(f->first), "%s", refusal);
    }
}

const char *pp_cuda_multiply_failure(const struct pp_backend_device *d)
{
    const char *failure = NULL;

    for (int i = 0; i < d->cuda_stream_count && !failure; i++)
        if (d->cuda_streams[i].cuda.plans)
            failure = pp_cuda_plans_failure(d->cuda_streams[i].cuda.plans);
    return failure;
}
