/* Traces written and read by the suffix or the content of a file. */
#include "traces/formats/formats.h"

#include "core/text/file.h"
#include "core/text/output.h"
#include "traces/events.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *suffix;
    void (*print)(const struct pp_trace *trace, FILE *out);
} FORMATS[] = {
    {".csv", pp_trace_print_csv},     {".csv.gz", pp_trace_print_csv},
    {".json", pp_trace_print_chrome}, {".json.gz", pp_trace_print_chrome},
    {".paje", pp_trace_print_paje},   {".paje.gz", pp_trace_print_paje},
    {".trace", pp_trace_print_paje},  {".trace.gz", pp_trace_print_paje},
};

enum pp_status pp_trace_check_name(const char *path, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(FORMATS); i++)
        if (pp_has_suffix(path, FORMATS[i].suffix))
            return PP_OK;
    return pp_error_set(err, PP_EINVAL, "trace file '%s': the name must end in " PP_TRACE_NAMES,
                        path);
}

static enum pp_status check_times(const struct pp_trace *trace, const char *path,
                                  struct pp_error *err)
{
    if (pp_has_suffix(path, ".csv") || pp_has_suffix(path, ".csv.gz"))
        return PP_OK;
    for (int i = pp_trace_next(trace, -1); i >= 0; i = pp_trace_next(trace, i)) {
        char cell[PP_TRACE_CELL_BYTES];
        const struct pp_trace_event e = pp_trace_at(trace, i, NULL);
        const double last_s = fmax(e.end_s, fmax(e.posted_s, e.matched_s));
        if (last_s > PP_TRACE_LONGEST_S)
            return pp_error_set(err, PP_EFAIL,
                                "trace file '%s': %s of rank %d is at %.4g s, and this format ends "
                                "at %g s; .csv holds all times",
                                path, pp_trace_at(trace, i, cell).cell, e.rank, last_s,
                                PP_TRACE_LONGEST_S);
    }
    return PP_OK;
}

static void print(const struct pp_trace *trace, const char *path, FILE *out)
{
    size_t i = 0;

    while (!pp_has_suffix(path, FORMATS[i].suffix))
        i++;
    FORMATS[i].print(trace, out);
}

enum pp_status pp_trace_write_all(const struct pp_trace *const *traces, const char *const *paths,
                                  int count, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_output *outputs = PP_ARRAY(arena, struct pp_output, count);
    enum pp_status status = PP_OK;
    int opened = 0;

    for (int i = 0; i < count; i++)
        if (pp_trace_check_name(paths[i], err) != PP_OK || check_times(traces[i], paths[i], err))
            return err->status;
    for (; opened < count && status == PP_OK; opened += status == PP_OK)
        status = pp_output_open(arena, paths[opened], &outputs[opened], err);
    for (int i = 0; i < opened && status == PP_OK; i++)
        print(traces[i], paths[i], outputs[i].file);
    if (status == PP_OK)
        return pp_output_commit_all(outputs, count, err);
    for (int i = 0; i < opened; i++)
        pp_output_discard(&outputs[i]);
    return status;
}

enum pp_status pp_trace_write(const struct pp_trace *trace, const char *path, struct pp_error *err)
{
    return pp_trace_write_all(&trace, &path, 1, err);
}

enum pp_status pp_trace_refuse_paje(const char *name, const char *text, struct pp_error *err)
{
    return text[0] == '%'
               ? pp_error_set(err, PP_EINVAL,
                              "%s: a trace in Paje's format is for viewers; expected one in .csv "
                              "or .json, which hold all of it",
                              name)
               : PP_OK;
}

enum pp_status pp_trace_read(struct pp_arena *arena, const char *path, struct pp_trace **trace,
                             struct pp_error *err)
{
    const char *name = strcmp(path, "-") ? path : "<stdin>";
    char *text;
    size_t length;

    PP_TRY(pp_file_read(arena, path, &text, &length, err));
    PP_TRY(pp_trace_refuse_paje(name, text, err));
    if (text[strspn(text, " \t\r\n")] == '{')
        return pp_trace_parse_chrome(arena, name, text, length, trace, err);
    return pp_trace_parse_csv(arena, name, text, length, trace, err);
}
