/* pipesim schedules: the registry as text, in the terminal and as docs/schedules.md. */
#include "plots/plot.h"
#include "schedules/registry.h"
#include "sim/command/commands.h"
#include "sim/command/list_json.h"
#include "sim/config/scale.h"
#include "sim/resolve/resolve.h"

/* Text such as "(D-1) / (N + D-1) (exact)"; NULL if there is none. */
static const char *closed_form(struct pp_arena *arena, const struct pp_closed_form *form,
                               const char *unit)
{
    if (!form->text)
        return NULL;
    return pp_arena_printf(arena, "%s%s (%s)", form->text, unit,
                           form->is_exact ? "exact" : "approximate");
}

/* Prints a row, if it has a text. */
static void row(FILE *out, const char *label, const char *text)
{
    if (text && *text)
        pp_text_paragraph(out, 80, 13, label, text);
}

static const char *alias_list(struct pp_arena *arena, const struct pp_schedule *s)
{
    const char *text = "";

    for (int i = 0; s->aliases && s->aliases[i]; i++)
        text = pp_arena_printf(arena, "%s%s%s", text, i ? ", " : "", s->aliases[i]);
    return text;
}

/* Text such as "torchtitan as Interleaved1F1B (not with all options)". */
static const char *call_list(struct pp_arena *arena, const struct pp_schedule *s)
{
    const char *text = "";

    for (const struct pp_schedule_call *c = s->calls; c && c->tool; c++)
        text = pp_arena_printf(arena, "%s%s%s as %s%s", text, *text ? ", " : "", c->tool, c->name,
                               c->is_same ? " (not with all options)" : "");
    return text;
}

static void print_schedule(struct pp_arena *arena, const struct pp_schedule *s, FILE *out)
{
    fprintf(out, "%s: %s\n", s->name, s->summary);
    row(out, "rule", s->rule);
    row(out, "limits", s->limits ? s->limits : "none");
    row(out, "bubble", closed_form(arena, &s->bubble_frac, ""));
    row(out, "peak", closed_form(arena, &s->peak, " chunk activations"));
    row(out, "use", s->when);
    row(out, "placement", pp_placement_names[s->placement]);
    row(out, "source", s->source);
    row(out, "aliases", alias_list(arena, s));
    row(out, "runs in", call_list(arena, s));
}

/* ---- docs/schedules.md ----------------------------------------------------------------------- */

enum { DOC_RANKS = 4, DOC_WIDTH = 160 };

/* Simulates the smallest shape that a schedule accepts: 4 ranks, 4 to 16 micro-batches. */
static enum pp_status picture(struct pp_arena *arena, const struct pp_schedule *s,
                              struct pp_result *result, struct pp_error *err)
{
    struct pp_config config = {.schedule = s,
                               .schedule_name = s->name,
                               .is_unit = true,
                               .unit = pp_unit_costs_usual,
                               .engine = &pp_engine_dag,
                               .engine_options.eval.is_buffered = true};
    enum pp_status status = PP_EINVAL;

    for (int n = DOC_RANKS; status != PP_OK && n <= 4 * DOC_RANKS; n++) {
        struct pp_shape shape = {.ranks = DOC_RANKS, .micro_batches = n};
        status = pp_schedule_check(s, &shape, err);
        config.shape = shape;
    }
    PP_TRY(status);
    config.layout = pp_config_unit_layout(&config.shape);
    return pp_simulate(arena, &config, PP_FULL, NULL, result, err);
}

/* Prints one row of a table, if it has a text. Bars are escaped: they would end the cell. */
static void cell_row(FILE *out, const char *label, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(out, "| %s | ", label);
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
    fputs(" |\n", out);
}

static void cell_rows(struct pp_arena *arena, const struct pp_schedule *s, FILE *out)
{
    fputs("| | |\n|---|---|\n", out);
    cell_row(out, "bubble", closed_form(arena, &s->bubble_frac, ""));
    cell_row(out, "peak", closed_form(arena, &s->peak, " chunk activations"));
    cell_row(out, "limits", s->limits ? s->limits : "none");
    cell_row(out, "use", s->when);
    cell_row(out, "placement",
             pp_arena_printf(arena, "%s%s", pp_placement_names[s->placement],
                             s->is_simulated_only ? "; simulated only" : ""));
    cell_row(out, "source", s->source);
    cell_row(out, "aliases", alias_list(arena, s));
    cell_row(out, "runs in", call_list(arena, s));
}

