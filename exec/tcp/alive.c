/* Signs of life of processes, and who gives none. A stopped process keeps its connections. */
#include "core/clock.h"
#include "exec/tcp/tcp.h"

#include <math.h>

static const double ALIVE_S = 0.25, MOST_S = 1; /* one look counts as at most MOST_S */
static const double LEAST_S = 1; /* of silence: signs of life come every ALIVE_S, or a bit later */
static const double SILENT_FRAC = 0.5; /* of --timeout, after which a process counts as silent */
enum { FIRST_S = 60 }; /* for the first byte: process 0 may prepare longer than others */

/* Process 0 tells the others, and they tell it. */
void pp_tcp_tell_alive(struct pp_tcp *t)
{
    const struct pp_frame alive = {.kind = PP_FRAME_ALIVE,
                                   .flags = atomic_load(&t->asked_all.is_open)};
    const double now_s = pp_clock_s();
    const int first = t->process == 0, until = t->process == 0 ? t->processes : 1;

    if (now_s < t->alive_s + ALIVE_S)
        return;
    t->alive_s = now_s;
    for (int process = first; process < until; process++)
        if (pp_tcp_is_open(&t->links[process]) && !pp_tcp_first(t, &t->links[process]))
            pp_tcp_send(t, process, &alive, NULL, NULL, NULL);
}

void pp_tcp_count_silence(struct pp_tcp *t)
{
    const double passed_s = pp_clock_passed_s(&t->heard_s, MOST_S);

    for (int process = 0; process < t->processes; process++)
        t->links[process].silent_s = t->links[process].silent_s + passed_s;
}

void pp_tcp_tell_process(const struct pp_tcp *t, int process, struct pp_error *err)
{
    pp_error_append(err, "its process ");
    if (t->links[process].pid > 0)
        pp_error_append(err, "%lld ", (long long)t->links[process].pid);
    pp_error_append(err, "at %s", t->names[process]);
}

/* Signs of life come even if its worker and its device hang. */
bool pp_tcp_tell_silent(const struct pp_worker *w, struct pp_error *err)
{
    const struct pp_tcp *t = pp_tcp_of(w->machine);
    const int process = pp_tcp_owner(t, w->index);
    const double silent_s = t->links[process].silent_s;

    if (t->process > 0 || process == 0 ||
        silent_s < fmax(LEAST_S, SILENT_FRAC * t->m->options.timeout_s))
        return false;
    pp_tcp_tell_process(t, process, err);
    pp_error_append(err, " has said nothing for %.1f s: it is stopped, or its host hangs",
                    silent_s);
    return true;
}

/* Process 0 watches all others. They watch it: its kernel answers even if it is stopped. */
bool pp_tcp_is_first_silent(struct pp_tcp *t)
{
    const double most_s = fmax(t->m->options.timeout_s, LEAST_S), silent_s = t->links[0].silent_s;
    struct pp_error err = {0};

    if (t->process == 0 || t->m->options.timeout_s <= 0 || !pp_tcp_is_open(&t->links[0]) ||
        atomic_load(&t->is_quitting) ||
        silent_s < (t->has_heard || most_s > FIRST_S ? most_s : FIRST_S))
        return false;
    pp_error_set(&err, PP_EFAIL,
                 "step %d: process 0 at %s has said nothing for %.1f s (--timeout): it is stopped, "
                 "or its host hangs",
                 t->m->step + 1, t->names[0], silent_s);
    pp_machine_fail(t->m, &err);
    return true;
}
