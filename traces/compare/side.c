/* The figures of one of the two traces: those of its median step. */
#include "traces/compare/parts.h"

#include "core/units.h"

/* Add `weight` times the figures of a trace. */
static enum pp_status add_metrics(struct pp_arena *arena, const struct pp_trace *trace,
                                  double weight, struct pp_compare_side *side, struct pp_error *err)
{
    struct pp_metrics all;
    const struct pp_metrics *metrics = &all;

    if (pp_metrics_compute(arena, trace, &all, err) != PP_OK) {
        if (err != NULL)
            err->status = PP_EINVAL; /* the file is wrong, not the program */
        pp_error_prefix(err, "%s: ", trace->program);
        return PP_EINVAL;
    }
    side->step_s += weight * metrics->iteration_s;
    side->bubble_frac += weight * metrics->iteration_s * metrics->bubble_frac; /* not yet divided */
    side->span_bubble_frac += weight * metrics->span_bubble_frac;
    for (int part = 0; part < PP_TIME_PARTS; part++)
        side->part_s[part] += weight * metrics->iteration_s * metrics->time_frac[part];
    for (int cause = 0; cause < PP_MOVE_CAUSES; cause++)
        side->moves_s[cause] += weight * metrics->iteration_s * metrics->moves_frac[cause];
    for (int r = 0; r < side->trace->ranks; r++) {
        const struct pp_rank_times *from = &metrics->ranks[r];
        struct pp_rank_times *to = &side->ranks[r];
        to->busy_s += weight * from->busy_s;
        to->idle_s += weight * from->idle_s;
        to->span_s += weight * from->span_s;
        for (int part = 0; part < PP_TIME_PARTS; part++)
            to->part_s[part] += weight * from->part_s[part];
        for (int cause = 0; cause < PP_MOVE_CAUSES; cause++)
            to->moves_s[cause] += weight * from->moves_s[cause];
    }
    return PP_OK;
}

static enum pp_status add_slice(struct pp_arena *arena, const struct pp_stepped *stepped, int index,
                                double weight, struct pp_compare_side *side, struct pp_error *err)
{
    const struct pp_step_slice *slice = &stepped->slices[index];
    struct pp_trace one = *stepped->trace;

    one.steps = 1;
    one.events = slice->events;
    one.count = slice->count;
    side->before_s += weight * pp_units_s(slice->arrival_ps - slice->begin_ps);
    return add_metrics(arena, &one, weight, side, err);
}

static int64_t begin_ps_of(const struct pp_stepped *stepped, int first)
{
    int64_t begin_ps = INT64_MAX;

    for (int i = first; i < stepped->count; i++)
        if (stepped->slices[i].arrival_ps < begin_ps)
            begin_ps = stepped->slices[i].arrival_ps;
    return begin_ps;
}

/* Index of each event of steps `first` and later in a trace without the others, else -1. */
static int *places_from(struct pp_arena *arena, const struct pp_stepped *stepped, int first,
                        int *count)
{
    const struct pp_trace *trace = stepped->trace;
    int *place = PP_ARRAY(arena, int, trace->count);

    *count = 0;
    for (int i = 0; i < trace->count; i++)
        place[i] = trace->events[i].step < stepped->slices[first].number ? -1 : (*count)++;
    return place;
}

/* Joins steps `first` and later into one trace that begins with them, in the order of the lists: in
 * a list steps may alternate. Only start and end of events are relative. */
static struct pp_trace join(struct pp_arena *arena, const struct pp_stepped *stepped, int first)
{
    const struct pp_trace *trace = stepped->trace;
    const int64_t begin_ps = begin_ps_of(stepped, first);
    struct pp_trace all = *trace;
    const int *place = places_from(arena, stepped, first, &all.count);

    all.steps = stepped->count - first;
    all.events = pp_arena_alloc_raw(arena, (size_t)all.count * sizeof(*all.events));
    for (int i = 0; i < trace->count; i++) {
        if (place[i] < 0)
            continue;
        struct pp_trace_event *event = &all.events[place[i]];
        *event = trace->events[i];
        event->step = pp_step_index(stepped, event->step) - first;
        event->start_s = pp_units_s(pp_units_ps(event->start_s) - begin_ps);
        event->end_s = pp_units_s(pp_units_ps(event->end_s) - begin_ps);
        if (event->waits_for >= 0)
            event->waits_for = place[event->waits_for];
    }
    return all;
}

static enum pp_status add_median(struct pp_arena *arena, const struct pp_stepped *stepped,
                                 int first, struct pp_compare_side *side, struct pp_error *err)
{
    const int count = stepped->count - first;
    const int *order = pp_steps_by_time(arena, stepped, first);

    if (count % 2 == 1)
        return add_slice(arena, stepped, order[count / 2], 1, side, err);
    PP_TRY(add_slice(arena, stepped, order[count / 2 - 1], 0.5, side, err));
    return add_slice(arena, stepped, order[count / 2], 0.5, side, err);
}

enum pp_status pp_compare_side(struct pp_arena *arena, const struct pp_stepped *stepped, int first,
                               struct pp_compare_side *side, struct pp_error *err)
{
    *side = (struct pp_compare_side){
        .trace = stepped->trace,
        .steps = stepped->count - first,
        .is_overlapping = stepped->is_overlapping,
        .ranks = PP_ARRAY(arena, struct pp_rank_times, stepped->trace->ranks)};
    if (stepped->is_overlapping) {
        const struct pp_trace all = join(arena, stepped, first);
        PP_TRY(add_metrics(arena, &all, 1, side, err));
    } else {
        PP_TRY(add_median(arena, stepped, first, side, err));
    }
    side->bubble_frac /= side->step_s;
    return PP_OK;
}
