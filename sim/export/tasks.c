/* The list of one rank as tasks: compute, copies, waits and barriers. */
#include "sim/export/walk.h"

#include <math.h>
#include <string.h>

/* ---- compute --------------------------------------------------------------------------------- */

static void compute(struct pp_export_walk *w, int i, int64_t ps)
{
    const int task = pp_walk_calc(w, LANE_COMPUTE, ps, i);

    pp_walk_need_clock(w);
    pp_walk_set_clock(w, task);
}

/* Both ops of a pair are one task. Buckets that are posted while it runs cut it in parts. */
static void walk_compute(struct pp_export_walk *w, int i)
{
    const struct pp_program *p = w->program;
    const int last = i + (p->aux[i] == PP_FUSED_FIRST); /* of a pair the backward */
    const int64_t ps = pp_walk_lasted_ps(w);
    int64_t passed_ps = 0;
    int numerator, denominator;

    if (p->aux[i] == PP_FUSED_SECOND)
        return;
    for (int k = last + 1; k < p->begin[w->rank + 1] && !pp_op_is_compute(p->kind[k]); k++) {
        if (!pp_op_is_collective(p->kind[k]) ||
            pp_program_posted_inside(p, k, &numerator, &denominator) != last)
            continue;
        const int64_t until_ps = pp_costs_share_ps(ps, numerator, denominator);
        compute(w, i, until_ps - passed_ps);
        w->inside[k - p->begin[w->rank]] = w->clock[0];
        passed_ps = until_ps;
    }
    compute(w, i, ps - passed_ps);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void walk_copy(struct pp_export_walk *w, int i)
{
    const int stream = pp_copy_stream(w->program->version[i]);

    w->last_copy[stream] = pp_walk_alone(w, LANE_COPY + stream, w->last_copy[stream], i);
    w->done[i - w->program->begin[w->rank]] = w->last_copy[stream];
}

static void walk_control(struct pp_export_walk *w, int i)
{
    const struct pp_program *p = w->program;

    if (p->kind[i] == PP_BAR) {
        pp_walk_set_clock(w, pp_walk_barrier(w, i));
    } else if (p->kind[i] == PP_WAIT && p->arg[i] >= 0) {
        int32_t *done = &w->done[p->arg[i]];
        if (*done == LATER)
            *done = pp_walk_recv(w, p->begin[w->rank] + p->arg[i]);
        pp_walk_wait(w, *done);
    }
}

static void (*const walk_stream[])(struct pp_export_walk *w, int i) = {
    [PP_STREAM_COMPUTE] = walk_compute,      [PP_STREAM_CHANNEL] = pp_walk_channel,
    [PP_STREAM_REDUCE] = pp_walk_collective, [PP_STREAM_COPY] = walk_copy,
    [PP_STREAM_CONTROL] = walk_control,
};

static int32_t *none(struct pp_arena *arena, int count)
{
    int32_t *list = PP_ARRAY(arena, int32_t, count);

    for (int i = 0; i < count; i++)
        list[i] = -1;
    return list;
}

void pp_export_tasks(struct pp_arena *arena, const struct pp_export *e, int node,
                     struct pp_tasks *tasks)
{
    const struct pp_program *p = e->result->program;
    const int rank = node % p->ranks, length = p->begin[rank + 1] - p->begin[rank];
    struct pp_export_walk w = {.export = e,
                               .program = p,
                               .arena = arena,
                               .tasks = tasks,
                               .rank = rank,
                               .replica = node / p->ranks,
                               .node = node,
                               .done = none(arena, length),
                               .inside = none(arena, length),
                               .wire = none(arena, p->channel_count),
                               .last_wire = -1,
                               .last_collective = -1,
                               .last_copy = {-1, -1}};
    const int simulated = w.replica < e->result->trace->replicas ? w.replica : 0;

    *tasks = (struct pp_tasks){0};
    w.event = e->event0[simulated * p->ranks + rank];
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const bool is_second = p->aux[i] == PP_FUSED_SECOND && pp_op_is_compute(p->kind[i]);
        w.event += i > p->begin[rank] && !is_second; /* a pair shares its event */
        walk_stream[pp_op_kinds[p->kind[i]].stream](&w, i);
    }
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (w.done[i - p->begin[rank]] == LATER) /* no WAIT names it */
            pp_walk_recv(&w, i);
}
