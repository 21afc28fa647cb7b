/* schedules/program/buckets.c — gradient sums that are posted while the backward still runs. */
#include "schedules/program/program.h"

static bool is_bucket(const struct pp_program *p, int i)
{
    return pp_op_has_buckets(p->kind[i]) && p->buckets[i] > 1;
}

/* Is true for a sum of gradients, the AR after an RS (PP_FOR_REST) included. */
static bool is_sum(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_AR || p->kind[i] == PP_RS;
}

/* Is true if instruction i takes no time between a backward and a bucket of its stage. */
static bool is_between(const struct pp_program *p, int i, int bucket)
{
    return pp_op_kinds[p->kind[i]].stream == PP_STREAM_CHANNEL || p->kind[i] == PP_DROP ||
           (is_bucket(p, i) && is_sum(p, i) && p->stage[i] == p->stage[bucket] &&
            p->bucket[i] <= p->bucket[bucket]);
}

int pp_program_posted_inside(const struct pp_program *p, int i, int *numerator, int *denominator)
{
    int back = i - 1;

    if (!is_sum(p, i) || !is_bucket(p, i) || p->bucket[i] + 1 >= p->buckets[i])
        return -1;
    while (back >= 0 && is_between(p, back, i))
        back--;
    if (back < 0 || (p->kind[back] != PP_B && p->kind[back] != PP_W) ||
        p->stage[back] != p->stage[i] || back < p->begin[pp_program_rank_at(p, i)])
        return -1;
    *numerator = p->bucket[i] + 1;
    *denominator = p->buckets[i];
    return back;
}
