/* The end of the report: the same layout under other schedules, and advice. */
#include "core/units.h"
#include "schedules/order/schedule.h"
#include "sim/config/tiers.h"
#include "sim/report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_OTHERS = 4, WIDTH = 80, MOST_NAMES = 22 };

static int by_iteration(const void *a, const void *b)
{
    const struct pp_result *const *x = a, *const *y = b;

    if ((*x)->fits != (*y)->fits)
        return (*x)->fits ? -1 : 1;
    return (*x)->metrics.iteration_s < (*y)->metrics.iteration_s ? -1 : 1;
}

/* Is true if no figure tells the runs apart: mostly their schedules make the same program. */
static bool are_twins(const struct pp_result *x, const struct pp_result *y)
{
    return x->metrics.iteration_s == y->metrics.iteration_s &&
           x->metrics.bubble_frac == y->metrics.bubble_frac &&
           x->memory[x->peak_rank].peak_bytes == y->memory[y->peak_rank].peak_bytes;
}

enum { TIME_END = 35 }; /* column of the step's end */

/* `twins`: schedules that share the row, or "". */
static void print_other(const struct pp_result *r, const struct pp_result *you, const char *twins,
                        FILE *out)
{
    char figure[PP_TEXT_BYTES], versus[32];
    const double gain = r->metrics.iteration_s / you->metrics.iteration_s - 1;

    if (r == you)
        snprintf(versus, sizeof(versus), "this run");
    else if (fabs(gain) < PP_TIE_FRAC)
        snprintf(versus, sizeof(versus), "tie");
    else
        snprintf(versus, sizeof(versus), "%+.1f %% time", 100 * gain);
    char vp[16] = "";
    if (r->config.layout.vp > 1)
        snprintf(vp, sizeof(vp), " VP %d", r->config.layout.vp);
    const char *recompute = pp_config_is_same_recompute(&r->config, &you->config) ? "" : " rec.";
    const bool is_short = snprintf(figure, sizeof(figure), "%s%s%s%s%s", r->config.schedule_name,
                                   *twins ? ", " : "", twins, vp, recompute) <= MOST_NAMES;
    if (!is_short)
        snprintf(figure, sizeof(figure), "%s%s%s", r->config.schedule_name, vp, recompute);
    char time[PP_TEXT_BYTES];
    int column = fprintf(out, "    %-22s ", figure);
    column += fprintf(out, "%*s%7.1f %%%8.1f %%%9.1f   ", column < TIME_END ? TIME_END - column : 0,
                      pp_text_time(&r->config, r->metrics.iteration_s, time), 100 * r->mfu,
                      100 * r->metrics.bubble_frac, r->memory[r->peak_rank].peak_bytes / PP_GIB);
    snprintf(figure, sizeof(figure), "%s%s%s", r->fits ? versus : "out of memory",
             is_short ? "" : "; same:~", is_short ? "" : twins);
    pp_text_wrap(out, WIDTH, column, 6, figure);
}

/* Moves the twins of rows[at] out of the rows after it; returns their names, "zbv, v-half". */
static const char *take_twins(struct pp_arena *arena, const struct pp_result **rows, int at,
                              int *count)
{
    const char *names = "";
    int kept = at + 1;

    for (int i = at + 1; i < *count; i++)
        if (are_twins(rows[at], rows[i]))
            names = pp_arena_printf(arena, "%s%s%s", names, *names ? ", " : "",
                                    rows[i]->config.schedule_name);
        else
            rows[kept++] = rows[i];
    *count = kept;
    return names;
}

void pp_report_others(const struct pp_others *others, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result *rows[64], *r = others->reference;
    int used = 0;

    rows[used++] = r;
    for (int i = 0; i < others->count && used < 64; i++)
        if (others->list[i].status == PP_OK)
            rows[used++] = &others->list[i];
    if (used == 1)
        return;
    qsort(rows, (size_t)used, sizeof(*rows), by_iteration);
    for (int i = used - 1; i > 0; i--) /* the run itself stands for its twins */
        if (rows[i] == r && are_twins(rows[i - 1], r)) {
            rows[i] = rows[i - 1];
            rows[i - 1] = r;
        }
    fprintf(out, "\n  %-24s%9s%9s%10s%9s   tie: < %g %%\n",
            others->is_contention_free ? "same layout (dag)" : "same layout", "iteration", "MFU",
            "bubble", "GiB", 100 * PP_TIE_FRAC);
    for (int i = 0; i < used; i++) {
        const char *twins = take_twins(arena, rows, i, &used);
        if (i < MAX_OTHERS || rows[i] == r)
            print_other(rows[i], r, twins, out);
    }
}

