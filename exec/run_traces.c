/* The two traces of a run: where they go, and what becomes of it. */
#include "exec/run.h"

#include "core/text/output.h"
#include "traces/formats/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool pp_exec_traces_are_asked(const struct pp_exec_wish *wish)
{
    return wish->trace || wish->predicted_trace;
}

static enum pp_status check_one(struct pp_arena *arena, const char *option, const char *path,
                                struct pp_error *err)
{
    struct pp_error ignored;

    if (pp_trace_check_name(path, &ignored) != PP_OK)
        return pp_error_set(err, PP_EINVAL, "--%s %s: the name must end in " PP_TRACE_NAMES, option,
                            path);
    if (pp_output_check(arena, path, err) != PP_OK)
        return pp_error_prefix(err, "--%s: ", option);
    return PP_OK;
}

enum pp_status pp_exec_traces_check(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                    struct pp_error *err)
{
    if (wish->trace)
        PP_TRY(check_one(arena, "trace", wish->trace, err));
    if (wish->predicted_trace)
        PP_TRY(check_one(arena, "predicted-trace", wish->predicted_trace, err));
    if (wish->trace && wish->predicted_trace &&
        pp_output_is_same(arena, wish->trace, wish->predicted_trace))
        return pp_error_set(err, PP_EINVAL,
                            "--trace %s and --predicted-trace %s are one file; give two",
                            wish->trace, wish->predicted_trace);
    return PP_OK;
}

/* A new folder that only the user can read; nothing is ever overwritten there. */
static enum pp_status make_folder(struct pp_arena *arena, char **folder, struct pp_error *err)
{
    const char *place = getenv("TMPDIR");

    *folder = pp_arena_printf(arena, "%s/pipeexec-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(*folder))
        return pp_error_set(err, PP_EFAIL, "cannot make the folder '%s': %s; give --trace FILE",
                            *folder, strerror(errno));
    return PP_OK;
}

/* A reader of the text report gets both traces, to compare them; with --json they have to be asked
 * for. */
static enum pp_status choose(struct pp_arena *arena, const struct pp_exec_wish *wish,
                             struct pp_exec_run *run, char **folder, struct pp_error *err)
{
    *folder = NULL;
    run->trace = wish->trace;
    run->predicted_trace = wish->predicted_trace;
    if (pp_exec_traces_are_asked(wish) || wish->json || wish->gantt || wish->quiet)
        return PP_OK;
    PP_TRY(make_folder(arena, folder, err));
    run->trace = pp_arena_printf(arena, "%s/measured.csv", *folder);
    if (run->result.prediction.trace)
        run->predicted_trace = pp_arena_printf(arena, "%s/predicted.csv", *folder);
    return PP_OK;
}

enum pp_status pp_exec_traces_write(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                    struct pp_exec_run *run, struct pp_error *err)
{
    const struct pp_trace *traces[2];
    const char *paths[2];
    char *folder;
    int count = 0;

    PP_TRY(choose(arena, wish, run, &folder, err));
    if (run->trace) {
        run->result.trace->about = pp_exec_about(arena, wish, run);
        traces[count] = run->result.trace;
        paths[count++] = run->trace;
    }
    if (run->predicted_trace) {
        traces[count] = run->result.prediction.trace;
        paths[count++] = run->predicted_trace;
    }
    if (pp_trace_write_all(traces, paths, count, err) == PP_OK)
        return PP_OK;
    if (folder)
        rmdir(folder);
    run->trace = run->predicted_trace = NULL;
    return PP_EFAIL;
}
