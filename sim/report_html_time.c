/* Headline figures and where the time goes. */
#include "sim/report_html.h"

#include "core/html.h"
#include "core/units.h"
#include "plots/html.h"

#include <stdio.h>
#include <string.h>

void pp_html_member(const struct pp_html_place *place, const char *key, double value,
                    const char *text)
{
    char path[96];

    if (place->run < 0)
        snprintf(path, sizeof(path), "%s", key);
    else
        snprintf(path, sizeof(path), "runs.%d.%s", place->run, key);
    pp_html_figure(place->out, path, value, text);
}

/* ---- headlines ------------------------------------------------------------------------------- */

static const struct {
    const char *key, *what;
} MEANINGS[] = {
    {"iteration_s", "one training step, from its start to the latest end over all ranks and "
                    "replicas, optimizer included"},
    {"mfu", "model FLOPs of the step over (step time, dense peak, GPUs); recomputation is not "
            "counted"},
    {"hfu", "the same with recomputed forwards counted"},
    {"bubble_frac",
     "share of the step in which an average rank waits for other stages, messages in "
     "flight included. Span form: 1 - (largest busy time of a rank) / (longest time "
     "from a rank's first op to its last)"},
    {"peak_mem_bytes", "most bytes alive on the fullest pipeline rank, for each device"},
};

static const char *meaning_of(const char *key)
{
    for (size_t i = 0; key && i < sizeof(MEANINGS) / sizeof(*MEANINGS); i++)
        if (!strcmp(MEANINGS[i].key, key))
            return MEANINGS[i].what;
    return "training on 10^12 tokens at this speed, without stops";
}

void pp_html_headlines(const struct pp_html_place *place, const struct pp_result *r)
{
    struct pp_headline rows[PP_HEADLINES];
    const int count = pp_headlines(r, rows);
    FILE *out = place->out;

    fputs("<dl class=\"cards\">\n", out);
    for (int i = 0; i < count; i++) {
        const bool is_bad = strstr(rows[i].remark, "DOES NOT FIT") != NULL;
        pp_html(out, "<div><dt>%s</dt><dd class=\"figure\">", rows[i].label);
        if (rows[i].key)
            pp_html_member(place, rows[i].key, rows[i].value, rows[i].figure);
        else
            pp_html(out, "%s", rows[i].figure);
        fputs(is_bad ? "</dd><dd class=\"bad\">" : "</dd><dd>", out);
        pp_html(out, "%s</dd><dd class=\"what\">%s</dd></div>\n", rows[i].remark,
                meaning_of(rows[i].key));
    }
    fputs("</dl>\n", out);
}

/* ---- parts of the time ----------------------------------------------------------------------- */

static const char *const WHAT[PP_TIME_PARTS] = {
    [PP_TIME_FORWARD] = "computing forwards",
    [PP_TIME_BACKWARD] = "computing backwards",
    [PP_TIME_RECOMPUTE] = "computing forwards again, for their activations",
    [PP_TIME_TP_COMM] = "tensor-parallel collectives inside ops, as far as they are not hidden",
    [PP_TIME_CP_COMM] = "context-parallel collectives inside ops, as far as they are not hidden",
    [PP_TIME_EP_COMM] = "exchanges of experts inside ops, as far as they are not hidden",
    [PP_TIME_P2P] = "idle while the message that the next op waits for is on the wire",
    [PP_TIME_DP_SYNC] = "idle while waiting for a gradient or parameter collective",
    [PP_TIME_OPTIMIZER] = "updating parameters",
    [PP_TIME_MOVES] = "idle while waiting for a copy between memory tiers",
    [PP_TIME_BUBBLE] = "all other idle time: the message has not been sent yet, or nothing is left "
                       "to do before the end of the step",
};

/* Words have "~" for blanks that stay. */
static void add_name(const char *words, char name[static 32])
{
    snprintf(name, 32, "%s", words);
    for (char *c = name; *c; c++)
        *c = *c == '~' ? ' ' : *c;
}

void pp_html_time_band(const struct pp_result *r, double whole_s, FILE *out)
{
    char names[PP_TIME_PARTS][32];
    struct pp_html_part parts[PP_TIME_PARTS];

    for (int i = 0; i < PP_TIME_PARTS; i++) {
        add_name(pp_time_part_words[i], names[i]);
        parts[i] = (struct pp_html_part){names[i], r->metrics.time_frac[i] * r->metrics.iteration_s,
                                         pp_style_part_rgb(i)};
    }
    pp_html_band(parts, PP_TIME_PARTS, whole_s, 0, out);
}

void pp_html_time_legend(const struct pp_result *const *results, int count, FILE *out)
{
    fputs("<ul class=\"legend\">\n", out);
    for (int part = 0; part < PP_TIME_PARTS; part++) {
        bool occurs = false;
        for (int i = 0; i < count && !occurs; i++)
            occurs = results[i]->status == PP_OK && results[i]->metrics.time_frac[part] >= 0.0005;
        if (!occurs)
            continue;
        fputs("<li>", out);
        pp_html_swatch(pp_style_part_rgb(part), out);
        pp_html_words(out, pp_time_part_words[part]);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void write_part(const struct pp_html_place *place, const struct pp_result *r, int part)
{
    const double frac = r->metrics.time_frac[part];
    char key[48], text[PP_TEXT_BYTES];

    fputs("<tr><td class=\"name\">", place->out);
    pp_html_swatch(pp_style_part_rgb(part), place->out);
    pp_html_words(place->out, pp_time_part_words[part]);
    fputs("</td><td class=\"number\">", place->out);
    snprintf(key, sizeof(key), "time_frac.%s", pp_time_part_names[part]);
    snprintf(text, sizeof(text), "%.1f %%", 100 * frac);
    pp_html_member(place, key, frac, text);
    pp_html(place->out, "</td><td class=\"number\">%s</td><td class=\"what\">%s</td></tr>\n",
            pp_text_time(&r->config, frac * r->metrics.iteration_s, text), WHAT[part]);
}

void pp_html_time(const struct pp_html_place *place, const struct pp_result *r)
{
    FILE *out = place->out;
    char text[PP_TEXT_BYTES];

    fputs("<h2 id=\"time\">Where the time goes</h2>\n", out);
    fputs("<div class=\"band\">", out);
    pp_html_time_band(r, r->metrics.iteration_s, out);
    fputs("</div>\n", out);
    fputs("<div class=\"wide\"><table><caption>Share of the step, average over pipeline ranks; the "
          "parts add up to the step</caption>\n<thead><tr><th>part</th><th class=\"number\">share"
          "</th><th class=\"number\">a step</th><th>what it is</th></tr></thead>\n<tbody>\n",
          out);
    for (int i = 0; i < PP_TIME_PARTS; i++)
        if (r->metrics.time_frac[i] != 0)
            write_part(place, r, i);
    fputs("</tbody></table></div>\n<p>Exposed communication, all parts of it together: ", out);
    snprintf(text, sizeof(text), "%.1f %%", 100 * r->metrics.exposed_comm_frac);
    pp_html_member(place, "exposed_comm_frac", r->metrics.exposed_comm_frac, text);
    fputs(".</p>\n", out);
}
