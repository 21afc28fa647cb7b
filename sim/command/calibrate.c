/* pipesim calibrate: fits costs to measured durations, for runs that were not measured. */
#include "sim/command/commands.h"

#include "core/text/output.h"
#include "sim/calibrate/calibrate.h"
#include "sim/import/nccl_log.h"

#include <string.h>

static enum pp_status read_logs(struct pp_calibrate *c, const struct pp_wish *wish,
                                struct pp_error *err)
{
    const struct pp_given *logs = &wish->given.nccl_tests;

    if (wish->given.collective.count && !logs->count)
        return pp_error_set(err, PP_EINVAL,
                            "--collective names the collective of --nccl-tests LOG");
    for (int k = 0; k < logs->count; k++) {
        const struct pp_nccl_log_source source = {.name = logs->all[k],
                                                  .operation = wish->given.collective.text};
        struct pp_nccl_log log;
        if (c->log_count == (int)PP_COUNT(c->logs))
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

enum pp_status pp_command_calibrate(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                    struct pp_error *err)
{
    const char *output = wish->output;
    struct pp_calibrate *c = PP_NEW(arena, struct pp_calibrate);
    struct pp_calibrate_trial *trials;
    int count;

    c->arena = arena;
    if (output)
        PP_TRY(pp_output_check(arena, output, err));
    PP_TRY(pp_calibrate_open(c, wish, err));
    PP_TRY(pp_calibrate_collect(c, err));
    PP_TRY(pp_calibrate_fit(c, err));
    PP_TRY(read_logs(c, wish, err));
    trials = PP_ARRAY(arena, struct pp_calibrate_trial, c->run_count);
    c->file->path = output ? output : "costs";
    PP_TRY(try_all(c, (uint64_t)wish->seed, trials, &count, err));
    if (output)
        PP_TRY(pp_calibrate_write(c, trials, count, output, err));
    if (!output || strcmp(output, "-") != 0)
        pp_calibrate_print(c, trials, count, output, out);
    return PP_OK;
}
