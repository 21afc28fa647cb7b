/* Cuts the chart to a part of the time of a trace. */
#include "plots/timeline/parts.h"

#include <math.h>

static void cut_boxes(struct pp_timeline *t, double from_s, double to_s)
{
    int kept = 0;

    for (int r = 0; r < t->ranks; r++) {
        const int begin = t->begin[r], end = t->begin[r + 1];
        t->begin[r] = kept;
        for (int i = begin; i < end; i++) {
            struct pp_timeline_box box = t->boxes[i];
            if (box.end_s <= from_s || box.start_s >= to_s)
                continue;
            box.start_s -= from_s;
            box.end_s -= from_s;
            t->boxes[kept++] = box;
        }
    }
    t->begin[t->ranks] = kept;
    t->count = kept;
}

static void cut_copies(struct pp_timeline *t, double from_s, double to_s)
{
    int kept = 0;

    for (int i = 0; i < t->copy_count; i++) {
        struct pp_timeline_copy copy = t->copies[i];
        if (copy.end_s <= from_s || copy.start_s >= to_s)
            continue;
        copy.start_s -= from_s;
        copy.end_s -= from_s;
        t->copies[kept++] = copy;
    }
    t->copy_count = kept;
}

enum pp_status pp_gantt_choose_time(struct pp_gantt *g, const struct pp_plot_timeline *options,
                                    struct pp_error *err)
{
    struct pp_timeline *t = &g->timeline;
    const double from_s = isnan(options->from_s) ? 0 : options->from_s,
                 to_s = isnan(options->to_s) ? t->end_s : fmin(options->to_s, t->end_s);

    if (!(to_s > from_s) || pp_trace_ps(to_s - from_s) == 0)
        return pp_timeline_refuse_time(t, from_s, to_s, g->is_unit ? "units" : "s", err);
    g->is_part = from_s > 0 || to_s < t->end_s;
    if (!g->is_part)
        return PP_OK;
    g->from_s = from_s;
    cut_boxes(t, from_s, to_s);
    cut_copies(t, from_s, to_s);
    for (int i = 0; i < t->step_count; i++)
        t->steps[i].end_s -= from_s;
    t->end_s = to_s - from_s;
    return PP_OK;
}
