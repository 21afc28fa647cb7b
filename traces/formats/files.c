/* Operands of a command line, sorted into traces and PyTorch profiles. */
#include "traces/formats/files.h"

#include "traces/formats/formats.h"
#include "traces/kineto/kineto.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void add_file(struct pp_arena *arena, const char *path, struct pp_trace_files *files)
{
    if (pp_kineto_is_one(path))
        *PP_PUSH(arena, files->kineto, files->kineto_count, files->kineto_capacity) = path;
    else
        *PP_PUSH(arena, files->own, files->own_count, files->own_capacity) = path;
}

static int is_json(const struct dirent *entry)
{
    return pp_has_suffix(entry->d_name, ".json") || pp_has_suffix(entry->d_name, ".json.gz");
}

static enum pp_status add_folder(struct pp_arena *arena, const char *path,
                                 struct pp_trace_files *files, struct pp_error *err)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, is_json, alphasort);

    if (count < 0)
        return pp_error_set(err, PP_EFAIL, "cannot read %s: %s", path, strerror(errno));
    for (int k = 0; k < count; k++) {
        add_file(arena, pp_arena_printf(arena, "%s/%s", path, entries[k]->d_name), files);
        free(entries[k]);
    }
    free(entries);
    return count > 0
               ? PP_OK
               : pp_error_set(err, PP_EINVAL, "%s: no .json or .json.gz is in this folder", path);
}

enum pp_status pp_trace_files_find(struct pp_arena *arena, const char *const *operands, int count,
                                   struct pp_trace_files *files, struct pp_error *err)
{
    *files = (struct pp_trace_files){0};
    for (int k = 0; k < count; k++) {
        struct stat info;
        if (stat(operands[k], &info) == 0 && S_ISDIR(info.st_mode))
            PP_TRY(add_folder(arena, operands[k], files, err));
        else
            add_file(arena, operands[k], files);
    }
    return PP_OK;
}

enum pp_status pp_trace_files_read(struct pp_arena *arena, const char *const *operands, int count,
                                   struct pp_trace **trace, struct pp_error *err)
{
    struct pp_trace_files files;
    struct pp_kineto run;

    PP_TRY(pp_trace_files_find(arena, operands, count, &files, err));
    if (files.own_count > 0 && files.kineto_count > 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s is a trace of PyTorch's profiler, %s is not: they are of two runs",
                            files.kineto[0], files.own[0]);
    if (files.own_count > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s and %s: one measured trace is compared; several files are those of "
                            "PyTorch's profiler, one a process",
                            files.own[0], files.own[1]);
    if (files.own_count > 0)
        return pp_trace_read(arena, files.own[0], trace, err);
    PP_TRY(pp_kineto_read(arena, files.kineto, NULL, files.kineto_count, &run, err));
    *trace = run.trace;
    return PP_OK;
}
