/* The figures of a run from the times of its instructions, without events. Reads a message or
 * collective only if a rank waits for it. */
#include "core/units.h"
#include "schedules/program/program.h"
#include "traces/from_times.h"
#include "traces/metrics_parts.h"

#define ROUNDING 1e-10

/* Shares of compute ops of one kind, stage and split, computed once. */
struct known {
    uint8_t granules; /* granules of their op; 0 = not computed yet */
    uint8_t count;    /* shares up to the last one above 0 */
    struct pp_shares shares;
};
struct walker {
    struct pp_arena *arena;
    const struct pp_trace_source *source;
    struct known *known[PP_OP_KINDS]; /* [stage * splits + split] */
    bool is_sound;                    /* no impossible time or share has occurred */
};

/* The latest end in picoseconds is the latest in seconds, too: the conversion is monotonic. */
static struct pp_metrics_window find_window(const struct pp_trace_source *s)
{
    const int size = s->begin[s->ranks];
    int64_t start_ps = s->steps > 1 ? s->latest_ps[0] : 0, end_ps = 0;

    for (int step = 0; step < s->steps; step++)
        end_ps = s->latest_ps[step] > end_ps ? s->latest_ps[step] : end_ps;
    for (int i = 0; s->step_of && s->steps_in_list > 1 && i < size; i++)
        for (int k = 0; s->step_of[i] == 0 && s->kind[i] != PP_WAIT && k < s->replicas; k++) {
            const int64_t ps = s->end_ps[(size_t)i * (size_t)s->replicas + (size_t)k];
            start_ps = ps > start_ps ? ps : start_ps;
        }
    return (struct pp_metrics_window){.start_s = pp_units_s(start_ps),
                                      .end_s = pp_units_s(end_ps),
                                      .steps = s->step_of ? s->steps_in_list : s->steps};
}

/* Is true if no time differs from that of the first replica. */
static bool are_alike(const struct pp_trace_source *s)
{
    const size_t width = (size_t)s->replicas, rows = (size_t)s->begin[s->ranks] * (size_t)s->steps;
    int64_t differences = 0;

    for (size_t row = 0; row < rows && !differences; row++) {
        const int64_t *start = &s->start_ps[row * width], *end = &s->end_ps[row * width];
        for (size_t k = 0; k < width; k++)
            differences |= (start[k] ^ start[0]) | (end[k] ^ end[0]);
    }
    return !differences;
}

static struct known shares_of(struct walker *w, int i)
{
    const struct pp_trace_source *s = w->source;
    const struct pp_op op = s->op(s->program, i);
    struct known known = {.granules = s->granules[i], .shares = pp_trace_shares(s, &op, i)};

    double sum = 0;

    for (int k = 0; k < PP_SHARES; k++) {
        const double share = known.shares.of[k];
        w->is_sound &= share >= 0;
        known.count = share > 0 ? (uint8_t)(k + 1) : known.count;
        sum += share;
    }
    w->is_sound &= sum <= 1 + ROUNDING;
    return known;
}

static const struct known *known_shares(struct walker *w, int i)
{
    const struct pp_trace_source *s = w->source;
    const struct pp_costs *costs = s->costs;
    struct known **known = &w->known[s->kind[i]];

    if (!*known)
        *known = PP_ARRAY(w->arena, struct known, costs->stages * costs->splits);
    struct known *mine = &(*known)[s->stage[i] * costs->splits + s->split[i]];
    if (mine->granules != s->granules[i] || mine->granules == 0)
        *mine = shares_of(w, i);
    return mine;
}

static void add_compute(struct walker *w, int i, double start_s, double end_s, int step,
                        struct pp_metrics_walk *walk)
{
    const struct pp_trace_source *s = w->source;
    const struct pp_costs *costs = s->costs;
    const int stage = s->stage[i], aux = s->aux[i];
    struct known own;
    const struct known *known = &own;

