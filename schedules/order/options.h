/* schedules/order/options.h — options that single schedules declare: a row in the schedule's file
 * gives name, values and help to every command line. A schedule lists its rows in `.options`; the
 * value of row i is shape->option[i]. */
#pragma once

#include "core/error.h"
#include "schedules/program/shape.h"

struct pp_schedule_option {
    const char *name;    /* without dashes: "group" */
    const char *choices; /* "direct|doubling": the value is an index; NULL = a whole number */
    int min, max;        /* of a number; the command line takes at most PP_OPTION_BIG */
    int neutral;         /* value if none is given */
    const char *argument, *default_text, *help; /* as in struct pp_option */
    const char *const *aliases;
    const char *after;   /* option after which help lists it; NULL = "splits" */
    bool is_explained;   /* reports mark a value that was not given, and explain the default */
    bool goes_with_file; /* accepted with a program file, on which it has no effect */
};

/* Rows that several schedules have, and their index in the tables of these schedules. */
enum { PP_GROUP_AT = 0, PP_LIMIT_AT = 0 };
extern const struct pp_schedule_option pp_group_option; /* --group, of interleaved schedules */
extern const struct pp_schedule_option pp_limit_option; /* --max-activations, of searching ones */

struct pp_schedule;
/* Index of the option of this name in the schedule's table; -1 if none or `schedule` is NULL. */
int pp_schedule_option_at(const struct pp_schedule *schedule, const char *name);
/* Returns the value of the option of this name; 0 if the schedule does not have it. */
int pp_schedule_option_value(const struct pp_schedule *schedule, const struct pp_shape *shape,
                             const char *name);
/* Sets options that are 0 to their neutral values. */
void pp_schedule_option_defaults(const struct pp_schedule *schedule, struct pp_shape *shape);
/* Refuses values out of range: PP_EINVAL. */
enum pp_status pp_schedule_option_check(const struct pp_schedule *schedule,
                                        const struct pp_shape *shape, struct pp_error *err);
