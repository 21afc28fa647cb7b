/* core/text/progress.h — progress of a long run: one line on stderr, if that is a terminal, after a
 * second and at most five times a second. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pp_progress {
    double started_s; /* 0 = not yet */
    double shown_s;
    int64_t done_before; /* of earlier runs */
    int columns;         /* of the line on the screen; 0 = none */
};
/* Shows that `frac` of the work is done; called every now and then. */
void pp_progress_show(struct pp_progress *progress, const char *what, double frac);
/* Shows numbers: "[ 312/540] 57 points/s, 4 s left", `unit` "points". The first call, before the
 * work, gives what an earlier run has done; speed and time left are those of this run. Without a
 * known total, 0, the line is "[312] 57 points/s". */
void pp_progress_count(struct pp_progress *progress, int64_t done, int64_t total, const char *unit);
/* Removes the line, before other output to the terminal. */
void pp_progress_clear(struct pp_progress *progress);

/* Line of pp_progress_count() `elapsed_s` after `done_before`, cut to fit `bytes`. */
struct pp_progress_state {
    int64_t done_before, done, total;
    double elapsed_s;
    const char *unit;
};
const char *pp_progress_text(const struct pp_progress_state *state, char *text, size_t bytes);
