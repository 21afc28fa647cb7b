/* sim/page/plan.h — a plan as a page: the choices that were simulated and fit, best first. */
#ifndef PP_SIM_PAGE_PLAN_H
#define PP_SIM_PAGE_PLAN_H

#include "sim/page/page.h"

enum { PP_PAGE_CHOICES = 10 };
/* One of them; its figures are "points.INDEX...." of --json. */
struct pp_page_point {
    const char *choices[PP_PAGE_CHOICES]; /* by column */
    double step_s, mfu, peak_bytes;
    bool is_tie; /* with the best */
};
struct pp_page_plan {
    const char *title;
    const char *columns[PP_PAGE_CHOICES]; /* what was free, and how it was settled */
    int column_count;
    const struct pp_page_point *points;
    int count;
    double capacity_bytes;                         /* of a device */
    void (*print)(const void *subject, FILE *out); /* the report in text */
    const void *subject;
};
/* `plan` is a struct pp_page_plan. */
enum pp_status pp_page_plan(struct pp_arena *arena, const struct pp_page *page, const void *plan,
                            struct pp_error *err);

#endif
