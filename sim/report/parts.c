/* Parts of a printed report that training and generation share. */
#include "sim/report/parts.h"

#include "core/cli/request.h"
#include "sim/config/tiers.h"
#include "sim/report/tiers.h"

#include <string.h>

enum { LABEL = 11, MAX_MEMORY_ROWS = 8 };
/* Columns of a headline: the figure, its error "± 8 %", what stands before the remark. */
enum { FIGURE = 10, BAND = 6, REMARK = 31, BAND_REMARK = 33 };

void pp_report_paragraph(const struct pp_report_page *page, const char *label, const char *text)
{
    pp_text_paragraph(page->out, page->width, LABEL, label, text);
}

void pp_report_title(const struct pp_report_page *page, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    const int used = fprintf(page->out, "%spipesim %s  %s%s", page->bold, PP_VERSION,
                             pp_line_title(page->arena, r), page->plain) -
                     (int)(strlen(page->bold) + strlen(page->plain));
    static const char LEGEND[] = "(* = chosen for you, see --explain)";
    const bool has_room = used + (int)sizeof(LEGEND) < page->width;
    if (!c->is_unit && c->origin.chosen)
        fprintf(page->out, "%s%*s", has_room ? "" : "\n",
                has_room ? page->width - used : page->width, LEGEND);
    fputs("\n\n", page->out);
}

void pp_report_model(const struct pp_report_page *page, const struct pp_config *c)
{
    pp_report_paragraph(page, "model", pp_line_model(page->arena, c));
    if (c->model.notes && c->model.notes[0])
        pp_report_paragraph(page, "", c->model.notes);
}

void pp_report_headline(const struct pp_report_page *page, const struct pp_headline *row,
                        bool has_bands)
{
    char band[PP_BAND_BYTES + 4] = "";
    const int remark = has_bands ? BAND_REMARK : REMARK;

    if (*row->band)
        snprintf(band, sizeof(band), "%s%s", page->has_utf8 ? "± " : "+-", row->band);
    fprintf(page->out, "  %-12s%s%*s%s %s%*s  ", row->label, page->bold,
            has_bands ? FIGURE : FIGURE + 4, row->figure, page->plain, band,
            has_bands ? BAND - pp_text_columns(band, strlen(band)) : 0, "");
    pp_text_wrap(page->out, page->width, remark, remark, row->remark);
}

void pp_report_seeds(const struct pp_report_page *page, const struct pp_result *r)
{
    const char *seeds = pp_line_seeds(page->arena, r);

    if (seeds)
        pp_report_paragraph(page, "seeds", seeds);
}

void pp_report_error(const struct pp_report_page *page, const struct pp_config *config)
{
    const char *error = pp_line_error(page->arena, config);

    if (error)
        pp_report_paragraph(page, "error", error);
}

void pp_report_tiers(const struct pp_report_page *page, const struct pp_result *r)
{
    const char *text = pp_tiers_text(page->arena, r);

    if (!*text)
        return;
    const char *copied = pp_line_copied(page->arena, r), *host = pp_line_host(page->arena, r);

    fputc('\n', page->out);
    pp_report_paragraph(
        page, "tiers",
        pp_arena_printf(page->arena, "%s%s", text,
                        pp_tiers_full(r) == PP_TIER_DEVICE ? "" : ": DOES NOT FIT"));
    if (*copied)
        pp_report_paragraph(page, "", copied);
    if (*host)
        pp_report_paragraph(page, "", host);
}

/* Is true for ranks in the table: all if they are few, else the ends and the peak. */
bool pp_report_shows(const struct pp_result *r, int rank)
{
    const int ranks = r->program->ranks;

    return ranks <= MAX_MEMORY_ROWS || rank == 0 || rank == ranks - 1 || rank == r->peak_rank;
}
