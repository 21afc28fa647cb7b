/* exec/host/alarm.h — a watchdog thread: if a device call does not return within the timeout, it
 * ends the process, because the waiting thread cannot be woken. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

struct pp_alarm;
struct pp_alarm_options {
    const char *what; /* the subject of the message */
    double timeout_s; /* of what is under way without end; 0: never */
    /* Called by the watchdog thread: ends the process. NULL: never. */
    void (*on_stuck)(void *closure, const struct pp_error *err);
    void *closure;
};
/* PP_EFAIL where the system gives no thread. Ends with the arena. */
enum pp_status pp_alarm_create(struct pp_arena *arena, const struct pp_alarm_options *options,
                               struct pp_alarm **alarm, struct pp_error *err);
/* By the thread that waits; NULL: no watchdog. */
void pp_alarm_begin(struct pp_alarm *alarm);
void pp_alarm_end(struct pp_alarm *alarm);
