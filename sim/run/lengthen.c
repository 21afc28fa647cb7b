/* The times of a whole program: by its steady state, or where no transfers meet by its phases. */
#include "sim/run/lengthen.h"

#include "schedules/build/cut.h"
#include "schedules/build/drift.h"
#include "schedules/build/steady.h"
#include "schedules/evaluate/makespan.h"
#include "schedules/program/whole.h"
#include "sim/engine/wires.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- transfers that do not meet -------------------------------------------------------------- */

/* Time from the first to the last transfer of a channel, on a link. */
struct window {
    int32_t link;
    int64_t start_ps, end_ps;
};

static int by_link(const void *a, const void *b)
{
    const struct window *x = a, *y = b;

    return x->link != y->link ? (x->link > y->link) - (x->link < y->link)
                              : (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* Returns the windows of all channels. */
static struct window *windows_of(struct pp_arena *arena, const struct pp_program *p,
                                 const struct pp_times *times)
{
    struct window *windows = PP_ARRAY(arena, struct window, p->channel_count);
    int32_t *channel_of = PP_ARRAY(arena, int32_t, p->message_count);

    for (int c = 0; c < p->channel_count; c++) {
        windows[c].start_ps = INT64_MAX;
        for (int k = 0; k < p->channels[c].count; k++)
            channel_of[p->channels[c].first + k] = c;
    }
    for (int i = 0; i < pp_program_size(p); i++) {
        if (!pp_op_is_send(p->kind[i]))
            continue;
        struct window *w = &windows[channel_of[p->arg[i]]];
        w->start_ps = times->start_ps[i] < w->start_ps ? times->start_ps[i] : w->start_ps;
        w->end_ps = times->end_ps[i] > w->end_ps ? times->end_ps[i] : w->end_ps;
    }
    return windows;
}

/* Is true if no two channels ever use a link at the same time. */
static bool are_apart(const struct pp_result *result, const struct pp_times *times)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *p = result->program;
    const struct pp_network *network = result->config.engine_options.network;
    const struct window *channel = windows_of(arena, p, times);
    struct window *all = NULL;
    struct pp_wires *wires;
    struct pp_error unused;
    int count = 0, capacity = 0;

    if (pp_wires_make(arena, p, result->costs, network, 1, false, &wires, &unused) != PP_OK)
        return false;
    for (int k = 0; k < wires->count; k++)
        for (int i = 0; i < wires->wire[k].count; i++) {
            struct window window = channel[k / wires->lanes];
            window.link = wires->used[wires->wire[k].first + i];
            *PP_PUSH(arena, all, count, capacity) = window;
        }
    if (count > 0)
        qsort(all, (size_t)count, sizeof(*all), by_link);
    for (int k = 1; k < count; k++)
        if (all[k].link == all[k - 1].link && all[k].start_ps < all[k - 1].end_ps)
            return false;
    return true;
}

/* ---- both proofs ----------------------------------------------------------------------------- */

static bool are_same(const struct pp_times *a, const struct pp_times *b, int size)
{
    const size_t bytes = sizeof(int64_t) * (size_t)size;

    return !memcmp(a->start_ps, b->start_ps, bytes) && !memcmp(a->end_ps, b->end_ps, bytes);
}

/* Lengthens phases. A transfer that meets no other one takes the time that it takes alone, so the
 * times are those of a play. */
static bool lengthen_phases(struct pp_arena *arena, const struct pp_eval_options *options,
                            struct pp_result *result)
{
    const struct pp_program *p = result->program;
    struct pp_network_stats *stats = &result->network_stats;
    const bool has_links = result->config.engine->shares_links && stats->transfers > 0;

    if (result->times->replicas > 1 || result->times->steps > 1 || stats->shared > 0)
        return false;
    struct pp_times *times = pp_makespan_spans(arena, p, result->costs, options, PP_TIMES_POSTS);
    if (!times || !are_same(times, result->times, pp_program_size(p)) ||
        !pp_drift_lengthen(p, result->costs, options, times) ||
        (has_links && !are_apart(result, times)))
        return false;
    int64_t messages = 0;
    for (struct pp_whole_walk walk = pp_whole_walk(p, 0); walk.at < pp_program_size(p);
         pp_whole_next(p, &walk))
        messages += pp_op_is_send(p->kind[walk.at]);
    if (has_links)
        stats->transfers = stats->transfers / p->message_count * messages;
    result->times = times;
    return true;
}

bool pp_may_lengthen(const struct pp_config *config, const struct pp_program *cut)
{
    const struct pp_engine_options *o = &config->engine_options;

    return config->slow_count == 0 && o->perturbation.jitter_frac == 0 && o->sync_share == 0 &&
           !o->eval.ring_flows && (o->eval.steps <= 1 || o->eval.is_barrier_free) &&
           (pp_steady_may_tell(cut) || pp_drift_may_tell(cut));
}

bool pp_lengthen(struct pp_arena *arena, const struct pp_eval_options *options,
                 struct pp_result *result)
{
    const struct pp_program *p = result->program;
    const bool shares_links = result->config.engine->shares_links;
    struct pp_network_stats *stats = &result->network_stats;

    if (pp_program_whole_size(p) > INT_MAX / 2 / result->times->replicas)
        return false;
    if (!pp_steady_may_tell(p))
        return lengthen_phases(arena, options, result);
    if ((shares_links && !stats->repeats) ||
        !pp_steady_lengthen(p, options, shares_links, result->times))
        return false;
    stats->transfers += p->cut->periods * stats->period_transfers;
    stats->shared += p->cut->periods * stats->period_shared;
    return true;
}

int pp_lengthen_more(const struct pp_program *cut, int periods)
{
    return pp_steady_may_tell(cut) ? pp_cut_more(cut, periods) : cut->cut->periods;
}
