/* Proves that times repeat around the gap of a cut program. */
#include "schedules/build/steady.h"
#include "schedules/order/closed_form.h"

#include <limits.h>

/* Periods in which a message or collective is posted. */
struct posts {
    int low, high;
};

/* Returns the period of an instruction: -1 is the last before the gap, 0 the first after it. */
static int period_of(const struct pp_program *p, int rank, int i)
{
    const struct pp_cut_place *place = &p->cut->places[rank];
    const int distance = i - place->at;

    return distance >= 0 ? distance / place->length : -1 - (-1 - distance) / place->length;
}

static void note(struct posts *posts, int period)
{
    posts->low = period < posts->low ? period : posts->low;
    posts->high = period > posts->high ? period : posts->high;
}

/* Notes the posts of an instruction; returns the periods for which it looks back. */
static int look(const struct pp_program *p, int rank, int i, struct posts *posts)
{
    const int stream = pp_op_kinds[p->kind[i]].stream, period = period_of(p, rank, i);

    if (p->arg[i] < 0)
        return 0;
    if (stream == PP_STREAM_CHANNEL || stream == PP_STREAM_REDUCE)
        note(&posts[p->arg[i] + (stream == PP_STREAM_REDUCE ? p->message_count : 0)], period);
    if (p->kind[i] != PP_WAIT)
        return 0;
    const int from = period_of(p, rank, p->begin[rank] + p->arg[i]);
    return from < 0 ? period - from : 0;
}

/* Returns how many periods lie between an instruction and what it depends on, at most. What stands
 * after the gap on all sides is later by one span, whatever depends on what. */
static int reach_of(const struct pp_program *p, const struct pp_eval_options *options)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const int count = p->message_count + p->collective_count;
    struct posts *posts = PP_ARRAY(scratch, struct posts, count);
    int back = 1, across = 0;

    for (int k = 0; k < count; k++)
        posts[k] = (struct posts){INT_MAX, INT_MIN};
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            const int periods = look(p, rank, i, posts);
            back = periods > back ? periods : back;
        }
    for (int k = 0; k < count; k++)
        if (posts[k].low < 0 && posts[k].high - posts[k].low > across)
            across = posts[k].high - posts[k].low;
    return back + across + (options->is_buffered ? options->buffered : 0);
}

/* Is true if a rank runs all from `low` to `high` periods after its gap `span` later than a period
 * before, in all replicas. */
static bool is_steady(const struct pp_program *p, const struct pp_times *times, int rank,
                      int64_t low, int64_t high, int64_t span)
{
    const struct pp_cut_place *place = &p->cut->places[rank];
    const int64_t length = place->length, first = place->at + low * length,
                  end = place->at + high * length, replicas = times->replicas;

    if (first - length < p->begin[rank] || end > p->begin[rank + 1])
        return false;
    for (int64_t i = first; i < end; i++)
        if (!pp_program_is_alike(p, (int)(i - length), (int)i))
            return false;
    for (int64_t row = first * replicas; row < end * replicas; row++) {
        const int64_t before = row - length * replicas;
        if (times->start_ps[row] - times->start_ps[before] != span ||
            times->end_ps[row] - times->end_ps[before] != span)
            return false;
    }
    return true;
}

static bool has_one_gap_each(const struct pp_program *p)
{
    for (int rank = 0; rank < p->ranks; rank++)
        if (p->cut->begin[rank + 1] != rank + 1)
            return false;
    return true;
}

static int64_t span_of(const struct pp_program *p, const struct pp_times *times)
{
    const struct pp_cut_place *place = &p->cut->places[0];
    const int64_t replicas = times->replicas;

    return times->start_ps[place->at * replicas] -
           times->start_ps[(place->at - place->length) * replicas];
}

/* Returns the period of a rank at a moment, or `most` if it is later. */
static int64_t period_at(const struct pp_program *p, const struct pp_times *times, int rank,
                         int replica, int64_t at_ps)
{
    const struct pp_cut_place *place = &p->cut->places[rank];
    const int64_t replicas = times->replicas,
                  most = (p->begin[rank + 1] - place->at) / place->length;
    int64_t period = (p->begin[rank] - place->at) / place->length;

    while (period < most &&
           times->start_ps[(place->at + (period + 1) * place->length) * replicas + replica] <=
               at_ps)
        period++;
    return period;
}

bool pp_steady_is_together(const struct pp_program *p, const struct pp_eval_options *options,
                           const struct pp_times *times)
{
    if (!has_one_gap_each(p))
        return false;
    const int reach = reach_of(p, options), replicas = times->replicas;
    const int64_t span = span_of(p, times),
                  at_ps = times->start_ps[(int64_t)p->cut->places[0].at * replicas];
    for (int k = 0; k < p->ranks * replicas; k++) {
        const int rank = k / replicas;
        const int64_t period = period_at(p, times, rank, k % replicas, at_ps);
        if (!is_steady(p, times, rank, PP_MIN(period, 0) - reach, PP_MAX(period, 0) + reach + 1,
                       span))
            return false;
    }
    return true;
}

bool pp_steady_lengthen(const struct pp_program *p, const struct pp_eval_options *options,
                        struct pp_times *times)
{
    const struct pp_program_cut *cut = p->cut;

    if (!has_one_gap_each(p))
        return false;
    const int reach = reach_of(p, options);
    const int64_t span = span_of(p, times);
    for (int rank = 0; rank < p->ranks; rank++)
        if (!is_steady(p, times, rank, -reach, reach + 1, span))
            return false;
    if (span > (INT64_MAX / 2 - times->makespan_ps) / cut->periods)
        return false;
    times->makespan_ps += cut->periods * span;
    times->step_end_ps[0] = times->makespan_ps;
    return true;
}
