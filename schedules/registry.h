/* schedules/registry.h — all schedules, and how to find one by its name. */
#pragma once

#include "schedules/order/schedule.h"

extern const struct pp_schedule *const pp_schedules[]; /* alphabetical, NULL-terminated */
const char *pp_schedule_name(int i);                   /* of the i-th; NULL after the last */
/* The i-th of the options that schedules declare, each once; NULL after the last. */
const struct pp_schedule_option *pp_schedule_option(int i);
/* The one of this name, or NULL. */
const struct pp_schedule_option *pp_schedule_option_find(const char *name);
/* Case, dashes and underscores do not matter; aliases count. NULL when unknown. */
const struct pp_schedule *pp_schedule_find(const char *name);
/* The nearest name for "did you mean", or NULL. */
const char *pp_schedule_suggest(const char *name);
/* Append to the message of an unknown schedule the nearest name, else all without their aliases.
 * Returns err->status. */
enum pp_status pp_schedule_unknown(struct pp_error *err, const char *name);
