/* exec/host/alarm.h — a watchdog thread: ends the process if a device call does not return within
 * the timeout, as the waiting thread cannot be woken. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

struct pp_alarm;
struct pp_alarm_options {
    const char *what; /* subject of the message */
    double timeout_s; /* limit of a wait; 0: none */
    /* Called by the watchdog thread; ends the process. NULL: no watchdog. */
    void (*on_stuck)(void *closure, const struct pp_error *err);
    void *closure;
};
/* PP_EFAIL if the system gives no thread. Ends with the arena. */
enum pp_status pp_alarm_create(struct pp_arena *arena, const struct pp_alarm_options *options,
                               struct pp_alarm **alarm, struct pp_error *err);
/* Called by the waiting thread; NULL: no watchdog. */
void pp_alarm_begin(struct pp_alarm *alarm);
void pp_alarm_end(struct pp_alarm *alarm);
