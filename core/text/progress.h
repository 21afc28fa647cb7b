/* core/text/progress.h — how far a long run has come. One line on stderr, if that is a
 * terminal, at most five times a second. It begins after a second. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pp_progress {
    double started_s; /* 0: not yet */
    double shown_s;
    int64_t done_before; /* what was done when the run began */
    int columns;         /* of the line on the screen; 0: none */
};
/* Called every now and then; `frac` of the work is done. */
void pp_progress_show(struct pp_progress *progress, const char *what, double frac);
/* The same in numbers: "[ 312/540] 57 points/s, 4 s left", `unit` "points". The first call, before
 * the work, tells what an earlier run has done: speed and time left are those of this one. */
void pp_progress_count(struct pp_progress *progress, int64_t done, int64_t total, const char *unit);
/* Take the line away, before anything else is written to the terminal. */
void pp_progress_clear(struct pp_progress *progress);

/* The line of pp_progress_count(): `elapsed_s` after `done_before` of `total`. Cut to fit `bytes`.
 */
struct pp_progress_state {
    int64_t done_before, done, total;
    double elapsed_s;
    const char *unit;
};
const char *pp_progress_text(const struct pp_progress_state *state, char *text, size_t bytes);
