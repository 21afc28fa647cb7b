#include "sim/calibrate.h"

#include "core/terminal.h"
#include "core/units.h"

#include <math.h>

enum { INDENT = 11 };

struct page {
    struct pp_arena *arena;
    FILE *out;
    int width;
};

static void line(const struct page *page, const char *label, const char *text)
{
    pp_text_paragraph(page->out, page->width, INDENT, label, text);
}

static const char *time_text(struct pp_arena *arena, double seconds)
{
    char text[PP_UNITS_TEXT_BYTES];

    return pp_arena_printf(arena, "%s", pp_units_print(seconds, PP_UNIT_SECONDS, text));
}

/* ---- layers ---------------------------------------------------------------------------------*/

static void print_shape(const struct page *page, const struct pp_measured_shape *s)
{
    const char *split = s->splits > 1 ? pp_arena_printf(page->arena, ", sequence split %d of %d",
                                                        s->split, s->splits)
                                      : "";

    line(page, "layers",
         pp_arena_printf(page->arena,
                         "hidden %d, %d heads, ffn %d%s, vocab %d; %d sample%s of %d tokens at a "
                         "time%s",
                         s->hidden, s->heads, s->ffn, s->is_gated ? " gated" : "", s->vocab,
                         s->rows, s->rows == 1 ? "" : "s", s->seq, split));
}

static void print_op(const struct page *page, int kind, const struct pp_measured_op *op)
{
    fprintf(page->out, "%*s%-3s", INDENT, "", pp_op_kinds[kind].text);
    for (int k = 0; k < PP_MEASURED_PARTS; k++)
        fprintf(page->out, "%11s", time_text(page->arena, op->part_s[k]));
    fprintf(page->out, "%9d%9.1f %%\n", op->samples, 100 * op->residual_frac);
}

static void print_layers(const struct page *page, const struct pp_cost_file *f)
{
    for (int k = 0; k < f->set_count; k++) {
        print_shape(page, &f->sets[k].shape);
        fprintf(page->out, "%*s   %11s%11s%11s%11s%9s%11s\n", INDENT, "", "block", "embedding",
                "head", "beside", "samples", "worst fit");
        for (int i = 0; i < PP_MEASURED_KINDS; i++)
            if (f->sets[k].op[pp_measured_kinds[i]].samples > 0)
                print_op(page, pp_measured_kinds[i], &f->sets[k].op[pp_measured_kinds[i]]);
    }
}

/* ---- the rest -------------------------------------------------------------------------------*/

static void print_lines(const struct page *page, const struct pp_cost_file *f)
{
    if (f->update_samples > 0)
        line(page, "update",
             pp_arena_printf(page->arena, "%.3g ns a parameter + %s; %d samples",
                             1e9 * f->update_param_s, time_text(page->arena, f->update_op_s),
                             f->update_samples));
    for (int k = 0; k < f->line_count; k++) {
        const struct pp_measured_line *l = &f->lines[k];
        line(page, "channel",
             pp_arena_printf(page->arena,
                             "%s: %s + bytes / (%.4g GB/s); %d samples, median error "
                             "%.1f %%",
                             l->name, time_text(page->arena, l->alpha_s),
                             l->s_per_byte > 0 ? 1e-9 / l->s_per_byte : (double)INFINITY,
                             l->samples, 100 * l->residual_frac));
    }
}

static const char *traces_text(const struct pp_calibrate *c)
{
    const char *text = "";

    for (int k = 0; k < c->run_count; k++) {
        const struct pp_calibrate_run *run = &c->runs[k];
        if (!run->is_left_out)
            text = pp_arena_printf(c->arena, "%s%s%s (%s, %d step%s)", text, *text ? ", " : "",
                                   run->path, run->schedule ? run->schedule : "CSV",
                                   run->trace->steps, run->trace->steps == 1 ? "" : "s");
    }
    return text;
}

static void print_trial(const struct page *page, const struct pp_calibrate_trial *t)
{
    struct pp_arena *a = page->arena;

    line(page, "tested",
         pp_arena_printf(
             a,
             "%s on %s: predicted %s (90 %% of draws %s .. %s), measured %s: %+.1f %%; by formula "
             "%s: %+.1f %%",
             t->run->schedule, t->run->path, time_text(a, t->predicted_s), time_text(a, t->low_s),
             time_text(a, t->high_s), time_text(a, t->measured_s),
             100 * (t->predicted_s / t->measured_s - 1), time_text(a, t->null_s),
             100 * (t->null_s / t->measured_s - 1)));
}

/* What the samples leave open. */
static void print_notes(const struct page *page, const struct pp_calibrate *c)
{
    for (int k = 0; k < c->file->set_count; k++) {
        const struct pp_measured_op *op = c->file->sets[k].op;
        int kinds = 0;

        for (int g = 0; g < c->group_count; g++)
            kinds += c->groups[g].set == k && c->groups[g].kind == PP_F;
        if (kinds < PP_MEASURED_PARTS)
            line(page, "note",
                 pp_arena_printf(page->arena,
                                 "%d kind%s of stages cannot tell %d parts apart: what is left "
                                 "open follows flops; a run of an interleaved schedule, or with "
                                 "other --np, has other stages",
                                 kinds, kinds == 1 ? "" : "s", PP_MEASURED_PARTS));
        if (op[PP_I].samples == 0 && op[PP_W].samples == 0 && op[PP_B].samples > 0)
            line(page, "note",
                 "I and W never ran apart: each is taken as half of B; a run of "
                 "zb-h1 measures them");
    }
    if (c->fused_count > 0)
        line(page, "note",
             pp_arena_printf(page->arena,
                             "%d fused pairs were left aside: nobody can tell whose time it is",
                             c->fused_count));
    for (int k = 0; k < c->run_count; k++)
        if (!c->runs[k].about)
            line(page, "note",
                 pp_arena_printf(page->arena,
                                 "%s does not say what ran: taken for %s with %d tokens a sample "
                                 "(--model, --seq), %d samples at a time as its messages have "
                                 "bytes for",
                                 c->runs[k].path, c->runs[k].config.model.name,
                                 c->runs[k].config.layout.seq, c->runs[k].config.layout.mbs));
}

void pp_calibrate_print(const struct pp_calibrate *c, const struct pp_calibrate_trial *trials,
                        int count, const char *output, FILE *out)
{
    const struct page page = {c->arena, out, pp_terminal_detect("never", out).width};

    fprintf(out, "pipesim %s  costs from %d trace%s\n\n", PP_VERSION, c->file->trace_count,
            c->file->trace_count == 1 ? "" : "s");
    line(&page, "machine", c->file->machine);
    line(&page, "traces", traces_text(c));
    print_layers(&page, c->file);
    print_lines(&page, c->file);
    for (int k = 0; k < count; k++)
        print_trial(&page, &trials[k]);
    if (count > 0)
        line(&page, "left out",
             pp_arena_printf(c->arena, "%s is in none of these costs%s", c->left_out,
                             c->is_left_out_chosen ? " (chosen: the last other schedule; "
                                                     "--hold-out none takes all)"
                                                   : ""));
    else if (!c->left_out)
        line(&page, "left out",
             "nothing, so that nothing says how wrong these costs are; traces "
             "of a second schedule do");
    print_notes(&page, c);
    if (output)
        line(&page, "next",
             pp_arena_printf(c->arena, "pipesim --cost %s --schedule 1f1b --pp 8", output));
}
