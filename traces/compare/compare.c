/* Matches events of the prediction with events of the measurement; adds up their differences. */
#include "traces/compare/compare.h"

#include "core/units.h"
#include "traces/compare/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct matcher {
    struct pp_arena *arena;
    const struct pp_compare_options *options;
    struct pp_comparison *result;
    struct pp_stepped predicted, measured;
    int first_predicted, first_measured; /* slices compared */
    struct pp_tally kinds, waits;
    int step, replica; /* current ones, as in the measured trace */
    int pair_capacity;
    const struct pp_trace_event *moved; /* the first op that has another place, if hashes differ */
    int64_t odd_count;                  /* ops of one trace only, of kinds that both record */
    struct pp_compare_event odd;
};

/* ---- one pair -------------------------------------------------------------------------------- */

/* The duration, rounded like times: a difference of two times is not exact in binary. */
static double duration_s(const struct pp_trace_event *event)
{
    return pp_units_s(pp_units_ps(event->end_s - event->start_s));
}

/* Time from the post to the match; without a single peer, to the start. NAN if one is missing. */
static double waiting_s(const struct pp_trace_event *event)
{
    return (event->stream == PP_STREAM_CHANNEL ? event->matched_s : event->start_s) -
           event->posted_s;
}

/* Orders errors by size; equal ones by time and place, independently of the lists. */
static bool is_worse(const struct pp_compare_event *a, const struct pp_compare_event *b)
{
    const double a_s = fabs(a->error_s), b_s = fabs(b->error_s);

    if (a_s != b_s)
        return a_s > b_s;
    if (a->step != b->step)
        return a->step < b->step;
    if (a->replica != b->replica)
        return a->replica < b->replica;
    if (a->rank != b->rank)
        return a->rank < b->rank;
    if (a->measured_start_s != b->measured_start_s)
        return a->measured_start_s < b->measured_start_s;
    return strcmp(a->cell, b->cell) < 0;
}

static void add_worst(struct matcher *m, const struct pp_compare_event *event)
{
    struct pp_compare_event *worst = m->result->worst;
    int *count = &m->result->worst_count;
    int at = *count;

    if (event->error_s == 0)
        return;
    while (at > 0 && is_worse(event, &worst[at - 1]))
        at--;
    if (at == m->options->worst)
        return;
    *count += *count < m->options->worst;
    memmove(&worst[at + 1], &worst[at], (size_t)(*count - 1 - at) * sizeof(*worst));
    worst[at] = *event;
}

static double error_s(const struct pp_trace_event *p, const struct pp_trace_event *q)
{
    return pp_units_s(pp_units_ps(duration_s(p)) - pp_units_ps(duration_s(q)));
}

static struct pp_compare_event describe(const struct matcher *m, const struct pp_trace_event *p,
                                        const struct pp_trace_event *q)
{
    const struct pp_trace_event *any = q ? q : p;

    return (struct pp_compare_event){.kind = any->kind,
                                     .rank = any->rank,
                                     .replica = m->replica,
                                     .step = m->step,
                                     .cell = any->cell,
                                     .predicted_start_s = p ? p->start_s : (double)NAN,
                                     .measured_start_s = q ? q->start_s : (double)NAN,
                                     .predicted_s = p ? duration_s(p) : (double)NAN,
                                     .measured_s = q ? duration_s(q) : (double)NAN,
                                     .error_s = p && q ? error_s(p, q) : (double)NAN};
}

static void keep_pair(struct matcher *m, const struct pp_trace_event *p,
                      const struct pp_trace_event *q)
{
    struct pp_comparison *c = m->result;

    *PP_PUSH(m->arena, c->pairs, c->pair_count, m->pair_capacity) =
        (struct pp_compare_pair){.kind = q->kind,
                                 .is_fused = q->is_fused,
                                 .predicted_s = duration_s(p),
                                 .measured_s = duration_s(q)};
}

static void add_pair(struct matcher *m, const struct pp_trace_event *p,
                     const struct pp_trace_event *q)
{
    if (q->stream == PP_STREAM_CONTROL)
        return;
    m->result->matched++;
    pp_tally_add(&m->kinds, q, duration_s(p), duration_s(q));
    if (!isnan(waiting_s(p)) && !isnan(waiting_s(q)))
        pp_tally_add(&m->waits, q, waiting_s(p), waiting_s(q));
    if (!pp_op_is_send(q->kind)) {
        const struct pp_compare_event event = describe(m, p, q);
        add_worst(m, &event);
        if (m->options->keeps_pairs)
            keep_pair(m, p, q);
    }
}

