/* Writes the page of one run, and of several. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/units.h"
#include "plots/page/page.h"
#include "sim/figure/figure.h"

/* ---- timelines ------------------------------------------------------------------------------- */

static enum pp_status write_timelines(struct pp_arena *arena, const struct pp_page *page,
                                      const struct pp_result *results, int count,
                                      struct pp_error *err)
{
    struct pp_plot_timeline_panel panels[PP_PLOT_TIMELINE_PANELS];
    const struct pp_plot_timeline options = pp_figure_timelines(arena, results, count, panels);

    pp_page_heading(page, "timeline", "Who computes what when");
    return pp_html_timelines(arena, panels, count, &options, page->out, err);
}

/* Writes the timelines of the first runs that were not refused. */
static enum pp_status write_first_timelines(struct pp_arena *arena, const struct pp_page *page,
                                            const struct pp_result *const *rows, int count,
                                            struct pp_error *err)
{
    struct pp_result *shown = PP_ARRAY(arena, struct pp_result, PP_PLOT_TIMELINE_PANELS);
    int used = 0;

    for (int i = 0; i < count && used < PP_PLOT_TIMELINE_PANELS; i++)
        if (rows[i]->status == PP_OK)
            shown[used++] = *rows[i];
    return used ? write_timelines(arena, page, shown, used, err) : PP_OK;
}

/* ---- one run --------------------------------------------------------------------------------- */

static void write_advice(struct pp_arena *arena, const struct pp_result *r,
                         const struct pp_others *others, FILE *out)
{
    const struct pp_advice advice = pp_report_advice(arena, r, others);

    fputs("<p><strong>Note.</strong> ", out);
    pp_html_words(out, advice.text);
    fputs("</p>\n", out);
    if (advice.command) {
        fputs("<pre>", out);
        pp_html_flags(out, pp_command_text(arena, advice.command));
        fputs("</pre>\n", out);
    }
}

enum { COLUMNS = 78 };
static void print_oom(const void *result, FILE *out)
{
    pp_oom_print(result, COLUMNS, out);
}

static enum pp_status write_one(struct pp_arena *arena, const struct pp_page *page,
                                const struct pp_page_runs *runs, struct pp_error *err)
{
    const struct pp_result *r = runs->results;
    const bool has_network = r->config.engine_options.network || r->config.cost;
    const struct pp_page_link links[] = {{"oom", "out of memory", r->oom != NULL},
                                         {"time", "time", true},
                                         {"timeline", "timeline", true},
                                         {"ranks", "ranks and memory", true},
                                         {"network", "network", has_network},
                                         {"schedules", "other schedules", runs->others->count > 0},
                                         {"inputs", "inputs", true}};

    pp_page_begin(page, pp_line_title(arena, r), links, PP_COUNT(links));
    pp_page_headlines(page, r);
    if (!r->config.is_unit)
        write_advice(arena, r, runs->others, page->out);
    if (r->oom) {
        pp_page_heading(page, "oom", "Out of memory");
        pp_page_printed(page, print_oom, r);
    }
    pp_page_time(page, r);
    PP_TRY(write_timelines(arena, page, r, 1, err));
    PP_TRY(pp_page_ranks(arena, page, r, err));
    if (has_network)
        pp_page_network(arena, page, r);
    if (runs->others->count > 0)
        pp_page_others(page, runs->others);
    pp_page_inputs(arena, page, &r, 1);
    return PP_OK;
}

/* ---- several --------------------------------------------------------------------------------- */

static const char *runs_title(struct pp_arena *arena, const struct pp_result *first, int count)
{
    const struct pp_config *c = &first->config;
    char gpus[PP_UNITS_TEXT_BYTES];

    if (first->status != PP_OK)
        return pp_arena_printf(arena, "%d schedules, none accepts this", count);
    if (c->is_unit)
        return pp_arena_printf(arena, "%d schedules, %d ranks, %d micro-batches", count,
                               c->shape.ranks, c->shape.micro_batches);
    return pp_arena_printf(arena, "%d schedules, %s on %s GPUs of %s", count, c->model.name,
                           pp_units_print_count(c->layout.gpus, gpus), c->cluster.name);
}

static enum pp_status write_many(struct pp_arena *arena, const struct pp_page *page,
                                 const struct pp_page_runs *runs, struct pp_error *err)
{
    const struct pp_result **rows = pp_report_rank(arena, runs->results, runs->count);
    const bool is_any = rows[0]->status == PP_OK;
    const struct pp_page_link links[] = {{"schedules", "schedules", true},
                                         {"timeline", "timelines", is_any},
                                         {"inputs", "inputs", is_any}};

    pp_page_begin(page, runs_title(arena, rows[0], runs->count), links, PP_COUNT(links));
    pp_page_heading(page, "schedules", "Schedules");
    pp_page_ranking(arena, page, rows, runs->count);
    PP_TRY(write_first_timelines(arena, page, rows, runs->count, err));
    if (is_any)
        pp_page_inputs(arena, page, rows, runs->count);
    return PP_OK;
}

enum pp_status pp_page_runs(struct pp_arena *arena, const struct pp_page *page, const void *subject,
                            struct pp_error *err)
{
    const struct pp_page_runs *runs = subject;

    return runs->count == 1 ? write_one(arena, page, runs, err)
                            : write_many(arena, page, runs, err);
}
