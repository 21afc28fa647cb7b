/* Prints the source of a prediction, and what it does not explain. */
#include "exec/report/report.h"

/* Prints the band of the prediction, and whether the measured step is in it. */
static void print_band(const struct pp_exec_page *page, const struct pp_training_result *r)
{
    const struct pp_band *band = &r->predicted_band;
    const bool is_below = r->step_median_s<band->low_s, is_above = r->step_median_s> band->high_s;
    char low[PP_UNITS_TEXT_BYTES], high[PP_UNITS_TEXT_BYTES];

    pp_exec_paragraph(page, "expected",
                      "%s .. %s in 90~%% of steps, if durations vary as measured%s",
                      pp_exec_seconds(band->low_s, low), pp_exec_seconds(band->high_s, high),
                      is_below   ? "; the measured step is shorter"
                      : is_above ? "; the measured step is longer"
                                 : "");
}

/* Names the groups of the other schedule where they differ. */
static void print_other(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_exec_config *measured = &run->measured;
    char groups[64] = "";

    if (pp_exec_is_profiled(measured, &run->config))
        snprintf(groups, sizeof(groups), " with --tp~%d --ep~%d", measured->tp, measured->ep);
    pp_exec_paragraph(page, "predicted", "from durations of %s%s, which ran first",
                      run->other.subject.name, groups);
}

static void print_source(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    if (run->other.program)
        print_other(page, run);
    else if (run->result.first_judged == 0)
        pp_exec_paragraph(page, "predicted",
                          "from durations of the same step; --steps 4 predicts later steps");
    else
        pp_exec_paragraph(page, "predicted",
                          "from durations of %d%s~earlier step%s; --calibrate-on SCHEDULE takes "
                          "those of another schedule",
                          run->config.warmup, pp_exec_star(run->plan.chosen, PP_EXEC_CHOSE_WARMUP),
                          run->config.warmup == 1 ? "" : "s");
    print_band(page, &run->result);
}

/* Describes the wire of the prediction; messages of one size have no separate latency. */
static size_t say_messages(const struct pp_training_result *r, char text[PP_EXEC_TEXT_BYTES])
{
    char latency[PP_UNITS_TEXT_BYTES], speed[PP_UNITS_TEXT_BYTES], wait[PP_UNITS_TEXT_BYTES];

    if (!r->is_wire_measured)
        return pp_exec_append(text, 0, "ops start ");
    const bool has_latency = r->wire.alpha_s > 0;
    return pp_exec_append(text, 0, "messages %s%s%srun at %s; ops start %s after a~WAIT, ",
                          has_latency ? "take " : "",
                          has_latency ? pp_exec_seconds(r->wire.alpha_s, latency) : "",
                          has_latency ? " and " : "",
                          pp_units_print(1 / r->wire.s_per_byte, PP_UNIT_BYTES_PER_S, speed),
                          pp_exec_seconds(pp_units_s(r->pauses.ps[1]), wait));
}

static void print_overheads(const struct pp_exec_page *page, const struct pp_training_result *r)
{
    char text[PP_EXEC_TEXT_BYTES], start[PP_UNITS_TEXT_BYTES], barrier[PP_UNITS_TEXT_BYTES];

    pp_exec_append(text, say_messages(r, text),
                   "%s after the barrier, %s after the start of a step",
                   pp_exec_seconds(pp_units_s(r->pauses.ps[PP_GAP_BAR]), barrier),
                   pp_exec_seconds(pp_units_s(r->pauses.ps[PP_GAP_STEP]), start));
    pp_exec_paragraph(page, "overheads", "%s", text);
}

static void print_structure(const struct pp_exec_page *page, const struct pp_training_result *r)
{
    char error[PP_UNITS_TEXT_BYTES];

    if (r->structural_error_s > 0)
        pp_exec_paragraph(page, "replay",
                          "with the durations of the measured steps themselves, the simulated step "
                          "is off by %s",
                          pp_exec_seconds(r->structural_error_s, error));
    else
        pp_exec_paragraph(page, "replay",
                          "with the durations of the measured steps themselves, the simulated step "
                          "is exact; so the error comes from the durations alone");
}

static void print_unknown(const struct pp_exec_page *page, const struct pp_training_result *r)
{
    char left[PP_UNITS_TEXT_BYTES];

    pp_exec_paragraph(page, "unknown",
                      "%s of a step is not explained by its measured ops and messages",
                      pp_exec_seconds(r->unattributed_s, left));
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
