/* Prints a layout search: its space, the best rows, and the reasons against other layouts. */
#include "core/cost/fitted.h"
#include "core/text/terminal.h"
#include "core/units.h"
#include "schedules/registry.h"
#include "sim/config/price.h"
#include "sim/error/best.h"
#include "sim/plan/search.h"
#include "sim/report/lines.h"
#include "sim/report/text.h"
#include "sim/run/prepare.h"

#include <stdlib.h>
#include <string.h>

static const char *star(bool is_chosen)
{
    return is_chosen ? "*" : "";
}

/* ---- head ------------------------------------------------------------------------------------ */

static void print_batch(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_space *s = &search->space;
    const struct pp_config *c = &s->fixed;
    const char *text =
        s->gbs ? pp_arena_printf(arena, "gbs~%lld%s", (long long)s->gbs, star(s->is_gbs_chosen))
               : pp_arena_printf(arena, "%d~micro-batches of each replica", s->fixed_n);

    text = pp_arena_printf(arena, "%s, seq~%d%s, framework~%s; cluster~%s%s", text, c->layout.seq,
                           star(c->origin.chosen & PP_CHOSE_SEQ), c->costs.framework->name,
                           c->cluster.name, star(c->origin.chosen & PP_CHOSE_CLUSTER));
    if (c->fitted)
        text = pp_arena_printf(arena, "%s; constants of %s", text,
                               pp_fitted_text(arena, c->fitted, &c->model));
    pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "batch", text);
    pp_report_what_if(c, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, out);
}

static void print_head(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_space *s = &search->space;
    const struct pp_config *c = &s->fixed;
    char params[PP_UNITS_TEXT_BYTES], gpus[PP_UNITS_TEXT_BYTES];
    const char *text = pp_arena_printf(
        arena, "%s (%s) on %s GPU%s of %s, free:", c->model.name,
        pp_units_print(pp_model_params(&c->model), PP_UNIT_COUNT, params),
        pp_units_print_count(s->gpus, gpus), s->gpus == 1 ? "" : "s", c->cluster.name);
    const char *comma = "";

    for (int i = 0; i < PP_SEARCH_AXES; i++)
        if (s->is_free[i]) {
            text = pp_arena_printf(arena, "%s%s %s", text, comma, pp_search_knobs[i].name);
            comma = ",";
        }
    for (int k = 0; k < PP_TIER_KNOBS; k++)
        if (s->is_tier_free[k])
            text = pp_arena_printf(arena, "%s%s %s", text, comma, pp_tier_knob_names[k]);
    pp_text_wrap(out, PP_SEARCH_WIDTH, fprintf(out, "pipesim %s  ", PP_VERSION), 2, text);
    print_batch(arena, search, out);
}

static void print_counts(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const int64_t *n = search->counts;
    const int64_t all = search->space.points - n[PP_SEARCH_ABSENT],
                  large = n[PP_SEARCH_NO_ROOM] + n[PP_SEARCH_TOO_LARGE],
                  illegal = n[PP_SEARCH_BATCH] + n[PP_SEARCH_SHAPE] + n[PP_SEARCH_REFUSED];
    const char *text = pp_arena_printf(
        arena, "%s~layout%s in %.1f~s: %s~fit, %s~out~of~memory (%s~by their bounds), %s~illegal",
        pp_search_count_text(arena, all), all == 1 ? "" : "s", search->wall_s,
        pp_search_count_text(arena, n[PP_SEARCH_FITS]), pp_search_count_text(arena, large),
        pp_search_count_text(arena, n[PP_SEARCH_NO_ROOM]), pp_search_count_text(arena, illegal));

    if (n[PP_SEARCH_OPEN])
        text = pp_arena_printf(arena, "%s, %s~skipped: provably over %g~%% slower than the fastest",
                               text, pp_search_count_text(arena, n[PP_SEARCH_OPEN]),
                               100 * search->margin_frac);
    if (n[PP_SEARCH_MILDER])
        text = pp_arena_printf(arena, "%s, %s~with more recomputation than they need", text,
                               pp_search_count_text(arena, n[PP_SEARCH_MILDER]));
    if (search->loss_count)
        text = pp_arena_printf(arena, "%s, %d~lost: %s", text, search->loss_count,
                               search->losses[0].why);
    pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "searched", text);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *number(struct pp_arena *arena, int value, int none)
{
    return value == none ? "-" : pp_arena_printf(arena, "%d", value);
}

