/* Proves that times repeat around the gaps of a cut program. */
#include "schedules/build/steady.h"
#include "schedules/order/closed_form.h"

#include <limits.h>

struct steady {
    const struct pp_program *p;
    const struct pp_eval_options *options;
    const struct pp_times *times;
    int places; /* of each rank */
    int gaps;   /* places of all steps */
};
/* A place of all ranks in a step. */
struct gap {
    int place, step;
    int64_t span_ps; /* of a period */
    int reach;       /* periods between an instruction and what can delay it, at most */
};

static struct steady steady_of(const struct pp_program *p, const struct pp_eval_options *options,
                               const struct pp_times *times)
{
    struct steady s = {p, options, times, p->cut->begin[1], 0};

    for (int rank = 0; rank < p->ranks; rank++)
        if (p->cut->begin[rank + 1] != (rank + 1) * s.places)
            return s;
    s.gaps = s.places * PP_MAX(times->steps, 1);
    return s;
}

static const struct pp_cut_place *place_of(const struct steady *s, int rank, int place)
{
    return &s->p->cut->places[s->p->cut->begin[rank] + place];
}

/* Returns the row of an instruction and the first replica. */
static int64_t row_of(const struct steady *s, int step, int64_t i)
{
    return (step * (int64_t)pp_program_size(s->p) + i) * s->times->replicas;
}

/* Returns the time of a period around a gap. */
static int64_t span_of(const struct steady *s, int place, int step)
{
    const struct pp_cut_place *at = place_of(s, 0, place);

    return s->times->start_ps[row_of(s, step, at->at)] -
           s->times->start_ps[row_of(s, step, at->at - at->length)];
}

/* ---- reach ----------------------------------------------------------------------------------- */

/* Returns the period of an instruction: -1 is the last before the gap, 0 the first after it. */
static int period_of(const struct pp_cut_place *place, int i)
{
    const int distance = i - place->at;

    return distance >= 0 ? distance / place->length : -1 - (-1 - distance) / place->length;
}

/* The posts of a message or collective. */
struct posts {
    int low, high, waited;     /* their periods, and the first in which a rank waits */
    int64_t early_ps, late_ps; /* the latest before a gap; the latest gap of those after it */
};
struct reading {
    const struct steady *s;
    const struct pp_cut_place *place; /* of the rank */
    int step;
    int64_t gap_ps;   /* the rank comes to the gap, in the first replica that does */
    int64_t clock_ps; /* the last replica has come to the current instruction */
    struct posts *posts;
    int back;
};

static int64_t first_ps(const struct steady *s, const int64_t *ps, int64_t row)
{
    int64_t first = ps[row];

    for (int k = 1; k < s->times->replicas; k++)
        first = ps[row + k] < first ? ps[row + k] : first;
    return first;
}

static int64_t last_ps(const struct steady *s, const int64_t *ps, int64_t row)
{
    int64_t last = ps[row];

    for (int k = 1; k < s->times->replicas; k++)
        last = ps[row + k] > last ? ps[row + k] : last;
    return last;
}

/* Is true if what an instruction posts before the gap ends after it. */
static bool is_open(const struct reading *r, int i)
{
    const struct steady *s = r->s;

    return last_ps(s, s->times->end_ps, row_of(s, r->step, i)) > r->gap_ps;
}

static struct posts *posts_of(const struct reading *r, int i)
{
    const struct pp_program *p = r->s->p;
    const int stream = pp_op_kinds[p->kind[i]].stream;

    if (p->arg[i] < 0 || (stream != PP_STREAM_CHANNEL && stream != PP_STREAM_REDUCE))
        return NULL;
    return &r->posts[p->arg[i] + (stream == PP_STREAM_REDUCE ? p->message_count : 0)];
}

