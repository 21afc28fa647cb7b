/* Compares the clocks of other hosts with that of process 0. */
#include "exec/tcp/tcp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PINGS = 32 };

/* Two clocks drift apart by slewing, at most 500 ppm each (adjtimex(2)); more is a jump. */
static const double DRIFT_FRAC = 1e-3;
/* Least pause between two comparisons, and least multiple of their duration. */
static const int64_t PAUSE_PS = 1000000000000, PAUSE_TIMES = 50;

/* ---- process 0 ----------------------------------------------------------------------------------
 */

/* The fastest of several answers is the most exact (Cristian 1989). */
static enum pp_status ask_clock(struct pp_tcp *t, int process, struct pp_error *err)
{
    t->asked_clock = (struct pp_tcp_clock){.error_ps = INT64_MAX, .is_known = true};
    for (int k = 0; k < PINGS; k++) {
        const struct pp_frame ping = {.kind = PP_FRAME_PING, .id = k};

        t->asked_ps = pp_own_ps(t->m);
        pp_tcp_expect(t, PP_FRAME_PING, process);
        pp_tcp_send(t, process, &ping, NULL, NULL, NULL);
        PP_TRY(pp_tcp_await(t, 1, err));
    }
    return PP_OK;
}

/* True if two comparisons differ by more than drift and errors. */
static bool has_jumped(const struct pp_tcp_clock *before, const struct pp_tcp_clock *now)
{
    const int64_t moved_ps = llabs(now->offset_ps - before->offset_ps);
    const double passed_ps = (double)llabs(now->at_ps - before->at_ps);

    return (double)moved_ps >
           DRIFT_FRAC * passed_ps + (double)before->error_ps + (double)now->error_ps;
}

static void note_jump(struct pp_machine *m, const struct pp_worker *w, int64_t ahead_ps)
{
    const double ahead_s = 1e-12 * (double)ahead_ps;

    if (fabs(ahead_s) > fabs(m->clock.jump_s))
        m->clock = (struct pp_machine_clock){m->clock.error_s, ahead_s, w->rank, w->replica,
                                             m->steps_done > 0 ? m->step + 1 : m->step};
}

/* Notes the error of stamps since the last comparison: the drift of the clocks plus the error of
 * this comparison. True: one of the clocks has jumped. */
static bool compare(struct pp_tcp *t, int process, const struct pp_tcp_clock *before)
{
    const struct pp_tcp_clock *now = &t->clocks[process];
    const int64_t parted_ps = before->is_known ? llabs(now->offset_ps - before->offset_ps) : 0;
    const double error_s = 1e-12 * (double)(parted_ps + now->error_ps);

    if (error_s > t->m->clock.error_s)
        t->m->clock.error_s = error_s;
    return before->is_known && has_jumped(before, now);
}

/* If all others have jumped, it was process 0. With one other this is unknown; it is blamed. */
static void blame(struct pp_tcp *t, const int64_t *jump_ps)
{
    int count = 0;

    for (int process = 1; process < t->processes; process++)
        count += jump_ps[process] != 0;
    const bool is_first = count == t->processes - 1 && count > 1 && t->first_owner == 0;
    for (int process = 1; process < t->processes; process++)
        if (jump_ps[process] != 0)
            note_jump(t->m, &t->m->workers[is_first ? 0 : process - t->first_owner],
                      is_first ? -jump_ps[process] : jump_ps[process]);
}

enum pp_status pp_tcp_align_clocks(struct pp_tcp *t, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    int64_t *jump_ps = PP_ARRAY(arena, int64_t, t->processes);
    const int64_t began_ps = pp_wall_ps();

    for (int process = 1; process < t->processes; process++) {
        const struct pp_tcp_clock before = t->clocks[process];
        struct pp_frame offset = {.kind = PP_FRAME_OFFSET};

        PP_TRY(ask_clock(t, process, err));
        t->clocks[process] = t->asked_clock;
        offset.ps = t->asked_clock.offset_ps;
        pp_tcp_send(t, process, &offset, NULL, NULL, NULL);
        if (compare(t, process, &before))
            jump_ps[process] =
                before.offset_ps - offset.ps; /* a clock ahead has the smaller offset */
    }
    blame(t, jump_ps);
    t->aligned_ps = pp_wall_ps();
    t->aligning_ps = t->aligned_ps - began_ps;
    return PP_OK;
}

enum pp_status pp_tcp_align(struct pp_machine *m, bool is_last, struct pp_error *err)
{
    struct pp_tcp *t = pp_tcp_of(m);
    const int64_t passed_ps = pp_wall_ps() - t->aligned_ps;

    if (t->process > 0 || pp_is_virtual(m) ||
        (!is_last && (passed_ps < PAUSE_PS || passed_ps < PAUSE_TIMES * t->aligning_ps)))
        return PP_OK;
    return pp_tcp_align_clocks(t, err);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool tell_clock(struct pp_tcp *t, const struct pp_frame *frame)
{
    const int64_t now_ps = pp_own_ps(t->m);
    struct pp_frame back = *frame;

    back.bytes = sizeof(now_ps);
    pp_tcp_send_copy(t, 0, &back, &now_ps);
    return true;
}

/* Process > 0 answers with its clock. Process 0 estimates that an answer is half a round trip old.
 */
bool pp_tcp_take_ping(struct pp_tcp *t, const struct pp_arrival *a)
{
    const int64_t now_ps = pp_own_ps(t->m);
    struct pp_tcp_clock *clock = &t->asked_clock;
    int64_t there_ps;

    if (t->process != 0)
        return tell_clock(t, a->frame);
    memcpy(&there_ps, a->payload, sizeof(there_ps));
    if (!pp_tcp_is_answer(t, a) || there_ps < 0 || !pp_tcp_is_time(there_ps))
        return false;
    const int64_t round_ps = now_ps - t->asked_ps;
    if (round_ps / 2 < clock->error_ps) {
        clock->error_ps = round_ps / 2;
        clock->offset_ps = t->asked_ps + round_ps / 2 - there_ps;
        clock->at_ps = now_ps;
    }
    pp_tcp_count_answer(t);
    return true;
}

bool pp_tcp_take_offset(struct pp_tcp *t, const struct pp_arrival *a)
{
    t->m->clock_offset_ps = a->frame->ps;
    return true;
}
