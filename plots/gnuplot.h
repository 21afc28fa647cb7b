/* plots/gnuplot.h — a script through a pipe to gnuplot. */
#pragma once

#include "core/error.h"

#include <stdio.h>

struct pp_gnuplot_run {
    const char *script;
    size_t length;
    const char *folder; /* working folder: a relative "set output" is relative to it */
    FILE *out;          /* receives the stdout of gnuplot; NULL: nothing */
};
/* Runs gnuplot without the user's settings (~/.gnuplot). PP_EFAIL if it is not found, cannot be
 * started or fails; the message has its first words. Ignores SIGPIPE while it writes the script. */
enum pp_status pp_gnuplot_run(const struct pp_gnuplot_run *run, struct pp_error *err);
