/* schedules/order/options.h — options that single schedules declare: a row in the schedule's own
 * file gives its name, its values and its help to every command line.
 *
 * A schedule lists its rows in `.options`; the value of row i is shape->option[i]. */
#pragma once

#include "core/error.h"
#include "schedules/program/shape.h"

struct pp_schedule_option {
    const char *name;    /* without dashes: "group" */
    const char *choices; /* "direct|doubling": the value is an index; NULL = a whole number */
    int min, max;        /* of a number; the command line takes at most PP_OPTION_BIG */
    int neutral;         /* the value where none is given */
    const char *argument, *default_text, *help; /* as in struct pp_option */
    const char *const *aliases;
    const char *after;   /* help lists it after the option of this name; NULL = after "splits" */
    bool is_explained;   /* reports mark a value that was not given, and explain the default */
    bool goes_with_file; /* accepted with a program file, on which it has no effect */
};

/* Rows that several schedules have, and where in their tables. */
enum { PP_GROUP_AT = 0, PP_LIMIT_AT = 0 };
extern const struct pp_schedule_option pp_group_option; /* --group, of interleaved schedules */
extern const struct pp_schedule_option pp_limit_option; /* --max-activations, of searching ones */

struct pp_schedule;
/* Index of the option of this name in the schedule's table, or -1. `schedule` NULL has none. */
int pp_schedule_option_at(const struct pp_schedule *schedule, const char *name);
/* The value of an option by its name; 0 for a schedule that does not have it. */
int pp_schedule_option_value(const struct pp_schedule *schedule, const struct pp_shape *shape,
                             const char *name);
/* Options that are 0 become neutral. */
void pp_schedule_option_defaults(const struct pp_schedule *schedule, struct pp_shape *shape);
/* Refuse values out of range: PP_EINVAL. */
enum pp_status pp_schedule_option_check(const struct pp_schedule *schedule,
                                        const struct pp_shape *shape, struct pp_error *err);
