/* Rows resolved and simulated like any other run. */
#include "sim/published/published.h"

#include "core/printable.h"
#include "sim/cli/cli.h"
#include "sim/resolve/resolve.h"

#include <math.h>
#include <string.h>

static enum pp_status resolve(struct pp_arena *arena, const struct pp_measure_command *command,
                              struct pp_config *config, struct pp_error *err)
{
    struct pp_parsed parsed;
    struct pp_request request;
    struct pp_subject subject;

    PP_TRY(pp_options_parse(arena, &pp_sim_cli, command->argc, command->argv, &parsed, err));
    PP_TRY(pp_request_open(arena, &parsed, &request, err));
    PP_TRY(
        pp_subject_open(arena, &request, pp_request_text(&request, "schedule", ""), &subject, err));
    return pp_resolve(arena, &request, &subject, config, NULL, err);
}

/* Messages cut cells short, perhaps within a character. */
const char *pp_measure_reason(struct pp_arena *arena, const struct pp_error *err)
{
    return pp_printable(
        arena, pp_arena_printf(arena, "%.*s", (int)strcspn(err->message, "\n"), err->message));
}

void pp_measure_case_open(struct pp_arena *arena, const struct pp_measurement *row,
                          struct pp_measure_case *out)
{
    struct pp_error err = {0};

    *out = (struct pp_measure_case){.row = row, .refused = row->refused, .step_s = row->step_s};
    enum pp_status status = pp_measure_command(arena, row, &out->command, &err);
    if (status == PP_OK)
        status = resolve(arena, &out->command, &out->config, &err);
    else
        out->command.argc = 0;
    if (status != PP_OK)
        out->skipped = pp_measure_reason(arena, &err);
    else
        out->refused = pp_measure_doubts(arena, row, &out->config, &out->step_s);
}

struct pp_row_prediction pp_measure_prediction(const struct pp_measurement *row,
                                               const struct pp_result *result)
{
    const double step_s = result->metrics.iteration_s;
    const double rate = result->model_flops_per_step / (step_s * result->config.layout.gpus);

    return (struct pp_row_prediction){.step_s = step_s,
                                      .mem_bytes = pp_measure_memory_bytes(row, result),
                                      .model_flops = result->model_flops_per_step,
                                      .peak_flops_per_s = rate / result->mfu,
                                      .fits = result->fits};
}
