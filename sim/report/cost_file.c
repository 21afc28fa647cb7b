/* Measured costs as lines of a report. */
#include "sim/report/cost_file.h"

#include "core/text/terminal.h"
#include "core/units.h"

#include <math.h>

enum { INDENT = 11 }; /* columns of the labels */

void pp_cost_page_line(const struct pp_cost_page *page, const char *label, const char *text)
{
    pp_text_paragraph(page->out, page->width, INDENT, label, text);
}

const char *pp_cost_time_text(struct pp_arena *arena, double seconds)
{
    static const double picosecond = 1e-12; /* less is rounding of the fit */
    char text[PP_UNITS_TEXT_BYTES];

    seconds = seconds < picosecond / 2 ? 0 : seconds;
    return pp_arena_printf(arena, "%s", pp_units_print(seconds, PP_UNIT_SECONDS, text));
}

static const char *parts_text(struct pp_arena *arena, const struct pp_measured_shape *s)
{
    char modules[PP_RECOMPUTE_TEXT_BYTES];

    pp_again_print((unsigned)s->again, modules, sizeof(modules));
    const char *experts =
        s->experts > 0 ? pp_arena_printf(arena, "; %d of %d experts", s->top_k, s->experts) : "";
    const char *tp = s->tp > 1 ? pp_arena_printf(arena, "; TP %d%s", s->tp,
                                                 s->is_sequence ? " with shared tokens" : "")
                               : "";
    return pp_arena_printf(arena, "%s%s%s%s", experts, tp, s->again ? "; R of " : "", modules);
}

static void print_shape(const struct pp_cost_page *page, const struct pp_measured_shape *s)
{
    const char *split = s->splits > 1 ? pp_arena_printf(page->arena, ", sequence split %d of %d",
                                                        s->split, s->splits)
                                      : "";

    pp_cost_page_line(
        page, "layers",
        pp_arena_printf(page->arena,
                        "hidden %d, %d heads, ffn %d%s, vocab %d; %d sample%s of %d tokens at a "
                        "time%s%s",
                        s->hidden, s->heads, s->ffn, s->is_gated ? " gated" : "", s->vocab, s->rows,
                        s->rows == 1 ? "" : "s", s->seq, split, parts_text(page->arena, s)));
}

static void print_op(const struct pp_cost_page *page, int kind, const struct pp_measured_op *op)
{
    fprintf(page->out, "%*s%-3s", INDENT, "", pp_op_kinds[kind].text);
    for (int k = 0; k < PP_MEASURED_PARTS; k++)
        fprintf(page->out, "%11s", pp_cost_time_text(page->arena, op->part_s[k]));
    fprintf(page->out, "%9d%9.1f %%\n", op->samples, 100 * op->residual_frac);
}

static void print_layers(const struct pp_cost_page *page, const struct pp_cost_file *f)
{
    for (int k = 0; k < f->set_count; k++) {
        print_shape(page, &f->sets[k].shape);
        fprintf(page->out, "%*s   %11s%11s%11s%11s%9s%11s\n", INDENT, "", "block", "embedding",
                "head", "fixed", "samples", "worst fit");
        for (int i = 0; i < PP_MEASURED_KINDS; i++)
            if (f->sets[k].op[pp_measured_kinds[i]].samples > 0)
                print_op(page, pp_measured_kinds[i], &f->sets[k].op[pp_measured_kinds[i]]);
    }
}

static void print_lines(const struct pp_cost_page *page, const struct pp_cost_file *f)
{
    if (f->update_samples > 0)
        pp_cost_page_line(page, "update",
                          pp_arena_printf(page->arena, "%.3g ns a parameter + %s; %d samples",
                                          1e9 * f->update_param_s,
                                          pp_cost_time_text(page->arena, f->update_op_s),
                                          f->update_samples));
    for (int k = 0; k < f->line_count; k++) {
        const struct pp_measured_line *l = &f->lines[k];
        pp_cost_page_line(
            page, "channel",
            pp_arena_printf(page->arena,
                            "%s: %s + bytes / (%.4g GB/s); %d samples, median error "
                            "%.1f %%",
                            l->name, pp_cost_time_text(page->arena, l->alpha_s),
                            l->s_per_byte > 0 ? 1e-9 / l->s_per_byte : (double)INFINITY, l->samples,
                            100 * l->residual_frac));
    }
}

void pp_cost_file_print(const struct pp_cost_file *file, int width, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_cost_page page = {arena, out, width};

    print_layers(&page, file);
    print_lines(&page, file);
}

void pp_cost_file_explain(const struct pp_cost_file *file, const struct pp_costs *costs, int width,
                          FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_cost_page page = {arena, out, width};

    fprintf(out, "costs: %s\n", costs->origin);
    pp_cost_page_line(&page, "source", costs->source);
    pp_cost_page_line(
        &page, "rule",
        "an op on a stage of n blocks takes n block + embedding + head + fixed, the second and "
        "third on the stages that have them; memory is that of the formulas");
    pp_cost_file_print(file, width, out);
}
