#include "plots/memory/report_read.h"

#include <string.h>

static enum pp_status check_alike(const struct pp_report *report, struct pp_error *err)
{
    for (int i = 1; i < report->count; i++)
        if (report->runs[i].is_unit != report->runs[0].is_unit)
            return pp_error_set(err, PP_EINVAL, "%s: runs[%d] is in unit mode and runs[%d] is not",
                                report->name, report->runs[0].is_unit ? 0 : i,
                                report->runs[0].is_unit ? i : 0);
    return PP_OK;
}

enum pp_status pp_report_memory(struct pp_arena *arena, const struct pp_report *report,
                                struct pp_plot_memory *memory, struct pp_error *err)
{
    const struct pp_report_run *first = &report->runs[0];
    const bool is_one = report->count == 1;
    const int bars = is_one ? first->rank_count : report->count;

    PP_TRY(check_alike(report, err));
    const char **labels = PP_ARRAY(arena, const char *, bars);
    double(*bytes)[PP_PLOT_MEMORY_PARTS] = pp_arena_alloc(arena, sizeof(*bytes) * (size_t)bars);
    double *activations = PP_ARRAY(arena, double, bars);
    for (int i = 0; i < bars; i++) {
        const struct pp_report_run *run = is_one ? first : &report->runs[i];
        const struct pp_report_rank *rank = &run->ranks[is_one ? i : run->peak_rank];
        labels[i] = is_one ? pp_arena_printf(arena, "%d", i) : run->schedule;
        memcpy(bytes[i], rank->part_bytes, sizeof(bytes[i]));
        activations[i] = rank->peak_activations;
    }
    *memory = (struct pp_plot_memory){
        .title = is_one ? pp_plot_memory_title(arena, first->schedule, first->is_unit)
                        : pp_plot_memory_title(arena, NULL, first->is_unit),
        .labels = labels,
        .axis = is_one ? "pipeline rank" : "schedule",
        .part_bytes = first->is_unit ? NULL : (const double(*)[PP_PLOT_MEMORY_PARTS])bytes,
        .activations = activations,
        .bars = bars,
        .capacity_bytes = first->device_bytes};
    return PP_OK;
}

enum pp_status pp_report_links(struct pp_arena *arena, const struct pp_report *report,
                               struct pp_plot_links *links, struct pp_error *err)
{
    const struct pp_report_run *run = &report->runs[0];
    const int count = run->link_count;

    if (report->count > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s: the links of one run are drawn, and there are %d runs",
                            report->name, report->count);
    if (count == 0)
        return pp_error_set(err, PP_EINVAL, "%s: no link carries anything%s", report->name,
                            run->is_unit ? " in unit mode" : "");
    const char **names = PP_ARRAY(arena, const char *, count);
    int *members = PP_ARRAY(arena, int, count);
    double *mean_frac = PP_ARRAY(arena, double, count), *max_frac = PP_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) {
        names[i] = run->links[i].name;
        members[i] = run->links[i].count;
        mean_frac[i] = run->links[i].mean_frac;
        max_frac[i] = run->links[i].max_frac;
    }
    *links = (struct pp_plot_links){
        .title = pp_arena_printf(arena, "%s (%s): use of links", run->schedule, run->engine),
        .names = names,
        .members = members,
        .mean_frac = mean_frac,
        .max_frac = max_frac,
        .count = count};
    return PP_OK;
}
