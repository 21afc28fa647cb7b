#include "traces/trace.h"

#include <string.h>

static int has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);

    return length > tail && strcmp(path + length - tail, suffix) == 0;
}

enum pp_status pp_trace_write(const struct pp_trace *trace, const char *path, struct pp_error *err)
{
    if (has_suffix(path, ".csv") || has_suffix(path, ".csv.gz"))
        return pp_trace_write_csv(trace, path, err);
    if (has_suffix(path, ".json") || has_suffix(path, ".json.gz"))
        return pp_trace_write_chrome(trace, path, err);
    return pp_error_set(err, PP_EINVAL,
                        "trace file '%s': the name must end in .csv, .csv.gz, .json or .json.gz",
                        path);
}
