/* Makes boxes of ranks from events of a trace. */
#include "core/quantile.h"
#include "plots/timeline/parts.h"

#include <math.h>
#include <stdlib.h>

struct maker {
    struct pp_arena *arena;
    const struct pp_trace *trace;
    struct pp_timeline *t;
    int end; /* end of the events of replica 0, which are the first */
};

static enum pp_status refuse(const struct maker *m, const struct pp_trace_event *event,
                             const char *what, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "%s: rank %d: %s: %s", m->trace->program, event->rank,
                        event->cell ? event->cell : "?", what);
}

/* ---- events of the replica ------------------------------------------------------------------- */

static enum pp_status check_event(const struct maker *m, int index, struct pp_error *err)
{
    const struct pp_trace_event *event = &m->trace->events[index];

    if (event->rank < 0 || event->rank >= m->trace->ranks ||
        (index > 0 && event->rank < event[-1].rank))
        return refuse(m, event, "events are not in the order of ranks", err);
    if (!(isfinite(event->start_s) && event->end_s >= event->start_s && isfinite(event->end_s)))
        return refuse(m, event, "its times are no numbers, or its end lies before its start", err);
    return PP_OK;
}

static enum pp_status find_events(struct maker *m, struct pp_error *err)
{
    const struct pp_trace *trace = m->trace;

