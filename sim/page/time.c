/* Writes headline figures and the parts of the time. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "plots/page/page.h"
#include "sim/config/tiers.h"
#include "sim/report/tiers.h"

#include <stdio.h>
#include <string.h>

/* ---- headlines ------------------------------------------------------------------------------- */

struct meaning {
    const char *key, *what;
};

static const struct meaning MEANINGS[] = {
    {"iteration_s", "one training step, from its start to the latest end over all ranks and "
                    "replicas, optimizer included"},
    {"mfu", "model FLOPs of the step over (step time, dense peak, GPUs); recomputation is not "
            "counted"},
    {"hfu", "the same with recomputed forwards counted"},
    {"bubble_frac",
     "share of the step in which an average rank waits for other stages, messages in flight "
     "included"},
    {"span_bubble_frac", "1 - (largest busy time of a rank) / (longest time from a rank's first op "
                         "to its last), as the zero-bubble papers count"},
    {"peak_mem_bytes", "most bytes alive on the fullest pipeline rank, for each device"},
    {NULL, NULL},
};

/* The same for a run that generates. */
static const struct meaning GENERATED[] = {
    {"inference.first_token_s", "from the start to the end of the prompts of a group, on the last "
                                "stage; median of the groups"},
    {"inference.token_s", "later tokens of a group, on average; median of the groups"},
    {"iteration_s", "all sequences, from the start to the last token"},
    {"bubble_frac", "share of this time in which an average rank waits for other stages, messages "
                    "in flight included"},
    {"peak_mem_bytes", "most bytes alive on the fullest pipeline rank, for each device"},
    {NULL, NULL}};

static const char *meaning_in(const struct meaning *meanings, const char *key)
{
    for (; key && meanings->key; meanings++)
        if (!strcmp(meanings->key, key))
            return meanings->what;
    return NULL;
}

static const char *meaning_of(const char *key, const struct pp_config *config)
{
    if (config->generation.passes > 0)
        return meaning_in(GENERATED, key);
    const char *known = meaning_in(MEANINGS, key);
    if (key && config->is_unit && !strcmp(key, "iteration_s"))
        return "one training step in which nothing takes time but the ops of --unit, and messages "
               "where it gives C";
    return known ? known : "training on 10^12 tokens at this speed, without stops";
}

enum { MOST_IN_ROW = 6 };

void pp_page_headlines(const struct pp_page *page, const struct pp_result *r)
{
    struct pp_headline rows[PP_HEADLINES];
    const int count = pp_headlines(r, rows);

    /* All in one row, or in two. */
    fprintf(page->out, "<dl class=\"cards\" style=\"--in-row:%d\">\n",
            count <= MOST_IN_ROW ? count : (count + 1) / 2);
    for (int i = 0; i < count; i++) {
        const char *band = rows[i].band, *unit = *band && !strchr(band, '%') ? " points" : "";
        char remark[PP_TEXT_BYTES + 32];
        snprintf(remark, sizeof(remark), "%s%s%s%s%s", *band ? "± " : "", band, unit,
                 *band ? "; " : "", rows[i].remark);
        pp_page_card(page, &(const struct pp_page_card){
                               .label = rows[i].label,
                               .key = rows[i].key,
                               .figure = rows[i].figure,
                               .remark = remark,
                               .meaning = meaning_of(rows[i].key, &r->config),
                               .value = rows[i].value,
                               .is_bad = strstr(rows[i].remark, "DOES NOT FIT") != NULL,
                           });
    }
    fputs("</dl>\n", page->out);
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *error = pp_line_error(arena, &r->config);
    if (error) {
        fputs("<p>Error: ", page->out);
        pp_html_words(page->out, error);
        fputs(".</p>\n", page->out);
    }
    const char *seeds = pp_line_seeds(arena, r);
    if (seeds) {
        fputs("<p>Seeds: ", page->out);
        pp_html_words(page->out, seeds);
        fputs(".</p>\n", page->out);
    }
}

/* ---- parts of the time ----------------------------------------------------------------------- */

