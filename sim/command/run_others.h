/* sim/command/run_others.h — runs of other schedules at the layout of a run. */
#pragma once

#include "sim/cli/wish.h"
#include "sim/report/text.h"
#include "sim/resolve/resolve.h"
#include "sim/run/simulate.h"

/* Resolves a subject at the layout of `base`, settles the choices of the tool, and finds makespan
 * and memory. `result` keeps why it is refused. */
void pp_run_like(struct pp_arena *arena, const struct pp_wish *wish,
                 const struct pp_subject *subject, const struct pp_config *base,
                 struct pp_result *result);
/* Finds the figures of a run that generates. */
enum pp_status pp_run_tokens(struct pp_arena *arena, struct pp_result *result,
                             struct pp_error *err);
/* Simulates a result of pp_run_like() to a depth, unless it is refused. */
void pp_run_complete(struct pp_arena *arena, enum pp_depth depth, struct pp_result *result);
/* Simulates the best other schedules of the registry. If several replicas of the run share links,
 * all are compared without contention, so the run is simulated again as `alone`. `others` is empty
 * if nothing can be compared, or the user wants nothing. Errors: of the run alone. */
enum pp_status pp_run_compare(struct pp_arena *arena, const struct pp_wish *wish,
                              const struct pp_result *result, struct pp_result *alone,
                              struct pp_others *others, struct pp_error *err);
