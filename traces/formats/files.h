/* traces/formats/files.h — operands of a command line as traces: files in this project's formats,
 * or files and folders of one run of PyTorch (traces/kineto/kineto.h). In an arena. */
#pragma once

#include "traces/trace.h"

struct pp_trace_files {
    const char **own;    /* [own_count], a trace each */
    const char **kineto; /* [kineto_count], one run together */
    int own_count, own_capacity, kineto_count, kineto_capacity;
};

/* Sorts operands; a folder stands for its .json and .json.gz, by name. PP_EFAIL for a folder that
 * cannot be read, PP_EINVAL for one without such files. Does not check that files exist. */
enum pp_status pp_trace_files_find(struct pp_arena *arena, const char *const *operands, int count,
                                   struct pp_trace_files *files, struct pp_error *err);
/* Reads one trace; PP_EINVAL for several. Other errors: pp_trace_read() and pp_kineto_read(). */
enum pp_status pp_trace_files_read(struct pp_arena *arena, const char *const *operands, int count,
                                   struct pp_trace **trace, struct pp_error *err);
