/* Adds tasks and their dependencies. */
#include "sim/export/walk.h"

#include <math.h>

int pp_export_add(struct pp_export_walk *w, struct pp_task task)
{
    task.first = w->tasks->input_count;
    *PP_PUSH(w->arena, w->tasks->list, w->tasks->count, w->tasks->capacity) = task;
    return w->tasks->count - 1;
}

void pp_walk_need(struct pp_export_walk *w, int input)
{
    struct pp_task *task = &w->tasks->list[w->tasks->count - 1];

    for (int k = 0; k < task->count; k++)
        if (w->tasks->inputs[task->first + k] == input)
            return;
    if (input < 0)
        return;
    *PP_PUSH(w->arena, w->tasks->inputs, w->tasks->input_count, w->tasks->input_capacity) = input;
    task->count++;
}

void pp_walk_need_clock(struct pp_export_walk *w)
{
    for (int k = 0; k < w->clock_count; k++)
        pp_walk_need(w, w->clock[k]);
}

void pp_walk_set_clock(struct pp_export_walk *w, int task)
{
    w->clock_count = 0;
    *PP_PUSH(w->arena, w->clock, w->clock_count, w->clock_capacity) = task;
}

void pp_walk_wait(struct pp_export_walk *w, int task)
{
    for (int k = 0; k < w->clock_count; k++)
        if (w->clock[k] == task)
            return;
    if (task >= 0)
        *PP_PUSH(w->arena, w->clock, w->clock_count, w->clock_capacity) = task;
}

int pp_walk_calc(struct pp_export_walk *w, int lane, int64_t ps, int instruction)
{
    return pp_export_add(
        w,
        (struct pp_task){.kind = PP_TASK_CALC, .lane = lane, .ps = ps, .instruction = instruction});
}

int pp_walk_token(struct pp_export_walk *w, enum pp_task_kind kind, int lane, int peer,
                  int peer_lane, uint32_t tag)
{
    return pp_export_add(w, (struct pp_task){.kind = kind,
                                             .lane = lane,
                                             .bytes = 1,
                                             .peer = peer,
                                             .peer_lane = peer_lane,
                                             .tag = tag,
                                             .instruction = -1});
}

const struct pp_trace_event *pp_walk_event(const struct pp_export_walk *w)
{
    return &w->export->result->trace->events[w->event];
}

int64_t pp_walk_lasted_ps(const struct pp_export_walk *w)
{
    const struct pp_trace_event *event = pp_walk_event(w);

    return llround((event->end_s - event->start_s) * 1e12);
}
