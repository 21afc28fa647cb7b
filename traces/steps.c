/* A trace cut into its steps, each relative to its own begin. */
#include "core/quantile.h"
#include "core/units.h"
#include "traces/step.h"

#include <math.h>
#include <stdlib.h>

/* Picoseconds of differences must fit, and be exact in a double's 53 bits up to hours. */
static const double longest_s = 4e6;

struct cutter {
    struct pp_arena *arena;
    const struct pp_trace *trace;
    struct pp_stepped *stepped;
    int *numbers; /* numbers of all steps, ascending */
    int *place;   /* [event] its index within its slice */
};

static enum pp_status check_event(const struct pp_trace *trace, const struct pp_trace_event *event,
                                  struct pp_error *err)
{
    if (event->rank < 0 || event->rank >= trace->ranks || event->replica < 0 ||
        event->replica >= trace->replicas || event->kind >= PP_OP_KINDS)
        return pp_error_set(err, PP_EINVAL,
                            "%s: %s of rank %d, replica %d lies outside of the %d "
                            "ranks x %d replicas",
                            trace->program, event->cell, event->rank, event->replica, trace->ranks,
                            trace->replicas);
    if (!(event->start_s >= 0 && event->end_s >= event->start_s && event->end_s <= longest_s))
        return pp_error_set(
            err, PP_EINVAL, "%s: rank %d: %s runs from %g s to %g s; at most %g s can be compared",
            trace->program, event->rank, event->cell, event->start_s, event->end_s, longest_s);
    return PP_OK;
}

/* Finds the distinct numbers of steps. Neighbours mostly share theirs, so few have to be sorted. */
static enum pp_status find_numbers(struct cutter *c, struct pp_error *err)
{
    const struct pp_trace *trace = c->trace;
    int count = 0, capacity = 0;

    for (int i = 0; i < trace->count; i++) {
        PP_TRY(check_event(trace, &trace->events[i], err));
        if (i == 0 || trace->events[i].step != trace->events[i - 1].step)
            *PP_PUSH(c->arena, c->numbers, count, capacity) = trace->events[i].step;
    }
    if (count == 0)
        return pp_error_set(err, PP_EINVAL, "%s: no events", trace->program);
    qsort(c->numbers, (size_t)count, sizeof(*c->numbers), pp_ascending_ints);
    int distinct = 1;
    for (int i = 1; i < count; i++)
        if (c->numbers[i] != c->numbers[distinct - 1])
            c->numbers[distinct++] = c->numbers[i];
    c->stepped->count = distinct;
    return PP_OK;
}

static int compare_number(const void *number, const void *slice)
{
    return pp_ascending_ints(number, &((const struct pp_step_slice *)slice)->number);
}

int pp_step_index(const struct pp_stepped *stepped, int number)
{
    const struct pp_step_slice *slice = bsearch(&number, stepped->slices, (size_t)stepped->count,
                                                sizeof(*stepped->slices), compare_number);

    return (int)(slice - stepped->slices);
}

static struct pp_step_slice *slice_of(const struct cutter *c, int step)
{
    return &c->stepped->slices[pp_step_index(c->stepped, step)];
}

/* Time at which the rank reaches the op; a posted transfer may start much later. */
static double arrival_s(const struct pp_trace_event *event)
{
    return event->posted_s < event->start_s ? fmax(event->posted_s, 0) : event->start_s;
}

static void measure_slices(struct cutter *c)
{
    for (int i = 0; i < c->stepped->count; i++)
        c->stepped->slices[i] =
            (struct pp_step_slice){.number = c->numbers[i], .arrival_ps = INT64_MAX};
    for (int i = 0; i < c->trace->count; i++) {
        const struct pp_trace_event *event = &c->trace->events[i];
        struct pp_step_slice *slice = slice_of(c, event->step);
        const int64_t arrival_ps = pp_units_ps(arrival_s(event)),
                      end_ps = pp_units_ps(event->end_s);
        c->place[i] = slice->count++;
        slice->arrival_ps = arrival_ps < slice->arrival_ps ? arrival_ps : slice->arrival_ps;
        slice->last_ps = end_ps > slice->last_ps ? end_ps : slice->last_ps;
        if (event->kind != PP_WAIT && end_ps > slice->end_ps)
            slice->end_ps = end_ps;
    }
}