    if (aux == PP_FUSED_SECOND && i > 0) /* part of the first */
        return;
    if (aux == PP_FUSED_FIRST || stage >= costs->stages || s->split[i] >= costs->splits ||
        pp_costs_have_links(costs, stage)) /* shares depend on the place */
        own = shares_of(w, i);
    else
        known = known_shares(w, i);
    const int cause = pp_costs_copied_inside(s->costs, s->kind[i], stage);
    const struct pp_metrics_op measured = {.kind = s->kind[i],
                                           .copied = pp_metrics_copied_by(s->kind[i], cause),
                                           .step = step,
                                           .is_fused = aux == PP_FUSED_FIRST,
                                           .start_s = start_s,
                                           .end_s = end_s,
                                           .forward_frac = known->shares.forward,
                                           .share = known->shares.of,
                                           .share_unit_s = end_s - start_s,
                                           .shares = known->count};
    pp_metrics_add_compute(walk, &measured);
}

/* Later by so much in each period; the start and the end of an instruction may differ in it. */
struct span {
    int64_t start_ps, end_ps;
};

/* Part of the list of a rank in one step. */
struct part {
    int first, end;
    size_t list_at; /* row of the first instruction of the list */
    int list_begin; /* that instruction */
    int step;
    const struct span *spans; /* of instructions from `first` on; NULL: they come when noted */
    int turn;                 /* periods later than noted */
};

/* Adds a control op that takes time: a WAIT ends with what it waits for. */
static void add_control(const struct walker *w, int i, int64_t start_ps, int64_t end_ps,
                        const struct part *part, struct pp_metrics_walk *walk)
{
    const struct pp_trace_source *s = w->source;
    const bool is_wait = s->kind[i] == PP_WAIT;
    struct pp_metrics_wire wire = {0};

    if (is_wait && s->arg[i] >= 0) {
        const size_t awaited = part->list_at + (size_t)s->arg[i] * (size_t)s->replicas;
        const int64_t lasts_ps = s->end_ps[awaited] - s->start_ps[awaited];
        wire = (struct pp_metrics_wire){
            pp_units_s(end_ps - lasts_ps), pp_units_s(end_ps),
            pp_op_is_move(s->aux[i]) ? (uint8_t)pp_move_cause(s->aux[i], s->purpose[i]) : 0};
    }
    pp_metrics_add_wait(walk, pp_units_s(start_ps), pp_units_s(end_ps),
                        is_wait ? s->aux[i] : PP_OP_KINDS, wire);
}

/* Walks a part of a list from `clock_ps`, the previous end; returns its end. */
static int64_t walk_part(struct walker *w, struct part part, int64_t clock_ps,
                         struct pp_metrics_walk *walk)
{
    const struct pp_trace_source *s = w->source;
    const size_t width = (size_t)s->replicas;

    for (int i = part.first; i < part.end; i++) {
        const size_t at = part.list_at + (size_t)(i - part.list_begin) * width;
        const struct span span = part.spans ? part.spans[i - part.first] : (struct span){0};
        const int64_t start_ps = s->start_ps[at] + part.turn * span.start_ps,
                      end_ps = s->end_ps[at] + part.turn * span.end_ps;
        const enum pp_stream stream = pp_op_kinds[s->kind[i]].stream;
        const bool is_compute = stream == PP_STREAM_COMPUTE;
        if (!is_compute && (stream != PP_STREAM_CONTROL || end_ps == clock_ps))
            continue; /* other streams, and control ops that take no time */
        if (is_compute)
            add_compute(w, i, pp_units_s(start_ps), pp_units_s(end_ps),
                        s->step_of ? s->step_of[i] : part.step, walk);
        else
            add_control(w, i, start_ps, end_ps, &part, walk);
        if (is_compute && s->aux[i] == PP_FUSED_SECOND) /* has the times of the first */
            continue;
        w->is_sound &= start_ps >= clock_ps && end_ps >= start_ps;
        clock_ps = end_ps;
    }
    return clock_ps;
}

