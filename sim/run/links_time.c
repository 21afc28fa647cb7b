/* Bytes of links over time: profiles of messages and of sums, sent along their routes. */
#include "sim/run/links_parts.h"

#include "core/quantile.h"
#include "traces/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct timing {
    struct pp_arena *arena; /* scratch */
    const struct pp_link_inputs *in;
    const struct pp_trace *trace;
    struct pp_figure_events events;
    int bins;
    double end_s;
    struct pp_traffic traffic;
};

/* ---- profiles -------------------------------------------------------------------------------- */

static void spread(const struct timing *t, double bytes, double start_s, double end_s,
                   double *profile)
{
    const double scale = t->bins / t->end_s, first = fmax(start_s, 0) * scale;
    const double last = fmin(fmax(end_s * scale, first), t->bins);
    int bin = (int)first < t->bins ? (int)first : t->bins - 1;

    if (last - first < 1e-9) {
        profile[bin] += bytes;
        return;
    }
    for (double from = first; bin < t->bins && from < last; from = ++bin)
        profile[bin] += bytes * (fmin(bin + 1, last) - from) / (last - first);
}

/* ---- messages -------------------------------------------------------------------------------- */

static int *pair_table(const struct timing *t, const struct pp_rank_pair *pairs, int count)
{
    const size_t ranks = (size_t)t->in->program->ranks;
    int *table = PP_ARRAY(t->arena, int, ranks *ranks);

    for (int i = 0; i < count; i++)
        table[pairs[i].source * ranks + pairs[i].dest] = i;
    return table;
}

/* Fills the message profiles of one replica, [pair][bins]. */
static void message_profiles(const struct timing *t, int replica, const int *pair_of,
                             double *profiles)
{
    const struct pp_program *p = t->in->program;
    const struct pp_trace_event *events =
        &t->trace->events[(size_t)replica * (size_t)t->events.count];

    for (int k = 0; k < t->events.count; k++) {
        const int i = t->events.instruction[k];
        if (!pp_op_is_send(p->kind[i]))
            continue;
        const struct pp_op op = pp_program_op(p, i);
        const int pair = pair_of[events[k].rank * p->ranks + op.peer];
        spread(t, pp_costs_message_bytes(t->in->costs, &op), events[k].start_s, events[k].end_s,
               &profiles[(size_t)pair * (size_t)t->bins]);
    }
}

