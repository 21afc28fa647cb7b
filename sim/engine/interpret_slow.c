/* Compute that collectives on the same device slow down. */
#include "sim/engine/interpret_parts.h"

#include <math.h>

static const double NEVER_PS = INFINITY;

/* Time at which in->left_ps of work ends, at most `until_ps`; `*left_ps` is the work left then. */
static double progress(const struct pp_run *r, const struct pp_instance *in, double until_ps,
                       double *left_ps)
{
    const double speed = 1 - r->options->sync_share;
    double at_ps = (double)in->from_ps;

    *left_ps = in->left_ps;
    for (int k = in->slow_first; k <= in->slow_count; k++) {
        const bool is_last = k == in->slow_count; /* after the last one: full speed */
        const double from_ps = is_last ? NEVER_PS : (double)in->slow[k].from_ps;
        const double to_ps = is_last                             ? NEVER_PS
                             : in->slow[k].until_ps == INT64_MAX ? NEVER_PS
                                                                 : (double)in->slow[k].until_ps;
        const double fast_ps = fmax(fmin(from_ps, until_ps) - at_ps, 0);
        if (*left_ps <= fast_ps)
            return at_ps + *left_ps;
        *left_ps -= fast_ps;
        at_ps += fast_ps;
        if (at_ps >= until_ps)
            return until_ps;
        const double slow_ps = fmax(fmin(to_ps, until_ps) - at_ps, 0);
        if (*left_ps <= slow_ps * speed)
            return at_ps + *left_ps / speed;
        *left_ps -= slow_ps * speed;
        at_ps += slow_ps;
        if (at_ps >= until_ps)
            return until_ps;
    }
    return at_ps;
}

void pp_slow_expect(struct pp_run *r, struct pp_instance *in)
{
    double left_ps;

    const double end_ps = ceil(progress(r, in, NEVER_PS, &left_ps));
    pp_express_call(r->express, (int)(in - r->instance),
                    end_ps < (double)PP_LATEST_PS ? (int64_t)end_ps : PP_LATEST_PS + 1);
}

void pp_slow_account(struct pp_run *r, struct pp_instance *in)
{
    double left_ps;

    if (in->is_computing && r->now_ps > in->from_ps) {
        progress(r, in, (double)r->now_ps, &left_ps);
        in->left_ps = left_ps;
        in->from_ps = r->now_ps;
    }
    const int64_t past_ps = in->is_computing ? in->from_ps : in->clock_ps;
    while (in->slow_first < in->slow_count && in->slow[in->slow_first].until_ps <= past_ps)
        in->slow_first++;
}

void pp_slow_begin(struct pp_run *r, struct pp_instance *in, int64_t from_ps, int64_t until_ps)
{
    if (r->options->sync_share == 0 || until_ps <= from_ps)
        return;
    pp_slow_account(r, in);
    *PP_PUSH(r->arena, in->slow, in->slow_count, in->slow_capacity) =
        (struct pp_slow_time){from_ps, until_ps};
    if (in->is_computing)
        pp_slow_expect(r, in);
}

void pp_slow_end(struct pp_run *r, struct pp_instance *in)
{
    if (r->options->sync_share == 0)
        return;
    pp_slow_account(r, in);
    in->slow[in->slow_count - 1].until_ps = r->now_ps;
    if (in->is_computing)
        pp_slow_expect(r, in);
}
