/* plots/gnuplot.h — a script through a pipe to gnuplot. */
#pragma once

#include "core/error.h"

#include <stdio.h>

struct pp_gnuplot_run {
    const char *script;
    size_t length;
    const char *folder; /* in which it runs: a relative "set output" leads there */
    FILE *out;          /* gets what it prints on stdout; NULL: nothing */
};
/* PP_EFAIL when gnuplot is not found, cannot be started or fails; the message has its first words.
 * Settings of the user (~/.gnuplot) are left out. SIGPIPE is held back meanwhile. */
enum pp_status pp_gnuplot_run(const struct pp_gnuplot_run *run, struct pp_error *err);