    for (; m->end < trace->count && trace->events[m->end].replica == 0; m->end++)
        PP_TRY(check_event(m, m->end, err));
    if (m->end == 0)
        return pp_error_set(err, PP_EINVAL, "%s: no events of replica 0", trace->program);
    if (trace->ranks > m->end)
        return pp_error_set(err, PP_EINVAL, "%s: %d events are too few for %d ranks",
                            trace->program, m->end, trace->ranks);
    return PP_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int compare_steps(const void *key, const void *element)
{
    return pp_ascending_ints(key, &((const struct pp_timeline_step *)element)->number);
}

static struct pp_timeline_step *step_of(const struct pp_timeline *t, int number)
{
    return bsearch(&number, t->steps, (size_t)t->step_count, sizeof(*t->steps), compare_steps);
}

/* Lists the steps; their numbers may begin anywhere and have gaps. */
static void number_steps(struct maker *m)
{
    const struct pp_trace_event *events = m->trace->events;
    int *numbers = NULL, count = 0, capacity = 0;

    for (int i = 0; i < m->end; i++)
        if (i == 0 || events[i].step != events[i - 1].step)
            *PP_PUSH(m->arena, numbers, count, capacity) = events[i].step;
    qsort(numbers, (size_t)count, sizeof(*numbers), pp_ascending_ints);
    m->t->steps = PP_ARRAY(m->arena, struct pp_timeline_step, count);
    for (int i = 0; i < count; i++)
        if (i == 0 || numbers[i] != numbers[i - 1])
            m->t->steps[m->t->step_count++] = (struct pp_timeline_step){.number = numbers[i]};
}

static void extend(struct pp_timeline *t, struct pp_timeline_step *step,
                   const struct pp_trace_event *event)
{
    if (event->stream == PP_STREAM_COMPUTE)
        t->begin_s = fmin(t->begin_s, event->start_s);
    if (event->kind != PP_WAIT) /* a WAIT for a SEND may be in a later step */
        step->end_s = fmax(step->end_s, event->end_s);
    t->end_s = fmax(t->end_s, event->end_s);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static struct pp_timeline_op op_of(const struct pp_op *op)
{
    return (struct pp_timeline_op){.kind = op->kind,
                                   .split = op->split,
                                   .granules = op->granules,
                                   .stage = op->stage,
                                   .pipe = op->pipe, /* from the cell, until pipelines are found */
                                   .mb = op->mb};
}

/* Extends the numbers of micro-batches, splits and stages. */
static void count_op(struct maker *m, const struct pp_timeline_op *op)
{
    struct pp_timeline *t = m->t;
    const int64_t end = op->mb < 0 ? 0 : (int64_t)op->mb + op->granules;

    t->ids = end > t->ids ? (end > INT32_MAX ? INT32_MAX : (int)end) : t->ids;
    t->splits = op->mb >= 0 && op->split >= t->splits ? op->split + 1 : t->splits;
    t->stages = op->stage >= t->stages ? op->stage + 1 : t->stages;
}

static enum pp_status add_box(struct maker *m, const struct pp_trace_event *event, int step,
                              struct pp_error *err)
{
    struct pp_timeline_box *box = &m->t->boxes[m->t->count];
    struct pp_op ops[2];
    int count;

    if (!event->cell || pp_op_parse(event->cell, ops, &count, NULL) != PP_OK ||
        !pp_op_is_compute(ops[0].kind))
        return refuse(m, event, "not an op that computes", err);
    *box = (struct pp_timeline_box){.rank = event->rank,
                                    .step = step,
                                    .is_fused = count == 2,
                                    .op = op_of(&ops[0]),
                                    .start_s = event->start_s,
                                    .end_s = event->end_s};
    count_op(m, &box->op);
    if (count == 2) {
        box->second = op_of(&ops[1]);
        box->forward_frac = isnan(event->forward_frac) ? 1.0F / 3 : (float)event->forward_frac;
        count_op(m, &box->second);
    }
    m->t->count++;
    return PP_OK;
}

static enum pp_status add_boxes(struct maker *m, struct pp_error *err)
{
    struct pp_timeline *t = m->t;
    int compute = 0, rank = 0;

    for (int i = 0; i < m->end; i++)
        compute += m->trace->events[i].stream == PP_STREAM_COMPUTE;
    t->boxes = pp_arena_alloc_raw(m->arena, ((size_t)compute + 1) * sizeof(struct pp_timeline_box));
    t->begin = PP_ARRAY(m->arena, int, t->ranks + 1);
    for (int i = 0; i < m->end; i++) {
        const struct pp_trace_event *event = &m->trace->events[i];
        struct pp_timeline_step *step = step_of(t, event->step);
        extend(t, step, event);
        if (event->stream != PP_STREAM_COMPUTE)
            continue;
        while (rank < event->rank)
            t->begin[++rank] = t->count;
        PP_TRY(add_box(m, event, (int)(step - t->steps), err));
    }
    while (rank < t->ranks)
        t->begin[++rank] = t->count;
    return PP_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Every micro-batch has ops, so a number far above that of ops is an error. */
static enum pp_status check_ids(const struct maker *m, struct pp_error *err)
{
    if ((int64_t)m->t->ids <= ((int64_t)m->t->count + 1) * UINT8_MAX)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: micro-batch %d in a trace of %d ops",
                        m->trace->program, m->t->ids - 1, m->t->count);
}

enum pp_status pp_timeline_make(struct pp_arena *arena, const struct pp_trace *trace,
                                struct pp_timeline *timeline, struct pp_error *err)
{
    struct maker m = {.arena = arena, .trace = trace, .t = timeline};

    *timeline = (struct pp_timeline){
        .trace = trace, .ranks = trace->ranks, .begin_s = INFINITY, .splits = 1, .stages = 1};
    PP_TRY(find_events(&m, err));
    number_steps(&m);
    PP_TRY(add_boxes(&m, err));
    PP_TRY(check_ids(&m, err));
    pp_timeline_find_copies(arena, m.end, timeline);
    return pp_timeline_find_pipes(arena, timeline, err);
}

enum pp_status pp_timeline_refuse_time(const struct pp_timeline *timeline, double from_s,
                                       double to_s, const char *unit, struct pp_error *err)
{
    if (from_s >= timeline->end_s)
        return pp_error_set(err, PP_EINVAL, "%s: nothing to draw from %g %s on: it ends at %g %s",
                            timeline->trace->program, from_s, unit, timeline->end_s, unit);
    return pp_error_set(err, PP_EINVAL, "%s: nothing to draw from %g %s to %g %s",
                        timeline->trace->program, from_s, unit, to_s, unit);
}

bool pp_timeline_generates(const struct pp_timeline *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->boxes[i].op.kind != PP_F || t->boxes[i].is_fused)
            return false;
    return t->chunks > 1 && !t->trace->is_partial;
}
