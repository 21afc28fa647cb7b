/* A line of progress on a terminal. */
#include "core/text/progress.h"

#include "core/clock.h"
#include "core/text/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const double PATIENCE_S = 1, PERIOD_S = 0.2;
enum { LINE_BYTES = 128 };

/* Is true if stderr is a terminal, and a line is due. The first call begins the run. */
static bool is_due(struct pp_progress *progress, double now, int64_t done)
{
    if (progress->started_s == 0) {
        progress->started_s = now;
        progress->done_before = done;
    }
    return now - progress->started_s >= PATIENCE_S && now - progress->shown_s >= PERIOD_S &&
           isatty(STDERR_FILENO);
}

/* One column stays free: a full line would scroll on some terminals. */
static int room(void)
{
    const int width = pp_terminal_detect("never", stderr).width;

    return width < LINE_BYTES ? width - 1 : LINE_BYTES - 1;
}

/* Overwrites the former line and blanks its rest. */
static void put(struct pp_progress *progress, double now, const char *text)
{
    const int before = progress->columns;

    progress->columns = fprintf(stderr, "\r%.*s", room(), text) - 1;
    if (before > progress->columns)
        fprintf(stderr, "%*s", before - progress->columns, "");
    fflush(stderr);
    progress->shown_s = now;
}

void pp_progress_show(struct pp_progress *progress, const char *what, double frac)
{
    const double now = pp_clock_s();
    char text[LINE_BYTES];

    if (!is_due(progress, now, 0))
        return;
    snprintf(text, sizeof text, "%s: %.0f %%", what, 100 * frac);
    put(progress, now, text);
}

void pp_progress_count(struct pp_progress *progress, int64_t done, int64_t total, const char *unit)
{
    const double now = pp_clock_s();
    char text[LINE_BYTES];

    if (!is_due(progress, now, done))
        return;
    put(progress, now,
        pp_progress_text(&(struct pp_progress_state){.done_before = progress->done_before,
                                                     .done = done,
                                                     .total = total,
                                                     .elapsed_s = now - progress->started_s,
                                                     .unit = unit},
                         text, sizeof text));
}

void pp_progress_clear(struct pp_progress *progress)
{
    if (progress->columns > 0)
        fprintf(stderr, "\r%*s\r", progress->columns, "");
    progress->columns = 0;
}

static void print_left(char *text, size_t bytes, double left_s)
{
    static const double MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400;

    if (left_s < 2 * MINUTE_S)
        snprintf(text, bytes, "%.0f s", left_s);
    else if (left_s < 2 * HOUR_S)
        snprintf(text, bytes, "%.0f min", left_s / MINUTE_S);
    else if (left_s < 2 * DAY_S)
        snprintf(text, bytes, "%.0f h", left_s / HOUR_S);
    else
        snprintf(text, bytes, "%.0f days", left_s / DAY_S);
}

/* Writes "[312/540]", or "[312]" if the total is not known; returns the number of characters. */
static int print_counts(const struct pp_progress_state *state, char *text, size_t bytes)
{
    const int digits = snprintf(NULL, 0, "%" PRId64, state->total);

    return state->total > 0 ? snprintf(text, bytes, "[%*" PRId64 "/%" PRId64 "]", digits,
                                       state->done, state->total)
                            : snprintf(text, bytes, "[%" PRId64 "]", state->done);
}

const char *pp_progress_text(const struct pp_progress_state *state, char *text, size_t bytes)
{
    const double rate = (double)(state->done - state->done_before) / state->elapsed_s;
    char counts[48], left[48], time[64] = "";

    print_counts(state, counts, sizeof counts);
    if (state->done <= state->done_before || !(state->elapsed_s > 0)) {
        snprintf(text, bytes, "%s %s", counts, state->unit);
        return text;
    }
    print_left(left, sizeof left, (double)(state->total - state->done) / rate);
    if (state->total > 0)
        snprintf(time, sizeof time, ", %s left", left);
    snprintf(text, bytes, "%s %.*f %s/s%s", counts,
             rate >= 10  ? 0
             : rate >= 1 ? 1
                         : 2,
             rate, state->unit, time);
    return text;
}
