/* Reports as bars of memory and of links. */
#include "plots/memory/report_read.h"

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

    PP_TRY(check_alike(report, err));
    *memory = (struct pp_plot_memory){
        .title = pp_plot_memory_title(arena, is_one ? first->schedule : NULL, first->is_unit),
        .axis = is_one ? "pipeline rank" : "schedule",
        .bars = first->ranks,
        .count = is_one ? first->rank_count : report->count,
        .has_bytes = !first->is_unit,
        .capacity_bytes = first->device_bytes};
    if (is_one)
        return PP_OK;
    memory->bars = PP_ARRAY(arena, struct pp_plot_bar, report->count);
    for (int i = 0; i < report->count; i++) {
        const struct pp_report_run *run = &report->runs[i];
        memory->bars[i] = run->ranks[run->peak_rank];
        memory->bars[i].label = run->schedule;
    }
    return PP_OK;
}

enum pp_status pp_report_links(struct pp_arena *arena, const struct pp_report *report,
                               struct pp_plot_links *links, struct pp_error *err)
{
    const struct pp_report_run *run = &report->runs[0];

    if (report->count > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s: the links of one run are drawn, and there are %d runs",
                            report->name, report->count);
    if (run->link_count == 0)
        return pp_error_set(err, PP_EINVAL, "%s: no link carries anything%s", report->name,
                            run->is_unit ? " in unit mode" : "");
    *links = (struct pp_plot_links){
        .title = pp_arena_printf(arena, "%s (%s): use of links", run->schedule, run->engine),
        .links = run->links,
        .count = run->link_count};
    return PP_OK;
}
