/* sim/page/compare.h — a prediction held against a measurement, as a page. */
#ifndef PP_SIM_PAGE_COMPARE_H
#define PP_SIM_PAGE_COMPARE_H

#include "sim/page/page.h"

/* `report` is a struct pp_compare_report. */
enum pp_status pp_page_compare(struct pp_arena *arena, const struct pp_page *page,
                               const void *report, struct pp_error *err);

#endif
