/* sim/page/plans.h — the pages of both kinds of plans. Everything in the arena; the plans are kept
 * by reference. `rows` are those that the report in text has. */
#ifndef PP_SIM_PAGE_PLANS_H
#define PP_SIM_PAGE_PLANS_H

#include "sim/page/plan.h"

struct pp_search;
struct pp_state_plan;
struct pp_page_plan pp_page_of_search(struct pp_arena *arena, const struct pp_search *search,
                                      int rows);
struct pp_page_plan pp_page_of_planner(struct pp_arena *arena, const struct pp_state_plan *planner,
                                       int rows);

#endif
