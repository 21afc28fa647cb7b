/* exec/reference/alarm.h — a watchdog that ends the process if a wait for the device takes longer
 * than the place allows. */
#pragma once

#include "exec/reference/reference.h"

struct pp_alarm;
/* `work`, kept by reference, says what the device does. NULL: no watchdog is needed. Ends with the
 * arena. PP_EFAIL: the system gives no thread. */
enum pp_status pp_alarm_create(struct pp_arena *arena, const struct pp_place *place,
                               const char *work, struct pp_alarm **alarm, struct pp_error *err);
/* Called before a wait and after it; accepts NULL. */
void pp_alarm_switch(struct pp_alarm *alarm);