static const char *const WHAT[PP_TIME_PARTS] = {
    [PP_TIME_FORWARD] = "computing forwards",
    [PP_TIME_BACKWARD] = "computing backwards",
    [PP_TIME_RECOMPUTE] = "computing forwards again, for their activations",
    [PP_TIME_TP_COMM] = "tensor-parallel collectives inside ops, without the hidden part",
    [PP_TIME_CP_COMM] = "context-parallel collectives inside ops, without the hidden part",
    [PP_TIME_EP_COMM] = "all-to-all of experts inside ops, without the hidden part",
    [PP_TIME_P2P] = "idle while the message that the next op waits for is on the wire",
    [PP_TIME_DP_SYNC] = "idle while waiting for a gradient or parameter collective",
    [PP_TIME_OPTIMIZER] = "updating parameters",
    [PP_TIME_MOVES] = "idle while waiting for a copy between memory tiers",
    [PP_TIME_BUBBLE] = "all other idle time: the message has not been sent yet, or nothing is left "
                       "to do before the end",
};

static void write_band(const struct pp_page *page, const struct pp_result *r, double whole_s)
{
    double part_s[PP_TIME_PARTS];

    for (int i = 0; i < PP_TIME_PARTS; i++)
        part_s[i] = r->metrics.time_frac[i] * r->metrics.iteration_s;
    pp_page_time_band(page, part_s, whole_s);
}

void pp_page_step(const struct pp_page *page, const struct pp_result *r, double longest_s)
{
    fputs("<td class=\"bar\"><div class=\"mini\">", page->out);
    write_band(page, r, longest_s);
    fputs("</div></td>", page->out);
}

static void write_part(const struct pp_page *page, const struct pp_result *r, int part)
{
    const double frac = r->metrics.time_frac[part];
    char key[48], text[PP_TEXT_BYTES];

    fputs("<tr><td class=\"name\">", page->out);
    pp_html_swatch(pp_style_part_rgb(part), page->out);
    pp_html_words(page->out, pp_time_part_words[part]);
    fputs("</td>", page->out);
    snprintf(key, sizeof(key), "time_frac.%s", pp_time_part_names[part]);
    pp_page_percent(page, key, frac);
    pp_html(page->out, "<td class=\"number\">%s</td><td class=\"what\">%s</td></tr>\n",
            pp_text_time(&r->config, frac * r->metrics.iteration_s, text), WHAT[part]);
}

/* Writes what lives on other memory tiers, and what its copies cost; nothing without any. */
static void write_tiers(const struct pp_page *page, const struct pp_result *r)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *text = pp_tiers_text(arena, r);
    const char *const more[] = {pp_line_copied(arena, r), pp_line_host(arena, r)};

    if (!*text)
        return;
    text = pp_arena_printf(arena, "Memory tiers: %s%s", text,
                           pp_tiers_full(r) == PP_TIER_DEVICE ? "" : ": DOES NOT FIT");
    for (size_t i = 0; i < PP_COUNT(more); i++)
        if (*more[i])
            text = pp_arena_printf(arena, "%s; %s", text, more[i]);
    fputs("<p>", page->out);
    pp_html_words(page->out, text);
    fputs(".</p>\n", page->out);
}

void pp_page_time(const struct pp_page *page, const struct pp_result *r)
{
    FILE *out = page->out;
    const char *whole = pp_line_whole(&r->config);
    char text[PP_TEXT_BYTES];

    pp_page_heading(page, "time", "Where the time goes");
    fputs("<div class=\"band\">", out);
    write_band(page, r, r->metrics.iteration_s);
    pp_html(out,
            "</div>\n<div class=\"wide\"><table><caption>Share of the %s, average over pipeline "
            "ranks; the parts add up to the %s</caption>\n<thead><tr><th>part</th><th "
            "class=\"number\">share</th><th class=\"number\">a %s</th><th>what it is</th></tr>"
            "</thead>\n<tbody>\n",
            whole, whole, whole);
    for (int i = 0; i < PP_TIME_PARTS; i++)
        if (r->metrics.time_frac[i] != 0)
            write_part(page, r, i);
    fputs("</tbody></table></div>\n<p>Exposed communication, all parts of it together: ", out);
    snprintf(text, sizeof(text), "%.1f %%", 100 * r->metrics.exposed_comm_frac);
    pp_page_figure(page, "exposed_comm_frac", r->metrics.exposed_comm_frac, text);
    fputs(".</p>\n", out);
    write_tiers(page, r);
}
