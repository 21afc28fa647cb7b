/* Notes of the report: what a reader should know before the figures. */
#include "exec/report/report.h"

#include "exec/resolve/resume.h"

#include <math.h>

static void note_empty_stages(const struct pp_exec_run *run, char *text, size_t bytes)
{
    const int stages = run->plan.chunks;

    if (run->plan.empty_chunks > 0)
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
    const int gpus = run->result.way.gpus;

    if (run->result.is_contended && gpus > 0)
        snprintf(text, bytes,
                 "the prediction assumes one device for each rank, but here processes share "
                 "%d~GPU%s, so the difference is no error",
                 gpus, gpus == 1 ? "" : "s");
    else if (run->result.is_contended)
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

static void note_blind(const struct pp_exec_run *run, char *text, size_t bytes)
{
    static const char *const WHAT[PP_FOLDERS] = {
        [PP_RESUMED] = "does not have the checkpoint: process 0 reads it and sends all their parts",
        [PP_WRITTEN] = "does not see the folder of checkpoints: process 0 fetches all parts and "
                       "writes them",
        [PP_SAVED] = "does not see the folder of --save: process 0 fetches all weights and writes "
                     "them",
    };
    size_t used = 0;

    for (int i = 0; i < PP_FOLDERS; i++)
        if (run->result.blind[i])
            used = pp_exec_append(text, used, "%sprocess %d %s", used ? "; " : "",
                                  run->result.blind[i] - 1, WHAT[i]);
    (void)bytes;
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

static void note_way(const struct pp_exec_run *run, char *text, size_t bytes)
{
    if (run->result.way.note)
        snprintf(text, bytes, "%s", run->result.way.note);
}

static void note_cluster(const struct pp_exec_run *run, char *text, size_t bytes)
{
    if (run->config.cluster)
        snprintf(text, bytes, "--cluster %s is for pipesim; this run was on the machine above",
                 run->config.cluster);
}

void pp_exec_report_notes(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    static void (*const NOTES[])(const struct pp_exec_run *run, char *text, size_t bytes) = {
        note_empty_stages,   note_weights, note_contended, pp_exec_device_note,
        note_spread,         note_warmup,  note_blind,     note_jump,
        pp_exec_resume_note, note_way,     note_cluster,
    };

    for (size_t i = 0; i < PP_COUNT(NOTES); i++) {
        char text[PP_EXEC_TEXT_BYTES] = "";
        NOTES[i](run, text, sizeof(text));
        if (text[0])
            pp_exec_paragraph(page, "note", "%s", text);
    }
}