enum { SCHEDULE = 14 }; /* columns of its name */

/* Returns the last column, of the free knobs of tiers: "  p,g=host,os=host:55%, act-bits 8". */
static const char *tiers_text(struct pp_arena *arena, const struct pp_search *search,
                              const struct pp_search_row *row)
{
    const bool *is_free = search->space.is_tier_free;
    const char *text = "";
    struct pp_config config;
    struct pp_error ignored;

    if (!pp_search_has_tiers(&search->space) ||
        pp_search_config(arena, &search->space, row->point, &config, &ignored) != PP_OK)
        return "";
    for (int k = 0; k < PP_TIER_KNOBS; k++) {
        const char *value = pp_tier_text(arena, (enum pp_tier_knob)k, &config.state);
        if (is_free[k])
            text = pp_arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "  ",
                                   pp_tier_knob_names[k], value);
    }
    return text;
}

/* Prints a step in at most 7 columns: "7.07 s", "21.9min". */
static const char *print_step(double step_s, char text[PP_UNITS_TEXT_BYTES])
{
    char *blank;

    pp_units_print(step_s, PP_UNIT_SECONDS, text);
    blank = strchr(text, ' ');
    if (blank && strlen(text) > 7)
        memmove(blank, blank + 1, strlen(blank));
    return text;
}

static void print_row(struct pp_arena *arena, const struct pp_search *search, int at, FILE *out)
{
    const struct pp_search_row *row = &search->rows[at];
    const struct pp_search_point p = pp_search_point(&search->space, row->point);
    const struct pp_search_frame *f = p.frame;
    static const char *const AGAIN[] = {"none", "sel", "full", "part"};
    const bool has_experts = search->space.fixed.model.experts.count > 0;
    const double worse = row->outcome.s_per_sample / search->rows[0].outcome.s_per_sample - 1;
    char step[PP_UNITS_TEXT_BYTES], change[PP_UNITS_TEXT_BYTES] = "-";

    if (at > 0)
        snprintf(change, sizeof(change), "%+.1f", 100 * worse);
    fprintf(out, "%3d%c%3d%4d%3d%5d%4s%3s%4d %-*s %-4s %1s%8s%6.1f %5.1f%c%7s%s\n", at + 1,
            search->ties > 1 && row->is_tie ? '=' : ' ', f->tp, f->pp, f->cp, f->dp,
            has_experts ? number(arena, f->ep, 0) : "-", number(arena, p.order->vp, 0), f->mbs,
            SCHEDULE, pp_text_short(arena, p.order->base.schedule_name, SCHEDULE),
            AGAIN[p.again.recompute], number(arena, p.zero, PP_SEARCH_AS_GIVEN),
            print_step(row->outcome.step_s, step), 100 * row->outcome.mfu,
            row->outcome.peak_bytes / PP_GIB, pp_search_has_room(&row->outcome) ? ' ' : '!', change,
            tiers_text(arena, search, row));
}

static void print_rows(struct pp_arena *arena, const struct pp_search *search, int rows, FILE *out)
{
    const int shown = rows < search->count ? rows : search->count;

    if (!search->count) {
        fputs("\n  nothing fits\n\n", out);
        return;
    }
    fprintf(out, "\n  #  TP  PP CP   DP  EP VP MBS %-*s %-4s %1s%8s%6s%6s%8s%s\n", SCHEDULE,
            "schedule", "rec.", "Z", "step", "MFU %", "GiB", "vs #1 %",
            pp_search_has_tiers(&search->space) ? "  memory tiers" : "");
    for (int i = 0; i < shown; i++)
        print_row(arena, search, i, out);
    fputc('\n', out);
    if (shown < search->count)
        fprintf(out, "  %s more fit and were simulated; --top N shows them, -o FILE.csv has all\n",
                pp_search_count_text(arena, search->count - shown));
}

