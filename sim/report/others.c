/* The same layout under other schedules, as a table of the report. */
#include "core/units.h"
#include "schedules/program/whole.h"
#include "sim/report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_OTHERS = 4, WIDTH = 80, MOST_NAMES = 22, NAME = 16 };

static int by_iteration(const void *a, const void *b)
{
    const struct pp_result *const *x = a, *const *y = b;

    if ((*x)->fits != (*y)->fits)
        return (*x)->fits ? -1 : 1;
    return (*x)->metrics.iteration_s < (*y)->metrics.iteration_s ? -1 : 1;
}

/* Is true if no figure tells the runs apart: mostly their schedules make the same program. */
static bool are_twins(const struct pp_result *x, const struct pp_result *y)
{
    return x->metrics.iteration_s == y->metrics.iteration_s &&
           x->metrics.bubble_frac == y->metrics.bubble_frac &&
           x->memory[x->peak_rank].peak_bytes == y->memory[y->peak_rank].peak_bytes;
}

enum { TIME_END = 35 }; /* column of the step's end */

/* `twins`: schedules that share the row, or "". */
static void print_other(const struct pp_result *r, const struct pp_result *you, const char *twins,
                        FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char figure[PP_TEXT_BYTES], versus[32];
    const double gain = r->metrics.iteration_s / you->metrics.iteration_s - 1;

    if (r == you)
        snprintf(versus, sizeof(versus), "this run");
    else if (fabs(gain) < PP_TIE_FRAC)
        snprintf(versus, sizeof(versus), "tie");
    else
        snprintf(versus, sizeof(versus), "%+.1f %% time", 100 * gain);
    char vp[16] = "";
    if (r->config.layout.vp > 1)
        snprintf(vp, sizeof(vp), " VP %d", r->config.layout.vp);
    const char *recompute = pp_config_is_same_recompute(&r->config, &you->config) ? "" : " rec.";
    const char *name = pp_text_short(arena, r->config.schedule_name, NAME);
    const bool is_short = snprintf(figure, sizeof(figure), "%s%s%s%s%s", name, *twins ? ", " : "",
                                   twins, vp, recompute) <= MOST_NAMES ||
                          !*twins;
    if (!is_short)
        snprintf(figure, sizeof(figure), "%s%s%s", name, vp, recompute);
    char time[PP_TEXT_BYTES], mfu[PP_TEXT_BYTES];
    int column = fprintf(out, "    %-22s ", figure);
    column += fprintf(out, "%*s%9s%8.1f %%%9.1f   ", column < TIME_END ? TIME_END - column : 0,
                      pp_text_time(&r->config, r->metrics.iteration_s, time), pp_text_mfu(r, mfu),
                      100 * r->metrics.bubble_frac, r->memory[r->peak_rank].peak_bytes / PP_GIB);
    snprintf(figure, sizeof(figure), "%s%s%s", r->fits ? versus : "out of memory",
             is_short ? "" : "; same:~", is_short ? "" : twins);
    pp_text_wrap(out, WIDTH, column, 6, figure);
}

/* Moves the twins of rows[at] out of the rows after it; returns their names, "zbv, v-half". */
static const char *take_twins(struct pp_arena *arena, const struct pp_result **rows, int at,
                              int *count)
{
    const char *names = "";
    int kept = at + 1;

    for (int i = at + 1; i < *count; i++)
        if (are_twins(rows[at], rows[i]))
            names = pp_arena_printf(arena, "%s%s%s", names, *names ? ", " : "",
                                    rows[i]->config.schedule_name);
        else
            rows[kept++] = rows[i];
    *count = kept;
    return names;
}

void pp_report_others(const struct pp_others *others, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result *rows[64], *r = others->reference;
    int used = 0;

    rows[used++] = r;
    for (int i = 0; i < others->count && used < 64; i++)
        if (others->list[i].status == PP_OK)
            rows[used++] = &others->list[i];
    if (others->is_too_large)
        fprintf(out, "\n  same layout             no others, %lld instructions: --schedule a,b\n",
                (long long)pp_program_whole_size(r->program));
    if (used == 1)
        return;
    qsort(rows, (size_t)used, sizeof(*rows), by_iteration);
    for (int i = used - 1; i > 0; i--) /* the run itself stands for its twins */
        if (rows[i] == r && are_twins(rows[i - 1], r)) {
            rows[i] = rows[i - 1];
            rows[i - 1] = r;
        }
    fprintf(out, "\n  %-24s%9s%9s%10s%9s   tie: < %g %%\n",
            others->is_contention_free ? "same layout (dag)" : "same layout", "iteration", "MFU",
            "bubble", "GiB", 100 * PP_TIE_FRAC);
    for (int i = 0; i < used; i++) {
        const char *twins = take_twins(arena, rows, i, &used);
        if (i < MAX_OTHERS || rows[i] == r)
            print_other(rows[i], r, twins, out);
    }
}
