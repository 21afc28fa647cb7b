#include "traces/step.h"

#include "core/units.h"
#include "traces/compare_parts.h"

#include <math.h>
#include <stdlib.h>

struct timed {
    int64_t ps;
    int slice;
};

static int by_time(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;

    if (a->ps != b->ps)
        return a->ps < b->ps ? -1 : 1;
    return a->slice - b->slice;
}

int *pp_steps_by_time(struct pp_arena *arena, const struct pp_stepped *stepped, int first)
{
    const int count = stepped->count - first;
    struct timed *times = PP_ARRAY(arena, struct timed, count);
    int *order = PP_ARRAY(arena, int, count);

    for (int i = 0; i < count; i++) {
        const struct pp_step_slice *slice = &stepped->slices[first + i];
        times[i] = (struct timed){slice->end_ps - slice->begin_ps, first + i};
    }
    qsort(times, (size_t)count, sizeof(*times), by_time);
    for (int i = 0; i < count; i++)
        order[i] = times[i].slice;
    return order;
}

/* Slices begin with the end of the step before; one that began earlier is moved. */
static void begin_at_zero(struct pp_step_slice *slice)
{
    const double before_s = pp_units_s(slice->begin_ps - slice->arrival_ps);

    for (int i = 0; i < slice->count && before_s > 0; i++) {
        struct pp_trace_event *event = &slice->events[i];
        event->posted_s += before_s;
        event->matched_s += before_s;
        event->start_s += before_s;
        event->end_s += before_s;
    }
}

enum pp_status pp_step_median(struct pp_arena *arena, const struct pp_trace *trace, int skip,
                              struct pp_step *step, struct pp_error *err)
{
    struct pp_stepped stepped;

    PP_TRY(pp_step_slices(arena, trace, &stepped, err));
    if (skip >= stepped.count)
        return pp_error_set(err, PP_EINVAL, "%s has %d step%s: none lies behind the first %d",
                            trace->program, stepped.count, stepped.count == 1 ? "" : "s", skip);
    const int *order = pp_steps_by_time(arena, &stepped, skip);
    struct pp_step_slice *slice =
        &stepped.slices[stepped.is_overlapping ? stepped.count - 1
                                               : order[(stepped.count - skip - 1) / 2]];
    begin_at_zero(slice);
    *step = (struct pp_step){.trace = *trace,
                             .number = slice->number,
                             .steps = stepped.count - skip,
                             .is_overlapping = stepped.is_overlapping};
    step->trace.steps = 1;
    step->trace.events = slice->events;
    step->trace.count = slice->count;
    return PP_OK;
}
