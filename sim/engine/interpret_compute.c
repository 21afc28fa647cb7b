/* Durations of compute ops, alone or concurrent with collectives on the same device. */
#include "schedules/evaluate/op_cost.h"
#include "schedules/evaluate/perturb.h"
#include "sim/engine/interpret_parts.h"

int64_t pp_compute_ps(const struct pp_run *r, int rank, int i)
{
    const bool is_fused = pp_op_is_compute(r->p->kind[i]) && r->p->aux[i] == PP_FUSED_FIRST &&
                          i + 1 < r->p->begin[rank + 1];

    return r->ps ? r->ps[i] : pp_program_ps(r->p, r->costs, i, is_fused);
}

static int64_t duration_of(const struct pp_run *r, const struct pp_instance *in, int i)
{
    const struct pp_perturbation *p = &r->options->perturbation;
    const uint64_t row = (uint64_t)(r->first_step + in->step) * (uint64_t)r->size + (uint64_t)i;

    if (p->compute_ps)
        return p->compute_ps[row * (uint64_t)r->replicas + (uint64_t)in->replica];
    if (p->jitter_frac == 0 && !p->slow)
        return pp_compute_ps(r, in->rank, i);
    return pp_perturb_ps(p, pp_perturb_stream(p, row),
                         p->slow ? p->slow + (size_t)in->rank * (size_t)r->replicas : NULL,
                         in->replica, (double)pp_compute_ps(r, in->rank, i));
}

/* Time of the op after which `bucket` is posted. */
static int64_t time_of_bucket(const struct pp_run *r, int64_t duration_ps, int bucket)
{
    int numerator = 1, denominator = 1;

    pp_program_posted_inside(r->p, bucket, &numerator, &denominator);
    return pp_costs_share_ps(duration_ps, numerator, denominator);
}

static int bucket_number(const struct pp_run *r, int i, int number)
{
    int bucket = pp_run_bucket(r, i);

    while (bucket >= 0 && number-- > 0)
        bucket = r->bucket_next[bucket];
    return bucket;
}

/* Begins the part of the op up to its next bucket, or its end. */
static void begin_part(struct pp_run *r, struct pp_instance *in)
{
    const int bucket = bucket_number(r, in->pc, in->parts_over);
    const int64_t before_ps =
        in->parts_over > 0
            ? time_of_bucket(r, in->duration_ps, bucket_number(r, in->pc, in->parts_over - 1))
            : 0;
    const int64_t end_ps =
        bucket >= 0 ? time_of_bucket(r, in->duration_ps, bucket) : in->duration_ps;

    in->left_ps = (double)(end_ps - before_ps);
    pp_slow_expect(r, in);
}

void pp_compute_event(struct pp_run *r, struct pp_instance *in)
{
    const int bucket = bucket_number(r, in->pc, in->parts_over);

    in->from_ps = r->now_ps;
    in->parts_over++;
    if (bucket >= 0) {
        in->left_ps = 0;
        pp_collectives_post(r, in, bucket, r->now_ps);
        pp_collectives_turns(r);
        begin_part(r, in);
        return;
    }
    in->is_computing = false;
    in->clock_ps = r->now_ps;
    pp_run_push(r, &r->ready, in);
}

static bool is_slowed(struct pp_run *r, struct pp_instance *in, int i)
{
    if (r->options->sync_share == 0)
        return false;
    pp_slow_account(r, in);
    return in->slow_first < in->slow_count || in->posted > in->done || pp_run_bucket(r, i) >= 0;
}

bool pp_compute_start(struct pp_run *r, struct pp_instance *in, int i)
{
    in->duration_ps = duration_of(r, in, i);
    in->parts_over = 0;
    if (is_slowed(r, in, i)) {
        in->is_computing = true;
        in->from_ps = in->clock_ps;
        begin_part(r, in);
        return false;
    }
    for (int bucket = pp_run_bucket(r, i); bucket >= 0; bucket = r->bucket_next[bucket])
        pp_collectives_post(r, in, bucket,
                            in->clock_ps + time_of_bucket(r, in->duration_ps, bucket));
    in->clock_ps += in->duration_ps;
    return true;
}
