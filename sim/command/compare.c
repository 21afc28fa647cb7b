/* pipesim compare: a predicted trace held against a measured one. */
#include "sim/command/commands.h"

#include "sim/cli/stdout.h"
#include "sim/import/step_compare.h"
#include "sim/page/page.h"
#include "sim/report/compare.h"
#include "traces/formats/files.h"

#include <string.h>

enum { DEFAULT_WORST = 5 };

static enum pp_status check_tolerance(double error_frac, double tolerance_frac,
                                      struct pp_error *err)
{
    if (isnan(tolerance_frac) || fabs(error_frac) <= tolerance_frac)
        return PP_OK;
    return pp_error_set(err, PP_ETOLERANCE,
                        "the predicted step is off by %+.4g %%, more than the tolerance of %g %%",
                        100 * error_frac, 100 * tolerance_frac);
}

/* Against the log of a training run there are only steps to compare. */
static enum pp_status compare_steps(struct pp_arena *arena, const struct pp_parsed *parsed,
                                    double tolerance_frac, FILE *out, struct pp_error *err)
{
    static const char *const OF_EVENTS[] = {"worst", "allow-different"};
    const struct pp_option_value *skip = pp_options_get(parsed, "skip-steps");
    struct pp_step_comparison c;
    struct pp_step_log log;

    for (size_t k = 0; k < sizeof(OF_EVENTS) / sizeof(*OF_EVENTS); k++)
        if (pp_options_get(parsed, OF_EVENTS[k])->count)
            return pp_error_set(err, PP_EINVAL, "--%s: %s is a log of steps, without events",
                                OF_EVENTS[k], parsed->operands[1]);
    PP_TRY(pp_step_log_read(arena, parsed->operands[1], skip->count ? (int)skip->integer : -1, &log,
                            err));
    PP_TRY(pp_step_compare(arena, parsed->operands[0], &log, &c, err));
    c.tolerance_frac = tolerance_frac;
    if (pp_options_get(parsed, "json")->count)
        pp_step_comparison_json(&c, out);
    else
        pp_step_comparison_print(&c, out);
    return check_tolerance(c.error_frac, tolerance_frac, err);
}

enum pp_status pp_command_compare(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                                  struct pp_error *err)
{
    const struct pp_option_value *tolerance = pp_options_get(parsed, "tolerance"),
                                 *worst = pp_options_get(parsed, "worst"),
                                 *skip = pp_options_get(parsed, "skip-steps");
    const struct pp_compare_options options = {
        .skip_steps = skip->count ? (int)skip->integer : 0,
        .worst = worst->count ? (int)worst->integer : DEFAULT_WORST,
        .allows_different = pp_options_has(parsed, "allow-different")};
    const double tolerance_frac = tolerance->count ? tolerance->number : (double)NAN;
    const char *const *files = parsed->operands;
    struct pp_trace *predicted, *measured;
    struct pp_comparison comparison;
    enum pp_stdout owner;

    if (!strcmp(files[0], "-") && !strcmp(files[1], "-"))
        return pp_error_set(err, PP_EINVAL, "compare: only one of the two traces can be stdin");
    PP_TRY(pp_stdout_owner(parsed, &owner, err));
    PP_TRY(pp_page_check(arena, parsed, err));
    if (parsed->operand_count == 2 && pp_step_log_is_one(files[1]))
        return compare_steps(arena, parsed, tolerance_frac, out, err);
    PP_TRY(pp_trace_files_read(arena, files, 1, &predicted, err));
    PP_TRY(pp_trace_files_read(arena, files + 1, parsed->operand_count - 1, &measured, err));
    PP_TRY(pp_compare(arena, predicted, measured, &options, &comparison, err));
    const struct pp_compare_report report = {.comparison = &comparison,
                                             .tolerance_frac = tolerance_frac};
    if (owner == PP_STDOUT_JSON)
        pp_report_compare_json(&report, out);
    else if (owner == PP_STDOUT_REPORT)
        pp_report_compare(&report, pp_terminal_detect("never", out), out);
    PP_TRY(pp_page_write(arena, parsed, pp_page_compare, &report, err));
    return check_tolerance(comparison.step_error_frac, tolerance_frac, err);
}