static void send_messages(struct timing *t)
{
    int count;
    const struct pp_rank_pair *pairs =
        pp_rank_pairs(t->arena, t->in->program, t->in->costs, &count);
    const int *pair_of = pair_table(t, pairs, count);
    const size_t numbers = (size_t)count * (size_t)t->bins;
    double *profiles = PP_ARRAY(t->arena, double, numbers + 1);

    for (int r = 0; r < t->in->network->layout.dp; r++) {
        if (r == 0 || r < t->trace->replicas) { /* one replica may stand for all */
            memset(profiles, 0, sizeof(double) * numbers);
            message_profiles(t, r, pair_of, profiles);
        }
        for (int i = 0; i < count; i++)
            pp_traffic_message(&t->traffic, &pairs[i], r, &profiles[(size_t)i * (size_t)t->bins]);
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

struct interval {
    int instruction; /* of any member; -1 = none yet */
    double start_s, end_s;
};

static struct interval *sum_intervals(const struct timing *t, int *count)
{
    const struct pp_program *p = t->in->program;

    *count = p->collective_count * t->events.repeats;
    struct interval *list = PP_ARRAY(t->arena, struct interval, *count + 1);
    for (int c = 0; c < *count; c++)
        list[c] = (struct interval){-1, INFINITY, 0};
    for (int k = 0; k < t->trace->count; k++) {
        const int at = k % t->events.count, i = t->events.instruction[at];
        const struct pp_trace_event *e = &t->trace->events[k];
        if (!pp_traffic_is_sum(p, i))
            continue;
        struct interval *v = &list[t->events.repeat[at] * p->collective_count + p->arg[i]];
        v->instruction = i;
        v->start_s = fmin(v->start_s, e->start_s);
        v->end_s = fmax(v->end_s, e->end_s);
    }
    return list;
}

/* Spreads the bytes that ops gather and scatter inside, evenly over each op; replicas are alike. */
static void spread_inside(const struct timing *t, double *profiles, bool *has_bytes)
{
    for (int k = 0; k < t->trace->count; k++) {
        const struct pp_trace_event *e = &t->trace->events[k];
        int group;
        const double bytes =
            pp_traffic_inside(t->in, t->events.instruction[k % t->events.count], &group);
        if (bytes == 0)
            continue;
        has_bytes[group] = true;
        spread(t, bytes / t->trace->replicas, e->start_s, e->end_s,
               &profiles[(size_t)group * (size_t)t->bins]);
    }
}

static void send_sums(struct timing *t)
{
    const struct pp_program *p = t->in->program;
    double *profiles = PP_ARRAY(t->arena, double, (size_t)(p->group_count + 1) * (size_t)t->bins);
    bool *has_bytes = PP_ARRAY(t->arena, bool, p->group_count + 1);
    int count;
    const struct interval *sums = sum_intervals(t, &count);

    for (int c = 0; c < count; c++) {
        if (sums[c].instruction < 0)
            continue;
        const double bytes = pp_traffic_payload(t->in, sums[c].instruction);
        const int group = p->collectives[p->arg[sums[c].instruction]].group;
        has_bytes[group] = has_bytes[group] || bytes > 0;
        spread(t, bytes, sums[c].start_s, sums[c].end_s,
               &profiles[(size_t)group * (size_t)t->bins]);
    }
    spread_inside(t, profiles, has_bytes);
    for (int g = 0; g < p->group_count; g++)
        if (has_bytes[g])
            pp_traffic_sum(&t->traffic, &p->groups[g], &profiles[(size_t)g * (size_t)t->bins]);
}

/* ---- turns ----------------------------------------------------------------------------------- */

void pp_links_take_turns(const int *class, int count, int max_rows, bool *is_taken)
{
    int taken = 0;
    bool has_more = true;

    for (int turn = 0; has_more && taken < max_rows; turn++) {
        has_more = false;
        for (int i = 0, place = 0; i < count && taken < max_rows; i++) {
            place = i > 0 && class[i] == class[i - 1] ? place + 1 : 0; /* within its class */
            if (place == turn) {
                is_taken[i] = has_more = true;
                taken++;
            }
        }
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Number of links from here on that have one class and equal use. */
static int alike(const struct pp_used_link *links, int count)
{
    static const double TIE_FRAC = 1e-9;
    int same = 1;

    while (same < count && links[same].class == links->class &&
           links[same].frac >= links->frac * (1 - TIE_FRAC))
        same++;
    return same;
}

/* Keeps `max_alike` of equally used links of a class, evenly spread. */
static int thin_out(struct pp_used_link *links, int count, int max_alike)
{
    int kept = 0;

    for (int i = 0, same; i < count; i += same) {
        same = alike(&links[i], count - i);
        const int taken = same < max_alike ? same : max_alike;
        for (int k = 0; k < taken; k++)
            links[kept++] = links[i + (int)((int64_t)k * same / taken)];
    }
    return kept;
}

static struct pp_used_link *choose_links(struct timing *t, struct pp_link_choice choice, int *count)
{
    struct pp_link_loads loads;
    int all, kept = 0;
    struct pp_used_link *links = pp_used_links(t->arena, t->in, &loads, &all);

    all = thin_out(links, all, choice.max_alike);
    int *class = PP_ARRAY(t->arena, int, all + 1);
    bool *is_taken = PP_ARRAY(t->arena, bool, all + 1);
    for (int i = 0; i < all; i++)
        class[i] = links[i].class;
    pp_links_take_turns(class, all, choice.max_rows, is_taken);
    for (int i = 0; i < all; i++)
        if (is_taken[i])
            links[kept++] = links[i];
    *count = kept;
    return links;
}

struct pp_link_times pp_link_times(struct pp_arena *arena, const struct pp_link_inputs *in,
                                   const struct pp_trace *trace, struct pp_link_choice choice)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct timing t = {.arena = scratch,
                       .in = in,
                       .trace = trace,
                       .events = pp_figure_events(scratch, in->program, trace),
                       .bins = choice.bins,
                       .end_s = pp_figure_end_s(trace)};
    const int bins = choice.bins;
    struct pp_link_times times = {.bins = bins, .end_s = t.end_s};
    const struct pp_used_link *links = choose_links(&t, choice, &times.count);
    int32_t *only = PP_ARRAY(scratch, int32_t, times.count + 1);
    char text[PP_LINK_NAME_BYTES];

    for (int i = 0; i < times.count; i++)
        only[i] = links[i].link;
    qsort(only, (size_t)times.count, sizeof(*only), pp_ascending_ints);
    t.traffic = pp_traffic_make(scratch, in, bins, only, times.count);
    send_messages(&t);
    send_sums(&t);
    times.rows = PP_ARRAY(arena, struct pp_link_row, times.count + 1);
    for (int i = 0; i < times.count; i++) {
        const int32_t *at =
            bsearch(&links[i].link, only, (size_t)times.count, sizeof(*only), pp_ascending_ints);
        const size_t each = sizeof(double) * (size_t)bins;
        times.rows[i] = (struct pp_link_row){
            .name = pp_arena_strdup(arena,
                                    pp_fabric_link_name(in->network->fabric, links[i].link, text)),
            .class = links[i].class,
            .mean_frac = links[i].frac,
            .bytes_per_s = links[i].bytes_per_s,
            .bytes = pp_arena_grow(arena, &t.traffic.bytes[(size_t)(at - only) * (size_t)bins],
                                   each, each)};
    }
    return times;
}
