/* plots/timeline/gantt.h — a timeline in characters: a row per rank, a column per time unit. */
#pragma once

#include "core/text/terminal.h"
#include "traces/trace.h"

#include <stdbool.h>
#include <stdio.h>

struct pp_gantt_options {
    bool is_unit; /* seconds of the trace are units */
    int granules; /* ids that a micro-batch counts for; 0 = the trace does not say, taken as 1 */
    int replica;  /* the one drawn */
    int first_rank, ranks; /* those drawn; ranks 0 = from the first one on */
    double from_s, to_s;   /* the time drawn, to_s 0 = until the end */
};

/* Wide charts are cropped with a "… N more" marker, and shown whole in little. PP_EINVAL as
 * pp_timeline_make() has it and where a part is asked for that is not there; then nothing is
 * printed. */
enum pp_status pp_gantt_print(const struct pp_trace *trace, const struct pp_gantt_options *options,
                              struct pp_terminal terminal, FILE *out, struct pp_error *err);
