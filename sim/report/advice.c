/* The end of the report: the same layout under other schedules, and advice. */
#include "core/units.h"
#include "schedules/order/schedule.h"
#include "sim/config/tiers.h"
#include "sim/fit/change.h"
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
                                   *twins ? ", " : "", twins, vp, recompute) <= MOST_NAMES ||
                          !*twins;
    if (!is_short)
        snprintf(figure, sizeof(figure), "%s%s%s", r->config.schedule_name, vp, recompute);
    char time[PP_TEXT_BYTES], mfu[PP_TEXT_BYTES];
    int column = fprintf(out, "    %-22s ", figure);
    column += fprintf(out, "%*s%9s%8.1f %%%9.1f   ", column < TIME_END ? TIME_END - column : 0,
                      pp_text_time(&r->config, r->metrics.iteration_s, time), pp_text_mfu(r, mfu),
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

static struct pp_advice no_command(const char *text)
{
    return (struct pp_advice){.text = text};
}

/* ---- changes, simulated before they are advised ---------------------------------------------- */

/* Simulates a command; false unless it is faster than the run by more than a tie, and fits. */
static bool is_faster(struct pp_arena *arena, const struct pp_result *r,
                      const struct pp_parsed *command, struct pp_changed_run *change)
{
    const struct pp_outcome run = pp_outcome_of(r);
    struct pp_error ignored;

    return pp_change_try(arena, &r->config, command, change, &ignored) == PP_OK &&
           change->outcome.fits &&
           change->outcome.s_per_sample < run.s_per_sample * (1 - PP_TIE_FRAC);
}

/* Returns "takes 12.3 % less time here, and 5.1 GiB more memory". */
static const char *gain_text(struct pp_arena *arena, const struct pp_result *r,
                             const struct pp_changed_run *change)
{
    const struct pp_outcome run = pp_outcome_of(r), *new = &change->outcome;
    const double more_gib = (new->peak_bytes - run.peak_bytes) / PP_GIB;

    const char *memory =
        fabs(more_gib) < 0.05
            ? "as much"
            : pp_arena_printf(arena, "%.1f~GiB %s", fabs(more_gib), more_gib < 0 ? "less" : "more");

    return pp_arena_printf(arena, "takes %.1f~%% less time %s, and %s memory%s%s",
                           100 * (1 - new->s_per_sample / run.s_per_sample),
                           new->step_s > run.step_s ? "a sample" : "here", memory,
                           *change->also ? "; " : "", change->also);
}

/* The fastest schedule of the same layout, if its own command is faster, too. */
static const struct pp_parsed *faster_schedule(struct pp_arena *arena, const struct pp_result *r,
                                               const struct pp_others *others,
                                               struct pp_changed_run *change, const char **name)
{
    const struct pp_result *best = others->reference;
    struct pp_parsed *command = pp_change_begin(arena, &r->config);
    struct pp_error ignored;

    for (int i = 0; i < others->count; i++)
        if (others->list[i].status == PP_OK && others->list[i].fits &&
            others->list[i].metrics.iteration_s < best->metrics.iteration_s * (1 - PP_TIE_FRAC))
            best = &others->list[i];
    if (best == others->reference ||
        pp_change_schedule(arena, best->config.schedule, command, &ignored) != PP_OK)
        return NULL;
    *name = best->config.schedule_name;
    return is_faster(arena, r, command, change) ? command : NULL;
}

static struct pp_advice on_stages(struct pp_arena *arena, const struct pp_result *r, int slowest,
                                  double excess_frac)
{
    struct pp_parsed *command = pp_change_begin(arena, &r->config);
    struct pp_changed_run change;
    struct pp_error ignored;
    const char *text = pp_arena_printf(
        arena,
        "rank~%d computes %.0f~%% longer than the average (embedding and head count): uneven "
        "stages, not the schedule, make most of the bubble; ",
        slowest, 100 * excess_frac);

    if (r->config.costs.head == PP_HEAD_LAST &&
        pp_command_set(arena, command, "head", "balanced", &ignored) == PP_OK &&
        is_faster(arena, r, command, &change))
        return (struct pp_advice){
            pp_arena_printf(arena, "%s--head balanced %s:", text, gain_text(arena, r, &change)),
            command};
    return no_command(
        pp_arena_printf(arena, "%s--first-stage-layers and --last-stage-layers move blocks", text));
}

/* ---- cause of the bubble --------------------------------------------------------------------- */

#define LITTLE_FRAC 0.1 /* largest bubble that needs no explanation */

static struct pp_advice more_micro_batches(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_shape *shape = &r->config.shape;
    const char *text =
        pp_arena_printf(arena, "%d micro-batches for %d ranks leave a large start-up bubble",
                        shape->micro_batches, shape->ranks);
    struct pp_parsed *command = pp_change_begin(arena, &r->config);
    struct pp_changed_run change;
    struct pp_error ignored;

    if (r->config.file_program ||
        pp_change_batch(arena, &r->config, 2, command, &ignored) != PP_OK ||
        !is_faster(arena, r, command, &change))
        return no_command(text);
    return (struct pp_advice){
        pp_arena_printf(arena, "%s; twice the batch %s:", text, gain_text(arena, r, &change)),
        command};
}

/* Cause of the bubble of a run with many micro-batches. */
static struct pp_advice why_idle(struct pp_arena *arena, const struct pp_result *r)
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
        return no_command(pp_arena_printf(
            arena,
            "the schedule's order leaves ranks idle between ops: its closed form gives %.1f~%% "
            "with B = 2F, equal stages and free communication; start-up alone, (D-1)/(NV+D-1), "
            "would be %.1f~%%",
            100 * closed_frac, 100 * start_up_frac));
    if (start_up_frac > bubble_frac / 2)
        return more_micro_batches(arena, r);
    return no_command(pp_arena_printf(
        arena,
        "%.1f of the bubble's %.1f~points are start-up, (D-1)/(NV+D-1); most of the rest is %s",
        100 * start_up_frac, 100 * bubble_frac,
        r->metrics.time_frac[PP_TIME_P2P] > bubble_frac / 2
            ? "waiting for messages in flight"
            : "idle time between ops, in which ranks wait for others; --gantt shows it"));
}