static void read_post(struct reading *r, int i, int period)
{
    struct posts *posts = posts_of(r, i);

    if (period < 0 && is_open(r, i))
        r->back = PP_MAX(r->back, -period);
    if (!posts)
        return;
    posts->low = PP_MIN(posts->low, period);
    posts->high = PP_MAX(posts->high, period);
    if (period < 0)
        posts->early_ps = PP_MAX(posts->early_ps, r->clock_ps);
    else
        posts->late_ps = PP_MAX(posts->late_ps, r->gap_ps);
}

static void read_wait(struct reading *r, int post, int period)
{
    struct posts *posts = posts_of(r, post);
    const int from = period_of(r->place, post);

    if (posts)
        posts->waited = PP_MIN(posts->waited, period);
    if (from < 0 && period >= 0 && is_open(r, post))
        r->back = PP_MAX(r->back, period - from);
}

static void read_rank(struct reading *r, int rank)
{
    const struct pp_program *p = r->s->p;
    const int64_t *end_ps = r->s->times->end_ps;

    r->clock_ps = 0;
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const int stream = pp_op_kinds[p->kind[i]].stream, period = period_of(r->place, i);
        if (stream == PP_STREAM_COMPUTE || stream == PP_STREAM_CONTROL)
            r->clock_ps = last_ps(r->s, end_ps, row_of(r->s, r->step, i));
        else
            read_post(r, i, period);
        if (p->kind[i] == PP_WAIT && p->arg[i] >= 0)
            read_wait(r, p->begin[rank] + p->arg[i], period);
    }
}

/* Returns how many periods lie between an instruction and what can delay it, at most. What is over
 * when a rank comes to its gap delays nothing after it. */
static int reach_of(const struct steady *s, int place, int step)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_program *p = s->p;
    const int count = p->message_count + p->collective_count;
    struct reading r = {
        .s = s, .step = step, .posts = PP_ARRAY(scratch, struct posts, count), .back = 1};
    int across = 0;

    for (int k = 0; k < count; k++)
        r.posts[k] = (struct posts){INT_MAX, INT_MIN, INT_MAX, 0, 0};
    for (int rank = 0; rank < p->ranks; rank++) {
        r.place = place_of(s, rank, place);
        r.gap_ps = first_ps(s, s->times->start_ps, row_of(s, step, r.place->at));
        read_rank(&r, rank);
    }
    for (int k = 0; k < count; k++) {
        const struct posts *posts = &r.posts[k];
        if (posts->low < 0 && posts->high >= 0 &&
            (posts->waited < 0 || posts->early_ps > posts->late_ps))
            across = PP_MAX(across, posts->high - posts->low);
    }
    return r.back + across + (s->options->is_buffered ? s->options->buffered : 0);
}

/* ---- what repeats ---------------------------------------------------------------------------- */

/* Is true if a rank runs all from `low` to `high` periods after its gap a span later than a period
 * before, in all replicas. */
static bool is_steady(const struct steady *s, const struct gap *gap, int rank, int64_t low,
                      int64_t high)
{
    const struct pp_program *p = s->p;
    const struct pp_times *times = s->times;
    const struct pp_cut_place *place = place_of(s, rank, gap->place);
    const int64_t length = place->length, first = place->at + low * length,
                  end = place->at + high * length;

    if (first - length < p->begin[rank] || end > p->begin[rank + 1])
        return false;
    for (int64_t i = first; i < end; i++)
        if (!pp_program_is_alike(p, (int)(i - length), (int)i))
            return false;
    for (int64_t row = row_of(s, gap->step, first); row < row_of(s, gap->step, end); row++) {
        const int64_t before = row - length * times->replicas;
        if (times->start_ps[row] - times->start_ps[before] != gap->span_ps ||
            times->end_ps[row] - times->end_ps[before] != gap->span_ps)
            return false;
    }
    return true;
}

