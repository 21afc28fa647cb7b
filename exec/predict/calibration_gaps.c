/* Pauses between ops on the wall clock: a stream has to see an event, or a thread to wake up. They
 * depend on the predecessors of an op in its list; a prediction has one pause for each kind. */
#include "exec/predict/calibration.h"
#include "schedules/evaluate/weight_stream.h"

/* Returns the gap after an instruction. A WAIT after a BAR or the start of a step counts as the
 * first WAIT: the op then waits for a message. */
static int gap_after(int gap, int kind)
{
    if (pp_op_is_compute(kind))
        return 0;
    if (kind == PP_BAR)
        return PP_GAP_BAR;
    if (kind != PP_WAIT)
        return gap;
    return gap >= PP_GAP_WAITS ? 1 : gap + 1 < PP_GAP_WAITS ? gap + 1 : gap;
}

/* Returns the gap before instruction i and advances `gaps`, of the rank's two compute streams. A
 * stream that waits for the other one has a WAIT as well. */
static int gap_before(const struct pp_program *p, int i, int gaps[2])
{
    int *gap = &gaps[pp_weight_stream_has(p, i)];

    if (pp_weight_stream_after(p, i) >= 0)
        *gap = gap_after(*gap, PP_WAIT);
    const int before = *gap;
    *gap = gap_after(*gap, p->kind[i]);
    return before;
}

static void walk_list(struct pp_calibration *c, const struct pp_program *p, int rank, int replica,
                      const struct pp_step_times *times)
{
    int64_t ready_ps[2] = {times->begin_ps,
                           times->begin_ps}; /* end of all earlier work, by compute stream */
    int gaps[2] = {PP_GAP_STEP, PP_GAP_STEP};

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const size_t row = pp_step_row(times, i, replica);
        const bool is_op = pp_op_is_compute(p->kind[i]);
        const int after = pp_weight_stream_after(p, i);
        struct pp_samples *samples = &c->gap[gap_before(p, i, gaps)];
        int64_t *ready = &ready_ps[pp_weight_stream_has(p, i)];

        if (after >= 0)
            *ready = pp_later_ps(*ready, times->end_ps[pp_step_row(times, after, replica)]);
        if (is_op && p->aux[i] != PP_FUSED_SECOND)
            pp_samples_add(c, samples, (double)pp_later_ps(0, times->start_ps[row] - *ready));
        if (is_op || p->kind[i] == PP_WAIT || p->kind[i] == PP_BAR)
            *ready = pp_later_ps(*ready, times->end_ps[row]);
    }
}

void pp_calibration_gaps(struct pp_calibration *c, const struct pp_program *program,
                         const struct pp_step_times *times)
{
    for (int rank = 0; rank < program->ranks; rank++)
        for (int replica = 0; replica < times->replicas; replica++)
            walk_list(c, program, rank, replica, times);
}

/* A number of WAITs that was never measured takes the pause of the next smaller number. */
struct pp_pauses pp_calibration_pauses(const struct pp_calibration *c)
{
    struct pp_pauses pauses = {{0}};

    for (int gap = 0; gap < PP_GAPS; gap++)
        if (c->gap[gap].count > 0)
            pauses.ps[gap] = (int64_t)pp_samples_median(&c->gap[gap]);
        else if (gap > 0 && gap < PP_GAP_WAITS)
            pauses.ps[gap] = pauses.ps[gap - 1];
    return pauses;
}

void pp_pauses_add(const struct pp_program *p, struct pp_pauses pauses, int replicas,
                   int64_t *compute_ps)
{
    for (int rank = 0; rank < p->ranks; rank++) {
        int gaps[2] = {PP_GAP_STEP, PP_GAP_STEP};

        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            const int64_t pause_ps = pauses.ps[gap_before(p, i, gaps)];
            if (pp_op_is_compute(p->kind[i]) && p->aux[i] != PP_FUSED_SECOND)
                for (int r = 0; r < replicas; r++)
                    compute_ps[(size_t)i * (size_t)replicas + (size_t)r] += pause_ps;
        }
    }
}
