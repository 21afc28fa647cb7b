/* One step of a trace as a trace of its own: the median one, or one by its number. */
#define _GNU_SOURCE /* qsort_r */

#include "traces/step.h"

#include "core/units.h"

#include <math.h>
#include <stdlib.h>

static int by_time(const void *left, const void *right, void *slices)
{
    const int a = *(const int *)left, b = *(const int *)right;
    const struct pp_step_slice *p = (const struct pp_step_slice *)slices + a,
                               *q = (const struct pp_step_slice *)slices + b;
    const int64_t more_ps = p->end_ps - p->begin_ps - (q->end_ps - q->begin_ps);

    return more_ps != 0 ? (more_ps < 0 ? -1 : 1) : a - b;
}

int *pp_steps_by_time(struct pp_arena *arena, const struct pp_stepped *stepped, int first)
{
    const int count = stepped->count - first;
    int *order = PP_ARRAY(arena, int, count);

    for (int i = 0; i < count; i++)
        order[i] = first + i;
    qsort_r(order, (size_t)count, sizeof(*order), by_time, stepped->slices);
    return order;
}

static double first_compute_s(const struct pp_step_slice *slice)
{
    double first_s = INFINITY;

    for (int i = 0; i < slice->count; i++)
        if (slice->events[i].stream == PP_STREAM_COMPUTE)
            first_s = fmin(first_s, slice->events[i].start_s);
    return isfinite(first_s) ? first_s : pp_units_s(slice->arrival_ps - slice->begin_ps);
}

static double since(double begin_s, double time_s)
{
    return isnan(time_s) ? time_s : fmax(time_s - begin_s, 0);
}

/* Makes times begin at 0. A slice begins at the end of the previous step. One that overlaps begins
 * with its first op; its posts and waits may be long before. */
static void begin_at_zero(struct pp_step_slice *slice)
{
    const double begin_s = first_compute_s(slice);

    for (int i = 0; i < slice->count && slice->arrival_ps < slice->begin_ps; i++) {
        struct pp_trace_event *event = &slice->events[i];
        event->posted_s = since(begin_s, event->posted_s);
        event->matched_s = since(begin_s, event->matched_s);
        event->start_s = since(begin_s, event->start_s);
        event->end_s = since(begin_s, event->end_s);
    }
}

static struct pp_step take(const struct pp_stepped *stepped, struct pp_step_slice *slice, int steps)
{
    struct pp_step step = {.trace = *stepped->trace,
                           .number = slice->number,
                           .steps = steps,
                           .is_overlapping = stepped->is_overlapping};

    begin_at_zero(slice);
    step.trace.steps = 1;
    step.trace.events = slice->events;
    step.trace.count = slice->count;
    return step;
}

enum pp_status pp_step_median(struct pp_arena *arena, const struct pp_trace *trace, int skip,
                              struct pp_step *step, struct pp_error *err)
{
    struct pp_stepped stepped;

    PP_TRY(pp_step_slices(arena, trace, &stepped, err));
    if (skip >= stepped.count)
        return pp_error_set(err, PP_EINVAL, "%s has %d step%s: none comes after the first %d",
                            trace->program, stepped.count, stepped.count == 1 ? "" : "s", skip);
    const int *order = pp_steps_by_time(arena, &stepped, skip);
    const int at =
        stepped.is_overlapping ? stepped.count - 1 : order[(stepped.count - skip - 1) / 2];
    *step = take(&stepped, &stepped.slices[at], stepped.count - skip);
    return PP_OK;
}

enum pp_status pp_step_at(struct pp_arena *arena, const struct pp_trace *trace, int number,
                          struct pp_step *step, struct pp_error *err)
{
    struct pp_stepped stepped;

    PP_TRY(pp_step_slices(arena, trace, &stepped, err));
    for (int i = 0; i < stepped.count; i++)
        if (stepped.slices[i].number == number) {
            *step = take(&stepped, &stepped.slices[i], 1);
            return PP_OK;
        }
    if (stepped.count == 1)
        return pp_error_set(err, PP_EINVAL, "%s has no step %d: it has step %d alone",
                            trace->program, number + 1, stepped.slices[0].number + 1);
    return pp_error_set(err, PP_EINVAL, "%s has no step %d: it has steps %d to %d", trace->program,
                        number + 1, stepped.slices[0].number + 1,
                        stepped.slices[stepped.count - 1].number + 1);
}
