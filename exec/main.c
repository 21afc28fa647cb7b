/* exec/main.c — pipeexec: options, a command, an exit code. */
#include "core/process/process.h"
#include "core/text/terminal.h"
#include "exec/cli.h"
#include "exec/run.h"

#include <unistd.h>

/* Ends the process; no other thread can print any more. */
static void end_stuck(const struct pp_error *err)
{
    struct pp_error last = *err;

    _exit(pp_process_end("pipeexec", last.status, &last));
}

static enum pp_status dispatch(struct pp_arena *arena, int argc, char **argv, FILE *out,
                               struct pp_error *err)
{
    const int width = pp_terminal_detect("never", out).width;
    struct pp_parsed parsed;
    bool is_answered;
    struct pp_exec_wish wish;

    PP_TRY(pp_options_parse(arena, &pp_exec_cli, argc, argv, &parsed, err));
    if (parsed.wants_version) {
        fprintf(out, "pipeexec %s\n", PP_VERSION);
        return PP_OK;
    }
    PP_TRY(pp_options_answer(&parsed, out, width, &is_answered, err));
    if (is_answered)
        return PP_OK;
    wish.request = (struct pp_request){.flags = &parsed};
    pp_wish_bind(arena, &wish.request);
    if (parsed.command == PP_EXEC_GENERATE)
        return pp_exec_command_generate(arena, &wish, out, end_stuck, err);
    return pp_exec_command_run(arena, &wish, out, end_stuck, err);
}

int main(int argc, char **argv)
{
    struct pp_error err = {0};

    pp_process_begin("pipeexec");
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const enum pp_status status = dispatch(arena, argc, argv, stdout, &err);
    return pp_process_end("pipeexec", status, &err);
}
