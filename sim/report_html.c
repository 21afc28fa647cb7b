/* The page: head, parts, foot. */
#include "sim/report_html.h"

#include "core/html.h"
#include "core/output.h"
#include "core/units.h"
#include "plots/html.h"
#include "sim/figure.h"

#include <stdlib.h>
#include <string.h>

static void begin(const char *title, FILE *out)
{
    pp_html(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
            "<meta name=\"generator\" content=\"pipesim %s\"/>\n<title>%s</title>\n<style>",
            PP_VERSION, title);
    pp_html_code(out, (const char *)pp_html_style_bytes, pp_html_style_count);
    pp_html(out,
            "</style>\n</head>\n<body>\n<header>\n<p class=\"soft\">pipesim %s</p>\n<h1>%s</h1>\n",
            PP_VERSION, title);
}

static void end(FILE *out)
{
    fputs("<script>", out);
    pp_html_code(out, (const char *)pp_html_script_bytes, pp_html_script_count);
    fputs("</script>\n</body>\n</html>\n", out);
}

struct link {
    const char *id, *text;
    bool is_there;
};
static void link_parts(const struct link *links, int count, FILE *out)
{
    fputs("<nav aria-label=\"Parts of this page\"><ul>", out);
    for (int i = 0; i < count; i++)
        if (links[i].is_there)
            pp_html(out, "<li><a href=\"#%s\">%s</a></li>", links[i].id, links[i].text);
    fputs("</ul></nav>\n</header>\n<main>\n", out);
}

/* ---- timelines ------------------------------------------------------------------------------- */

static enum pp_status write_timelines(struct pp_arena *arena, const struct pp_result *results,
                                      int count, FILE *out, struct pp_error *err)
{
    struct pp_plot_timeline_panel panels[PP_PLOT_TIMELINE_PANELS];
    const struct pp_plot_timeline options = pp_figure_timelines(arena, results, count, panels);

    if (count == 1 && options.part)
        panels->heading = pp_arena_printf(arena, "%s, %s", options.title, options.part);
    fputs("<h2 id=\"timeline\">Who computes what when</h2>\n<p class=\"soft\">A row is a pipeline "
          "rank, a box an op, as long as it takes; what is blank is idle.</p>\n",
          out);
    return pp_html_timelines(arena, panels, count, &options, out, err);
}

/* Of several, the first ones that ran. */
static enum pp_status write_first_timelines(struct pp_arena *arena,
                                            const struct pp_result *const *rows, int count,
                                            FILE *out, struct pp_error *err)
{
    struct pp_result *shown = PP_ARRAY(arena, struct pp_result, PP_PLOT_TIMELINE_PANELS);
    int used = 0;

    for (int i = 0; i < count && used < PP_PLOT_TIMELINE_PANELS; i++)
        if (rows[i]->status == PP_OK)
            shown[used++] = *rows[i];
    return used ? write_timelines(arena, shown, used, out, err) : PP_OK;
}

/* ---- one run --------------------------------------------------------------------------------- */

static void write_text(const char *heading, const char *id, FILE *out)
{
    pp_html(out, "<h2 id=\"%s\">%s</h2>\n", id, heading);
}

static void write_advice(const struct pp_result *r, const struct pp_others *others, FILE *out)
{
    char text[PP_TEXT_BYTES];

    fputs("<p><strong>Note.</strong> ", out);
    pp_html_words(out, pp_report_advice(r, others, text));
    fputs("</p>\n", out);
}

void pp_html_printed(void (*print)(const struct pp_result *, int width, FILE *),
                     const struct pp_result *r, FILE *out)
{
    enum { COLUMNS = 78 };
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    print(r, COLUMNS, file);
    fclose(file);
    fputs("<pre>", out);
    pp_html_lines(out, text + strspn(text, "\n"));
    fputs("</pre>\n", out);
    free(text);
}

static enum pp_status write_one(struct pp_arena *arena, const struct pp_html_report *report,
                                FILE *out, struct pp_error *err)
{
    const struct pp_result *r = report->results;
    const bool has_network = r->config.engine_options.network || r->config.cost;
    const struct link links[] = {{"oom", "out of memory", r->oom != NULL},
                                 {"time", "time", true},
                                 {"timeline", "timeline", true},
                                 {"ranks", "ranks and memory", true},
                                 {"network", "network", has_network},
                                 {"schedules", "other schedules", report->others->count > 0},
                                 {"inputs", "inputs", true}};
    const struct pp_html_place place = {out, -1};
    char title[PP_LINE_BYTES];

    begin(pp_line_title(r, title), out);
    link_parts(links, sizeof(links) / sizeof(*links), out);
    pp_html_headlines(&place, r);
    if (!r->config.is_unit)
        write_advice(r, report->others, out);
    if (r->oom) {
        write_text("Out of memory", "oom", out);
        pp_html_printed(pp_oom_print, r, out);
    }
    pp_html_time(&place, r);
    PP_TRY(write_timelines(arena, r, 1, out, err));
    PP_TRY(pp_html_ranks(arena, &place, r, err));
    if (has_network) {
        write_text("Network", "network", out);
        pp_html_printed(pp_report_network, r, out);
    }
    if (report->others->count > 0)
        pp_html_others(report->others, out);
    pp_html_inputs(arena, report, r, out);
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

static enum pp_status write_many(struct pp_arena *arena, const struct pp_html_report *report,
                                 FILE *out, struct pp_error *err)
{
    const struct pp_result **rows = pp_report_rank(arena, report->results, report->count);
    const bool is_any = rows[0]->status == PP_OK;
    const struct link links[] = {{"schedules", "schedules", true},
                                 {"timeline", "timelines", is_any},
                                 {"inputs", "inputs", is_any}};

    begin(runs_title(arena, rows[0], report->count), out);
    link_parts(links, sizeof(links) / sizeof(*links), out);
    write_text("Schedules", "schedules", out);
    pp_html_ranking(rows, report->count, out);
    PP_TRY(write_first_timelines(arena, rows, report->count, out, err));
    if (is_any)
        pp_html_inputs(arena, report, rows[0], out);
    return PP_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

enum pp_status pp_report_html(struct pp_arena *arena, const struct pp_html_report *report,
                              const char *path, struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(arena, path, &output, err));
    const enum pp_status status = report->count == 1 ? write_one(arena, report, output.file, err)
                                                     : write_many(arena, report, output.file, err);
    if (status != PP_OK) {
        pp_output_discard(&output);
        return status;
    }
    fputs("</main>\n", output.file);
    end(output.file);
    return pp_output_commit(&output, err);
}
