/* Proves times of a cut program whose ranks repeat at different speeds. */
#include "schedules/build/drift.h"
#include "schedules/build/cut.h"
#include "schedules/evaluate/makespan.h"
#include "schedules/order/closed_form.h"

#include <string.h>

enum { NONE = -1, TIMES = 3 };

/* A program and its times. */
struct played {
    const struct pp_program *p;
    const int64_t *ps[TIMES]; /* start, end, post */
    int32_t *before; /* [instruction]: the one before on its stream, or side of a channel */
    int32_t *other;  /* [instruction]: of a copy: the one before on a stream that it comes after */
};
struct drift {
    struct pp_arena *arena;
    const struct pp_eval_options *options;
    bool is_unit;
    int64_t periods;         /* left out */
    struct played cut, more; /* as it is, and with one period more */
    int32_t *more_of;        /* [instruction of `cut`]: in `more` */
    int32_t *length;         /* [instruction of `cut`]: of a period, if it is amid those at a gap */
};

enum { START, END, POST };

static int stream_of(const struct pp_program *p, int i)
{
    return pp_op_kinds[p->kind[i]].stream;
}

/* ---- both programs --------------------------------------------------------------------------- */

/* Returns the instruction before on a stream, which is i next. */
static int32_t next_on(int32_t *last, int32_t i)
{
    const int32_t before = *last;

    *last = i;
    return before;
}

static void add_copy(struct played *all, int32_t copied[PP_COPY_STREAMS], int32_t i)
{
    const int purpose = all->p->purpose[i];

    all->other[i] = copied[pp_move_after(purpose)];
    all->before[i] = next_on(&copied[pp_move_stream(purpose)], i);
}

/* Finds the instructions that precede others on their streams. */
static struct played played_of(struct pp_arena *arena, const struct pp_program *p,
                               const struct pp_times *times)
{
    struct played all = {p,
                         {times->start_ps, times->end_ps, times->posted_ps},
                         PP_ARRAY(arena, int32_t, pp_program_size(p) + 1),
                         PP_ARRAY(arena, int32_t, pp_program_size(p) + 1)};
    const size_t sides = 2 * (size_t)p->channel_count;
    int32_t *of_channel = PP_ARRAY(arena, int32_t, sides + 1),
            *channel_of = PP_ARRAY(arena, int32_t, p->message_count + 1);

    memset(of_channel, 0xff, sizeof(*of_channel) * sides);
    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            channel_of[p->channels[c].first + k] = c;
    for (int rank = 0; rank < p->ranks; rank++) {
        int32_t reduced = NONE, copied[PP_COPY_STREAMS] = {NONE, NONE, NONE};
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            const int stream = stream_of(p, i);
            all.before[i] = all.other[i] = NONE;
            if (stream == PP_STREAM_REDUCE)
                all.before[i] = next_on(&reduced, i);
            else if (stream == PP_STREAM_COPY)
                add_copy(&all, copied, i);
            else if (stream == PP_STREAM_CHANNEL)
                all.before[i] =
                    next_on(&of_channel[2 * channel_of[p->arg[i]] + pp_op_is_send(p->kind[i])], i);
        }
    }
    return all;
}

/* Finds the instructions of `cut` in `more`. */
static void map(struct drift *d)
{
    const struct pp_program *p = d->cut.p;

    d->more_of = PP_ARRAY(d->arena, int32_t, pp_program_size(p) + 1);
    for (int rank = 0; rank < p->ranks; rank++) {
        int k = p->cut->begin[rank], later = d->more.p->begin[rank] - p->begin[rank];
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            for (; k < p->cut->begin[rank + 1] && p->cut->places[k].at == i; k++)
                later += p->cut->places[k].length;
            d->more_of[i] = i + later;
        }
    }
}

/* ---- what repeats ---------------------------------------------------------------------------- */

static bool does_same(const struct pp_program *p, int i, int k)
{
    return p->kind[i] == p->kind[k] && p->aux[i] == p->aux[k] && p->stage[i] == p->stage[k] &&
           p->pipe[i] == p->pipe[k] && p->split[i] == p->split[k] && p->peer[i] == p->peer[k] &&
           p->granule_count[i] == p->granule_count[k];
}

/* Returns how many times an instruction has. */
static int times_of(const struct pp_program *p, int i)
{
    const int stream = stream_of(p, i);

    return stream == PP_STREAM_COMPUTE || stream == PP_STREAM_CONTROL ? POST : TIMES;
}

/* Returns by how much a time is later with one period more. */
static int64_t later_by(const struct drift *d, int time, int i)
{
    return d->more.ps[time][d->more_of[i]] - d->cut.ps[time][i];
}

/* Is true if an instruction is as much later than a period before as that one than the period
 * before it. The period after the gap is the first that one period more delays. */
