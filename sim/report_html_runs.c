/* Schedules beside each other: those that were asked for, or others at the layout of one run. */
#include "sim/report_html.h"

#include "core/html.h"
#include <math.h>
#include <string.h>

#define GIB (1024.0 * 1024.0 * 1024.0)

/* ---- other schedules at the layout of a run -------------------------------------------------- */

/* Where its step goes, as long as it is beside the longest. */
static void write_step(const struct pp_result *r, double longest_s, FILE *out)
{
    fputs("<td class=\"bar\"><div class=\"mini\">", out);
    pp_html_time_band(r, longest_s, out);
    fputs("</div></td>", out);
}

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

static void write_other(const struct pp_result *r, const struct pp_others *others, double longest_s,
                        FILE *out)
{
    const struct pp_result *own = others->reference;
    char time[PP_TEXT_BYTES], text[32];

    fputs(r == own ? "<tr class=\"own\"><td>" : "<tr><td>", out);
    pp_html(out, "%s", r->config.schedule_name);
    if (r->config.layout.vp > 1)
        pp_html(out, " VP %d", r->config.layout.vp);
    pp_html(out, "%s</td>",
            r->config.recompute == own->config.recompute ? "" : ", other recomputation");
    write_step(r, longest_s, out);
    pp_html(out,
            "<td class=\"number\">%s</td><td class=\"number\">%.1f %%</td><td class=\"number\">"
            "%.1f %%</td><td class=\"number\">%.1f</td><td class=\"number\">%s%s</td></tr>\n",
            pp_text_time(&r->config, r->metrics.iteration_s, time), 100 * r->mfu,
            100 * r->metrics.bubble_frac, r->memory[r->peak_rank].peak_bytes / GIB,
            versus(r->metrics.iteration_s / own->metrics.iteration_s - 1, r == own, text),
            r->fits ? "" : ", does not fit");
}

void pp_html_others(const struct pp_others *others, FILE *out)
{
    const struct pp_result *own = others->reference;
    double longest_s = own->metrics.iteration_s;
    bool is_written = false;

    for (int i = 0; i < others->count; i++)
        if (others->list[i].status == PP_OK)
            longest_s = fmax(longest_s, others->list[i].metrics.iteration_s);
    pp_html(
        out,
        "<h2 id=\"schedules\">Other schedules</h2>\n<div class=\"wide\"><table><caption>The "
        "same layout%s; a difference below %g %% is a tie</caption>\n<thead><tr><th>schedule"
        "</th><th>step</th><th></th><th class=\"number\">MFU</th><th class=\"number\">bubble"
        "</th><th class=\"number\">GiB</th><th class=\"number\">time</th></tr></thead>\n<tbody>\n",
        others->is_contention_free ? ", as if nobody shared links" : "", 100 * PP_TIE_FRAC);
    for (int i = 0; i < others->count; i++) {
        const struct pp_result *r = &others->list[i];
        if (r->status != PP_OK)
            continue;
        const bool is_before =
            own->fits == r->fits ? own->metrics.iteration_s < r->metrics.iteration_s : own->fits;
        if (is_before && !is_written) {
            write_other(own, others, longest_s, out);
            is_written = true;
        }
        write_other(r, others, longest_s, out);
    }
    if (!is_written)
        write_other(own, others, longest_s, out);
    fputs("</tbody></table></div>\n", out);
}

/* ---- schedules that were asked for ----------------------------------------------------------- */

static void write_cell(const struct pp_html_place *place, const char *key, double value,
                       const char *text)
{
    fputs("<td class=\"number\">", place->out);
    pp_html_member(place, key, value, text);
    fputs("</td>", place->out);
}

static void write_frac(const struct pp_html_place *place, const char *key, double frac)
{
    char text[PP_TEXT_BYTES];

    snprintf(text, sizeof(text), "%.1f %%", 100 * frac);
    write_cell(place, key, frac, text);
}

static double most_activations(const struct pp_result *r)
{
    double most = 0;

    for (int i = 0; i < r->program->ranks; i++)
        most = fmax(most, r->memory[i].peak_activations);
    return most;
}

/* Unit costs are those of a chunk, so that steps of schedules with more of them on a rank are
 * longer: there all are as wide, and parts are shares. */
static void write_run(const struct pp_html_place *place, const struct pp_result *r,
                      double longest_s)
{
    char text[PP_TEXT_BYTES];

    pp_html(place->out, "<tr><td>%s</td><td class=\"number\">%d</td>", r->config.schedule_name,
            r->config.layout.vp);
    write_step(r, r->config.is_unit ? r->metrics.iteration_s : longest_s, place->out);
    write_cell(place, "iteration_s", r->metrics.iteration_s,
               pp_text_time(&r->config, r->metrics.iteration_s, text));
    write_frac(place, "bubble_frac", r->metrics.bubble_frac);
    write_frac(place, "span_bubble_frac", r->metrics.span_bubble_frac);
    if (r->config.is_unit) {
        pp_html(place->out, "<td class=\"number\">%g</td><td></td></tr>\n", most_activations(r));
        return;
    }
    write_frac(place, "mfu", r->mfu);
    snprintf(text, sizeof(text), "%.1f", r->memory[r->peak_rank].peak_bytes / GIB);
    write_cell(place, "peak_mem_bytes", round(r->memory[r->peak_rank].peak_bytes), text);
    pp_html(place->out, "<td>%s</td></tr>\n", r->fits ? "" : "does not fit");
}

static void write_refused(const struct pp_result *r, int columns, FILE *out)
{
    pp_html(out,
            "<tr><td>%s</td><td colspan=\"%d\" class=\"soft\">refused: ", r->config.schedule_name,
            columns - 1);
    pp_html_lines(out, r->error.message);
    fputs("</td></tr>\n", out);
}

void pp_html_ranking(const struct pp_result *const *rows, int count, FILE *out)
{
    const bool is_unit = rows[0]->status == PP_OK && rows[0]->config.is_unit;
    double longest_s = 0;

    for (int i = 0; i < count; i++)
        if (rows[i]->status == PP_OK)
            longest_s = fmax(longest_s, rows[i]->metrics.iteration_s);
    fputs("<div class=\"wide\"><table>\n<caption>Best first. Bubble: share of the step in which an "
          "average rank waits for other stages; span form: 1 - (largest busy time of a rank) / "
          "(longest time from a rank's first op to its last)</caption>\n<thead><tr><th>schedule"
          "</th><th class=\"number\">VP</th><th>step</th><th></th><th class=\"number\">bubble</th>"
          "<th class=\"number\">span form</th>",
          out);
    fputs(is_unit ? "<th class=\"number\">chunk activations</th><th></th>"
                  : "<th class=\"number\">MFU</th><th class=\"number\">GiB</th><th></th>",
          out);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (int i = 0; i < count; i++) {
        const struct pp_html_place place = {out, i};
        if (rows[i]->status == PP_OK)
            write_run(&place, rows[i], longest_s);
        else
            write_refused(rows[i], is_unit ? 8 : 9, out);
    }
    fputs("</tbody></table></div>\n", out);
    pp_html_time_legend(rows, count, out);
}
