/* The last lines of the report. */
#include "exec/report/report.h"
#include "exec/resolve/resume.h"

#include "core/units.h"

#include <math.h>
#include <stdio.h>

static void note_empty_stages(const struct pp_exec_run *run, char *text, size_t bytes)
{
    const int stages = run->plan.program->stages;

    if (run->plan.empty_stages > 0)
        snprintf(text, bytes, "%d~layer%s cannot fill %d~stages: --layers~%d gives each a block",
                 run->config.net.layers, run->config.net.layers == 1 ? "" : "s", stages, stages);
}

static void note_weights(const struct pp_exec_run *run, char *text, size_t bytes)
{
    if (run->config.has_weight_stream && !run->plan.program->weight_stream)
        snprintf(text, bytes, "--weight-grad-stream~on does nothing: %s has no W",
                 run->plan.subject.name);
}

static void note_contended(const struct pp_exec_run *run, char *text, size_t bytes)
{
    if (run->result.is_contended)
        snprintf(
            text, bytes,
            "the prediction assumes one device for each rank, but here all ranks share one, so the "
            "difference is no error. --device-mode~partition gives each rank its own part");
}

static void note_spread(const struct pp_exec_run *run, char *text, size_t bytes)
{
    const double wide = 0.1;
    const struct pp_exec_spread spread = pp_exec_spread(run);

    if (spread.width_frac > wide)
        snprintf(text, bytes, "the machine is busy: durations of steps vary by %.0f~%%",
                 100 * spread.width_frac);
}

static void note_warmup(const struct pp_exec_run *run, char *text, size_t bytes)
{
    const struct pp_exec_config *c = &run->config;

    if (c->is_warmup_short && run->result.first_judged > 0)
        snprintf(text, bytes, "%d~steps leave %d for --warmup; --steps~%d leaves the usual~2",
                 c->steps - c->first_step, c->warmup, c->first_step + 4);
}

static void note_jump(const struct pp_exec_run *run, char *text, size_t bytes)
{
    const struct pp_machine_clock *clock = &run->result.clock;
    char by[PP_UNITS_TEXT_BYTES];

    if (clock->jump_s != 0)
        snprintf(text, bytes,
                 "the clock of rank~%d, replica~%d, has jumped %s by %s (seen after step~%d): was "
                 "its host suspended? Earlier times are wrong by that",
                 clock->jump_rank, clock->jump_replica, clock->jump_s > 0 ? "ahead" : "back",
                 pp_units_print(fabs(clock->jump_s), PP_UNIT_SECONDS, by), clock->jump_step);
}

void pp_exec_report_notes(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    static void (*const NOTES[])(const struct pp_exec_run *run, char *text, size_t bytes) = {
        note_empty_stages, note_weights, note_contended,      note_spread,
        note_warmup,       note_jump,    pp_exec_resume_note,
    };

    for (size_t i = 0; i < sizeof(NOTES) / sizeof(*NOTES); i++) {
        char text[PP_EXEC_TEXT_BYTES] = "";
        NOTES[i](run, text, sizeof(text));
        if (text[0])
            pp_text_paragraph(page->out, page->terminal.width, PP_EXEC_LABEL, "note", text);
    }
}
