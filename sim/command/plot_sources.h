/* sim/command/plot_sources.h — input files of `pipesim plot`, recognised by their content. */
#pragma once

#include "plots/memory/report.h"
#include "sim/cli/plot_kinds.h"
#include "traces/trace.h"

struct pp_plot_file {
    const char *name; /* for messages */
    char *text;       /* NULL: traces of a profiler, which are not held in memory */
    size_t length;
    enum pp_plot_source source; /* of this file alone */
};
struct pp_plot_files {
    struct pp_plot_file *files;
    int count;
    enum pp_plot_source source; /* of all files together */
};
/* Reads all files whole. PP_EFAIL if one cannot be read; PP_EINVAL unless they are one sweep, one
 * report, one trace or two traces. */
enum pp_status pp_plot_files_read(struct pp_arena *arena, const char *const *paths, int count,
                                  struct pp_plot_files *files, struct pp_error *err);
/* A name such as "a sweep" or "two traces". */
const char *pp_plot_source_name(unsigned source);

enum pp_status pp_plot_file_trace(struct pp_arena *arena, const struct pp_plot_file *file,
                                  struct pp_trace **trace, struct pp_error *err);
