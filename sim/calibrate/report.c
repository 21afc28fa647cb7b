/* Prints the report of a calibration. */
#include "sim/calibrate/calibrate.h"

#include "core/text/terminal.h"
#include "sim/report/cost_file.h"

static const char *traces_text(const struct pp_calibrate *c)
{
    const char *text = "";

    for (int k = 0; k < c->run_count; k++) {
        const struct pp_calibrate_run *run = &c->runs[k];
        if (!run->is_left_out)
            text = pp_arena_printf(c->arena, "%s%s%s (%s, %d step%s)", text, *text ? ", " : "",
                                   run->path,
                                   run->schedule            ? run->schedule
                                   : run->trace->is_partial ? "PyTorch"
                                                            : "CSV",
                                   run->trace->steps, run->trace->steps == 1 ? "" : "s");
    }
    return text;
}

static void print_trial(const struct pp_cost_page *page, const struct pp_calibrate_trial *t)
{
    struct pp_arena *a = page->arena;

    pp_cost_page_line(
        page, "tested",
        pp_arena_printf(
            a,
            "%s on %s: predicted %s (90 %% of draws %s .. %s), measured %s: %+.1f %%; by formula "
            "%s: %+.1f %%",
            t->run->schedule, t->run->path, pp_cost_time_text(a, t->predicted_s),
            pp_cost_time_text(a, t->band.low_s), pp_cost_time_text(a, t->band.high_s),
            pp_cost_time_text(a, t->measured_s), 100 * (t->predicted_s / t->measured_s - 1),
            pp_cost_time_text(a, t->null_s), 100 * (t->null_s / t->measured_s - 1)));
}

/* Prints notes on costs that the samples do not determine. */
static void print_notes(const struct pp_cost_page *page, const struct pp_calibrate *c)
{
    for (int k = 0; k < c->file->set_count; k++) {
        const struct pp_measured_op *op = c->file->sets[k].op;
        int kinds = 0;

        for (int g = 0; g < c->group_count; g++)
            kinds += c->groups[g].set == k && c->groups[g].kind == PP_F;
        if (kinds < PP_MEASURED_PARTS)
            pp_cost_page_line(
                page, "note",
                pp_arena_printf(
                    page->arena,
                    "%d kind%s of stages cannot separate %d parts, so the rest is divided by "
                    "flops; an interleaved schedule, or another --np, gives other stages",
                    kinds, kinds == 1 ? "" : "s", PP_MEASURED_PARTS));
        if (op[PP_I].samples == 0 && op[PP_W].samples == 0 && op[PP_B].samples > 0)
            pp_cost_page_line(page, "note",
                              "I and W never ran separately, so each is taken as half of B; a run "
                              "of zb-h1 measures them");
    }
    if (c->fused_count > 0)
        pp_cost_page_line(
            page, "note",
            pp_arena_printf(page->arena,
                            "%d fused pairs were left out: their time belongs to two ops",
                            c->fused_count));
    for (int k = 0; k < c->run_count; k++)
        if (!c->runs[k].about)
            pp_cost_page_line(
                page, "note",
                pp_arena_printf(page->arena,
                                "%s does not say what ran: taken for %s with %d tokens a sample "
                                "(--model, --seq), %d samples at a time as its messages have "
                                "bytes for",
                                c->runs[k].path, c->runs[k].config.model.name,
                                c->runs[k].config.layout.seq, c->runs[k].config.layout.mbs));
}

/* Returns a number of ranks for the next run: 8, or fewer for a model of fewer layers. */
static int next_ranks(const struct pp_config *config)
{
    int ranks = 8;

    while (ranks > config->model.layers)
        ranks /= 2;
    return ranks;
}

/* A pipeline cannot be predicted without costs of messages; traces of a host have none. */
static bool has_messages(const struct pp_cost_file *file)
{
    return pp_cost_file_line(file, "wire") || pp_cost_file_line(file, "sendrecv");
}

static void print_next(const struct pp_cost_page *page, const struct pp_calibrate *c,
                       const char *output)
{
    const struct pp_config *config = &c->runs[0].config;
    const char *run = pp_arena_printf(page->arena,
                                      "pipesim --cost %s --schedule 1f1b --pp %d "
                                      "--micro-batches~%d",
                                      pp_command_quoted(page->arena, output), next_ranks(config),
                                      config->layout.micro_batches);

    pp_cost_page_line(page, "next",
                      has_messages(c->file)
                          ? run
                          : pp_arena_printf(page->arena,
                                            "the same with --nccl-tests LOG of sendrecv_perf, "
                                            "as no trace has durations of messages; then %s",
                                            run));
}

void pp_calibrate_print(const struct pp_calibrate *c, const struct pp_calibrate_trial *trials,
                        int count, const char *output, FILE *out)
{
    const struct pp_cost_page page = {c->arena, out, pp_terminal_detect("never", out).width};

    fprintf(out, "pipesim %s  costs from %d trace%s\n\n", PP_VERSION, c->file->trace_count,
            c->file->trace_count == 1 ? "" : "s");
    pp_cost_page_line(&page, "machine", c->file->machine);
    pp_cost_page_line(&page, "traces", traces_text(c));
    pp_cost_file_print(c->file, page.width, out);
    for (int k = 0; k < count; k++)
        print_trial(&page, &trials[k]);
    if (count > 0)
        pp_cost_page_line(&page, "left out",
                          pp_arena_printf(c->arena, "%s is in none of these costs%s", c->left_out,
                                          c->is_left_out_chosen
                                              ? " (chosen: the last other schedule; "
                                                "--hold-out none takes all)"
                                              : ""));
    else if (!c->left_out)
        pp_cost_page_line(
            &page, "left out",
            "nothing, so the error of these costs is unknown; traces of a second schedule show it");
    print_notes(&page, c);
    if (output)
        print_next(&page, c, output);
}
