/* Writes the page of a plan to serve: a picture of the choices, a table of the best, the report. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/units.h"
#include "plots/axis.h"
#include "plots/page/page.h"
#include "sim/serving/serving.h"

#include <math.h>

enum { MOST_DOTS = 2000 };

/* Returns the time of a token; that of the first one, if no others are made. */
static double token_s(const struct pp_serving_point *p)
{
    return isfinite(p->token_s) ? p->token_s : p->first_token_s;
}

static const char *name_of(struct pp_arena *arena, const struct pp_serving *s, int at)
{
    const struct pp_serving_point *p = &s->points[at];

    return pp_arena_printf(arena, "#%d, TP %d, PP %d, replicas %s, batch %d, groups %d", at + 1,
                           p->layout.tp, p->layout.pp, pp_serving_replicas(arena, p), p->batch,
                           p->groups);
}

static void write_picture(struct pp_arena *arena, const struct pp_page *page,
                          const struct pp_serving *s)
{
    const int shown = s->count < MOST_DOTS ? s->count : MOST_DOTS;
    struct pp_html_dot *dots = PP_ARRAY(arena, struct pp_html_dot, shown);
    double longest_s = 0;

    for (int i = 0; i < shown; i++)
        longest_s = fmax(longest_s, token_s(&s->points[i]));
    const struct pp_axis_time time = pp_axis_time(longest_s, NULL);
    for (int i = 0; i < shown; i++)
        dots[i] = (struct pp_html_dot){.x = token_s(&s->points[i]) * time.factor,
                                       .y = s->points[i].tokens_per_s_per_gpu,
                                       .name = name_of(arena, s, i),
                                       .is_marked = s->points[i].meets};
    const struct pp_html_scatter scatter = {
        .points = dots,
        .count = shown,
        .axis = pp_arena_printf(arena, "%s token (%s)",
                                isfinite(s->points[0].token_s) ? "each" : "first", time.unit),
        .label = "Tokens/s of a GPU over the time of a token, a dot for each choice"};
    pp_page_heading(page, "choices", "Choices");
    pp_html(page->out,
            "<figure>\n<figcaption>Tokens/s of a GPU over the time of a token; large dots: %s"
            "%s</figcaption>\n",
            s->max_token_s + s->max_first_token_s > 0 ? "within the limits" : "they fit",
            shown < s->count ? "; the best of them" : "");
    pp_html_scatter(&scatter, page->out);
    fputs("</figure>\n", page->out);
}

static void write_time(struct pp_arena *arena, const struct pp_page *page, int at,
                       const char *member, double seconds)
{
    char text[PP_UNITS_TEXT_BYTES];

    if (isfinite(seconds))
        pp_page_cell(page, pp_arena_printf(arena, "points.%d.%s", at, member), seconds,
                     pp_units_print(seconds, PP_UNIT_SECONDS, text));
    else
        fputs("<td class=\"number\">-</td>", page->out);
}

static void write_rate(struct pp_arena *arena, const struct pp_page *page, int at,
                       const char *member, double rate)
{
    pp_page_cell(page, pp_arena_printf(arena, "points.%d.%s", at, member), rate,
                 pp_arena_printf(arena, "%.*f", rate < 100 ? 2 : 0, rate));
}

static void write_row(struct pp_arena *arena, const struct pp_page *page,
                      const struct pp_serving *s, int at)
{
    const struct pp_serving_point *p = &s->points[at];
    const int before[] = {p->layout.gpus, p->layout.tp, p->layout.pp},
              after[] = {p->batch, p->groups};

    fputs(p->meets ? "<tr class=\"own\">" : "<tr>", page->out);
    pp_html(page->out, "<td class=\"number\">%s%d</td>", p->fits ? "" : "! ", at + 1);
    for (size_t i = 0; i < PP_COUNT(before); i++)
        pp_html(page->out, "<td>%d</td>", before[i]);
    pp_html(page->out, "<td>%s</td>", pp_serving_replicas(arena, p));
    for (size_t i = 0; i < PP_COUNT(after); i++)
        pp_html(page->out, "<td>%d</td>", after[i]);
    write_time(arena, page, at, "first_token_s", p->first_token_s);
    write_time(arena, page, at, "token_s", p->token_s);
    write_rate(arena, page, at, "tokens_per_s", p->tokens_per_s);
    write_rate(arena, page, at, "tokens_per_s_per_gpu", p->tokens_per_s_per_gpu);
    pp_page_cell(page, pp_arena_printf(arena, "points.%d.peak_mem_bytes", at), round(p->peak_bytes),
                 pp_arena_printf(arena, "%.1f GiB", p->peak_bytes / PP_GIB));
    fputs("</tr>\n", page->out);
}

static void write_table(struct pp_arena *arena, const struct pp_page *page,
                        const struct pp_serving *s)
{
    static const char *const NAMES[] = {"GPUs", "TP", "PP", "replicas", "batch", "groups"};
    static const char *const FIGURES[] = {"first token", "each token", "tokens/s", "of a GPU",
                                          "peak"};
    const int shown = pp_page_begin_choices(
        page, &(struct pp_page_choices){.count = s->count,
                                        .legend = "Bold: fits, within the limits; !: does not fit",
                                        .words = NAMES,
                                        .word_count = PP_COUNT(NAMES),
                                        .figures = FIGURES,
                                        .figure_count = PP_COUNT(FIGURES)});

    for (int i = 0; i < shown; i++)
        write_row(arena, page, s, i);
    fputs("</tbody></table></div>\n", page->out);
}

/* Input of the report in text. */
struct printed {
    struct pp_arena *arena;
    const struct pp_page_serving *plan;
};

static void print_report(const void *subject, FILE *out)
{
    const struct printed *p = subject;

    pp_serving_print(p->arena, p->plan->serving, p->plan->rows, out);
}

enum pp_status pp_page_serving(struct pp_arena *arena, const struct pp_page *page,
                               const void *subject, struct pp_error *err)
{
    static const struct pp_page_link LINKS[] = {{"choices", "choices", true},
                                                {"report", "report", true}};
    const struct pp_page_serving *plan = subject;
    const struct pp_config *c = &plan->serving->first;

    (void)err;
    pp_page_begin(page, pp_arena_printf(arena, "Serving %s on %s", c->model.name, c->cluster.name),
                  LINKS, PP_COUNT(LINKS));
    write_picture(arena, page, plan->serving);
    write_table(arena, page, plan->serving);
    pp_page_heading(page, "report", "Report");
    pp_page_printed(page, print_report, &(struct printed){arena, plan});
    pp_page_command(page);
    return PP_OK;
}
