/* Several schedules, ranked. */
#include "sim/report.h"

#include "core/units.h"
#include "sim/report_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB (1024.0 * 1024.0 * 1024.0)

static double score(const struct pp_result *r)
{
    return r->config.is_unit ? r->metrics.bubble_frac
                             : r->metrics.iteration_s / (double)r->config.layout.gbs;
}

/* Fits before not, refused last; the order given breaks ties, so the table is stable. */
static int by_score(const void *a, const void *b)
{
    const struct pp_result *const *x = a, *const *y = b;
    const int x_class = (*x)->status != PP_OK ? 2 : !(*x)->config.is_unit && !(*x)->fits;
    const int y_class = (*y)->status != PP_OK ? 2 : !(*y)->config.is_unit && !(*y)->fits;

    if (x_class != y_class)
        return x_class - y_class;
    if (x_class < 2 && score(*x) != score(*y))
        return score(*x) < score(*y) ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static void print_refused(const struct pp_result *r, FILE *out)
{
    const char *reason = r->error.message;

    fprintf(out, "       %-18s refused: %.*s\n", r->config.schedule_name,
            (int)strcspn(reason, "\n"), reason);
}

static double most_activations(const struct pp_result *r)
{
    double most = 0;

    for (int i = 0; i < r->program->ranks; i++)
        most = fmax(most, r->memory[i].peak_activations);
    return most;
}

static void print_row(const struct pp_result *r, const struct pp_result *first, int rank, FILE *out)
{
    char time[PP_TEXT_BYTES], versus[32] = "-";
    const double gain = score(r) / score(first) - 1;

    pp_text_time(&r->config, r->metrics.iteration_s, time);
    if (r->config.is_unit) {
        fprintf(out, "  %2d   %-18s%4d%14s%9.2f %%%9.2f %%%12g\n", rank, r->config.schedule_name,
                r->config.shape.chunks, time, 100 * r->metrics.bubble_frac,
                100 * r->metrics.span_bubble_frac, most_activations(r));
        return;
    }
    if (r != first)
        snprintf(versus, sizeof(versus), fabs(gain) < PP_TIE_FRAC ? "tie" : "%+.1f %%", 100 * gain);
    fprintf(out, "  %2d   %-18s%4d%11s%9.1f %%%8.1f %%%10.1f   %s\n", rank, r->config.schedule_name,
            r->config.layout.vp, time, 100 * r->mfu, 100 * r->metrics.bubble_frac,
            r->memory[r->peak_rank].peak_bytes / GIB, r->fits ? versus : "does not fit");
}

const struct pp_result **pp_report_rank(struct pp_arena *arena, const struct pp_result *results,
                                        int count)
{
    const struct pp_result **rows = PP_ARRAY(arena, const struct pp_result *, count + 1);

    for (int i = 0; i < count; i++)
        rows[i] = &results[i];
    qsort(rows, (size_t)count, sizeof(*rows), by_score);
    return rows;
}

void pp_report_table(const struct pp_result *results, int count, struct pp_terminal terminal,
                     FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result **rows = pp_report_rank(arena, results, count);
    const struct pp_config *c = &rows[0]->config;
    char number[PP_UNITS_TEXT_BYTES];

    (void)terminal;
    if (rows[0]->status != PP_OK)
        fprintf(out, "pipesim %s  no schedule accepts this\n\n", PP_VERSION);
    else if (c->is_unit)
        fprintf(out,
                "pipesim %s  %d schedules, %d ranks, %d micro-batches, F %g B %g C %g\n\n"
                "   #   %-18s%4s%14s%11s%11s%12s\n",
                PP_VERSION, count, c->shape.ranks, c->shape.micro_batches, c->unit.f, c->unit.b,
                c->unit.c, "schedule", "VP", "step", "bubble", "span form", "peak activ.");
    else
        fprintf(out,
                "pipesim %s  %d schedules, %s on %s GPUs of %s\n"
                "  TP %d x PP %d x DP %d, MBS %d, %d micro-batches, ZeRO %d, recompute %s; costs "
                "%s, %scalibrated\n\n"
                "   #   %-18s%4s%11s%11s%10s%10s   vs 1 (tie: within %g %%)\n",
                PP_VERSION, count, c->model.name, pp_units_print_count(c->layout.gpus, number),
                c->cluster.name, c->layout.tp, c->layout.pp, c->layout.dp, c->layout.mbs,
                c->layout.micro_batches, c->zero, pp_recompute_names[c->recompute],
                rows[0]->costs->origin, rows[0]->costs->is_calibrated ? "" : "not ", "schedule",
                "VP", "iteration", "MFU", "bubble", "peak GiB", 100 * PP_TIE_FRAC);
    for (int i = 0; i < count; i++) {
        if (rows[i]->status == PP_OK)
            print_row(rows[i], rows[0], i + 1, out);
        else
            print_refused(rows[i], out);
    }
}
