/* Input files of a plot, recognised by their content. */
#define _GNU_SOURCE /* memmem */

#include "sim/command/plot_sources.h"

#include "core/cli/options.h"
#include "core/text/file.h"

#include "traces/formats/files.h"
#include "traces/formats/formats.h"
#include "traces/kineto/kineto.h"

#include <string.h>
#include <sys/stat.h>

static bool contains(const struct pp_plot_file *file, const char *words)
{
    return memmem(file->text, file->length, words, strlen(words)) != NULL;
}

static const char *begin(const struct pp_plot_file *file)
{
    return file->text + strspn(file->text, "\xef\xbb\xbf \t\r\n");
}

/* PP_EINVAL for a program: its head says so, or its first cell is an op. */
static enum pp_status refuse_program(struct pp_arena *arena, const struct pp_plot_file *file,
                                     struct pp_error *err)
{
    static const char FORMAT[] = "# format: pipesim-program/";
    const char *text = begin(file);
    char cell[2 * PP_OP_TEXT_BYTES];
    struct pp_op ops[2];
    int count;

    snprintf(cell, sizeof(cell), "%.*s", (int)strcspn(text, ",\r\n"), text);
    if (strncmp(text, FORMAT, strlen(FORMAT)) && pp_op_parse(cell, ops, &count, NULL) != PP_OK)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s is a program, which has no times until it runs\n"
                        "  try: pipesim --schedule %s --unit F=1,B=2 --gantt",
                        file->name,
                        *file->name == '<' ? "FILE" : pp_command_quoted(arena, file->name));
}

static enum pp_status recognize(struct pp_arena *arena, struct pp_plot_file *file,
                                struct pp_error *err)
{
    static const char TRACE[] = "step,rank,replica,stream,", LOG[] = "step,loss,valid_loss,";
    const char *text = begin(file);

    PP_TRY(pp_trace_refuse_paje(file->name, text, err));
    PP_TRY(refuse_program(arena, file, err));
    if (*text != '{')
        file->source = !strncmp(text, TRACE, strlen(TRACE)) ? PP_FROM_TRACE
                       : !strncmp(text, LOG, strlen(LOG))   ? PP_FROM_LOG
                                                            : PP_FROM_TABLE;
    else if (contains(file, "\"traceEvents\""))
        file->source = PP_FROM_TRACE;
    else if (contains(file, "\"pipesim.report/") || contains(file, "\"pipesim.comparison/"))
        file->source = PP_FROM_REPORT;
    else
        return pp_error_set(err, PP_EINVAL,
                            "%s: JSON, but neither a trace nor what 'pipesim run --json' prints",
                            file->name);
    return PP_OK;
}

const char *pp_plot_source_name(unsigned source)
{
    return source & PP_FROM_TABLE    ? "a sweep"
           : source & PP_FROM_TRACE  ? "a trace"
           : source & PP_FROM_TRACES ? "two traces"
           : source & PP_FROM_LOG    ? "a log"
                                     : "a report";
}

static enum pp_status combine(struct pp_plot_files *files, struct pp_error *err)
{
    const struct pp_plot_file *first = &files->files[0];

    files->source = first->source;
    for (int i = 1; i < files->count; i++)
        if (files->files[i].source != first->source)
            return pp_error_set(err, PP_EINVAL,
                                "%s is %s, but %s is %s: a picture has files of one sort",
                                first->name, pp_plot_source_name(first->source),
                                files->files[i].name, pp_plot_source_name(files->files[i].source));
    if (files->count == 1)
        return PP_OK;
    if (files->count == 2 && first->source == PP_FROM_TRACE) {
        files->source = PP_FROM_TRACES;
        return PP_OK;
    }
    return pp_error_set(err, PP_EINVAL,
                        "%d files, each %s: a picture has one sweep, one report, one log, one "
                        "trace, or two traces (predicted, measured)%s",
                        files->count, pp_plot_source_name(first->source),
                        first->source == PP_FROM_TABLE
                            ? "\n  parts of a sweep become one file by: pipesim sweep --merge"
                            : "");
}

/* Is true for traces of PyTorch's profiler, or a folder of them: too large to hold whole. */
static bool is_profile(const char *path)
{
    struct stat info;

    return (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) || pp_kineto_is_one(path);
}

enum pp_status pp_plot_files_read(struct pp_arena *arena, const char *const *paths, int count,
                                  struct pp_plot_files *files, struct pp_error *err)
{
    bool has_stdin = false;

    files->files = PP_ARRAY(arena, struct pp_plot_file, count);
    files->count = count;
    for (int i = 0; i < count; i++) {
        struct pp_plot_file *file = &files->files[i];
        const bool is_stdin = !strcmp(paths[i], "-");
        if (is_stdin && has_stdin)
            return pp_error_set(err, PP_EINVAL, "plot: only one of the files can be stdin");
        has_stdin |= is_stdin;
        file->name = is_stdin ? "<stdin>" : paths[i];
        if (is_profile(paths[i])) {
            file->source = PP_FROM_TRACE;
            continue;
        }
        PP_TRY(pp_file_read(arena, paths[i], &file->text, &file->length, err));
        PP_TRY(recognize(arena, file, err));
    }
    return combine(files, err);
}

enum pp_status pp_plot_file_trace(struct pp_arena *arena, const struct pp_plot_file *file,
                                  struct pp_trace **trace, struct pp_error *err)
{
    if (!file->text)
        return pp_trace_files_read(arena, &file->name, 1, trace, err);
    return *begin(file) == '{'
               ? pp_trace_parse_chrome(arena, file->name, file->text, file->length, trace, err)
               : pp_trace_parse_csv(arena, file->name, file->text, file->length, trace, err);
}
