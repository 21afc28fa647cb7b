/* A watchdog thread for a device that hangs: the thread that waits for it cannot be woken. */
#include "exec/reference/alarm.h"

#include "core/clock.h"
#include "exec/host/futex.h"

#include <pthread.h>

enum { TICK_NS = 20 * 1000 * 1000 };
static const double MOST_S = 5e-9 * TICK_NS; /* a busy machine wakes the thread late */

struct pp_alarm {
    struct pp_place place;
    const char *work;
    pthread_t thread;
    atomic_uint changes; /* number of begins and ends: odd during a wait */
    atomic_bool is_over;
};

static void ring(const struct pp_alarm *a, double idle_s)
{
    struct pp_error err = {0};

    pp_error_set(&err, PP_EFAIL, "backend %s, in %s, has made no progress for %.1f s (--timeout)",
                 a->place.backend->name, a->work, idle_s);
    a->place.on_stuck(a->place.stuck_closure, &err);
}

static void *watch(void *alarm)
{
    struct pp_alarm *a = alarm;
    double now_s = pp_clock_s(), idle_s = 0;

    for (unsigned seen = 0; !atomic_load(&a->is_over);) {
        const unsigned changes = atomic_load(&a->changes);

        idle_s = changes == seen && changes % 2 == 1 ? idle_s : 0;
        seen = changes;
        pp_futex_wait(&a->changes, seen, seen % 2 == 1 ? TICK_NS : -1);
        idle_s += pp_clock_passed_s(&now_s, MOST_S);
        if (seen % 2 == 1 && atomic_load(&a->changes) == seen && idle_s >= a->place.timeout_s)
            ring(a, idle_s);
    }
    return NULL;
}

static void destroy(void *alarm)
{
    struct pp_alarm *a = alarm;

    atomic_store(&a->is_over, true);
    pp_futex_change(&a->changes);
    pthread_join(a->thread, NULL);
}

enum pp_status pp_alarm_create(struct pp_arena *arena, const struct pp_place *place,
                               const char *work, struct pp_alarm **alarm, struct pp_error *err)
{
    struct pp_alarm *a = PP_NEW(arena, struct pp_alarm);

    *alarm = NULL;
    a->place = *place;
    a->work = work;
    if (place->backend->is_immediate || !(place->timeout_s > 0) || !place->on_stuck)
        return PP_OK;
    if (pthread_create(&a->thread, NULL, watch, a) != 0)
        return pp_error_set(err, PP_EFAIL, "cannot start the thread that looks after backend %s",
                            place->backend->name);
    pp_arena_defer(arena, destroy, a);
    *alarm = a;
    return PP_OK;
}

void pp_alarm_switch(struct pp_alarm *alarm)
{
    if (alarm)
        pp_futex_change(&alarm->changes);
}
