/* schedules/registry.h — all schedules, found by index or name. */
#pragma once

#include "schedules/order/schedule.h"

/* Schedules that train, and schedules that generate; alphabetical, NULL-terminated. */
extern const struct pp_schedule *const pp_schedules[], *const pp_generators[];
/* Name of the i-th, those that train first; NULL after the last. */
const char *pp_schedule_name(int i);
/* Returns the i-th option that schedules declare, each counted once; NULL after the last. */
const struct pp_schedule_option *pp_schedule_option(int i);
const struct pp_schedule_option *pp_schedule_option_find(const char *name);
/* Returns the schedule of a name or alias, or NULL. Ignores case, dashes and underscores. */
const struct pp_schedule *pp_schedule_find(const char *name);
/* Returns the nearest name for "did you mean", or NULL. */
const char *pp_schedule_suggest(const char *name);
/* Appends the nearest name, else all names without aliases, to an error. Returns err->status. */
enum pp_status pp_schedule_unknown(struct pp_error *err, const char *name);
