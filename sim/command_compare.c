/* pipesim compare: a predicted trace held against a measured one. */
#include "sim/commands.h"

#include "sim/page_compare.h"
#include "sim/report_compare.h"
#include "traces/files.h"

#include <string.h>

enum { DEFAULT_WORST = 5 };

static const struct pp_option_value *get(const struct pp_parsed *parsed, const char *name)
{
    return pp_options_get(&pp_sim_cli, parsed, name);
}

static enum pp_status check_tolerance(const struct pp_compare_report *report, struct pp_error *err)
{
    if (isnan(report->tolerance_frac) || pp_compare_is_within(report))
        return PP_OK;
    return pp_error_set(err, PP_ETOLERANCE,
                        "the predicted step is off by %+.4g %%, more than the tolerance of %g %%",
                        100 * report->comparison->step_error_frac, 100 * report->tolerance_frac);
}

enum pp_status pp_command_compare(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                                  struct pp_error *err)
{
    const struct pp_option_value *tolerance = get(parsed, "tolerance"),
                                 *worst = get(parsed, "worst"), *skip = get(parsed, "skip-steps");
    const struct pp_compare_options options = {
        .skip_steps = skip->count ? (int)skip->integer : 0,
        .worst = worst->count ? (int)worst->integer : DEFAULT_WORST,
        .allows_different = get(parsed, "allow-different")->count > 0};
    const char *const *files = parsed->operands;
    struct pp_trace *predicted, *measured;
    struct pp_comparison comparison;

    if (!strcmp(files[0], "-") && !strcmp(files[1], "-"))
        return pp_error_set(err, PP_EINVAL, "compare: only one of the two traces can be stdin");
    PP_TRY(pp_page_check(arena, parsed, err));
    PP_TRY(pp_trace_files_read(arena, files, 1, &predicted, err));
    PP_TRY(pp_trace_files_read(arena, files + 1, parsed->operand_count - 1, &measured, err));
    PP_TRY(pp_compare(arena, predicted, measured, &options, &comparison, err));
    const struct pp_compare_report report = {.comparison = &comparison,
                                             .tolerance_frac = tolerance->count ? tolerance->number
                                                                                : (double)NAN};
    if (get(parsed, "json")->count)
        pp_report_compare_json(&report, out);
    else if (!pp_page_is_alone(parsed))
        pp_report_compare(&report, pp_terminal_detect("never", out), out);
    PP_TRY(pp_page_write(arena, parsed, pp_page_compare, &report, err));
    return check_tolerance(&report, err);
}