/* Returns the period of a rank at a moment, or `most` if it is later. */
static int64_t period_at(const struct steady *s, const struct gap *gap, int rank, int replica,
                         int64_t at_ps)
{
    const struct pp_cut_place *place = place_of(s, rank, gap->place);
    const int64_t most = (s->p->begin[rank + 1] - 1 - place->at) / place->length;
    int64_t period = (s->p->begin[rank] - place->at) / place->length;

    while (period < most &&
           s->times->start_ps[row_of(s, gap->step, place->at + (period + 1) * place->length) +
                              replica] <= at_ps)
        period++;
    return period;
}

/* Is true if all ranks are amid such periods when rank 0 begins the one after the gap. */
static bool is_together(const struct steady *s, const struct gap *gap)
{
    const int replicas = s->times->replicas;
    const int64_t at_ps = s->times->start_ps[row_of(s, gap->step, place_of(s, 0, gap->place)->at)];

    for (int k = 0; k < s->p->ranks * replicas; k++) {
        const int rank = k / replicas;
        const int64_t period = period_at(s, gap, rank, k % replicas, at_ps);
        if (!is_steady(s, gap, rank, PP_MIN(period, 0) - gap->reach,
                       PP_MAX(period, 0) + gap->reach + 1))
            return false;
    }
    return true;
}

/* Proves all gaps; fills `gaps`. */
static bool prove(const struct steady *s, bool shares_links, struct gap *gaps)
{
    int64_t sum_ps = 0;

    for (int k = 0; k < s->gaps; k++) {
        struct gap *gap = &gaps[k];
        *gap = (struct gap){.place = k % s->places, .step = k / s->places};
        gap->span_ps = span_of(s, gap->place, gap->step);
        gap->reach = reach_of(s, gap->place, gap->step);
        for (int rank = 0; rank < s->p->ranks; rank++)
            if (!is_steady(s, gap, rank, -gap->reach, gap->reach + 1))
                return false;
        if (shares_links && !is_together(s, gap))
            return false;
        sum_ps += gap->span_ps;
        if (sum_ps > (INT64_MAX / 2 - s->times->makespan_ps) / s->p->cut->periods)
            return false;
    }
    return s->gaps > 0;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Makes an instruction later in all replicas; returns its latest end. */
static int64_t delay(struct pp_times *times, int64_t row, int64_t later_ps)
{
    int64_t last_ps = 0;

    for (int64_t at = row; at < row + times->replicas; at++) {
        times->start_ps[at] += later_ps;
        times->end_ps[at] += later_ps;
        last_ps = PP_MAX(last_ps, times->end_ps[at]);
    }
    return last_ps;
}

/* Makes each instruction later by what the gaps before it leave out. */
static void delay_all(const struct steady *s, const struct gap *gaps, struct pp_times *times)
{
    const struct pp_program *p = s->p;

    for (int rank = 0; rank < p->ranks; rank++) {
        const struct gap *next = gaps, *last = gaps + s->gaps;
        int64_t later_ps = 0;
        for (int step = 0; step < s->gaps / s->places; step++)
            for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
                for (; next < last && next->step == step && i == place_of(s, rank, next->place)->at;
                     next++)
                    later_ps += p->cut->periods * next->span_ps;
                const int64_t end_ps = delay(times, row_of(s, step, i), later_ps);
                times->step_end_ps[step] = PP_MAX(times->step_end_ps[step], end_ps);
            }
    }
    times->makespan_ps = times->step_end_ps[s->gaps / s->places - 1];
}

bool pp_steady_may_tell(const struct pp_program *program)
{
    static const struct pp_times one = {.steps = 1};

    return steady_of(program, NULL, &one).gaps > 0;
}

bool pp_steady_lengthen(const struct pp_program *program, const struct pp_eval_options *options,
                        bool shares_links, struct pp_times *times)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct steady s = steady_of(program, options, times);
    struct gap *gaps = PP_ARRAY(scratch, struct gap, s.gaps);

    if (!prove(&s, shares_links, gaps))
        return false;
    delay_all(&s, gaps, times);
    return true;
}