/* ---- text after the rows --------------------------------------------------------------------- */

/* Text "; a step costs $7.42, 1 T tokens $1.77M"; "" without --price. */
static const char *price_text(struct pp_arena *arena, const struct pp_search *search,
                              const struct pp_search_row *row)
{
    const struct pp_search_space *s = &search->space;
    char step[PP_PRICE_TEXT_BYTES], tokens[PP_PRICE_TEXT_BYTES];

    if (s->fixed.origin.price.per_gpu_hour <= 0)
        return "";
    pp_price_print(&s->fixed, pp_price_step(&s->fixed, s->gpus, row->outcome.step_s), step);
    pp_price_print(&s->fixed, pp_price_tokens(&s->fixed, row->outcome.tokens_per_s_per_gpu),
                   tokens);
    return pp_arena_printf(arena, "; a step costs~%s, 1~T~tokens~%s", step, tokens);
}

/* Prints the error of published runs like the first row. */
static void print_error(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    struct pp_config config;
    struct pp_error ignored;

    if (pp_search_config(arena, &search->space, search->rows[0].point, &config, &ignored) != PP_OK)
        return;
    const char *text = pp_line_error_short(arena, &config);
    if (text)
        pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "error", text);
}

static void print_best(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_row *best = &search->rows[0];
    char tokens[PP_UNITS_TEXT_BYTES];

    pp_text_paragraph(
        out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "best",
        pp_arena_printf(arena, "%s~tokens/s/GPU, simulated by %s%s",
                        pp_units_print_count((int64_t)best->outcome.tokens_per_s_per_gpu, tokens),
                        best->is_simulated ? search->space.fixed.engine->name : "dag",
                        price_text(arena, search, best)));
    print_error(arena, search, out);
    const char *above = pp_best_mfu_text(arena, &search->space.fixed, best->outcome.mfu);
    if (above)
        pp_text_paragraph(
            out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "MFU",
            pp_arena_printf(arena, "that of #1, %.1f~%%, is %s", 100 * best->outcome.mfu, above));
    pp_text_command(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "choose",
                    pp_search_command(arena, &search->space, best->point));
    if (search->ties < 2)
        return;
    pp_text_paragraph(
        out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "= ties",
        pp_arena_printf(arena,
                        "%s steps are within %g~%% of the fastest, too close for the costs to rank",
                        pp_search_count_text(arena, search->ties), 100 * search->margin_frac));
}

static void print_safest(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_row *row = &search->rows[search->safest];
    const struct pp_search_point p = pp_search_point(&search->space, row->point);
    const double capacity = pp_config_capacity_bytes(&search->space.fixed);
    char again[PP_RECOMPUTE_TEXT_BYTES];

    pp_text_paragraph(
        out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "safest",
        pp_arena_printf(
            arena,
            "#%d %s, %.1f of %.1f~GiB: TP~%d, PP~%d, CP~%d, MBS~%d, %s, recompute~%s, %.1f~%% "
            "slower",
            search->safest + 1,
            row->is_tie ? "of the ties leaves the most memory free"
                        : "is the fastest that leaves the memory margin free",
            (capacity - row->outcome.peak_bytes) / PP_GIB, capacity / PP_GIB, p.frame->tp,
            p.frame->pp, p.frame->cp, p.frame->mbs, p.order->base.schedule_name,
            pp_search_again_text(&search->space, p.again, again),
            100 * (row->outcome.s_per_sample / search->rows[0].outcome.s_per_sample - 1)));
}

/* Explains the mark of tight rows, if one is shown. */
static void print_tight(struct pp_arena *arena, const struct pp_search *search, int shown,
                        FILE *out)
{
    const double tie_percents = 100 * search->margin_frac;
    const char *text = pp_arena_printf(
        arena,
        "less than %.3g~%% of the memory stays free (--memory-margin); such a layout stands before "
        "one with room only if it is over %g~%% faster",
        100 * search->space.fixed.memory_margin_frac, tie_percents);
    bool is_any = false, has_any = false;

    for (int i = 0; i < search->count; i++) {
        is_any |= i < shown && !pp_search_has_room(&search->rows[i].outcome);
        has_any |= pp_search_has_room(&search->rows[i].outcome);
    }
    if (!has_any)
        text = pp_arena_printf(arena, "%s. None with room is less than %g~%% slower than #1", text,
                               100 * PP_SEARCH_REACH_FRAC);
    if (is_any)
        pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "! tight", text);
}

