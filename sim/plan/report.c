/* Prints a layout search: its space, the best rows, and the reasons against other layouts. */
#include "core/cost/fitted.h"
#include "core/text/terminal.h"
#include "core/units.h"
#include "sim/config/price.h"
#include "sim/error/best.h"
#include "sim/plan/search.h"
#include "sim/report/lines.h"
#include "sim/report/text.h"
#include "sim/run/prepare.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, INDENT = PP_SEARCH_INDENT };

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
    pp_text_paragraph(out, WIDTH, INDENT, "batch", text);
    pp_report_what_if(c, WIDTH, INDENT, out);
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
    pp_text_wrap(out, WIDTH, fprintf(out, "pipesim %s  ", PP_VERSION), 2, text);
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
    pp_text_paragraph(out, WIDTH, INDENT, "searched", text);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *number(struct pp_arena *arena, int value, int none)
{
    return value == none ? "-" : pp_arena_printf(arena, "%d", value);
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
    fprintf(out, "%3d%c%3d%4d%3d%5d%4s%3s%4d %-14s %-4s %1s%8s%6.1f %5.1f%c%7s\n", at + 1,
            search->ties > 1 && row->is_tie ? '=' : ' ', f->tp, f->pp, f->cp, f->dp,
            has_experts ? number(arena, f->ep, 0) : "-", number(arena, p.order->vp, 0), f->mbs,
            p.order->base.schedule_name, AGAIN[p.again.recompute],
            number(arena, p.zero, PP_SEARCH_AS_GIVEN),
            pp_units_print(row->outcome.step_s, PP_UNIT_SECONDS, step), 100 * row->outcome.mfu,
            row->outcome.peak_bytes / PP_GIB, pp_search_has_room(&row->outcome) ? ' ' : '!',
            change);
}

static void print_rows(struct pp_arena *arena, const struct pp_search *search, int rows, FILE *out)
{
    const int shown = rows < search->count ? rows : search->count;

    if (!search->count) {
        fputs("\n  nothing fits\n\n", out);
        return;
    }
    fprintf(out, "\n  #  TP  PP CP   DP  EP VP MBS %-14s %-4s %1s%8s%6s%6s%8s\n", "schedule",
            "rec.", "Z", "step", "MFU %", "GiB", "vs #1 %");
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
        pp_text_paragraph(out, WIDTH, INDENT, "error", text);
}

static void print_best(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_row *best = &search->rows[0];
    char tokens[PP_UNITS_TEXT_BYTES];

    pp_text_paragraph(
        out, WIDTH, INDENT, "best",
        pp_arena_printf(arena, "%s~tokens/s/GPU, simulated by %s%s",
                        pp_units_print_count((int64_t)best->outcome.tokens_per_s_per_gpu, tokens),
                        best->is_simulated ? search->space.fixed.engine->name : "dag",
                        price_text(arena, search, best)));
    print_error(arena, search, out);
    const char *above = pp_best_mfu_text(arena, &search->space.fixed, best->outcome.mfu);
    if (above)
        pp_text_paragraph(
            out, WIDTH, INDENT, "MFU",
            pp_arena_printf(arena, "that of #1, %.1f~%%, is %s", 100 * best->outcome.mfu, above));
    pp_text_command(out, WIDTH, INDENT, "choose",
                    pp_search_command(arena, &search->space, best->point));
    if (search->ties < 2)
        return;
    pp_text_paragraph(
        out, WIDTH, INDENT, "= ties",
        pp_arena_printf(arena,
                        "%s steps are within %g~%% of the fastest, too close for the costs to rank",
                        pp_search_count_text(arena, search->ties), 100 * search->margin_frac));
}

