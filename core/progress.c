#include "core/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double PATIENCE_S = 1;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void pp_progress_show(struct pp_progress *progress, const char *what, double frac)
{
    if (progress->started_s == 0)
        progress->started_s = now_s();
    if (now_s() - progress->started_s < PATIENCE_S || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%s: %.0f %%", what, 100 * frac);
    progress->is_shown = true;
}

void pp_progress_clear(struct pp_progress *progress)
{
    if (progress->is_shown)
        fprintf(stderr, "\r%40s\r", "");
    progress->is_shown = false;
}
