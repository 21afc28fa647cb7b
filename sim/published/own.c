/* Adds the options that a row gives in columns of their own: those of a sweep's file, and others.
 */
#include "sim/published/parts.h"

#include "core/cli/options.h"
#include "schedules/registry.h"
#include "sim/simgrid/platform_file.h"

#include <string.h>

/* Names that would be opened as files: none is given by a cell. */
static bool is_file(const char *option, const char *value)
{
    if (!strcmp(option, "schedule"))
        return !pp_schedule_find(value);
    if (!strcmp(option, "cluster"))
        return pp_platform_is_file(value);
    return !strcmp(option, "model") && strpbrk(value, "/.") &&
           (strchr(value, '/') || strstr(value, ".json"));
}

/* A sweep calls a model with other sizes "llama2-7b-like". */
static const char *value_of(struct pp_measure_writer *w, const char *option, const char *value)
{
    const size_t length = strlen(value), tail = strlen("-like");

    return !strcmp(option, "model") && length > tail && !strcmp(value + length - tail, "-like")
               ? pp_arena_printf(w->arena, "%.*s", (int)(length - tail), value)
               : value;
}

enum pp_status pp_measure_put_given(struct pp_measure_writer *w, struct pp_error *err)
{
    for (int i = 0; i < w->row->given_count; i++) {
        const char *option = w->row->given[i].option->name;
        const char *value = value_of(w, option, w->row->given[i].value);
        const bool is_flag = w->row->given[i].option->type == PP_OPTION_FLAG;

        if (is_file(option, value))
            return pp_error_set(err, PP_EINVAL,
                                "%s \"%.60s\" is no built-in name, and a cell opens no file",
                                option, value);
        if (!is_flag)
            pp_measure_put(w, option, value);
        else if (pp_measure_matches(value, "=1|=on|=yes|=true"))
            pp_measure_put(w, option, NULL);
    }
    return PP_OK;
}
