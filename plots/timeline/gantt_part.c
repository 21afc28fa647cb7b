/* A part of a trace: some ranks, some of the time. */
#include "plots/timeline/parts.h"

#include <math.h>

enum pp_status pp_gantt_choose_ranks(struct pp_gantt *g, const struct pp_gantt_options *options,
                                     struct pp_error *err)
{
    const int ranks = g->timeline.ranks, first = options->first_rank;

    if (first < 0 || first >= ranks || options->ranks < 0 || options->ranks > ranks - first)
        return pp_error_set(err, PP_EINVAL, "%s: ranks %d to %d: it has 0 to %d",
                            g->timeline.trace->program, first,
                            options->ranks > 0 ? first + options->ranks - 1 : first, ranks - 1);
    g->first_rank = first;
    g->end_rank = options->ranks > 0 ? first + options->ranks : ranks;
    return PP_OK;
}

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

enum pp_status pp_gantt_choose_time(struct pp_gantt *g, const struct pp_gantt_options *options,
                                    struct pp_error *err)
{
    struct pp_timeline *t = &g->timeline;
    const double from_s = options->from_s,
                 to_s = options->to_s > 0 ? fmin(options->to_s, t->end_s) : t->end_s;

    if (!(to_s > from_s) || pp_gantt_ps(to_s - from_s) == 0)
        return pp_timeline_refuse_time(t, from_s, to_s, g->is_unit ? "units" : "s", err);
    g->is_part = from_s > 0 || to_s < t->end_s;
    if (!g->is_part)
        return PP_OK;
    g->from_s = from_s;
    cut_boxes(t, from_s, to_s);
    for (int i = 0; i < t->step_count; i++)
        t->steps[i].end_s -= from_s;
    t->end_s = to_s - from_s;
    return PP_OK;
}