static bool is_linear(const struct drift *d, const struct pp_cut_place *place, int i)
{
    const struct pp_program *p = d->cut.p;
    const int length = place->length, before = i - length, first = before - length;

    if (p->kind[i] == PP_BAR || !does_same(p, first, before) || !does_same(p, before, i) ||
        (p->kind[i] == PP_WAIT && p->arg[i] - p->arg[before] != p->arg[before] - p->arg[first]))
        return false;
    for (int time = START; time < times_of(p, i); time++) {
        const int64_t *ps = d->cut.ps[time], span_ps = ps[i] - ps[before];
        const bool is_first = i >= place->at && i < place->at + length;
        if (ps[before] - ps[first] != span_ps ||
            later_by(d, time, i) - later_by(d, time, before) != (is_first ? span_ps : 0))
            return false;
    }
    return true;
}

/* Is true if the period that `more` adds is as much later as those around it. */
static bool is_added(const struct drift *d, const struct pp_cut_place *place, int i)
{
    const struct pp_program *p = d->cut.p;
    const int before = i - place->length;

    for (int time = START; time < times_of(p, i); time++)
        if (d->more.ps[time][d->more_of[before] + place->length] -
                d->more.ps[time][d->more_of[before]] !=
            d->cut.ps[time][i] - d->cut.ps[time][before])
            return false;
    return true;
}

/* Marks the instructions that repeat around a place; false if they are too few. */
static bool mark(struct drift *d, int rank, const struct pp_cut_place *place)
{
    enum { LEAST = 2 };
    const struct pp_program *p = d->cut.p;
    const int length = place->length, least = p->begin[rank] + 2 * length;
    int low = place->at, high = place->at;

    while (low > least && is_linear(d, place, low - 1))
        low--;
    while (low >= least && high < p->begin[rank + 1] && is_linear(d, place, high))
        high++;
    if (low > place->at - LEAST * length || high < place->at + LEAST * length)
        return false;
    for (int i = place->at; i < place->at + length; i++)
        if (!is_added(d, place, i))
            return false;
    for (int i = low - 2 * length; i < high; i++)
        d->length[i] = length;
    return true;
}

/* Is true if the WAITs after a place wait for what each period at a place posts. */
static bool waits_repeat(const struct drift *d, int rank, const struct pp_cut_place *place)
{
    const struct pp_program *p = d->cut.p;

    for (int i = place->at; i < place->at + place->length; i++)
        if (p->kind[i] == PP_WAIT && (p->arg[i] < 0 || d->length[p->begin[rank] + p->arg[i]] !=
                                                           p->arg[i] - p->arg[i - place->length]))
            return false;
    return true;
}

/* ---- what can delay -------------------------------------------------------------------------- */

/* Is true if an instruction comes after another time with all periods; `slack_ps` is how much it
 * does in `cut`, `more_ps` in `more`. */
static bool is_after(const struct drift *d, int64_t slack_ps, int64_t more_ps)
{
    return slack_ps >= 0 && more_ps >= 0 && more_ps - slack_ps >= -(slack_ps / d->periods);
}

/* Is true if instruction i depends on `on`, and as much in all periods: it does in `more`, or both
 * are amid periods. */
static bool depends(const struct drift *d, int i, int on, int more_on)
{
    return d->more_of[on] == more_on || (d->length[i] && d->length[on]);
}

/* Is true if time `time` of instruction i is always after the end of `on`. */
static bool is_after_end(const struct drift *d, int time, int i, int on, int more_on)
{
    if (on < 0 || more_on < 0)
        return on == more_on;
    return depends(d, i, on, more_on) &&
           is_after(d, d->cut.ps[time][i] - d->cut.ps[END][on],
                    d->more.ps[time][d->more_of[i]] - d->more.ps[END][more_on]);
}

static bool is_after_own(const struct drift *d, int time, int i, int other)
{
    const int more = d->more_of[i];

    return is_after(d, d->cut.ps[time][i] - d->cut.ps[other][i],
                    d->more.ps[time][more] - d->more.ps[other][more]);
}

/* Is true if a transfer always starts after its room in the buffer is free. */
static bool has_room(const struct drift *d, int i)
{
    int on = i, more_on = d->more_of[i];

    for (int k = 0; k < d->options->buffered && on >= 0 && more_on >= 0; k++) {
        on = d->cut.before[on];
        more_on = d->more.before[more_on];
    }
    if (!is_after_end(d, START, i, on, more_on))
        return false;
    return on < 0 || is_after(d, d->cut.ps[START][i] - d->cut.ps[POST][on],
                              d->more.ps[START][d->more_of[i]] - d->more.ps[POST][more_on]);
}

static bool channel_holds(const struct drift *d, int i)
{
    const bool is_recv = !pp_op_is_send(d->cut.p->kind[i]), is_buffered = d->options->is_buffered;

    if (!(is_recv && is_buffered) && !is_after_own(d, START, i, POST))
        return false;
    if (!d->is_unit && !is_after_end(d, START, i, d->cut.before[i], d->more.before[d->more_of[i]]))
        return false;
    return !is_recv || !is_buffered || d->options->buffered == 0 || has_room(d, i);
}

