/* Multiplications of a step that cuBLASLt has refused, and the first one that has failed. */
#include "exec/cuda/backend.h"

#include <stdio.h>

void pp_cuda_fallbacks_begin(struct cuda_stream *target)
{
    if (target->cuda.plans)
        pp_cuda_plans_report(target->cuda.plans)->multiplied = (struct pp_cuda_multiplied){0};
}

void pp_cuda_fallbacks(const struct pp_backend_device *d, struct pp_fallbacks *f)
{
    const char *(*attention)(void) = d->options.kernels->attention;

    *f = (struct pp_fallbacks){0};
    snprintf(f->attention, sizeof(f->attention), "%s", attention ? attention() : "own");
    for (int i = 0; i < d->cuda_stream_count; i++) {
        const struct pp_cuda_plan_report *r = pp_cuda_plans_report(d->cuda_streams[i].cuda.plans);

        if (!r)
            continue;
        f->gemms += r->multiplied.all;
        f->own += r->multiplied.own;
        f->finished += r->multiplied.finished;
        f->refused += r->refused;
        if (r->refusal && !f->first[0])
            snprintf(f->first, sizeof(f->first), "%s", r->refusal);
    }
}

const char *pp_cuda_multiply_failure(const struct pp_backend_device *d)
{
    const char *failure = NULL;

    for (int i = 0; i < d->cuda_stream_count && !failure; i++)
        if (d->cuda_streams[i].cuda.plans)
            failure = pp_cuda_plans_report(d->cuda_streams[i].cuda.plans)->failure;
    return failure;
}