static void find_begins(struct pp_stepped *stepped)
{
    for (int i = 0; i < stepped->count; i++) {
        struct pp_step_slice *slice = &stepped->slices[i];
        slice->begin_ps = slice->arrival_ps;
        if (i == 0 || slice->number != slice[-1].number + 1)
            continue;
        if (slice->arrival_ps < slice[-1].last_ps)
            stepped->is_overlapping = true;
        slice->begin_ps = slice[-1].end_ps;
    }
}

static double relative_s(double seconds, const struct pp_step_slice *slice)
{
    return isnan(seconds) ? seconds : pp_units_s(pp_units_ps(seconds) - slice->begin_ps);
}

static void copy_events(struct cutter *c)
{
    for (int i = 0; i < c->stepped->count; i++) {
        struct pp_step_slice *slice = &c->stepped->slices[i];
        slice->events = pp_arena_alloc_raw(c->arena, (size_t)slice->count * sizeof(*slice->events));
    }
    for (int i = 0; i < c->trace->count; i++) {
        const struct pp_trace_event *event = &c->trace->events[i];
        const struct pp_step_slice *slice = slice_of(c, event->step);
        struct pp_trace_event *copy = &slice->events[c->place[i]];
        *copy = *event;
        copy->step = 0;
        copy->posted_s = relative_s(event->posted_s, slice);
        copy->matched_s = relative_s(event->matched_s, slice);
        copy->start_s = relative_s(event->start_s, slice);
        copy->end_s = relative_s(event->end_s, slice);
        if (event->waits_for >= 0)
            copy->waits_for = c->place[event->waits_for];
    }
}

static enum pp_status refuse_list(const struct pp_stepped *stepped, int step, int list,
                                  struct pp_error *err)
{
    const struct pp_trace *trace = stepped->trace;
    const int lacking = list < stepped->lists ? list : stepped->lists - 1;

    return pp_error_set(err, PP_EINVAL,
                        "%s: the events of rank %d of replica %d in step %d are missing or out of "
                        "place; a trace has every rank in every step",
                        trace->program, lacking % trace->ranks, lacking / trace->ranks, step);
}

/* Finds the begin of each list; every list must be there, in order. */
static enum pp_status find_lists(struct cutter *c, struct pp_step_slice *slice,
                                 struct pp_error *err)
{
    const int lists = c->stepped->lists;
    int list = -1;

    slice->begin = PP_ARRAY(c->arena, int, lists + 1);
    for (int i = 0; i < slice->count; i++) {
        const int here = pp_trace_list_of(c->trace, &slice->events[i]);
        if (here == list)
            continue;
        if (here != list + 1)
            return refuse_list(c->stepped, slice->number, list + 1, err);
        list = here;
        slice->begin[list] = i;
    }
    if (list != lists - 1)
        return refuse_list(c->stepped, slice->number, list + 1, err);
    slice->begin[lists] = slice->count;
    return PP_OK;
}

/* Refuses waits for events of another step or list, whose index would leave the slice. */
static enum pp_status check_waits(const struct pp_trace *trace, struct pp_error *err)
{
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *event = &trace->events[i], *target;
        if (event->waits_for < 0)
            continue;
        target = event->waits_for < trace->count ? &trace->events[event->waits_for] : NULL;
        if (target == NULL || target->step != event->step ||
            pp_trace_list_of(trace, target) != pp_trace_list_of(trace, event))
            return pp_error_set(err, PP_EINVAL, "%s: rank %d: %s waits for another step or rank",
                                trace->program, event->rank, event->cell);
    }
    return PP_OK;
}

enum pp_status pp_step_slices(struct pp_arena *arena, const struct pp_trace *trace,
                              struct pp_stepped *stepped, struct pp_error *err)
{
    struct cutter c = {.arena = arena, .trace = trace, .stepped = stepped};

    *stepped = (struct pp_stepped){.trace = trace, .lists = trace->ranks * trace->replicas};
    PP_TRY(find_numbers(&c, err));
    PP_TRY(check_waits(trace, err));
    if ((int64_t)stepped->lists * stepped->count > trace->count)
        return pp_error_set(
            err, PP_EINVAL, "%s: %d events are too few for %d ranks x %d replicas x %d steps",
            trace->program, trace->count, trace->ranks, trace->replicas, stepped->count);
    stepped->slices = PP_ARRAY(arena, struct pp_step_slice, stepped->count);
    c.place = PP_ARRAY(arena, int, trace->count);
    measure_slices(&c);
    find_begins(stepped);
    copy_events(&c);
    for (int i = 0; i < stepped->count; i++)
        PP_TRY(find_lists(&c, &stepped->slices[i], err));
    return PP_OK;
}
