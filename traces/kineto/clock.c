/* Messages between processes, and corrections of clocks that follow from them. */
#include "traces/kineto/parts.h"

#include "core/quantile.h"

#include <math.h>
#include <stdlib.h>

/* ---- messages -------------------------------------------------------------------------------- */

struct pp_kineto_message *pp_kineto_messages(struct pp_arena *arena,
                                             const struct pp_kineto_file *files, int file_count,
                                             int *count)
{
    int total = 0;

    for (int f = 0; f < file_count; f++)
        total += files[f].count;
    struct pp_kineto_message *all = PP_ARRAY(arena, struct pp_kineto_message, total);
    *count = 0;
    for (int f = 0; f < file_count; f++)
        for (int k = 0; k < files[f].count; k++) {
            struct pp_kineto_range *range = &files[f].ranges[k];
            if (range->what == PP_KINETO_MESSAGE)
                all[(*count)++] = (struct pp_kineto_message){
                    pp_message_end(&range->op, files[f].replica, range->step, 0), f, range};
        }
    if (*count > 0)
        qsort(all, (size_t)*count, sizeof(*all), pp_message_compare);
    return all;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* Difference of a message's end at its receiver and at its sender, each on its own clock. */
struct lag {
    int from, to; /* files */
    double s;
};

static int by_ends(const void *left, const void *right)
{
    const struct lag *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static struct lag *find_lags(struct pp_arena *arena, const struct pp_kineto_message *messages,
                             int count, int *lag_count)
{
    struct lag *lags = PP_ARRAY(arena, struct lag, count);

    *lag_count = 0;
    for (int k = 0; k + 1 < count; k++)
        if (pp_kineto_is_pair(&messages[k]))
            lags[(*lag_count)++] = (struct lag){
                messages[k].file, messages[k + 1].file,
                (double)(messages[k + 1].range->end_ns - messages[k].range->end_ns) * 1e-9};
    if (*lag_count > 0)
        qsort(lags, (size_t)*lag_count, sizeof(*lags), by_ends);
    return lags;
}

/* Reduces lags to the median of each pair of processes; returns the number of pairs. */
static int take_medians(struct pp_arena *arena, struct lag *lags, int count)
{
    double *values = PP_ARRAY(arena, double, count);
    int pairs = 0;

    for (int from = 0, to; from < count; from = to) {
        for (to = from; to < count && by_ends(&lags[from], &lags[to]) == 0; to++)
            values[to - from] = lags[to].s;
        const struct lag median = {lags[from].from, lags[from].to, pp_median(values, to - from)};
        lags[pairs++] = median;
    }
    return pairs;
}

/* A process's clock relative to that of the first one of its replica. */
struct clock {
    bool is_known;
    double ahead_s, error_s;
};

/* Spreads from known clocks to processes with lags in both directions. The clock of `to` is ahead
 * by half their difference. A message takes half their sum to end at the other side. */
static void spread(struct clock *clocks, const struct lag *lags, int count)
{
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (int k = 0; k < count; k++) {
            const struct clock *from = &clocks[lags[k].from];
            const struct lag key = {lags[k].to, lags[k].from, 0},
                             *back = bsearch(&key, lags, (size_t)count, sizeof(key), by_ends);
            if (!back || !from->is_known || clocks[lags[k].to].is_known)
                continue;
            clocks[lags[k].to] = (struct clock){true, from->ahead_s + (lags[k].s - back->s) / 2,
                                                from->error_s + fabs(lags[k].s + back->s) / 2};
            is_new = true;
        }
    }
}

double pp_kineto_align(struct pp_arena *arena, struct pp_kineto *run, struct pp_kineto_file *files,
                       int file_count, const struct pp_kineto_message *messages, int count)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct clock *clocks = PP_ARRAY(scratch, struct clock, file_count);
    int lag_count, moved = 0;
    double error_s = 0, furthest_s = 0;
    struct lag *lags = find_lags(scratch, messages, count, &lag_count);

    lag_count = take_medians(scratch, lags, lag_count);
    for (int f = 0; f < file_count; f++)
        clocks[f].is_known = files[f].pipeline_rank == 0;
    spread(clocks, lags, lag_count);
    for (int f = 0; f < file_count; f++) {
        const struct clock *c = &clocks[f];
        error_s = fmax(error_s, 2 * c->error_s); /* either of two clocks may be wrong */
        if (fabs(c->ahead_s) <= c->error_s)      /* within the error */
            continue;
        files[f].shift_ns = -llround(c->ahead_s * 1e9);
        furthest_s = fmax(furthest_s, fabs(c->ahead_s));
        moved++;
    }
    if (moved > 0)
        pp_kineto_note(arena, run,
                       pp_arena_printf(arena,
                                       "clocks of %d of %d processes were moved, by up to %.3g us, "
                                       "so that messages end at both sides together",
                                       moved, file_count, furthest_s * 1e6));
    return error_s;
}
