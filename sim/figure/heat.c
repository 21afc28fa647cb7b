/* Use of links over time, for the hottest of each class. */
#include "sim/figure/figure.h"

#include "core/cost/measured/file.h"
#include "sim/run/links.h"

#include <math.h>

enum { BINS = 160, MAX_LINKS = 40, MAX_ALIKE = 8, MAX_CANDIDATES = 400 };

/* Is true if two links are busy at the same times, so that one of them is enough. */
static bool is_same(const struct pp_link_row *a, const struct pp_link_row *b)
{
    static const double SAME_FRAC = 1e-3;

    for (int bin = 0; bin < BINS; bin++)
        if (fabs(a->bytes[bin] / a->bytes_per_s - b->bytes[bin] / b->bytes_per_s) >
            SAME_FRAC * fmax(a->bytes[bin] / a->bytes_per_s, b->bytes[bin] / b->bytes_per_s))
            return false;
    return true;
}

/* Keeps links that differ, the hottest of every class in turn. */
static int choose_rows(struct pp_arena *arena, struct pp_link_row *rows, int count)
{
    int different = 0, kept = 0;

    for (int i = 0; i < count; i++) {
        bool is_new = true;
        for (int k = different - 1; k >= 0 && is_new && rows[k].class == rows[i].class; k--)
            is_new = !is_same(&rows[k], &rows[i]);
        if (is_new)
            rows[different++] = rows[i];
    }
    int *class = PP_ARRAY(arena, int, different + 1);
    bool *is_taken = PP_ARRAY(arena, bool, different + 1);
    for (int i = 0; i < different; i++)
        class[i] = rows[i].class;
    pp_links_take_turns(class, different, MAX_LINKS, is_taken);
    for (int i = 0; i < different; i++)
        if (is_taken[i])
            rows[kept++] = rows[i];
    return kept;
}

enum pp_status pp_figure_heat(struct pp_arena *arena, const struct pp_result *r,
                              struct pp_plot_heat *heat, struct pp_error *err)
{
    const struct pp_link_inputs in = pp_link_inputs_of(r);

    if (r->config.cost)
        return pp_error_set(
            err, PP_EINVAL,
            "there are no links with --cost: messages take the times of the channels of %s",
            r->config.cost->path);
    if (!in.network)
        return pp_error_set(err, PP_EINVAL,
                            "there are no links in unit mode: messages take the time C");
    const struct pp_link_choice choice = {BINS, MAX_CANDIDATES, MAX_ALIKE};
    struct pp_link_times times = pp_link_times(arena, &in, r->trace, choice);
    times.count = choose_rows(arena, times.rows, times.count);
    if (times.count == 0)
        return pp_error_set(err, PP_EINVAL, "no link carries anything in this run");
    const char **names = PP_ARRAY(arena, const char *, times.count);
    double *mean_frac = PP_ARRAY(arena, double, times.count);
    double *frac = PP_ARRAY(arena, double, times.count *BINS);
    for (int i = 0; i < times.count; i++) {
        const struct pp_link_row *row = &times.rows[i];
        names[i] = row->name;
        mean_frac[i] = row->mean_frac;
        for (int bin = 0; bin < BINS; bin++)
            frac[i * BINS + bin] = row->bytes[bin] * BINS / (times.end_s * row->bytes_per_s);
    }
    *heat = (struct pp_plot_heat){
        .title = pp_arena_printf(arena, "%s (%s): use of links, the hottest of each class",
                                 r->config.schedule_name, r->config.engine->name),
        .rows = names,
        .mean_frac = mean_frac,
        .frac = frac,
        .row_count = times.count,
        .bins = BINS,
        .end_s = times.end_s};
    return PP_OK;
}
