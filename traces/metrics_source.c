/* The figures of a run from the times of its instructions, without events. Messages and collectives
 * are only looked at where a rank waits for them. */
#include "core/units.h"
#include "traces/from_times.h"
#include "traces/metrics_parts.h"

/* Shares of the compute ops of a kind and stage, found once. */
struct known {
    uint8_t granules; /* of the op they are of; 0 = not found yet */
    struct pp_shares shares;
};
struct walker {
    const struct pp_trace_source *source;
    struct known *known; /* [(kind * stages + stage) * splits + split] */
};

static int64_t latest(const int64_t *ps, size_t count)
{
    int64_t latest_ps = 0;

    for (size_t k = 0; k < count; k++)
        latest_ps = ps[k] > latest_ps ? ps[k] : latest_ps;
    return latest_ps;
}

/* The latest in seconds is the latest in picoseconds: one grows with the other. */
static struct pp_metrics_window find_window(const struct pp_trace_source *s)
{
    const size_t size = (size_t)s->begin[s->ranks], width = (size_t)s->replicas;
    int64_t start_ps = 0;

    for (size_t i = 0; s->step_of && s->steps_in_list > 1 && i < size; i++)
        if (s->step_of[i] == 0) {
            const int64_t end_ps = latest(s->end_ps + i * width, width);
            start_ps = end_ps > start_ps ? end_ps : start_ps;
        }
    if (s->steps > 1)
        start_ps = latest(s->end_ps, size * width);
    return (struct pp_metrics_window){
        .start_s = pp_units_s(start_ps),
        .end_s = pp_units_s(latest(s->end_ps, size * width * (size_t)s->steps)),
        .steps = s->step_of ? s->steps_in_list : s->steps};
}

static struct pp_shares shares_of(const struct walker *w, const struct pp_op *op)
{
    const struct pp_costs *costs = w->source->costs;

    if (op->stage >= costs->stages || op->split >= costs->splits || op->granules == 0)
        return pp_trace_shares(costs, op, NULL);
    struct known *known =
        &w->known[(op->kind * costs->stages + op->stage) * costs->splits + op->split];
    if (known->granules != op->granules) {
        known->shares = pp_trace_shares(costs, op, NULL);
        known->granules = op->granules;
    }
    return known->shares;
}

/* False when the times cannot be. */
static bool add_compute(const struct walker *w, int i, int64_t start_ps, int64_t end_ps, int step,
                        struct pp_metrics_walk *walk)
{
    const struct pp_trace_source *s = w->source;
    const struct pp_op op = s->op(s->program, i);
    struct pp_metrics_compute_op event = {.kind = op.kind,
                                          .step = step,
                                          .is_fused = op.aux == PP_FUSED_FIRST,
                                          .start_s = pp_units_s(start_ps),
                                          .end_s = pp_units_s(end_ps)};
    struct pp_shares shares;

    if (op.aux == PP_FUSED_SECOND && i > 0) /* is in the first */
        return true;
    if (event.is_fused) {
        const struct pp_op second = s->op(s->program, i + 1);
        shares = pp_trace_shares(s->costs, &op, &second);
    } else {
        shares = shares_of(w, &op);
    }
    const double duration_s = event.end_s - event.start_s;
    event.tp_s = shares.tp * duration_s;
    event.cp_s = shares.cp * duration_s;
    event.ep_s = shares.ep * duration_s;
    event.forward_frac = shares.forward;
    const bool is_sound = shares.tp >= 0 && shares.cp >= 0 && shares.ep >= 0 &&
                          event.tp_s + event.cp_s + event.ep_s <= duration_s + walk->slack_s &&
                          event.start_s >= walk->clock_s - walk->slack_s;
    pp_metrics_add_compute(walk, &event);
    return is_sound;
}

static bool add_control(const struct walker *w, int i, size_t at, size_t list_at,
                        struct pp_metrics_walk *walk)
{
    const struct pp_trace_source *s = w->source;
    const bool is_wait = s->kind[i] == PP_WAIT;
    const double start_s = pp_units_s(s->start_ps[at]), end_s = pp_units_s(s->end_ps[at]);
    struct pp_metrics_wire wire = {0};

    if (is_wait && s->arg[i] >= 0 && end_s > start_s) {
        const size_t awaited = list_at + (size_t)s->arg[i] * (size_t)s->replicas;
        wire = (struct pp_metrics_wire){pp_units_s(s->start_ps[awaited]),
                                        pp_units_s(s->end_ps[awaited])};
    }
    const bool is_sound = start_s >= walk->clock_s - walk->slack_s;
    pp_metrics_add_wait(walk, start_s, end_s, is_wait ? s->aux[i] : PP_OP_KINDS, wire);
    return is_sound;
}

/* The list of one rank in one step. */
static bool walk_step(const struct walker *w, int step, struct pp_metrics_walk *walk)
{
    const struct pp_trace_source *s = w->source;
    const size_t width = (size_t)s->replicas, size = (size_t)s->begin[s->ranks];
    const int begin = s->begin[walk->rank], end = s->begin[walk->rank + 1];
    const size_t list_at = ((size_t)step * size + (size_t)begin) * width + (size_t)walk->replica;
    bool is_sound = true;

    for (int i = begin; i < end; i++) {
        const size_t at = list_at + (size_t)(i - begin) * width;
        const int64_t start_ps = s->start_ps[at], end_ps = s->end_ps[at];
        const enum pp_stream stream = pp_op_kinds[s->kind[i]].stream;
        is_sound &= start_ps >= 0 && start_ps <= end_ps;
        if (stream == PP_STREAM_COMPUTE)
            is_sound &=
                add_compute(w, i, start_ps, end_ps, s->step_of ? s->step_of[i] : step, walk);
        else if (stream == PP_STREAM_CONTROL)
            is_sound &= add_control(w, i, at, list_at, walk);
    }
    return is_sound;
}

static enum pp_status walk_source(void *context, struct pp_metrics_walk *walk, struct pp_error *err)
{
    const struct walker *w = context;

    for (int step = 0; step < w->source->steps; step++)
        if (!walk_step(w, step, walk))
            return pp_error_set(err, PP_EFAIL, "rank %d: impossible times", walk->rank);
    return PP_OK;
}

enum pp_status pp_metrics_from_source(struct pp_arena *arena, const struct pp_trace_source *source,
                                      struct pp_metrics *metrics, struct pp_error *err)
{
    const struct pp_costs *costs = source->costs;
    struct walker walker = {
        .source = source,
        .known = PP_ARRAY(arena, struct known, PP_OP_KINDS * costs->stages * costs->splits)};
    struct pp_error unnamed;
    const struct pp_metrics_lists lists = {.ranks = source->ranks,
                                           .replicas = source->replicas,
                                           .window = find_window(source),
                                           .walk = walk_source,
                                           .context = &walker};

    if (pp_metrics_lists(arena, &lists, metrics, &unnamed) == PP_OK)
        return PP_OK;
    /* The trace has the names of what is wrong. */
    return pp_metrics_compute(arena, pp_trace_from_source(arena, source), metrics, err);
}