/* Returns the span of instruction k of the periods at a place, from those around the gap. */
static struct span span_of(const struct pp_trace_source *s, const struct part *part,
                           const struct pp_cut_place *place, int k)
{
    const size_t width = (size_t)s->replicas,
                 after = part->list_at + (size_t)(place->at + k - part->list_begin) * width,
                 before = after - (size_t)place->length * width;
    const int periods = s->cut->periods + 1;

    return (struct span){(s->start_ps[after] - s->start_ps[before]) / periods,
                         (s->end_ps[after] - s->end_ps[before]) / periods};
}

/* Walks the list up to a place, and the periods that are left out there; changes `part` to what
 * follows. */
static int64_t walk_gap(struct walker *w, const struct pp_cut_place *place, struct part *part,
                        int64_t clock_ps, struct pp_metrics_walk *walk)
{
    const struct pp_trace_source *s = w->source;
    struct span *spans = PP_ARRAY(w->arena, struct span, place->length);

    part->end = place->at;
    clock_ps = walk_part(w, *part, clock_ps, walk);
    for (int k = 0; k < place->length; k++)
        spans[k] = span_of(s, part, place, k);
    part->first = place->at - place->length;
    part->spans = spans;
    for (part->turn = 1; part->turn <= s->cut->periods; part->turn++)
        clock_ps = walk_part(w, *part, clock_ps, walk);
    part->first = place->at;
    part->spans = NULL;
    return clock_ps;
}

/* Walks the list of a rank in one step, from `clock_ps`, the previous end; returns its end. */
static int64_t walk_step(struct walker *w, int step, int64_t clock_ps, struct pp_metrics_walk *walk)
{
    const struct pp_trace_source *s = w->source;
    const size_t width = (size_t)s->replicas, size = (size_t)s->begin[s->ranks];
    const int begin = s->begin[walk->rank];
    struct part part = {.first = begin,
                        .list_at =
                            ((size_t)step * size + (size_t)begin) * width + (size_t)walk->replica,
                        .list_begin = begin,
                        .step = step};

    for (int k = s->cut ? s->cut->begin[walk->rank] : 0;
         s->cut && k < s->cut->begin[walk->rank + 1]; k++)
        clock_ps = walk_gap(w, &s->cut->places[k], &part, clock_ps, walk);
    part.end = s->begin[walk->rank + 1];
    return walk_part(w, part, clock_ps, walk);
}

static enum pp_status walk_source(void *context, struct pp_metrics_walk *walk, struct pp_error *err)
{
    struct walker *w = context;

    int64_t clock_ps = 0;

    for (int step = 0; step < w->source->steps; step++)
        clock_ps = walk_step(w, step, clock_ps, walk);
    return w->is_sound ? PP_OK : pp_error_set(err, PP_EFAIL, "impossible times");
}

enum pp_status pp_metrics_from_source(struct pp_arena *arena, const struct pp_trace_source *source,
                                      struct pp_metrics *metrics, struct pp_error *err)
{
    struct walker walker = {.arena = arena, .source = source, .is_sound = true};
    struct pp_error unnamed;
    const struct pp_metrics_lists lists = {.ranks = source->ranks,
                                           .replicas = source->replicas,
                                           .window = find_window(source),
                                           .walk = walk_source,
                                           .context = &walker,
                                           .are_alike = source->replicas > 1 && are_alike(source)};

    if (pp_metrics_lists(arena, &lists, metrics, &unnamed) == PP_OK)
        return PP_OK;
    if (source->cut) /* no trace has all events */
        return pp_error_set(err, PP_EFAIL, "%s", unnamed.message);
    /* The trace has the names for the message. */
    return pp_metrics_compute(arena, pp_trace_from_source(arena, source), metrics, err);
}