static void print_safest(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_row *row = &search->rows[search->safest];
    const struct pp_search_point p = pp_search_point(&search->space, row->point);
    const double capacity = search->space.fixed.cluster.device.memory_bytes;
    char again[PP_RECOMPUTE_TEXT_BYTES];

    pp_text_paragraph(
        out, WIDTH, INDENT, "safest",
        pp_arena_printf(
            arena,
            "#%d %s, %.1f of %.1f~GiB: TP~%d, PP~%d, CP~%d, MBS~%d, %s, recompute~%s, %.1f~%% "
            "slower",
            search->safest + 1,
            row->is_tie ? "of the ties leaves the most memory free"
                        : "is the fastest that leaves the memory margin free",
            (capacity - row->outcome.peak_bytes) / PP_GIB, capacity / PP_GIB, p.frame->tp,
            p.frame->pp, p.frame->cp, p.frame->mbs, p.order->base.schedule_name,
            pp_recompute_print(p.again.recompute, p.again.modules, again),
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
        pp_text_paragraph(out, WIDTH, INDENT, "! tight", text);
}

/* Returns the schedules of the row's twins that differ from its own: " (zbv, v-half)". */
static const char *other_schedules(struct pp_arena *arena, const struct pp_search *search,
                                   const struct pp_search_row *row)
{
    const char *text = "";
    bool *is_named = PP_ARRAY(arena, bool, search->space.order_count);

    is_named[row->point % search->space.order_count] = true;
    for (int i = 0; i < row->twin_count; i++) {
        const int order = (int)(row->twins[i].point % search->space.order_count);
        const struct pp_search_order *o = &search->space.orders[order];
        if (!is_named[order])
            text = pp_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", o->base.schedule_name);
        is_named[order] = true;
    }
    return *text ? pp_arena_printf(arena, " (%s)", text) : "";
}

/* Prints how many layouts each shown row stands for. */
static void print_twins(struct pp_arena *arena, const struct pp_search *search, int shown,
                        FILE *out)
{
    const char *text = "";

    for (int i = 0; i < shown; i++) {
        const struct pp_search_row *row = &search->rows[i];
        if (row->twin_count)
            text = pp_arena_printf(arena, "%s%s%d~of~#%d%s", text, *text ? ", " : "",
                                   row->twin_count, i + 1, other_schedules(arena, search, row));
    }
    if (*text)
        pp_text_paragraph(
            out, WIDTH, INDENT, "twins",
            pp_arena_printf(arena, "not shown, as step and memory are the same: %s", text));
}

static const char *short_layout(struct pp_arena *arena, const struct pp_search *search, int at)
{
    const struct pp_search_point p = pp_search_point(&search->space, search->rows[at].point);

    return pp_arena_printf(arena, "#%d (TP~%d, PP~%d, CP~%d, MBS~%d, %s)", at + 1, p.frame->tp,
                           p.frame->pp, p.frame->cp, p.frame->mbs, p.order->base.schedule_name);
}

/* Returns the name of a what-if, with '~' to keep it on one line. */
static const char *what_if_name(struct pp_arena *arena, int at)
{
    char *name = pp_arena_strdup(arena, pp_search_what_ifs[at].name);

    for (char *c = name; *c; c++)
        *c = *c == ' ' ? '~' : *c;
    return name;
}

/* Returns text if a what-if changes the best row, or NULL. `named`: row in the line above. */
static const char *flip_text(struct pp_arena *arena, const struct pp_search *search, int at,
                             int *named)
{
    const struct pp_search_flip *flip = &search->flips[at];
    const char *name = what_if_name(arena, at);

    if (!flip->is_known)
        return pp_arena_printf(arena, "%s: none of these layouts fits", name);
    if (flip->winner == 0 || (flip->fits && !flip->is_tight && flip->slower_frac <= PP_TIE_FRAC))
        return NULL;
    const char *winner = *named == flip->winner ? pp_arena_printf(arena, "#%d", flip->winner + 1)
                                                : short_layout(arena, search, flip->winner);
    *named = flip->winner;
    if (!flip->fits || flip->slower_frac <= PP_TIE_FRAC)
        return pp_arena_printf(arena, "%s: #1 %s, best is %s", name,
                               flip->fits ? "is tight" : "does not fit", winner);
    return pp_arena_printf(arena, "%s: #1 is %.1f~%% slower than %s", name, 100 * flip->slower_frac,
                           winner);
}

/* Prints the machines on which another row is best, by more than the costs can rank. */
static void print_flips(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const char *label = "sensitive", *same = "";
    int kept = 0, named = -1;

    for (int i = 0; search->flips && i < PP_SEARCH_WHAT_IFS; i++) {
        const char *text = flip_text(arena, search, i, &named);
        if (text) {
            pp_text_paragraph(out, WIDTH, INDENT, label, text);
            label = "";
        } else
            same =
                pp_arena_printf(arena, "%s%s%s", same, kept++ ? ", " : "", what_if_name(arena, i));
    }
    if (kept == PP_SEARCH_WHAT_IFS)
        same = "half and twice of network, links of a node, device memory and device FLOP/s";
    if (kept)
        pp_text_paragraph(out, WIDTH, INDENT, label,
                          pp_arena_printf(arena, "#1 stays best with %s", same));
}

static void print_published(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    for (int i = 0; i < search->published_count; i++) {
        const struct pp_search_published *p = &search->published[i];
        const struct pp_search_recipe *r = p->recipe;
        char step[PP_UNITS_TEXT_BYTES];
        const char *text = pp_arena_printf(
            arena, "%s chose TP~%d, PP~%d, CP~%d, EP~%d, VP~%s, MBS~%d, %s on %s~%s: ", r->source,
            r->tp, r->pp, r->cp, r->ep, number(arena, r->vp, 0), r->mbs, r->schedule,
            pp_search_count_text(arena, r->gpus), r->device);
        if (r->step_s > 0)
            text = pp_arena_printf(arena, "%s%s a step there (%s~tokens/s/GPU); ", text,
                                   pp_units_print(r->step_s, PP_UNIT_SECONDS, step),
                                   pp_search_count_text(arena, (int64_t)r->tokens_per_s_per_gpu));
        if (p->preset_gbs)
            text = pp_arena_printf(arena, "%sas --preset~%s, at its batch of~%s, ", text, r->preset,
                                   pp_search_count_text(arena, p->preset_gbs));
        if (p->point < 0 && !p->preset_gbs)
            text = pp_arena_printf(arena, "%snot among the layouts of this search", text);
        else if (!p->outcome.fits)
            text = pp_arena_printf(arena, "%sneeds %.1f~GiB here", text,
                                   p->outcome.peak_bytes / PP_GIB);
        else
            text = pp_arena_printf(
                arena, "%shere %s (%s), %.1f~GiB", text,
                pp_units_print(p->outcome.step_s, PP_UNIT_SECONDS, step),
                pp_search_count_text(arena, (int64_t)p->outcome.tokens_per_s_per_gpu),
                p->outcome.peak_bytes / PP_GIB);
        if (p->outcome.fits && search->count && !p->preset_gbs)
            text = pp_arena_printf(
                arena, "%s, %+.1f~%% to #1", text,
                100 * (p->outcome.s_per_sample / search->rows[0].outcome.s_per_sample - 1));
        pp_text_paragraph(out, WIDTH, INDENT, "published", text);
    }
}

/* Prints the layout that needs least memory, and what would fit. */
static void print_nearest(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_nearest *nearest = &search->nearest;
    const double capacity = search->space.fixed.cluster.device.memory_bytes;
    char step[PP_UNITS_TEXT_BYTES];

    if (nearest->point < 0)
        return;
    pp_text_paragraph(out, WIDTH, INDENT, "nearest",
                      pp_arena_printf(arena, "needs %.1f of %.1f~GiB:",
                                      nearest->outcome.peak_bytes / PP_GIB, capacity / PP_GIB));
    pp_text_command(out, WIDTH, INDENT, "", nearest->command);
    for (int i = 0; i < nearest->count; i++) {
        const struct pp_relief *relief = &nearest->reliefs[i];
        fprintf(out, "  %-*s%-43s%7.1f%c GiB%10s\n", INDENT - 2, i ? "" : "fits with",
                relief->flags, relief->peak_bytes / PP_GIB,
                relief->peak_bytes > pp_config_room_bytes(&search->space.fixed) ? '!' : ' ',
                pp_units_print(relief->iteration_s, PP_UNIT_SECONDS, step));
    }
    if (!nearest->count)
        pp_text_paragraph(out, WIDTH, INDENT, "fits with",
                          "nothing that was tried: less in flight, more recomputation or sharding, "
                          "offloading, more devices");
}

static void print_rest(struct pp_arena *arena, const struct pp_search *search, int rows, FILE *out)
{
    const int shown = rows < search->count ? rows : search->count;

    if (search->count) {
        print_tight(arena, search, shown, out);
        print_twins(arena, search, shown, out);
        print_best(arena, search, out);
        if (search->safest > 0)
            print_safest(arena, search, out);
        print_flips(arena, search, out);
    } else {
        print_nearest(arena, search, out);
    }
    print_published(arena, search, out);
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
