/* The table of several schedules, ranked. */
#include "sim/report/report.h"

#include "core/units.h"
#include "sim/config/price.h"
#include "sim/config/scale.h"
#include "sim/report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, NAME = 14, UNIT_NAME = 16, REFUSED_NAME = 32 };

static double score(const struct pp_result *r)
{
    return r->config.is_unit ? r->metrics.bubble_frac
                             : r->metrics.iteration_s / (double)r->config.layout.gbs;
}

/* Orders fitting runs first, refused ones last. Ties keep the given order: the table is stable. */
static int by_score(const void *a, const void *b)
{
    const struct pp_result *const *x = a, *const *y = b;
    const int x_class = (*x)->status != PP_OK ? 2 : !(*x)->config.is_unit && !(*x)->fits;
    const int y_class = (*y)->status != PP_OK ? 2 : !(*y)->config.is_unit && !(*y)->fits;

    if (x_class != y_class)
        return x_class - y_class;
    if (x_class < 2 && score(*x) != score(*y))
        return score(*x) < score(*y) ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static void print_refused(struct pp_arena *arena, const struct pp_result *r, FILE *out)
{
    const char *reason = r->refusal;
    char line[PP_ERROR_BYTES + 16];

    snprintf(line, sizeof(line), "refused: %.*s", (int)strcspn(reason, "\n"), reason);
    const int column = fprintf(out, "      %-*s ", NAME,
                               pp_text_short(arena, r->config.schedule_name, REFUSED_NAME));
    pp_text_wrap(out, WIDTH, column, 8, line);
}

/* Prints the choice of `auto`, below the table. */
static void print_trials(struct pp_arena *arena, const struct pp_result *r, FILE *out)
{
    if (r->status == PP_OK && r->config.origin.trials)
        pp_text_paragraph(
            out, WIDTH, 6, "",
            pp_arena_printf(arena, "%s: %s",
                            pp_text_short(arena, r->config.schedule_name, 2 * REFUSED_NAME),
                            pp_text_trials(arena, &r->config)));
}

static void print_unit_row(struct pp_arena *arena, const struct pp_result *r, enum pp_scale scale,
                           int rank, FILE *out)
{
    const double step_s = r->metrics.iteration_s / pp_scale_divisor(r, scale);
    char time[PP_TEXT_BYTES];

    fprintf(out, "  %2d  %-*s%4d%14s%9.2f %%%9.2f %%%13g\n", rank, UNIT_NAME,
            pp_text_short(arena, r->config.schedule_name, UNIT_NAME - 1), r->config.shape.chunks,
            pp_text_time(&r->config, step_s, time), 100 * r->metrics.bubble_frac,
            100 * r->metrics.span_bubble_frac, pp_scale_micro_batches(r));
}

const char *pp_text_versus(const struct pp_result *r, const struct pp_result *first,
                           char text[PP_VERSUS_BYTES])
{
    const double gain = score(r) / score(first) - 1;

    if (!r->fits)
        snprintf(text, PP_VERSUS_BYTES, "no fit");
    else if (r == first)
        snprintf(text, PP_VERSUS_BYTES, "-");
    else
        snprintf(text, PP_VERSUS_BYTES,
                 fabs(gain) < PP_TIE_FRAC ? "tie"
                 : fabs(gain) < 1         ? "%+.1f %%"
                                          : "%+.0f %%",
                 100 * gain);
    return text;
}

static void print_row(struct pp_arena *arena, const struct pp_result *r,
                      const struct pp_result *first, int rank, FILE *out)
{
    char time[PP_TEXT_BYTES], mfu[PP_TEXT_BYTES], versus[PP_VERSUS_BYTES];

    fprintf(out, "  %2d  %-*s%3d%5d %-9s%10s%8s%6.1f %%%7.1f%c %s\n", rank, NAME,
            pp_text_short(arena, r->config.schedule_name, NAME), r->config.layout.vp,
            pp_state_zero(&r->config.state), pp_recompute_names[r->config.costs.recompute],
            pp_text_time(&r->config, r->metrics.iteration_s, time), pp_text_mfu(r, mfu),
            100 * r->metrics.bubble_frac, r->memory[r->peak_rank].peak_bytes / PP_GIB,
            r->is_tight ? '!' : ' ', pp_text_versus(r, first, versus));
}

/* Explains the mark of tight rows, if there is one. */
static void print_tight(struct pp_arena *arena, const struct pp_result **rows, int count, FILE *out)
{
    bool is_any = false;

    for (int i = 0; i < count; i++)
        is_any |= rows[i]->status == PP_OK && rows[i]->is_tight;
    if (is_any)
        pp_text_paragraph(out, WIDTH, 6, "", pp_text_tight(arena, &rows[0]->config));
}

const struct pp_result **pp_report_rank(struct pp_arena *arena, const struct pp_result *results,
                                        int count)
{
    const struct pp_result **rows = PP_ARRAY(arena, const struct pp_result *, count + 1);

    for (int i = 0; i < count; i++)
        rows[i] = &results[i];
    qsort(rows, (size_t)count, sizeof(*rows), by_score);
    return rows;
}

static void print_unit_head(const struct pp_config *c, enum pp_scale scale, int count, FILE *out)
{
    fprintf(out,
            "pipesim %s  %d schedules, %d ranks, %d micro-batch%s\n"
            "  units: F %g B %g C %g for a micro-batch on %s\n"
            "  peak activations: in micro-batches of a rank\n",
            PP_VERSION, count, c->shape.ranks, c->shape.micro_batches,
            c->shape.micro_batches == 1 ? "" : "es", c->unit.f, c->unit.b, c->unit.c,
            pp_scale_words[scale]);
    pp_report_what_if(c, WIDTH, 11, out);
    fprintf(out, "\n   #  %-16s%4s%14s%11s%11s%13s\n", "schedule", "VP", "step", "bubble",
            "span idle", "peak activ.");
}

static void print_head(const struct pp_result *first, int count, FILE *out)
{
    const struct pp_config *c = &first->config;
    const bool has_device = pp_config_has_device(c);
    char number[PP_UNITS_TEXT_BYTES], params[PP_UNITS_TEXT_BYTES], text[PP_TEXT_BYTES];

    snprintf(text, sizeof(text), "%d schedules, %s (%s) on %s GPUs%s%s", count, c->model.name,
             pp_units_print(pp_model_params(&c->model), PP_UNIT_COUNT, params),
             pp_units_print_count(c->layout.gpus, number), has_device ? " of " : "",
             has_device ? c->cluster.name : "");
    pp_text_wrap(out, WIDTH, fprintf(out, "pipesim %s  ", PP_VERSION), 2, text);
    snprintf(text, sizeof(text),
             "TP~%d%s x PP~%d%s x DP~%d%s, MBS~%d%s, %s%s~micro-batches; costs %s, %s",
             c->layout.tp, pp_text_star(c, PP_CHOSE_TP), c->layout.pp, pp_text_star(c, PP_CHOSE_PP),
             c->layout.dp, pp_text_star(c, PP_CHOSE_DP), c->layout.mbs,
             pp_text_star(c, PP_CHOSE_MBS), pp_units_print_count(c->layout.micro_batches, number),
             pp_text_star(c, PP_CHOSE_MICRO_BATCHES), first->costs->origin,
             first->costs->is_calibrated ? "calibrated" : "fitted on published runs");
    pp_text_paragraph(out, WIDTH, 2, "", text);
    pp_report_what_if(c, WIDTH, 11, out);
    fprintf(out, "  tie: within %g %% of the first; * = chosen for you\n\n", 100 * PP_TIE_FRAC);
    fprintf(out, "   #  %-14s%3s%5s %-9s%10s%8s%8s%7s  %s\n", "schedule", "VP", "ZeRO", "recompute",
            "iteration", "MFU", "bubble", "GiB", "vs 1");
}

/* Prints what a step and 1 T tokens cost with each schedule, with --price. */
static void print_prices(struct pp_arena *arena, const struct pp_result **rows, int count,
                         FILE *out)
{
    const char *text = "";

    for (int i = 0; i < count && rows[i]->status == PP_OK; i++) {
        const struct pp_result *r = rows[i];
        char step[PP_PRICE_TEXT_BYTES], tokens[PP_PRICE_TEXT_BYTES];
        if (r->config.origin.price.per_gpu_hour <= 0)
            return;
        pp_price_print(&r->config,
                       pp_price_step(&r->config, r->config.layout.gpus, r->metrics.iteration_s),
                       step);
        pp_price_print(&r->config, pp_price_tokens(&r->config, r->tokens_per_s_per_gpu), tokens);
        text = pp_arena_printf(arena, "%s%s%s~%s,~%s", text, *text ? "; " : "",
                               pp_text_short(arena, r->config.schedule_name, REFUSED_NAME), step,
                               tokens);
    }
    if (*text)
        pp_text_paragraph(out, WIDTH, 6, "",
                          pp_arena_printf(arena, "costs of a step and of 1~T tokens: %s", text));
}

void pp_report_table(const struct pp_result *results, int count, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result **rows = pp_report_rank(arena, results, count);
    const enum pp_scale scale = pp_scale_of(rows, count);

    if (rows[0]->status != PP_OK)
        fprintf(out, "pipesim %s  no schedule accepts this\n\n", PP_VERSION);
    else if (rows[0]->config.is_unit)
        print_unit_head(&rows[0]->config, scale, count, out);
    else
        print_head(rows[0], count, out);
    for (int i = 0, place = 1; i < count; i++) {
        if (rows[i]->status != PP_OK) {
            print_refused(arena, rows[i], out);
            continue;
        }
        if (i && score(rows[i]) != score(rows[i - 1])) /* equal ones share a place */
            place = i + 1;
        if (rows[i]->config.is_unit)
            print_unit_row(arena, rows[i], scale, place, out);
        else
            print_row(arena, rows[i], rows[0], place, out);
    }
    print_tight(arena, rows, count, out);
    print_prices(arena, rows, count, out);
    for (int i = 0; i < count; i++)
        print_trials(arena, rows[i], out);
}
