/* The note of a report: what makes the bubble, and the command that helps most. */
#include "core/cluster/slow.h"
#include "core/units.h"
#include "schedules/order/schedule.h"
#include "sim/config/tiers.h"
#include "sim/fit/change.h"
#include "sim/report/parts.h"
#include "sim/report/text.h"

#include <math.h>

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
    const double more_gib = pp_text_gib(new->peak_bytes) - pp_text_gib(run.peak_bytes);

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

/* Returns the excess over the mean that --slow alone gives a rank; 0 without --slow. */
static double slow_excess(const struct pp_result *r, int rank)
{
    const double *speed = r->config.engine_options.perturbation.slow;
    const int replicas = r->replicas_simulated, ranks = r->program->ranks;
    double total = 0, own = 0;

    if (!speed)
        return 0;
    for (int i = 0; i < ranks; i++) {
        double least = speed[i * replicas];
        for (int k = 1; k < replicas; k++)
            least = fmin(least, speed[i * replicas + k]);
        total += 1 / least;
        own = i == rank ? 1 / least : own;
    }
    return own / (total / ranks) - 1;
}

/* Returns the values of --slow in force: those of the rank, or else all. */
static const char *slow_text(struct pp_arena *arena, const struct pp_config *config, int rank)
{
    const char *all = "", *own = "";

    for (int i = 0; i < config->slow_count; i++) {
        struct pp_slow slow;
        struct pp_error ignored;
        all = pp_arena_printf(arena, "%s%s--slow~%s", all, i ? " " : "", config->slow[i]);
        if (pp_slow_read(config->slow[i], &slow, &ignored) == PP_OK && slow.rank == rank)
            own = pp_arena_printf(arena, "%s%s--slow~%s", own, *own ? " " : "", config->slow[i]);
    }
    return *own ? own : all;
}

/* Returns the layers of a rank over the mean. */
static double layers_excess(const struct pp_result *r, int rank)
{
    const struct pp_program *p = r->program;
    double total = 0, own = 0;

    for (int i = 0; i < p->pipelines * p->stages; i++) {
        const int layers = r->config.blocks_per_stage[i % p->stages];
        total += layers;
        own += p->rank_of[i] == rank ? layers : 0;
    }
    return own / (total / p->ranks) - 1;
}

static struct pp_advice on_stages(struct pp_arena *arena, const struct pp_result *r, int slowest,
                                  double excess_frac)
{
    struct pp_parsed *command = pp_change_begin(arena, &r->config);
    struct pp_changed_run change;
    struct pp_error ignored;
    const char *text = pp_arena_printf(arena, "rank~%d computes %.0f~%% longer than the average",
                                       slowest, 100 * excess_frac);

    if (slow_excess(r, slowest) > excess_frac / 2)
        return no_command(pp_arena_printf(arena,
                                          "%s: %s, not the schedule, makes most of the bubble",
                                          text, slow_text(arena, &r->config, slowest)));
    text = pp_arena_printf(
        arena, "%s (%s): uneven stages, not the schedule, make most of the bubble; ", text,
        layers_excess(r, slowest) > excess_frac / 2 ? "it has more layers"
                                                    : "embedding and head count");

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

/* Returns the start-up bubble of the orders that wait for each other's first micro-batch,
 * (D-1)/(NV+D-1). */
static double start_up_of(const struct pp_shape *shape)
{
    const double wait = shape->ranks - 1;

    return wait / ((double)shape->micro_batches * shape->chunks + wait);
}

/* Text such as "8.6 %"; no start-up bubble is larger than the whole bubble. */
static const char *start_up_text(struct pp_arena *arena, const struct pp_result *r)
{
    const double start_up_frac = start_up_of(&r->config.shape), all_frac = r->metrics.bubble_frac;

    return pp_arena_printf(arena, "%s%.1f~%%", start_up_frac > all_frac ? "at most~" : "",
                           100 * fmin(start_up_frac, all_frac));
}

static struct pp_advice more_micro_batches(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_shape *shape = &r->config.shape;
    char count[PP_UNITS_TEXT_BYTES];
    const char *text = pp_arena_printf(
        arena, "%s micro-batches for %d ranks leave a start-up bubble of %s",
        pp_units_print_count(shape->micro_batches, count), shape->ranks, start_up_text(arena, r));
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
    const double closed_frac = s && s->bubble_frac.value && r->config.order.rule == PP_ORDER_STRICT
                                   ? s->bubble_frac.value(shape, &unit, 0)
                                   : (double)NAN;
    const double bubble_frac = r->metrics.bubble_frac, start_up_frac = start_up_of(shape);

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
    char count[PP_UNITS_TEXT_BYTES];

    if (shape->micro_batches < 4 * shape->ranks)
        return more_micro_batches(arena, r);
    if (r->metrics.bubble_frac > LITTLE_FRAC)
        return why_idle(arena, r);
    return no_command(pp_arena_printf(
        arena, "%s micro-batches for %d ranks make the start-up bubble small: %s",
        pp_units_print_count(shape->micro_batches, count), shape->ranks, start_up_text(arena, r)));
}

static struct pp_advice for_generation(struct pp_arena *arena, const struct pp_result *r)
{
    const char *help = r->fits ? pp_generation_faster(arena, r) : pp_generation_to_fit(arena, r);

    if (!r->fits)
        return no_command(help ? pp_arena_printf(arena, "it does not fit; with %s it does", help)
                               : "it does not fit");
    return no_command(help ? help : "neither a larger batch nor more devices are faster");
}

struct pp_advice pp_report_advice(struct pp_arena *arena, const struct pp_result *r,
                                  const struct pp_others *others)
{
    if (r->inference)
        return for_generation(arena, r);
    const struct pp_parsed *command;
    struct pp_changed_run change;
    const char *name;
    double excess_frac;
    const double bubble_frac = r->metrics.bubble_frac;
    const int slowest = slowest_rank(r, &excess_frac);

    if (!r->fits)
        return r->oom ? pp_oom_advice(arena, r)
                      : no_command(pp_arena_printf(arena, "does not fit %s",
                                                   pp_tier_rows[pp_tiers_full(r)].title));
    /* The other ranks wait for the excess of the slowest, on average for this share of a step. */
    const struct pp_advice stages =
        excess_frac > 0.1 && excess_frac * (1 - bubble_frac) > bubble_frac / 2
            ? on_stages(arena, r, slowest, excess_frac)
            : no_command(NULL);
    if (stages.command)
        return stages;
    if ((command = faster_schedule(arena, r, others, &change, &name)))
        return (struct pp_advice){
            pp_arena_printf(arena, "%s %s:", name, gain_text(arena, r, &change)), command};
    if (stages.text)
        return stages;
    return r->config.shape.ranks == 1 ? no_command("one pipeline rank: no pipeline, no bubble")
                                      : on_micro_batches(arena, r);
}
