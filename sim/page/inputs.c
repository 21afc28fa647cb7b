/* Writes what the user gave, what the tool chose, and the sources of costs. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "plots/page/page.h"
#include "sim/config/inputs.h"

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
        write_choice("recompute", pp_text_recompute(c, ",", text), out);
}

/* Writes the given options of the first run, and the choices of a run alone. */
static void write_options(const struct pp_config *c, bool is_alone, FILE *out)
{
    fputs("<div class=\"wide\"><table>\n<thead><tr><th>input</th><th>value</th><th>from</th></tr>"
          "</thead>\n<tbody>\n",
          out);
    for (int i = 0; i < c->origin.input_count; i++) {
        const struct pp_input *input = &c->origin.inputs[i];
        pp_html(out, "<tr><td>%s</td><td>", input->option->name);
        write_value(input, out);
        pp_html(out, "</td><td>%s%s</td></tr>\n", input->is_typed ? "the command line" : "preset ",
                input->is_typed ? "" : c->origin.preset->name);
    }
    if (!c->is_unit && is_alone)
        write_chosen(c, out);
    fputs("</tbody></table></div>\n", out);
}

/* ---- sentences ------------------------------------------------------------------------------- */

static const char *engine_of(struct pp_arena *arena, const struct pp_config *c)
{
    (void)arena;
    return c->engine->name;
}

static const char *trials_of(struct pp_arena *arena, const struct pp_config *c)
{
    return c->origin.trials ? pp_text_trials(arena, c) : NULL;
}

static const char *notes_of(struct pp_arena *arena, const struct pp_config *c)
{
    const char *text = NULL;

    for (int i = 0; i < c->origin.note_count; i++)
        text =
            text ? pp_arena_printf(arena, "%s; %s", text, c->origin.notes[i]) : c->origin.notes[i];
    return text;
}

static const char *layout_of(struct pp_arena *arena, const struct pp_config *c)
{
    return (c->generation.passes ? pp_line_serve : pp_line_layout)(arena, c);
}

static const char *state_of(struct pp_arena *arena, const struct pp_result *r)
{
    return r->config.generation.passes ? NULL : pp_line_state(arena, r);
}

static const struct fact {
    const char *name;
    enum { OF_ANY, OF_UNITS, OF_MODEL } kind;
    const char *(*of_config)(struct pp_arena *, const struct pp_config *); /* or: */
    const char *(*of_result)(struct pp_arena *, const struct pp_result *); /* NULL: not there */
} FACTS[] = {
    {"units", OF_UNITS, pp_line_units, NULL},
    {"model", OF_MODEL, pp_line_model, NULL},
    {"cluster", OF_MODEL, pp_line_cluster, NULL},
    {"layout", OF_MODEL, layout_of, NULL},
    {"state", OF_MODEL, NULL, state_of},
    {"costs", OF_MODEL, NULL, pp_line_costs},
    {"folding", OF_MODEL, NULL, pp_line_folding},
    {"engine", OF_ANY, engine_of, NULL},
    {"schedule", OF_ANY, trials_of, NULL},
    {"what-if", OF_ANY, pp_inputs_what_if, NULL},
    {"note", OF_ANY, notes_of, NULL},
};

static const char *text_of(struct pp_arena *arena, const struct fact *fact,
                           const struct pp_result *r)
{
    if (fact->kind == (r->config.is_unit ? OF_MODEL : OF_UNITS))
        return NULL;
    return fact->of_config ? fact->of_config(arena, &r->config) : fact->of_result(arena, r);
}

static bool are_same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Writes a fact: once if all runs share it, else with the schedules for which it is true. */
static void write_fact(struct pp_arena *arena, const struct fact *fact,
                       const struct pp_result *const *rows, int count, FILE *out)
{
    const char **texts = PP_ARRAY(arena, const char *, count + 1);
    bool is_shared = true;

    for (int i = 0; i < count; i++) {
        texts[i] = text_of(arena, fact, rows[i]);
        is_shared = is_shared && are_same(texts[i], texts[0]);
    }
    for (int i = 0; i < count; i++) {
        const char *names = "";
        int first = 0;
        while (!are_same(texts[first], texts[i]))
            first++;
        if (!texts[i] || first < i)
            continue;
        for (int k = i; k < count && !is_shared; k++)
            if (are_same(texts[k], texts[i]))
                names = pp_arena_printf(arena, "%s%s%s", names, *names ? ", " : "",
                                        rows[k]->config.schedule_name);
        pp_html(out, "<dt>%s</dt><dd>%s%s", fact->name, names, *names ? ": " : "");
        pp_html_words(out, texts[i]);
        fputs("</dd>\n", out);
    }
}

enum { PAGE_COLUMNS = 78 }; /* of any terminal */

static void explain(const void *result, FILE *out)
{
    pp_explain_print(result, PAGE_COLUMNS, out);
}

void pp_page_inputs(struct pp_arena *arena, const struct pp_page *page,
                    const struct pp_result *const *rows, int count)
{
    int accepted = 0;

    while (accepted < count && rows[accepted]->status == PP_OK)
        accepted++;
    pp_page_heading(page, "inputs", "Inputs and where they come from");
    fputs("<dl class=\"facts\">\n", page->out);
    for (size_t i = 0; i < PP_COUNT(FACTS); i++)
        write_fact(arena, &FACTS[i], rows, accepted, page->out);
    fputs("</dl>\n", page->out);
    if (count > 1 && !rows[0]->config.is_unit)
        fputs("<p>* = chosen by pipesim</p>\n", page->out);
    write_options(&rows[0]->config, count == 1, page->out);
    if (count == 1) {
        fputs("<details>\n<summary>Every term of every figure (--explain)</summary>\n", page->out);
        pp_page_printed(page, explain, rows[0]);
        fputs("</details>\n", page->out);
    }
    pp_page_command(page);
}