/* The rank that computes longest; `excess_frac` is its excess over the mean. */
static int slowest_rank(const struct pp_result *r, double *excess_frac)
{
    double total_s = 0;
    int slowest = 0;

    for (int i = 0; i < r->program->ranks; i++) {
        total_s += r->metrics.ranks[i].busy_s;
        if (r->metrics.ranks[i].busy_s > r->metrics.ranks[slowest].busy_s)
            slowest = i;
    }
    *excess_frac = r->metrics.ranks[slowest].busy_s / (total_s / r->program->ranks) - 1;
    return slowest;
}

#define LITTLE_FRAC 0.1 /* largest bubble that needs no explanation */

static const char *more_micro_batches(struct pp_arena *arena, const struct pp_shape *shape)
{
    return pp_arena_printf(arena,
                           "more micro-batches (now %d for %d ranks) would shrink the bubble",
                           shape->micro_batches, shape->ranks);
}

/* Cause of the bubble of a run with many micro-batches. */
static const char *why_idle(struct pp_arena *arena, const struct pp_result *r)
{
    static const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const struct pp_shape *shape = &r->config.shape;
    const struct pp_schedule *s = r->config.schedule;
    const double closed_frac = s && s->bubble_frac.value && !r->config.is_eager
                                   ? s->bubble_frac.value(shape, &unit, 0)
                                   : (double)NAN;
    const double bubble_frac = r->metrics.bubble_frac, wait = shape->ranks - 1,
                 start_up_frac = wait / ((double)shape->micro_batches * shape->chunks + wait);

    if (closed_frac > bubble_frac / 2 && closed_frac > 1.2 * start_up_frac)
        return pp_arena_printf(
            arena,
            "the schedule's order leaves ranks idle between ops: its closed form gives %.1f~%% "
            "with B = 2F, equal stages, free communication; start-up alone, (D-1)/(NV+D-1), would "
            "be %.1f~%%",
            100 * closed_frac, 100 * start_up_frac);
    if (start_up_frac > bubble_frac / 2)
        return more_micro_batches(arena, shape);
    return pp_arena_printf(
        arena,
        "%.1f of the bubble's %.1f~points are start-up, (D-1)/(NV+D-1); most of the rest is %s",
        100 * start_up_frac, 100 * bubble_frac,
        r->metrics.time_frac[PP_TIME_P2P] > bubble_frac / 2
            ? "waiting for messages in flight"
            : "idle time between ops, in which ranks wait for others; --gantt shows it");
}

static const char *on_micro_batches(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_shape *shape = &r->config.shape;

    if (shape->micro_batches < 4 * shape->ranks)
        return more_micro_batches(arena, shape);
    if (r->metrics.bubble_frac > LITTLE_FRAC)
        return why_idle(arena, r);
    return pp_arena_printf(arena,
                           "%d micro-batches for %d ranks make the start-up bubble small; "
                           "--micro-batches %d shows a large one",
                           shape->micro_batches, shape->ranks, shape->ranks);
}

const char *pp_report_advice(struct pp_arena *arena, const struct pp_result *r,
                             const struct pp_others *others)
{
    const struct pp_config *c = &r->config;
    const struct pp_result *best = others->reference;
    double excess_frac;
    const int slowest = slowest_rank(r, &excess_frac);

    for (int i = 0; i < others->count; i++)
        if (others->list[i].status == PP_OK && others->list[i].fits &&
            others->list[i].metrics.iteration_s < best->metrics.iteration_s * (1 - PP_TIE_FRAC))
            best = &others->list[i];
    if (!r->fits)
        return r->oom ? pp_oom_advice(arena, r->oom)
                      : pp_arena_printf(arena, "does not fit %s",
                                        pp_tier_rows[pp_tiers_full(r)].title);
    if (excess_frac > 0.1 && excess_frac > 0.4 * r->metrics.bubble_frac)
        return pp_arena_printf(
            arena,
            "rank %d computes %.0f %% longer than the average (embedding and head count): uneven "
            "stages, not the schedule, make most of the bubble; %s--first-stage-layers and "
            "--last-stage-layers move blocks",
            slowest, 100 * excess_frac, c->costs.head == PP_HEAD_LAST ? "--head balanced, " : "");
    if (best != others->reference && c->cost)
        return pp_arena_printf(arena, "%s is faster with this layout", best->config.schedule_name);
    if (best != others->reference)
        return pp_arena_printf(
            arena,
            "%s is faster with this layout; to choose a layout for it: pipesim --schedule %s "
            "--gpus %d",
            best->config.schedule_name, best->config.schedule_name, c->layout.gpus);
    return c->shape.ranks == 1 ? "one pipeline rank: no pipeline, no bubble"
                               : on_micro_batches(arena, r);
}