static bool queue_holds(const struct drift *d, int i)
{
    const int m = d->more_of[i];

    return is_after_own(d, START, i, POST) &&
           is_after_end(d, START, i, d->cut.before[i], d->more.before[m]) &&
           is_after_end(d, START, i, d->cut.other[i], d->more.other[m]);
}

static bool control_holds(const struct drift *d, int i)
{
    const struct pp_program *p = d->cut.p, *more = d->more.p;
    const int m = d->more_of[i];

    if (!is_after_own(d, END, i, START))
        return false;
    if (p->kind[i] != PP_WAIT || p->arg[i] < 0)
        return true;
    const int rank = pp_program_rank_at(p, i);
    return is_after_end(d, END, i, p->begin[rank] + p->arg[i], more->begin[rank] + more->arg[m]);
}

static bool compute_holds(const struct drift *d, int i)
{
    (void)d, (void)i;
    return true; /* starts when the rank comes to it */
}

static bool (*const holds[])(const struct drift *d, int i) = {
    [PP_STREAM_COMPUTE] = compute_holds, [PP_STREAM_CHANNEL] = channel_holds,
    [PP_STREAM_REDUCE] = queue_holds,    [PP_STREAM_COPY] = queue_holds,
    [PP_STREAM_CONTROL] = control_holds,
};

/* Is true if all sides of each message and collective are the same in `more`, or amid periods. */
static bool sides_agree(const struct drift *d)
{
    const struct pp_program *p = d->cut.p;
    const int count = p->message_count + p->collective_count, size = pp_program_size(p);
    int32_t *in_more =
        PP_ARRAY(d->arena, int32_t, count + 1); /* 1 more; 0: not known; -1: differ */

    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < size; i++) {
            const int stream = stream_of(p, i), arg = p->arg[i];
            if (arg < 0 || (stream != PP_STREAM_CHANNEL && stream != PP_STREAM_REDUCE))
                continue;
            int32_t *seen = &in_more[arg + (stream == PP_STREAM_REDUCE ? p->message_count : 0)];
            const int32_t now = d->more.p->arg[d->more_of[i]] + 1;
            if (turn == 0)
                *seen = *seen == 0 || *seen == now ? now : NONE;
            else if (*seen == NONE && !d->length[i])
                return false;
        }
    return true;
}

/* ---- the proof ------------------------------------------------------------------------------- */

static bool prove(struct drift *d)
{
    const struct pp_program *p = d->cut.p;

    map(d);
    d->length = PP_ARRAY(d->arena, int32_t, pp_program_size(p) + 1);
    for (int rank = 0; rank < p->ranks; rank++)
        for (int k = p->cut->begin[rank]; k < p->cut->begin[rank + 1]; k++)
            if (!mark(d, rank, &p->cut->places[k]))
                return false;
    for (int rank = 0; rank < p->ranks; rank++)
        for (int k = p->cut->begin[rank]; k < p->cut->begin[rank + 1]; k++)
            if (!waits_repeat(d, rank, &p->cut->places[k]))
                return false;
    for (int i = 0; i < pp_program_size(p); i++)
        if (!holds[stream_of(p, i)](d, i))
            return false;
    return sides_agree(d);
}

/* Is true if no time overflows with all periods. */
static bool has_time(const struct drift *d)
{
    for (int i = 0; i < pp_program_size(d->cut.p); i++)
        if (later_by(d, END, i) > (INT64_MAX / 2 - d->cut.ps[END][i]) / d->periods)
            return false;
    return true;
}

bool pp_drift_may_tell(const struct pp_program *program)
{
    enum { MOST_PLACES = 4 };

    return program->cut->begin[program->ranks] <= MOST_PLACES * program->ranks;
}

bool pp_drift_lengthen(const struct pp_program *program, const struct pp_costs *costs,
                       const struct pp_eval_options *options, struct pp_times *times)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct drift d = {.arena = arena,
                      .options = options,
                      .is_unit = costs->is_unit,
                      .periods = program->cut->periods};

    if (times->replicas > 1 || times->steps > 1)
        return false;
    const struct pp_program *more = pp_cut_unfold(arena, program, 1);
    const struct pp_times *more_times =
        more ? pp_makespan_spans(arena, more, costs, options, PP_TIMES_POSTS) : NULL;
    if (!more_times || !more->cut)
        return false;
    d.cut = played_of(arena, program, times);
    d.more = played_of(arena, more, more_times);
    if (!prove(&d) || !has_time(&d))
        return false;
    for (int i = 0; i < pp_program_size(program); i++) {
        times->start_ps[i] += d.periods * later_by(&d, START, i);
        times->end_ps[i] += d.periods * later_by(&d, END, i);
        times->makespan_ps = PP_MAX(times->makespan_ps, times->end_ps[i]);
    }
    times->step_end_ps[0] = times->makespan_ps;
    return true;
}