/* Is true for kinds that every trace records; many traces lack others. */
static bool is_in_all(const struct pp_trace_event *event)
{
    return event->kind == PP_F || event->kind == PP_B || event->kind == PP_I || event->kind == PP_W;
}

static void add_odd(struct matcher *m, struct pp_compare_list *list, const struct pp_trace_event *p,
                    const struct pp_trace_event *q)
{
    if (m->result->is_partial && (q ? q : p)->kind == PP_R)
        return; /* is part of its backward */
    if (is_in_all(q ? q : p) && m->odd_count++ == 0)
        m->odd = describe(m, p, q);
    if (list->count < PP_COMPARE_FEW)
        list->first[list->count] = describe(m, p, q);
    list->count++;
}

/* ---- one list -------------------------------------------------------------------------------- */

struct list {
    const struct pp_trace_event *events;
    int count;
};

struct order {
    const struct pp_trace_event **events;
    int count;
};

static struct list list_of(const struct pp_step_slice *slice, int list)
{
    return (struct list){&slice->events[slice->begin[list]],
                         slice->begin[list + 1] - slice->begin[list]};
}

static int compare_cells(const struct pp_trace_event *a, const struct pp_trace_event *b)
{
    return a->stream != b->stream ? a->stream - b->stream : strcmp(a->cell, b->cell);
}

/* Orders by cell, then by place in the list. */
static int by_cell(const void *left, const void *right)
{
    const struct pp_trace_event *a = *(const struct pp_trace_event *const *)left,
                                *b = *(const struct pp_trace_event *const *)right;
    const int order = compare_cells(a, b);

    return order != 0 ? order : (a > b) - (a < b);
}

/* Without waits: they are consequences, and some files lack them. */
static struct order sorted(struct pp_arena *arena, struct list list)
{
    struct order order = {PP_ARRAY(arena, const struct pp_trace_event *, list.count), 0};

    for (int i = 0; i < list.count; i++)
        if (list.events[i].stream != PP_STREAM_CONTROL)
            order.events[order.count++] = &list.events[i];
    qsort(order.events, (size_t)order.count, sizeof(*order.events), by_cell);
    return order;
}

static bool is_same_order(struct list a, struct list b)
{
    if (a.count != b.count)
        return false;
    for (int i = 0; i < a.count; i++)
        if (compare_cells(&a.events[i], &b.events[i]) != 0)
            return false;
    return true;
}

/* Matches lists of different orders: sorts both and merges them. */
static void merge_lists(struct matcher *m, struct list a, struct list b)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct order p = sorted(arena, a), q = sorted(arena, b);
    int i = 0, j = 0;

    while (i < p.count || j < q.count) {
        const int order = i == p.count   ? 1
                          : j == q.count ? -1
                                         : compare_cells(p.events[i], q.events[j]);
        if (order == 0)
            add_pair(m, p.events[i++], q.events[j++]);
        else if (order < 0)
            add_odd(m, &m->result->missing, p.events[i++], NULL);
        else
            add_odd(m, &m->result->extra, NULL, q.events[j++]);
    }
}

