/* Frames GROUP: meetings of groups, and the pieces that their members exchange. */
#include "exec/tcp/tcp.h"

void pp_tcp_came(const struct pp_worker *w, const struct pp_worker *to, int meeting,
                 const void *piece, size_t bytes)
{
    struct pp_tcp *t = pp_tcp_of(w->machine);
    const struct pp_frame frame = {.kind = PP_FRAME_GROUP,
                                   .worker = w->index,
                                   .id = meeting,
                                   .ps = w->met_ps[meeting % 2],
                                   .bytes = bytes};

    pp_tcp_send_copy(t, pp_tcp_owner(t, to->index), &frame, piece);
}

bool pp_tcp_is_group(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    return pp_tcp_owner(t, f->worker) == process &&
           pp_group_may_come(&t->m->workers[f->worker], f->id);
}

uint64_t pp_tcp_group_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    const uint64_t most = pp_group_room_bytes(t->m);

    return f->bytes > most ? most : f->bytes;
}

bool pp_tcp_take_group(struct pp_tcp *t, const struct pp_arrival *a)
{
    pp_group_came(&t->m->workers[a->frame->worker], a->frame->ps, a->frame->bytes);
    return true;
}
