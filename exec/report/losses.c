/* Losses of training and validation. */
#include "exec/report/report.h"

#include <math.h>
#include <string.h>

enum { MAX_CURVE = 40, LOSSES_IN_ASCII = 6 };

/* Appends a mark for each of at most MAX_CURVE stretches of steps. */
static void append_curve(char *text, size_t used, const double *losses, int steps, int width)
{
    static const char *const MARKS[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                        "\u2585", "\u2586", "\u2587", "\u2588"};
    const int most = width < 1 ? 1 : width < MAX_CURVE ? width : MAX_CURVE;
    const int columns = steps < most ? steps : most;
    double low = losses[0], high = losses[0];

    for (int i = 1; i < steps; i++) {
        low = fmin(low, losses[i]);
        high = fmax(high, losses[i]);
    }
    for (int c = 0; c < columns; c++) {
        const double loss = losses[(int64_t)c * (steps - 1) / (columns > 1 ? columns - 1 : 1)];
        const int level = high > low ? (int)lround(7 * (loss - low) / (high - low)) : 0;
        used = pp_exec_append(text, used, "%s", MARKS[level]);
    }
}

void pp_exec_report_losses(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const double *losses = run->result.losses;
    const int steps = run->result.steps_done;
    const int shown = steps < LOSSES_IN_ASCII ? steps : LOSSES_IN_ASCII;
    char text[PP_EXEC_TEXT_BYTES], number[32];
    size_t used;

    if (page->terminal.has_utf8 && steps > 1) {
        used = pp_exec_append(text, 0, "%.4f -> %.4f  ", losses[0], losses[steps - 1]);
        snprintf(number, sizeof(number), "%d steps", steps);
        append_curve(text, used, losses, steps,
                     page->terminal.width - PP_EXEC_LABEL - (int)used - 2 - (int)strlen(number));
        pp_exec_line(page, "loss", "%s  %s", text, number);
        return;
    }
    used = 0;
    for (int i = 0; i < shown; i++)
        used = pp_exec_append(text, used, "%s%.4f", i ? " " : "",
                              losses[(int64_t)i * (steps - 1) / (shown > 1 ? shown - 1 : 1)]);
    pp_exec_append(text, used, " in %d step%s", steps, steps == 1 ? "" : "s");
    pp_exec_paragraph(page, "loss", "%s", text);
}

void pp_exec_report_valid(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_training *t = &run->training;
    const struct pp_training_result *r = &run->result;
    const int last = r->steps_done - 1;
    const int64_t samples = (int64_t)t->valid_steps * pp_batch_samples(&run->plan.batch);
    char text[PP_EXEC_TEXT_BYTES], number[PP_UNITS_TEXT_BYTES];
    size_t used = 0;
    int first = 0;

    if (!t->valid)
        return;
    while (isnan(r->valid_losses[first])) /* the last one is there */
        first++;
    if (first < last)
        used = pp_exec_append(text, 0, "%.4f -> ", r->valid_losses[first]);
    pp_exec_append(text, used, "%.4f on %s~sample%s of %s", r->valid_losses[last],
                   pp_units_print_count(samples, number), samples == 1 ? "" : "s", t->valid->name);
    pp_exec_paragraph(page, "validation", "%s", text);
}