static struct pp_advice on_micro_batches(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_shape *shape = &r->config.shape;

    if (shape->micro_batches < 4 * shape->ranks)
        return more_micro_batches(arena, r);
    if (r->metrics.bubble_frac > LITTLE_FRAC)
        return why_idle(arena, r);
    return no_command(
        pp_arena_printf(arena, "%d micro-batches for %d ranks make the start-up bubble small",
                        shape->micro_batches, shape->ranks));
}

struct pp_advice pp_report_advice(struct pp_arena *arena, const struct pp_result *r,
                                  const struct pp_others *others)
{
    const struct pp_parsed *command;
    struct pp_changed_run change;
    const char *name;
    double excess_frac;
    const int slowest = slowest_rank(r, &excess_frac);

    if (!r->fits)
        return r->oom ? pp_oom_advice(arena, r->oom)
                      : no_command(pp_arena_printf(arena, "does not fit %s",
                                                   pp_tier_rows[pp_tiers_full(r)].title));
    if (excess_frac > 0.1 && excess_frac > 0.4 * r->metrics.bubble_frac)
        return on_stages(arena, r, slowest, excess_frac);
    if ((command = faster_schedule(arena, r, others, &change, &name)))
        return (struct pp_advice){
            pp_arena_printf(arena, "%s %s:", name, gain_text(arena, r, &change)), command};
    return r->config.shape.ranks == 1 ? no_command("one pipeline rank: no pipeline, no bubble")
                                      : on_micro_batches(arena, r);
}
