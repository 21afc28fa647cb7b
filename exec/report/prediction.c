/* Where a prediction comes from, and what it leaves. */
#include "exec/report/report.h"

#include "core/units.h"

#include <math.h>

static const char *seconds(double value, char *text)
{
    return pp_units_print(value, PP_UNIT_SECONDS, text);
}

static void print_band(const struct pp_exec_page *page, const struct pp_band *band)
{
    char text[PP_EXEC_TEXT_BYTES], low[PP_UNITS_TEXT_BYTES], high[PP_UNITS_TEXT_BYTES];

    snprintf(text, sizeof(text), "%s .. %s (90~%% of draws from the measured durations)",
             seconds(band->low_s, low), seconds(band->high_s, high));
    pp_exec_paragraph(page, "expected", text);
}

static void print_source(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    char text[PP_EXEC_TEXT_BYTES];

    if (run->other.program)
        snprintf(text, sizeof(text), "from durations of %s, which ran first",
                 run->other.subject.name);
    else if (r->first_judged == 0)
        snprintf(text, sizeof(text),
                 "from durations of the same step; --steps 4 predicts later steps");
    else
        snprintf(text, sizeof(text),
                 "from durations of %d%s~earlier step%s; --calibrate-on SCHEDULE takes those of "
                 "another schedule",
                 run->config.warmup, pp_exec_star(run->plan.chosen, PP_EXEC_CHOSE_WARMUP),
                 run->config.warmup == 1 ? "" : "s");
    pp_exec_paragraph(page, "predicted", text);
    if (isfinite(r->predicted_step_s))
        print_band(page, &r->predicted_band);
}

/* What the prediction takes messages for; those of one size have no latency apart. */
static int say_messages(const struct pp_training_result *r, char *text, size_t bytes)
{
    char latency[PP_UNITS_TEXT_BYTES], speed[PP_UNITS_TEXT_BYTES], wait[PP_UNITS_TEXT_BYTES];

    if (!r->is_wire_measured)
        return snprintf(text, bytes, "ops start ");
    const bool has_latency = r->wire.alpha_s > 0;
    return snprintf(text, bytes, "messages %s%s%srun at %s; ops start %s after a~WAIT, ",
                    has_latency ? "take " : "",
                    has_latency ? seconds(r->wire.alpha_s, latency) : "",
                    has_latency ? " and " : "",
                    pp_units_print(1 / r->wire.s_per_byte, PP_UNIT_BYTES_PER_S, speed),
                    seconds(pp_units_s(r->pauses.ps[1]), wait));
}

static void print_overheads(const struct pp_exec_page *page, const struct pp_training_result *r)
{
    char text[PP_EXEC_TEXT_BYTES], start[PP_UNITS_TEXT_BYTES], barrier[PP_UNITS_TEXT_BYTES];
    const int used = say_messages(r, text, sizeof(text));

    snprintf(text + used, sizeof(text) - (size_t)used,
             "%s after the barrier, %s after the start of a step",
             seconds(pp_units_s(r->pauses.ps[PP_GAP_BAR]), barrier),
             seconds(pp_units_s(r->pauses.ps[PP_GAP_STEP]), start));
    pp_exec_paragraph(page, "overheads", text);
}

static void print_structure(const struct pp_exec_page *page, const struct pp_training_result *r)
{
    char text[PP_EXEC_TEXT_BYTES], error[PP_UNITS_TEXT_BYTES];

    snprintf(text, sizeof(text), "replayed with the measured durations, the simulation is %s%s",
             r->structural_error_s > 0 ? "off by " : "exact: ",
             r->structural_error_s > 0 ? seconds(r->structural_error_s, error)
                                       : "the whole error comes from the durations");
    pp_exec_paragraph(page, "structure", text);
}

static void print_unknown(const struct pp_exec_page *page, const struct pp_training_result *r)
{
    char text[PP_EXEC_TEXT_BYTES], left[PP_UNITS_TEXT_BYTES];

    snprintf(text, sizeof(text), "%s of a step is not explained by its measured ops and messages",
             seconds(r->unattributed_s, left));
    pp_exec_paragraph(page, "unknown", text);
}

void pp_exec_report_prediction(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    print_source(page, run);
    if (run->config.clock == PP_CLOCK_VIRTUAL) {
        print_structure(page, &run->result);
        return;
    }
    print_overheads(page, &run->result);
    print_unknown(page, &run->result);
}
