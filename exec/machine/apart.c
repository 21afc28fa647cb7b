/* Groups whose workers share no memory. A worker that comes to a meeting sends each other one the
 * piece of its part that this one reads, as a copy. There is room for the pieces of two meetings. A
 * worker comes to the next meeting but one only after all others have come to the next. A large sum
 * takes two meetings. */
#include "exec/machine/parts.h"

struct pp_inbox {
    size_t room_bytes;
    char *pieces;    /* [2][members][room_bytes] */
    uint64_t *bytes; /* [2][members] that have come */
    atomic_int came; /* meetings of this step to which the worker of this process has come */
};

/* ---- memory ---------------------------------------------------------------------------------- */

size_t pp_inbox_bytes(const struct pp_machine *m)
{
    return m->inbox ? 2 * (size_t)pp_group_size(m) * m->inbox->room_bytes : 0;
}

/* Each process has one worker of a group at most. */
void pp_inbox_make(struct pp_machine *m)
{
    size_t most_bytes = 0;

    if (pp_group_size(m) == 1 || !m->transport->came)
        return;
    for (int k = 0; k < pp_group_size(m) * m->p->stages; k++) {
        const size_t bytes = pp_stage_most_piece_bytes(m->options.stages[k], m->options.kernels);
        most_bytes = bytes > most_bytes ? bytes : most_bytes;
    }
    m->inbox = PP_NEW(m->arena, struct pp_inbox);
    m->inbox->room_bytes = pp_whole_lines(most_bytes);
    m->inbox->pieces = pp_arena_alloc_raw(m->arena, pp_inbox_bytes(m) + 1);
    m->inbox->bytes = PP_ARRAY(m->arena, uint64_t, 2 * pp_group_size(m));
}

static size_t room_of(const struct pp_machine *m, int meeting, int member)
{
    return (size_t)(meeting % 2 * pp_group_size(m) + member);
}

void pp_inbox_begin(struct pp_machine *m)
{
    if (!m->inbox)
        return;
    atomic_store(&m->inbox->came, 0);
    for (int k = 0; k < m->worker_count; k++) {
        struct pp_meeting_point *point = &m->meeting_points[pp_group_of(&m->workers[k])];

        m->workers[k].meets = 0;
        atomic_store(&point->here[0], 0);
        atomic_store(&point->here[1], 0);
    }
}

int pp_inbox_rounds(const struct pp_machine *m)
{
    return m->transport->came && m->tp > 2 ? PP_ROUNDS : 1;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Number of a worker of the group in an exchange of this one; -1: it has no part in it. */
static int member_at(const struct pp_worker *w, const struct pp_group_exchange *e, int t)
{
    const int ep = w->machine->ep,
              member = pp_group_exchange_among(e) == PP_AMONG_EP ? t % ep : t / ep;

    return pp_group_of_member(w, e, member) == t ? member : -1;
}

/* Returns what member `to` of an exchange reads of member `from`. */
static struct pp_piece piece_of(const struct pp_machine *m, const struct pp_group_exchange *e,
                                int from, int to)
{
    return pp_group_exchange_piece(m->options.kernels, e, pp_group_members(m, e), from, to);
}

/* Members of an exchange get a piece, all others of the group a frame without bytes. */
void pp_inbox_tell(const struct pp_worker *w, int meeting, const struct pp_group_exchange *e)
{
    const struct pp_machine *m = w->machine;
    const int own = pp_group_index(w);

    atomic_store(&m->inbox->came, meeting + 1);
    for (int t = 0; t < pp_group_size(m); t++) {
        const int to = e ? member_at(w, e, t) : -1;
        const struct pp_piece piece =
            to >= 0 ? piece_of(m, e, member_at(w, e, own), to) : (struct pp_piece){0};

        if (t != own)
            m->transport->came(w, pp_group_peer(w, t), meeting,
                               e ? (const char *)e->from + piece.offset : NULL, piece.bytes);
    }
}

static bool refuse(const struct pp_worker *w, int member, uint64_t bytes, size_t wanted_bytes)
{
    struct pp_error err = {0};

    pp_error_set(&err, PP_EFAIL,
                 "step %d, rank %d: member %d of its group has sent %llu bytes for an exchange of "
                 "%llu; is it of another version?",
                 w->machine->step + 1, w->rank, member, (unsigned long long)bytes,
                 (unsigned long long)wanted_bytes);
    pp_machine_fail(w->machine, &err);
    return false;
}

bool pp_inbox_read(const struct pp_worker *w, int meeting, const struct pp_group_exchange *e,
                   const void **from)
{
    const struct pp_machine *m = w->machine;
    const struct pp_inbox *inbox = m->inbox;
    const int own = member_at(w, e, pp_group_index(w));

    for (int k = 0; k < pp_group_members(m, e); k++) {
        const struct pp_piece piece = piece_of(m, e, k, own);
        const int member = pp_group_of_member(w, e, k);
        const size_t room = room_of(m, meeting, member);

        if (k == own)
            continue;
        if (inbox->bytes[room] != piece.bytes)
            return refuse(w, member, inbox->bytes[room], piece.bytes);
        /* the address at which the whole part would begin */
        from[k] =
            (const void *)((uintptr_t)(inbox->pieces + room * inbox->room_bytes) - piece.offset);
    }
    return true;
}

/* ---- for transports -------------------------------------------------------------------------- */

bool pp_group_may_come(const struct pp_worker *w, int meeting)
{
    const struct pp_machine *m = w->machine;

    if (!m->inbox || m->own_worker >= m->worker_count || !pp_is_elsewhere(m, w))
        return false;
    const struct pp_worker *own = &m->workers[m->own_worker];
    return pp_group_peer(own, pp_group_index(w)) == w && meeting == w->meets &&
           meeting <= atomic_load(&m->inbox->came) &&
           meeting < m->meeting_points[pp_group_of(w)].most;
}

uint64_t pp_group_room_bytes(const struct pp_machine *m)
{
    return m->inbox->room_bytes;
}

char *pp_group_room(const struct pp_worker *w, int meeting)
{
    const struct pp_inbox *inbox = w->machine->inbox;

    return inbox->pieces + room_of(w->machine, meeting, pp_group_index(w)) * inbox->room_bytes;
}

void pp_group_came(struct pp_worker *w, int64_t came_ps, uint64_t bytes)
{
    const int meeting = w->meets++;

    w->machine->inbox->bytes[room_of(w->machine, meeting, pp_group_index(w))] = bytes;
    w->met_ps[meeting % 2] = came_ps;
    pp_group_come(w, meeting);
}