static enum pp_status document(struct pp_arena *arena, const struct pp_schedule *s, FILE *out,
                               struct pp_error *err)
{
    const struct pp_terminal terminal = {.width = DOC_WIDTH};
    struct pp_result r;

    PP_TRY(picture(arena, s, &r, err));
    fprintf(out, "\n## %s\n\n%s. Rule: %s.\n\n", s->name, s->summary, s->rule);
    cell_rows(arena, s, out);
    const int chunks = r.config.shape.chunks;
    fprintf(out, "\n%d ranks, %d micro-batches, V = %d, F = I = W = 1%s: step %g",
            r.config.shape.ranks, r.config.shape.micro_batches, chunks,
            chunks > 1 ? " a chunk" : "", r.metrics.iteration_s);
    if (chunks > 1)
        fprintf(out, " (%g with costs of a whole rank)", r.metrics.iteration_s / chunks);
    fprintf(out, ", bubble %.1f %%, span idle %.1f %%, peak %g micro-batches of a rank.\n\n```\n",
            100 * r.metrics.bubble_frac, 100 * r.metrics.span_bubble_frac,
            pp_scale_micro_batches(&r));
    const struct pp_plot_timeline gantt = pp_plot_timeline_whole("units", r.program->granules);
    PP_TRY(pp_gantt_print(r.trace, &gantt, terminal, out, err));
    fputs("```\n", out);
    return PP_OK;
}

static enum pp_status document_all(struct pp_arena *arena, FILE *out, struct pp_error *err)
{
    fputs("# Schedules\n\nPrinted by `pipesim schedules --markdown`; a test keeps this page and "
          "the program equal.\n\nD is the number of pipeline ranks, V of chunks per rank, N of "
          "micro-batches, 2f of\npipelines, q of sequence splits, and r is a rank. F and B = I + W "
          "are the times of one\nchunk and micro-batch. A bubble is a share of the step, for equal "
          "stages and free\ncommunication. A peak is the greatest number of chunk activations that "
          "a rank holds. In\nthe pictures a column is a unit of time, and a small letter continues "
          "an op.\n",
          out);
    for (int i = 0; pp_schedules[i]; i++)
        PP_TRY(document(arena, pp_schedules[i], out, err));
    return PP_OK;
}

enum pp_status pp_command_schedules(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                    struct pp_error *err)
{
    const bool is_markdown = wish->markdown;

    if (wish->request.flags->operand_count) {
        const struct pp_schedule *s = pp_schedule_find(wish->request.flags->operands[0]);
        if (!s) {
            pp_error_set(err, PP_EINVAL, "unknown schedule %s", wish->request.flags->operands[0]);
            return pp_schedule_unknown(err, wish->request.flags->operands[0]);
        }
        if (is_markdown)
            return document(arena, s, out, err);
        if (wish->json) {
            pp_list_schedules_json(s, out);
            return PP_OK;
        }
        print_schedule(arena, s, out);
        return PP_OK;
    }
    if (is_markdown)
        return document_all(arena, out, err);
    if (wish->json) {
        pp_list_schedules_json(NULL, out);
        return PP_OK;
    }
    fputs("D is the number of pipeline ranks, V of chunks per rank, N of micro-batches, 2f\nof "
          "pipelines, q of sequence splits, and r is a rank. F and B are the times of\none chunk "
          "and micro-batch. A bubble is a share of the step, for equal stages and\nfree "
          "communication.\n\n",
          out);
    for (int i = 0; pp_schedules[i]; i++) {
        fputs(i ? "\n" : "", out);
        print_schedule(arena, pp_schedules[i], out);
    }
    for (int i = 0; pp_generators[i]; i++)
        fprintf(out, "\nWith --mode infer there is %s; see pipesim schedules %s.\n",
                pp_generators[i]->name, pp_generators[i]->name);
    return PP_OK;
}
