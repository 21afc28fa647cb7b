/* Questions of process 0, which one or all other processes answer. */
#define _GNU_SOURCE /* usleep */
#include "core/clock.h"
#include "exec/host/futex.h"
#include "exec/tcp/tcp.h"

#include <unistd.h>

enum { LOOK_NS = 100 * 1000 * 1000, GRACE_LOOKS = 10, TOLD = 6 };

/* A look counts as at most this long. */
static const double MOST_S = 2e-9 * LOOK_NS;

void pp_tcp_expect(struct pp_tcp *t, enum pp_frame_kind kind, int process)
{
    atomic_store(&t->asked, PP_FRAME_STEP); /* no answer has this kind */
    for (int k = 0; k < t->processes; k++)
        atomic_store(&t->has_answered[k], process != PP_TCP_ALL_NODES && process != k);
    atomic_store(&t->answers, 0);
    atomic_store(&t->asked, kind);
}

struct patience {
    double now_s, idle_s; /* since the last byte was written or read */
    uint_fast64_t moved;
};

static bool is_over(struct pp_tcp *t, struct patience *patience)
{
    const uint_fast64_t moved = atomic_load(&t->moved);

    patience->idle_s += pp_clock_passed_s(&patience->now_s, MOST_S);
    if (moved != patience->moved)
        patience->idle_s = 0;
    patience->moved = moved;
    return t->m->options.timeout_s > 0 && patience->idle_s >= t->m->options.timeout_s;
}

static enum pp_status tell_silent(const struct pp_tcp *t, double idle_s, struct pp_error *err)
{
    int told = 0;

    pp_error_set(err, PP_EFAIL, "step %d: no answer for %.1f s (--timeout) from", t->m->step + 1,
                 idle_s);
    for (int k = 0; k < t->m->worker_count; k++) {
        if (pp_tcp_is_here(t, k) || atomic_load(&t->has_answered[pp_tcp_owner(t, k)]) ||
            told++ >= TOLD)
            continue;
        pp_error_append(err, "\n  ");
        pp_stall_instruction(&t->m->workers[k], err);
        pp_error_append(err, ", ");
        pp_tcp_tell_process(t, pp_tcp_owner(t, k), err);
    }
    if (told > TOLD)
        pp_error_append(err, "\n  and %d more", told - TOLD);
    return PP_EFAIL;
}

/* Waits for the watchdog, which finds out who failed first. */
static enum pp_status tell_why_not(struct pp_tcp *t, struct pp_error *err)
{
    struct pp_machine *m = t->m;

    for (int look = 0; !m->has_failed && look < GRACE_LOOKS; look++)
        usleep(LOOK_NS / 1000);
    pp_error_set(err, PP_EFAIL, "step %d: other processes do not answer", m->step + 1);
    if (!m->has_failed)
        pp_machine_fail(m, err);
    return m->has_failed ? pp_error_set(err, m->error.status, "%s", m->error.message) : err->status;
}

enum pp_status pp_tcp_await(struct pp_tcp *t, int wanted, struct pp_error *err)
{
    struct patience patience = {.now_s = pp_clock_s(), .moved = atomic_load(&t->moved)};

    for (;;) {
        const unsigned seen = atomic_load(&t->changes);

        if (atomic_load(&t->answers) >= wanted)
            return PP_OK;
        if (t->m->has_failed || t->m->are_gone || atomic_load(&t->closed))
            return tell_why_not(t, err);
        if (is_over(t, &patience)) {
            tell_silent(t, patience.idle_s, err);
            pp_machine_fail(t->m, err);
            return PP_EFAIL;
        }
        pp_futex_wait(&t->changes, seen, LOOK_NS);
    }
}

bool pp_tcp_is_expected(struct pp_tcp *t, int process, enum pp_frame_kind kind)
{
    return atomic_load(&t->asked) == (int)kind && !atomic_load(&t->has_answered[process]);
}

bool pp_tcp_is_answer(struct pp_tcp *t, const struct pp_arrival *a)
{
    return atomic_load(&t->asked) == (int)a->frame->kind &&
           !atomic_exchange(&t->has_answered[a->process], true);
}

void pp_tcp_count_answer(struct pp_tcp *t)
{
    atomic_fetch_add(&t->answers, 1);
    pp_futex_change(&t->changes);
}