/* Returns what a row recomputes by modules; NULL if all or nothing. */
static const char *selected(struct pp_arena *arena, const struct pp_search *search, int at)
{
    const struct pp_search_again again =
        pp_search_point(&search->space, search->rows[at].point).again;
    char text[PP_RECOMPUTE_TEXT_BYTES];

    if (again.recompute != PP_RECOMPUTE_SELECTIVE)
        return NULL;
    pp_again_print(again.modules ? again.modules : PP_AGAIN_CORE, text, sizeof(text));
    return pp_arena_printf(arena, "%s", text);
}

/* Prints the modules of the shown rows that recompute by modules. */
static void print_selected(struct pp_arena *arena, const struct pp_search *search, int shown,
                           FILE *out)
{
    const char *text = "";
    bool *is_named = PP_ARRAY(arena, bool, shown + 1);

    for (int i = 0; i < shown; i++) {
        const char *mine = is_named[i] ? NULL : selected(arena, search, i);
        if (!mine)
            continue;
        text = pp_arena_printf(arena, "%s%s%s in~#%d", text, *text ? "; " : "", mine, i + 1);
        for (int k = i + 1; k < shown; k++) {
            const char *other = selected(arena, search, k);
            if (!other || strcmp(mine, other) != 0)
                continue;
            is_named[k] = true;
            text = pp_arena_printf(arena, "%s, #%d", text, k + 1);
        }
    }
    if (*text)
        pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "rec. sel", text);
}

/* Is true for a row whose schedule the framework does not have: the user asked for it. */
static bool is_foreign(const struct pp_search *search, int at)
{
    const struct pp_search_point p = pp_search_point(&search->space, search->rows[at].point);
    struct pp_shape shape = p.order->base.shape;

    shape.ranks = p.frame->pp;
    shape.micro_batches = p.frame->micro_batches;
    return shape.ranks > 1 &&
           !pp_schedule_runs_in(p.order->base.schedule, &shape, search->space.fixed.tool);
}

static void print_foreign(struct pp_arena *arena, const struct pp_search *search, int shown,
                          FILE *out)
{
    const struct pp_tool *tool = search->space.fixed.tool;
    const char *text = "";

    for (int i = 0; tool && i < shown; i++)
        if (is_foreign(search, i))
            text = pp_arena_printf(arena, "%s%s#%d", text, *text ? ", " : "", i + 1);
    if (*text)
        pp_text_paragraph(
            out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "note",
            pp_arena_printf(arena, "%s does not run the schedules of %s; its schedules: %s",
                            tool->title, text, pp_schedules_of(arena, pp_schedules, tool)));
}

static void print_rest(struct pp_arena *arena, const struct pp_search *search, int rows, FILE *out)
{
    const int shown = rows < search->count ? rows : search->count;

    if (search->count) {
        print_tight(arena, search, shown, out);
        print_selected(arena, search, shown, out);
        print_foreign(arena, search, shown, out);
        pp_search_print_twins(arena, search, shown, out);
        print_best(arena, search, out);
        if (search->safest > 0)
            print_safest(arena, search, out);
        pp_search_print_flips(arena, search, out);
    } else {
        pp_search_print_nearest(arena, search, out);
    }
    pp_search_print_published(arena, search, out);
    pp_search_print_illegal(arena, search, out);
}

void pp_search_print_facts(struct pp_arena *arena, const struct pp_search *search, int rows,
                           FILE *out)
{
    print_batch(arena, search, out);
    print_counts(arena, search, out);
    print_rest(arena, search, rows, out);
}

void pp_search_print(struct pp_arena *arena, const struct pp_search *search, int rows, FILE *out)
{
    print_head(arena, search, out);
    print_counts(arena, search, out);
    print_rows(arena, search, rows, out);
    print_rest(arena, search, rows, out);
}
