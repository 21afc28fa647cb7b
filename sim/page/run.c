/* Writes the page of one run, and of several. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/units.h"
#include "plots/page/page.h"
#include "sim/config/inputs.h"
#include "sim/figure/figure.h"

#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static void write_value(const struct pp_input *input, FILE *out)
{
    if (input->option->type == PP_OPTION_FLAG) {
        fputs("given", out);
        return;
    }
    for (int i = 0; i < (input->option->is_repeatable ? input->value->count : 1); i++)
        pp_html(out, "%s<code>%s</code>", i ? ", " : "",
                input->option->is_repeatable ? input->value->all[i] : input->value->text);
}

static const struct chosen {
    unsigned bit;
    const char *name;
    size_t place; /* offset of an int in struct pp_config */
} CHOSEN[] = {
    {PP_CHOSE_GPUS, "gpus", offsetof(struct pp_config, layout.gpus)},
    {PP_CHOSE_TP, "tp", offsetof(struct pp_config, layout.tp)},
    {PP_CHOSE_PP, "pp", offsetof(struct pp_config, layout.pp)},
    {PP_CHOSE_DP, "dp", offsetof(struct pp_config, layout.dp)},
    {PP_CHOSE_CP, "cp", offsetof(struct pp_config, layout.cp)},
    {PP_CHOSE_EP, "ep", offsetof(struct pp_config, layout.ep)},
    {PP_CHOSE_VP, "vp", offsetof(struct pp_config, layout.vp)},
    {PP_CHOSE_MBS, "mbs", offsetof(struct pp_config, layout.mbs)},
    {PP_CHOSE_MICRO_BATCHES, "micro-batches", offsetof(struct pp_config, layout.micro_batches)},
    {PP_CHOSE_SEQ, "seq", offsetof(struct pp_config, layout.seq)},
    {PP_CHOSE_SPLITS, "splits", offsetof(struct pp_config, shape.splits)},
    {PP_CHOSE_STEPS, "steps", offsetof(struct pp_config, engine_options.eval.steps)},
};

static void write_choice(const char *name, const char *value, FILE *out)
{
    pp_html(out, "<tr><td>%s</td><td><code>%s</code></td><td>chosen by pipesim</td></tr>\n", name,
            value);
}

static void write_chosen(const struct pp_config *c, FILE *out)
{
    char text[PP_TEXT_BYTES];

    if (c->origin.chosen & PP_CHOSE_MODEL)
        write_choice("model", c->model.name, out);
    if (c->origin.chosen & PP_CHOSE_CLUSTER)
        write_choice("cluster", c->cluster.name, out);
    for (size_t i = 0; i < PP_COUNT(CHOSEN); i++) {
        int value;
        memcpy(&value, (const char *)c + CHOSEN[i].place, sizeof(value));
        snprintf(text, sizeof(text), "%d", value);
        if (c->origin.chosen & CHOSEN[i].bit)
            write_choice(CHOSEN[i].name, text, out);
    }
    snprintf(text, sizeof(text), "%lld", (long long)c->layout.gbs);
    if (c->origin.chosen & PP_CHOSE_GBS)
        write_choice("gbs", text, out);
    snprintf(text, sizeof(text), "%d", pp_state_zero(&c->state));
    if (c->origin.chosen & PP_CHOSE_ZERO)
        write_choice("zero", text, out);
    if (c->origin.chosen & PP_CHOSE_RECOMPUTE)
        write_choice("recompute", pp_text_recompute(c, text), out);
}

static const char *preset_of(const struct pp_config *c)
{
    for (int i = 0; i < c->origin.input_count; i++)
        if (!strcmp(c->origin.inputs[i].option->name, "preset"))
            return c->origin.inputs[i].value->text;
    return "";
}

static void write_options(const struct pp_config *c, FILE *out)
{
    fputs("<div class=\"wide\"><table>\n<thead><tr><th>input</th><th>value</th><th>from</th></tr>"
          "</thead>\n<tbody>\n",
          out);
    for (int i = 0; i < c->origin.input_count; i++) {
        const struct pp_input *input = &c->origin.inputs[i];
        pp_html(out, "<tr><td>%s</td><td>", input->option->name);
        write_value(input, out);
        pp_html(out, "</td><td>%s%s</td></tr>\n", input->is_typed ? "the command line" : "preset ",
                input->is_typed ? "" : preset_of(c));
    }
    if (!c->is_unit)
        write_chosen(c, out);
    fputs("</tbody></table></div>\n", out);
}

/* ---- sentences ------------------------------------------------------------------------------- */

static void fact(const char *name, const char *words, FILE *out)
{
    pp_html(out, "<dt>%s</dt><dd>", name);
    pp_html_words(out, words);
    fputs("</dd>\n", out);
}

static void write_facts(struct pp_arena *arena, const struct pp_result *r, FILE *out)
{
    const struct pp_config *c = &r->config;
    const char *what_if = pp_inputs_what_if(arena, c);

    fputs("<dl class=\"facts\">\n", out);
    if (c->is_unit) {
        fact("units", pp_line_units(arena, c), out);
    } else {
        fact("model", pp_line_model(arena, c), out);
        fact("cluster", pp_line_cluster(arena, c), out);
        fact("layout", pp_line_layout(arena, c), out);
        fact("state", pp_line_state(arena, r), out);
        fact("costs", pp_line_costs(arena, r), out);
        fact("folding", pp_line_folding(arena, r), out);
    }
    fact("engine", c->engine->name, out);
    if (c->origin.trials)
        fact("schedule", pp_text_trials(arena, c), out);
    if (what_if)
        fact("what-if", what_if, out);
    for (int i = 0; i < c->origin.note_count; i++)
        fact("note", c->origin.notes[i], out);
    fputs("</dl>\n", out);
}

static void explain(const void *result, FILE *out)
{
    pp_explain_print(result, out);
}

/* Writes what the user gave, what the tool chose, the sources of costs, and --explain. */
static void write_inputs(struct pp_arena *arena, const struct pp_page *page,
                         const struct pp_result *r, bool is_explained)
{
    pp_page_heading(page, "inputs", "Inputs and where they come from");
    write_facts(arena, r, page->out);
    write_options(&r->config, page->out);
    if (is_explained) {
        fputs("<details>\n<summary>Every term of every figure (--explain)</summary>\n", page->out);
        pp_page_printed(page, explain, r);
        fputs("</details>\n", page->out);
    }
    pp_page_command(page);
}

/* ---- timelines ------------------------------------------------------------------------------- */

static enum pp_status write_timelines(struct pp_arena *arena, const struct pp_page *page,
                                      const struct pp_result *results, int count,
                                      struct pp_error *err)
{
    struct pp_plot_timeline_panel panels[PP_PLOT_TIMELINE_PANELS];
    const struct pp_plot_timeline options =
        pp_figure_timelines(arena, results, count, false, panels);

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

static void print_network(const void *result, FILE *out)
{
    pp_report_network(result, COLUMNS, out);
    pp_explain_network(result, out);
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
    if (has_network) {
        pp_page_heading(page, "network", "Network");
        pp_page_printed(page, print_network, r);
    }
    if (runs->others->count > 0)
        pp_page_others(page, runs->others);
    write_inputs(arena, page, r, true);
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
        write_inputs(arena, page, rows[0], false);
    return PP_OK;
}

enum pp_status pp_page_runs(struct pp_arena *arena, const struct pp_page *page, const void *subject,
                            struct pp_error *err)
{
    const struct pp_page_runs *runs = subject;

    return runs->count == 1 ? write_one(arena, page, runs, err)
                            : write_many(arena, page, runs, err);
}
