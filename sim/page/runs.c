/* Writes several schedules as a table: those of the command, or others at the layout of one run. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/units.h"
#include "plots/page/page.h"
#include "sim/config/scale.h"

#include <math.h>

/* ---- other schedules at the layout of a run -------------------------------------------------- */

static const char *versus(double gain, bool is_own, char text[static 32])
{
    if (is_own)
        snprintf(text, 32, "this run");
    else if (fabs(gain) < PP_TIE_FRAC)
        snprintf(text, 32, "tie");
    else
        snprintf(text, 32, "%+.1f %%", 100 * gain);
    return text;
}

static void write_other(const struct pp_page *page, const struct pp_result *r,
                        const struct pp_others *others, double longest_s)
{
    FILE *out = page->out;
    const struct pp_result *own = others->reference;
    char time[PP_TEXT_BYTES], mfu[PP_TEXT_BYTES], text[32];

    fputs(r == own ? "<tr class=\"own\"><td>" : "<tr><td>", out);
    pp_html(out, "%s", r->config.schedule_name);
    if (r->config.layout.vp > 1)
        pp_html(out, " VP %d", r->config.layout.vp);
    pp_html(out, "%s</td>",
            r->config.costs.recompute == own->config.costs.recompute ? ""
                                                                     : ", other recomputation");
    pp_page_step(page, r, longest_s);
    pp_html(out,
            "<td class=\"number\">%s</td><td class=\"number\">%s</td><td class=\"number\">"
            "%.1f %%</td><td class=\"number\">%.1f</td><td class=\"number\">%s%s</td></tr>\n",
            pp_text_time(&r->config, r->metrics.iteration_s, time), pp_text_mfu(r, mfu),
            100 * r->metrics.bubble_frac, r->memory[r->peak_rank].peak_bytes / PP_GIB,
            versus(r->metrics.iteration_s / own->metrics.iteration_s - 1, r == own, text),
            r->fits ? "" : ", does not fit");
}

void pp_page_others(const struct pp_page *page, const struct pp_others *others)
{
    FILE *out = page->out;
    const struct pp_result *own = others->reference;
    double longest_s = own->metrics.iteration_s;
    bool is_written = false;

    for (int i = 0; i < others->count; i++)
        if (others->list[i].status == PP_OK)
            longest_s = fmax(longest_s, others->list[i].metrics.iteration_s);
    pp_page_heading(page, "schedules", "Other schedules");
    pp_html(
        out,
        "<div class=\"wide\"><table><caption>The "
        "same layout%s; a difference below %g %% is a tie</caption>\n<thead><tr><th>schedule"
        "</th><th>step</th><th></th><th class=\"number\">MFU</th><th class=\"number\">bubble"
        "</th><th class=\"number\">GiB</th><th class=\"number\">time</th></tr></thead>\n<tbody>\n",
        others->is_contention_free ? ", as if no links were shared" : "", 100 * PP_TIE_FRAC);
    for (int i = 0; i < others->count; i++) {
        const struct pp_result *r = &others->list[i];
        if (r->status != PP_OK)
            continue;
        const bool is_before =
            own->fits == r->fits ? own->metrics.iteration_s < r->metrics.iteration_s : own->fits;
        if (is_before && !is_written) {
            write_other(page, own, others, longest_s);
            is_written = true;
        }
        write_other(page, r, others, longest_s);
    }
    if (!is_written)
        write_other(page, own, others, longest_s);
    fputs("</tbody></table></div>\n", out);
}

/* ---- schedules of the command ---------------------------------------------------------------- */

/* Full widths of the bars of all runs, and the unit of steps. */
struct scale {
    const struct pp_result *first;
    enum pp_scale unit;
    double longest_s, most_bytes;
};
static struct scale scale_of(const struct pp_result *const *rows, int count)
{
    struct scale scale = {rows[0], pp_scale_of(rows, count), 0, 0};

    for (int i = 0; i < count && rows[i]->status == PP_OK; i++) {
        const struct pp_result *r = rows[i];
        scale.longest_s =
            fmax(scale.longest_s, r->metrics.iteration_s / pp_scale_divisor(r, scale.unit));
        scale.most_bytes = fmax(scale.most_bytes, 1.02 * pp_config_capacity_bytes(&r->config));
        scale.most_bytes = fmax(scale.most_bytes, 1.02 * r->memory[r->peak_rank].peak_bytes);
    }
    return scale;
}

/* Writes the cells that only runs of a model have. */
static void write_model(const struct pp_page *page, const struct pp_result *r,
                        const struct scale *scale)
{
    const struct pp_rank_memory *memory = &r->memory[r->peak_rank];
    char text[PP_TEXT_BYTES], shards[PP_STATE_TEXT_BYTES];

    pp_page_percent(page, "mfu", r->mfu);
    pp_page_memory(page, memory, pp_config_capacity_bytes(&r->config), scale->most_bytes);
    snprintf(text, sizeof(text), "%.1f", memory->peak_bytes / PP_GIB);
    pp_page_cell(page, "peak_mem_bytes", round(memory->peak_bytes), text);
    pp_html(page->out, "<td class=\"name\">%s</td><td class=\"name\">%s</td>",
            pp_state_name(&r->config.state, shards), pp_text_recompute(&r->config, ", ", text));
    pp_html(page->out, "<td class=\"number\">%s</td></tr>\n",
            pp_text_versus(r, scale->first, text));
}

