/* pipesim calibrate: measured durations, as costs for runs that were never measured. */
#include "sim/command/commands.h"

#include "core/text/output.h"
#include "sim/calibrate/calibrate.h"
#include "sim/import/nccl_log.h"

#include <string.h>

static enum pp_status read_logs(struct pp_calibrate *c, const struct pp_parsed *parsed,
                                struct pp_error *err)
{
    const struct pp_option_value *logs = pp_options_get(parsed, "nccl-tests"),
                                 *collective = pp_options_get(parsed, "collective");

    if (collective->count && !logs->count)
        return pp_error_set(err, PP_EINVAL, "--collective says what --nccl-tests LOG is of");
    for (int k = 0; k < logs->count; k++) {
        const struct pp_nccl_log_source source = {
            .name = logs->all[k], .operation = collective->count ? collective->text : NULL};
        struct pp_nccl_log log;
        if (c->log_count == (int)(sizeof(c->logs) / sizeof(*c->logs)))
            return pp_error_set(err, PP_EINVAL, "more than %d logs of nccl-tests", c->log_count);
        PP_TRY(pp_nccl_log_read(c->arena, &source, &log, err));
        struct pp_measured_line line =
            pp_calibrate_line(c->arena, log.operation, log.sizes, log.count, NULL);
        line.ranks = log.ranks;
        *PP_PUSH(c->arena, c->file->lines, c->file->line_count, c->file->line_capacity) = line;
        c->logs[c->log_count++] = logs->all[k];
    }
    return PP_OK;
}

static enum pp_status try_all(const struct pp_calibrate *c, uint64_t seed,
                              struct pp_calibrate_trial *trials, int *count, struct pp_error *err)
{
    *count = 0;
    for (int k = 0; k < c->run_count; k++)
        if (c->runs[k].is_left_out &&
            pp_calibrate_try(c, &c->runs[k], seed, &trials[(*count)++], err) != PP_OK)
            return pp_error_prefix(err, "%s: ", c->runs[k].path);
    return PP_OK;
}

enum pp_status pp_command_calibrate(struct pp_arena *arena, const struct pp_parsed *parsed,
                                    FILE *out, struct pp_error *err)
{
    const struct pp_option_value *output = pp_options_get(parsed, "output"),
                                 *seed = pp_options_get(parsed, "seed");
    struct pp_calibrate *c = PP_NEW(arena, struct pp_calibrate);
    struct pp_calibrate_trial *trials;
    int count;

    c->arena = arena;
    if (output->count)
        PP_TRY(pp_output_check(arena, output->text, err));
    PP_TRY(pp_calibrate_open(c, parsed, err));
    PP_TRY(pp_calibrate_collect(c, err));
    PP_TRY(pp_calibrate_fit(c, err));
    PP_TRY(read_logs(c, parsed, err));
    trials = PP_ARRAY(arena, struct pp_calibrate_trial, c->run_count);
    c->file->path = output->count ? output->text : "costs";
    PP_TRY(try_all(c, seed->count ? (uint64_t)seed->integer : 0, trials, &count, err));
    if (output->count)
        PP_TRY(pp_calibrate_write(c, trials, count, output->text, err));
    if (!output->count || strcmp(output->text, "-") != 0)
        pp_calibrate_print(c, trials, count, output->text, out);
    return PP_OK;
}
