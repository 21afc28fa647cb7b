/* sim/page/run.h — a run, or several, as a page: the same figures as in the other reports. */
#ifndef PP_SIM_PAGE_RUN_H
#define PP_SIM_PAGE_RUN_H

#include "sim/page/page.h"
#include "sim/report/report.h"

struct pp_page_runs {
    const struct pp_result *results; /* of several, those refused too */
    int count;
    const struct pp_others *others; /* of one run: the same layout under other schedules */
};
/* `runs` is a struct pp_page_runs. */
enum pp_status pp_page_runs(struct pp_arena *arena, const struct pp_page *page, const void *runs,
                            struct pp_error *err);

#endif
