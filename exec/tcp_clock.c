/* The clocks of other hosts against that of the first process. */
#include "exec/tcp.h"

#include <stdlib.h>
#include <string.h>

enum { PINGS = 32 };

/* ---- node 0 ---------------------------------------------------------------------------------*/

/* Of several answers the one that came soonest says most (Cristian 1989). */
static enum pp_status ask_clock(struct pp_tcp *t, int node, struct pp_error *err)
{
    t->error_ps = INT64_MAX;
    for (int k = 0; k < PINGS; k++) {
        const struct pp_frame ping = {.kind = PP_FRAME_PING, .id = k};

        t->asked_ps = pp_wall_ps();
        pp_tcp_expect(t, PP_FRAME_PING, node);
        pp_tcp_send(t, node, &ping, NULL, NULL, NULL);
        PP_TRY(pp_tcp_await(t, 1, err));
    }
    return PP_OK;
}

enum pp_status pp_tcp_align_clocks(struct pp_tcp *t, struct pp_error *err)
{
    for (int node = 1; node < t->nodes; node++) {
        struct pp_frame offset = {.kind = PP_FRAME_OFFSET};

        PP_TRY(ask_clock(t, node, err));
        offset.ps = t->offset_ps;
        if (t->error_ps > t->m->clock_error_ps)
            t->m->clock_error_ps = t->error_ps;
        pp_tcp_send(t, node, &offset, NULL, NULL, NULL);
    }
    return PP_OK;
}

/* ---- frames ---------------------------------------------------------------------------------*/

static bool tell_clock(struct pp_tcp *t, const struct pp_frame *frame)
{
    const int64_t now_ps = pp_wall_ps();
    struct pp_frame back = *frame;
    char *copy = malloc(sizeof(now_ps));

    back.bytes = sizeof(now_ps);
    if (copy)
        memcpy(copy, &now_ps, sizeof(now_ps));
    pp_tcp_send_owned(t, 0, &back, copy);
    return true;
}

/* There: the clock of this host. Back: half of the way is behind it, as far as anybody can tell. */
bool pp_tcp_take_ping(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    const int64_t now_ps = pp_wall_ps();
    int64_t there_ps;

    if (t->node != 0)
        return tell_clock(t, frame);
    memcpy(&there_ps, payload, sizeof(there_ps));
    if (!pp_tcp_is_answer(t, node, frame) || there_ps < 0)
        return false;
    const int64_t round_ps = now_ps - t->asked_ps;
    if (round_ps / 2 < t->error_ps) {
        t->error_ps = round_ps / 2;
        t->offset_ps = t->asked_ps + round_ps / 2 - there_ps;
    }
    pp_tcp_count_answer(t);
    return true;
}

bool pp_tcp_take_offset(struct pp_tcp *t, int node, const struct pp_frame *frame, char *payload)
{
    (void)node;
    (void)payload;
    t->m->clock_offset_ps = frame->ps;
    return true;
}
