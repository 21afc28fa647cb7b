/* A thread that watches the workers of a step and never waits for them. Every few milliseconds it
 * checks for dead workers and for progress: each worker publishes its current instruction. */
#include "core/clock.h"
#include "exec/host/futex.h"
#include "exec/worker/worker.h"

enum { TICK_NS = 20 * 1000 * 1000 };
static const double GRACE_S = 1, /* for workers to leave a failed step, at most */
    GRACE_FRAC = 0.75,           /* the same as a share of --timeout */
    MOST_S = 5e-9 * TICK_NS;     /* one tick counts as at most five */

struct sight { /* state at the last tick */
    double now_s, passed_s;
    unsigned round;
    int64_t moves, passed;
    double idle_s;   /* since the last progress */
    double failed_s; /* since the step has failed, with workers still in it */
};

/* On an asynchronous backend, work may still run when all workers have walked their lists. A member
 * process does not know the progress of other processes. */
static bool is_step_under_way(struct pp_machine *m)
{
    return atomic_load(&m->running) > 0 ||
           (!m->backend->is_immediate && atomic_load(&m->walking) > 0 && !pp_machine_is_member(m));
}

/* Progress of all workers and of devices elsewhere; only grows within a step. */
static int64_t count_moves(const struct pp_machine *m)
{
    int64_t moves = 0;

    for (int k = 0; k < m->worker_count; k++)
        moves += atomic_load_explicit(&m->workers[k].at, memory_order_relaxed) +
                 atomic_load_explicit(&m->workers[k].passed, memory_order_relaxed);
    return moves;
}

/* True if a worker or a device has made progress. Asks the device only if no worker has moved. */
static bool has_progress(struct pp_machine *m, struct sight *sight)
{
    const unsigned round = atomic_load(&m->round);
    const int64_t moves = count_moves(m);
    const bool have_moved = round != sight->round || moves != sight->moves;
    const int64_t passed = have_moved ? 0 : pp_machine_passed(m);
    const bool has_passed = passed != sight->passed;

    sight->round = round;
    sight->moves = moves;
    sight->passed = passed;
    return have_moved || has_passed;
}

/* A dead worker does not decrement the counter, so this wakes the caller. */
static void end_all(struct pp_machine *m, const struct pp_error *err)
{
    m->gone = *err;
    pp_machine_fail(m, err);
    m->are_gone = true;
    pp_futex_wake(&m->running);
}

/* A thread cannot be ended from outside; only its whole process can. */
static bool is_walking_here(struct pp_machine *m)
{
    return !m->transport->is_shared && atomic_load(&m->walking) > 0;
}

static double grace_s(const struct pp_machine *m)
{
    const double s = GRACE_FRAC * m->options.timeout_s;

    return s > 0 && s < GRACE_S ? s : GRACE_S;
}

static void look_after_failed(struct pp_machine *m, struct sight *sight)
{
    sight->failed_s += sight->passed_s;
    if (sight->failed_s < grace_s(m))
        return;
    if (m->options.on_stuck && is_walking_here(m))
        m->options.on_stuck(m->options.stuck_closure, m->has_failed ? &m->error : &m->gone);
    if (!m->are_gone && m->transport->kill) {
        m->transport->kill(m);
        end_all(m, &m->error);
    }
}

static void look_for_progress(struct pp_machine *m, struct sight *sight)
{
    struct pp_error err = {0};

    sight->idle_s = has_progress(m, sight) ? 0 : sight->idle_s + sight->passed_s;
    if (m->options.timeout_s > 0 && sight->idle_s >= m->options.timeout_s) {
        pp_stall_describe(m, sight->idle_s, &err);
        pp_machine_fail(m, &err);
    }
}

static void tick(struct pp_machine *m, struct sight *sight)
{
    struct pp_error err = {0};

    if (m->are_gone)
        m->backend->cancel(m->device); /* once more: a step may have begun since */
    else if (m->transport->check && m->transport->check(m, &err) != PP_OK)
        end_all(m, &err);
    else if (is_step_under_way(m) && !m->has_failed)
        look_for_progress(m, sight);
    if ((m->has_failed || m->are_gone) && (is_step_under_way(m) || is_walking_here(m)))
        look_after_failed(m, sight);
}

static void *watch(void *argument)
{
    struct pp_machine *m = argument;
    struct sight sight = {.now_s = pp_clock_s()};

    while (atomic_load(&m->is_watched)) {
        pp_futex_wait(&m->is_watched, 1, TICK_NS);
        sight.passed_s = pp_clock_passed_s(&sight.now_s, MOST_S); /* a busy machine wakes it late */
        if (atomic_load(&m->is_watched))
            tick(m, &sight);
    }
    return NULL;
}

enum pp_status pp_watchdog_start(struct pp_machine *m, struct pp_error *err)
{
    atomic_store(&m->is_watched, 1);
    if (pthread_create(&m->watchdog, NULL, watch, m) == 0)
        return PP_OK;
    atomic_store(&m->is_watched, 0);
    return pp_error_set(err, PP_EFAIL, "cannot start the watchdog thread");
}

void pp_watchdog_stop(struct pp_machine *m)
{
    if (atomic_exchange(&m->is_watched, 0) == 0)
        return;
    pp_futex_wake(&m->is_watched);
    pthread_join(m->watchdog, NULL);
}
