#include "plots/timeline/compare_traces.h"

#include <string.h>

enum pp_status pp_plot_compare(struct pp_arena *arena, const struct pp_trace *predicted,
                               const struct pp_trace *measured,
                               const struct pp_compare_options *options,
                               struct pp_comparison *comparison, struct pp_error *err)
{
    const enum pp_status status = pp_compare(arena, predicted, measured, options, comparison, err);
    char *hint = status != PP_OK && err ? strstr(err->message, "; --allow-different") : NULL;

    if (hint)
        *hint = '\0';
    return status;
}