static void match_lists(struct matcher *m, struct list a, struct list b)
{
    if (!m->result->is_same_program && !m->moved)
        m->moved = pp_compare_moved(a.events, a.count, b.events, b.count);
    if (!is_same_order(a, b)) {
        merge_lists(m, a, b);
        return;
    }
    for (int i = 0; i < a.count; i++)
        add_pair(m, &a.events[i], &b.events[i]);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void match_steps(struct matcher *m, const struct pp_step_slice *p,
                        const struct pp_step_slice *q)
{
    const struct pp_trace *predicted = m->predicted.trace, *measured = m->measured.trace;
    const int ranks = predicted->ranks > measured->ranks ? predicted->ranks : measured->ranks;

    m->step = q->number;
    for (m->replica = 0; m->replica < measured->replicas; m->replica++) {
        const int replica = m->replica < predicted->replicas ? m->replica : 0;
        for (int r = 0; r < ranks; r++) {
            struct list a = {0}, b = {0};
            if (r < predicted->ranks)
                a = list_of(p, replica * predicted->ranks + r);
            if (r < measured->ranks)
                b = list_of(q, m->replica * measured->ranks + r);
            match_lists(m, a, b);
        }
    }
}

static double step_s(const struct pp_step_slice *slice)
{
    return pp_units_s(slice->end_ps - slice->begin_ps);
}

static void match_all(struct matcher *m)
{
    struct pp_comparison *result = m->result;

    result->step_count = m->measured.count - m->first_measured;
    result->steps = PP_ARRAY(m->arena, struct pp_compare_step, result->step_count);
    for (int i = 0; i < result->step_count; i++) {
        const int at = result->is_pairwise ? m->first_predicted + i : m->predicted.count - 1;
        const struct pp_step_slice *p = &m->predicted.slices[at],
                                   *q = &m->measured.slices[m->first_measured + i];
        match_steps(m, p, q);
        result->steps[i] = (struct pp_compare_step){.predicted = p->number,
                                                    .measured = q->number,
                                                    .predicted_s = step_s(p),
                                                    .measured_s = step_s(q)};
        result->steps[i].error_frac =
            pp_compare_frac(result->steps[i].predicted_s, result->steps[i].measured_s);
    }
}

static enum pp_status choose_steps(struct matcher *m, struct pp_error *err)
{
    const struct pp_stepped *p = &m->predicted, *q = &m->measured;
    const int skip = m->options->skip_steps;

    if (skip >= q->count - q->is_overlapping)
        return pp_error_set(err, PP_EINVAL,
                            "%s has %d step%s%s: --skip-steps %d leaves too few; at most %d",
                            q->trace->program, q->count, q->count == 1 ? "" : "s",
                            q->is_overlapping ? " that run into each other" : "", skip,
                            q->count - q->is_overlapping - 1);
    m->first_measured = skip;
    m->result->is_pairwise = p->count == q->count;
    m->first_predicted = m->result->is_pairwise ? skip : p->count - 1;
    return PP_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* A trace without a program is of the same one if the two have the same ops that both record. */
static enum pp_status check_ops(const struct matcher *m, struct pp_error *err)
{
    const struct pp_trace *p = m->predicted.trace, *q = m->measured.trace;
    const bool is_measured = isnan(m->odd.predicted_s);

    if (m->odd_count == 0 || m->options->allows_different || !(p->is_partial || q->is_partial))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%" PRId64 " ops are not in both, such as %s of rank %d, which is only in "
                        "%s; --allow-different compares what both have",
                        m->odd_count, m->odd.cell, m->odd.rank,
                        is_measured ? q->program : p->program);
}

/* Computes the figures of both; overlapping steps need two for one. */
static enum pp_status measure_sides(struct matcher *m, struct pp_error *err)
{
    int first = m->first_predicted;

    if (m->predicted.is_overlapping && first > m->predicted.count - 2)
        first = m->predicted.count - 2;
    PP_TRY(pp_compare_side(m->arena, &m->predicted, first, &m->result->predicted, err));
    return pp_compare_side(m->arena, &m->measured, m->first_measured, &m->result->measured, err);
}

enum pp_status pp_compare(struct pp_arena *arena, const struct pp_trace *predicted,
                          const struct pp_trace *measured, const struct pp_compare_options *options,
                          struct pp_comparison *comparison, struct pp_error *err)
{
    struct matcher m = {.arena = arena,
                        .options = options,
                        .result = comparison,
                        .kinds = {.arena = arena},
                        .waits = {.arena = arena}};

    *comparison = (struct pp_comparison){
        .is_same_program = predicted->program_hash == measured->program_hash,
        .is_partial = predicted->is_partial || measured->is_partial,
        .time_unit = predicted->time_unit ? predicted->time_unit : measured->time_unit,
        .is_folded = predicted->replicas == 1 && measured->replicas > 1,
        .worst = PP_ARRAY(arena, struct pp_compare_event, options->worst + 1)};
    if (!options->allows_different)
        PP_TRY(pp_compare_check_shape(predicted, measured, err));
    if (comparison->is_partial) {
        predicted = pp_compare_join_recompute(arena, predicted);
        measured = pp_compare_join_recompute(arena, measured);
    }
    PP_TRY(pp_step_slices(arena, predicted, &m.predicted, err));
    PP_TRY(pp_step_slices(arena, measured, &m.measured, err));
    PP_TRY(choose_steps(&m, err));
    PP_TRY(measure_sides(&m, err));
    match_all(&m);
    PP_TRY(check_ops(&m, err));
    PP_TRY(pp_compare_check_program(arena, comparison, m.moved, options->allows_different, err));
    if (comparison->matched == 0)
        return pp_error_set(err, PP_EINVAL, "%s and %s have no event in common", predicted->program,
                            measured->program);
    comparison->kinds = pp_tally_rows(&m.kinds, &comparison->kind_count);
    comparison->waits = pp_tally_rows(&m.waits, &comparison->wait_count);
    comparison->step_error_s = pp_units_s(pp_units_ps(comparison->predicted.step_s) -
                                          pp_units_ps(comparison->measured.step_s));
    comparison->step_error_frac =
        pp_compare_frac(comparison->predicted.step_s, comparison->measured.step_s);
    return PP_OK;
}
