/* sim/main.c — pipesim: options, one command, an exit code. */
#include "sim/command/commands.h"

#include "core/process/process.h"
#include "sim/report/report.h"
#include "sim/simgrid/engines.h"

#include <stdio.h>

static pp_command_function *const COMMANDS[] = {
    [PP_CMD_RUN] = pp_command_run,
    [PP_CMD_SCHEDULES] = pp_command_schedules,
    [PP_CMD_MODELS] = pp_command_models,
    [PP_CMD_CLUSTERS] = pp_command_clusters,
    [PP_CMD_PRESETS] = pp_command_presets,
    [PP_CMD_PROGRAM] = pp_command_program,
    [PP_CMD_VERIFY] = pp_command_verify,
    [PP_CMD_COMPARE] = pp_command_compare,
    [PP_CMD_SWEEP] = pp_command_sweep,
    [PP_CMD_PLOT] = pp_command_plot,
    [PP_CMD_CALIBRATE] = pp_command_calibrate,
    [PP_CMD_VALIDATE] = pp_command_validate,
    [PP_CMD_PLAN] = pp_command_plan,
    [PP_CMD_CHECK] = pp_command_check,
    [PP_CMD_EXPORT] = pp_command_export,
};

static enum pp_status version(FILE *out)
{
    fprintf(out, "pipesim %s (engine%s:", PP_VERSION, pp_engines[1] ? "s" : "");
    for (int i = 0; pp_engines[i]; i++)
        fprintf(out, "%s %s", i ? "," : "", pp_engines[i]->name);
    fputs(")\n", out);
    return PP_OK;
}

static enum pp_status dispatch(struct pp_arena *arena, int argc, char **argv, FILE *out,
                               struct pp_error *err)
{
    const int width = pp_terminal_detect("never", out).width;
    struct pp_parsed parsed;
    bool is_answered;

    if (argc == 1) {
        pp_options_short_help(&pp_sim_cli, -1, stderr, width);
        return pp_error_set(err, PP_EINVAL,
                            "nothing to do; try: pipesim --schedule chimera --gpus 2048");
    }
    PP_TRY(pp_options_parse(arena, &pp_sim_cli, argc, argv, &parsed, err));
    if (parsed.wants_version) {
        return version(out);
    }
    PP_TRY(pp_options_answer(&parsed, out, width, &is_answered, err));
    if (is_answered)
        return PP_OK;
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);
    wish->request.flags = &parsed;
    pp_wish_bind(arena, &wish->request);
    return COMMANDS[parsed.command](arena, wish, out, err);
}

int main(int argc, char **argv)
{
    struct pp_error err = {0};

    pp_process_begin("pipesim");
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const enum pp_status status = dispatch(arena, argc, argv, stdout, &err);
    return pp_process_end("pipesim", status, &err);
}