/* Writes the step. `data-divisor` is what its text is divided by. */
static void write_step(const struct pp_page *page, const struct pp_result *r, double divisor)
{
    const double step_s = r->metrics.iteration_s;
    char text[PP_TEXT_BYTES];

    pp_text_time(&r->config, step_s / divisor, text);
    if (divisor == 1)
        pp_page_cell(page, "iteration_s", step_s, text);
    else
        pp_html(page->out,
                "<td class=\"number\"><data data-key=\"%siteration_s\" data-divisor=\"%g\" "
                "value=\"%.17g\">%s</data></td>",
                page->prefix, divisor, step_s, text);
}

static void write_run(const struct pp_page *page, const struct pp_result *r,
                      const struct scale *scale)
{
    const double divisor = pp_scale_divisor(r, scale->unit);

    pp_html(page->out, "<tr><td>%s</td><td class=\"number\">%d</td>", r->config.schedule_name,
            r->config.layout.vp);
    pp_page_step(page, r, scale->longest_s * divisor);
    write_step(page, r, divisor);
    pp_page_percent(page, "bubble_frac", r->metrics.bubble_frac);
    pp_page_percent(page, "span_bubble_frac", r->metrics.span_bubble_frac);
    if (r->config.is_unit)
        pp_html(page->out, "<td class=\"number\">%g</td></tr>\n", pp_scale_micro_batches(r));
    else
        write_model(page, r, scale);
}

static void write_refused(const struct pp_result *r, int columns, FILE *out)
{
    pp_html(out,
            "<tr><td>%s</td><td colspan=\"%d\" class=\"soft\">refused: ", r->config.schedule_name,
            columns - 1);
    pp_html_lines(out, r->refusal);
    fputs("</td></tr>\n", out);
}

/* Writes the legend of the parts of the time that one of the runs shows. */
static void write_parts(const struct pp_page *page, const struct pp_result *const *rows, int count)
{
    const double SEEN_FRAC = 0.0005;
    bool occurs[PP_TIME_PARTS] = {false};

    for (int i = 0; i < count && rows[i]->status == PP_OK; i++)
        for (int part = 0; part < PP_TIME_PARTS; part++)
            occurs[part] |= rows[i]->metrics.time_frac[part] >= SEEN_FRAC;
    pp_page_time_legend(page, occurs);
}

static void write_memory_parts(const struct pp_page *page, const struct pp_result *r)
{
    fputs("<ul class=\"legend\">\n", page->out);
    for (int part = 0; part < PP_MEMORY_PARTS; part++) {
        if (!pp_page_has_part(r, part))
            continue;
        fputs("<li>", page->out);
        pp_html_swatch(pp_plot_memory_parts[part].rgb, page->out);
        pp_html(page->out, "%s</li>\n", pp_plot_memory_parts[part].name);
    }
    fputs("</ul>\n", page->out);
}

void pp_page_ranking(struct pp_arena *arena, const struct pp_page *page,
                     const struct pp_result *const *rows, int count)
{
    FILE *out = page->out;
    const bool is_unit = rows[0]->status == PP_OK && rows[0]->config.is_unit;
    const struct scale scale = scale_of(rows, count);

    fputs("<div class=\"wide\"><table>\n<caption>Best first. Bubble: share of the step in which an "
          "average rank waits for other stages; span idle: 1 - (largest busy time of a rank) / "
          "(longest time from a rank's first op to its last).",
          out);
    if (is_unit)
        pp_html(
            out,
            " Units: F %g B %g C %g for a micro-batch on %s. Peak activations: in micro-batches "
            "of a rank.",
            rows[0]->config.unit.f, rows[0]->config.unit.b, rows[0]->config.unit.c,
            pp_scale_words[scale.unit]);
    fputs("</caption>\n<thead><tr><th>schedule</th><th "
          "class=\"number\">VP</th><th>step</th><th></th><th class=\"number\">bubble</th>"
          "<th class=\"number\">span idle</th>",
          out);
    fputs(is_unit ? "<th class=\"number\">peak activations</th>"
                  : "<th class=\"number\">MFU</th><th>memory</th><th class=\"number\">GiB</th>"
                    "<th>state</th><th>recompute</th><th class=\"number\">vs first</th>",
          out);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (int i = 0; i < count; i++) {
        struct pp_page one = *page;
        one.prefix = pp_arena_printf(arena, "runs.%d.", i);
        if (rows[i]->status == PP_OK)
            write_run(&one, rows[i], &scale);
        else
            write_refused(rows[i], is_unit ? 7 : 12, out);
    }
    fputs("</tbody></table></div>\n", out);
    write_parts(page, rows, count);
    if (rows[0]->status == PP_OK && !is_unit)
        write_memory_parts(page, rows[0]);
}
