/* sim/command/plan_part.h — parts of pipesim plan that its files share; private to the folder. */
#pragma once

#include "sim/cli/stdout.h"
#include "sim/emit/emit.h"
#include "sim/plan/search.h"
#include "sim/plan/state.h"

/* Outputs of the plan. */
struct pp_plan_answer {
    enum pp_stdout owner;
    const struct pp_emit_tool *tool; /* NULL: no --emit */
    const char *path;                /* of the table; NULL = no table */
};
enum pp_status pp_plan_open_answer(struct pp_arena *arena, const struct pp_wish *wish,
                                   struct pp_plan_answer *answer, struct pp_error *err);
/* Writes the files of a tool for the best choice; PP_EINVAL if it is NULL. */
enum pp_status pp_plan_emit(struct pp_arena *arena, const struct pp_emit_tool *tool,
                            const struct pp_config *best, const char *remark, FILE *out,
                            struct pp_error *err);
/* Writes all choices as rows, of `search` if it is given, else of `planner`. */
enum pp_status pp_plan_write_rows(struct pp_arena *arena, const struct pp_search *search,
                                  const struct pp_state_plan *planner, const char *path,
                                  struct pp_error *err);

/* Makes the planner of one layout: its base and its free knobs. Sets defaults of `wish`. */
enum pp_status pp_plan_open_one(struct pp_arena *arena, struct pp_wish *wish,
                                struct pp_state_plan *planner, struct pp_error *err);
/* Plans one layout, or finds the most layers with which it fits, and prints the answer. */
enum pp_status pp_plan_one(struct pp_arena *arena, struct pp_wish *wish, FILE *out,
                           struct pp_error *err);
enum pp_status pp_plan_largest(struct pp_arena *arena, struct pp_wish *wish, FILE *out,
                               struct pp_error *err);
