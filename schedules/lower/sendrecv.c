/* Sends and receives: writes the messages of the compute order, posted by a policy, into the lists.
 *
 * A unit is one op or an overlapped pair. Between two units are, in this order: the SENDs of the
 * unit before, RECVs, WAITs for received messages, WAITs for SENDs. A pair's WAITs are before both
 * of its ops, its SENDs after both. */
#include "schedules/lower/lists.h"
#include "schedules/lower/messages.h"

#include <string.h>

/* Channels by their source: channels[begin[rank]] .. channels[begin[rank + 1] - 1]. */
struct outgoing {
    int32_t *begin, *channels;
};

static struct outgoing sort_channels(struct pp_arena *arena, const struct pp_messages *m)
{
    struct outgoing out = {.begin = PP_ARRAY(arena, int32_t, m->head->ranks + 2),
                           .channels = PP_ARRAY(arena, int32_t, m->channel_count)};

    /* begin[rank + 2] first counts, then begin[rank + 1] is the place of the next one */
    for (int32_t c = 0; c < m->channel_count; c++)
        out.begin[m->channels[c].source + 2]++;
    for (int rank = 0; rank < m->head->ranks; rank++)
        out.begin[rank + 2] += out.begin[rank + 1];
    for (int32_t c = 0; c < m->channel_count; c++)
        out.channels[out.begin[m->channels[c].source + 1]++] = c;
    return out;
}

/* ---- end of a SEND --------------------------------------------------------------------------
 *
 * A message from the receiver proves that a SEND is over, if the receiver waited for the SEND's
 * data before it sent the message. The sender has this proof after its WAIT for the message.
 * `seen` lists, per peer of one rank, the WAITs of the rank for messages from the peer. Each entry
 * has the latest unit of the peer that is proved to be past its WAITs. */

struct seen {
    int32_t unit;  /* unit of this rank after the WAIT */
    int32_t until; /* the peer has sent after this unit of its own, past its WAITs */
};
struct seen_peers {
    struct seen *seen;       /* [messages to the rank] */
    int32_t *begin, *filled; /* [ranks] part of a peer in `seen`; valid by `owner` */
    int32_t *owner;          /* [ranks] 0 = unused, 1 + rank = counting, -(1 + rank) = both valid */
};

static void gather_seen(const struct pp_messages *m, int rank, struct seen_peers *peers)
{
    const int32_t *in = m->in + m->in_begin[rank];
    const int32_t count = m->in_begin[rank + 1] - m->in_begin[rank];
    int32_t begin = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < count; i++) {
            const struct pp_message *message = &m->messages[in[i]];
            const int peer = m->channels[message->channel].source;

            if (pass == 0) { /* sizes first; `filled` counts down to the begin later */
                if (peers->owner[peer] != rank + 1)
                    peers->filled[peer] = 0;
                peers->owner[peer] = rank + 1;
                peers->filled[peer]++;
                continue;
            }
            if (peers->owner[peer] == rank + 1) { /* first message of the peer: makes its part */
                peers->owner[peer] = -(rank + 1);
                peers->begin[peer] = begin;
                begin += peers->filled[peer];
                peers->filled[peer] = peers->begin[peer];
            }
            const int32_t at = peers->filled[peer]++;
            const int32_t before = at > peers->begin[peer] ? peers->seen[at - 1].until : -1;
            peers->seen[at] =
                (struct seen){.unit = message->wait,
                              .until = message->produced > before ? message->produced : before};
        }
}

/* Returns the first WAIT in `seen` that proves `consumed`, from `hint` on if that is consistent. */
static int32_t find_seen(const struct seen *seen, int32_t count, int32_t hint, int32_t consumed)
{
    int32_t low = 0, high = count;

    if (hint < count && seen[hint].until >= consumed &&
        (hint == 0 || seen[hint - 1].until < consumed))
        return hint;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;

        if (seen[middle].until >= consumed)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void settle_channel(struct pp_messages *m, const struct pp_channel *channel,
                           const struct seen_peers *peers)
{
    const int peer = channel->dest, rank = channel->source;
    const bool is_heard = peers->owner[peer] == -(rank + 1);
    const struct seen *seen = peers->seen + (is_heard ? peers->begin[peer] : 0);
    const int32_t count = is_heard ? peers->filled[peer] - peers->begin[peer] : 0;
    const int32_t units = m->units[rank].count;
    int32_t at = 0;

    for (int32_t id = channel->first; id < channel->first + channel->count; id++) {
        struct pp_message *message = &m->messages[id];

        at = find_seen(seen, count, at, message->consumed);
        message->done = at < count ? seen[at].unit : units;
        if (message->done <= message->produced) /* an impossible order, which verify explains */
            message->done = units;
        at++;
    }
}

static void settle_sends(struct pp_arena *arena, struct pp_messages *m, const struct outgoing *out)
{
    const int ranks = m->head->ranks;
    struct seen_peers peers = {
        .seen = pp_arena_alloc_raw(arena, sizeof(struct seen) * (size_t)m->message_count),
        .begin = PP_ARRAY(arena, int32_t, ranks),
        .filled = PP_ARRAY(arena, int32_t, ranks),
        .owner = PP_ARRAY(arena, int32_t, ranks)};

    for (int rank = 0; rank < ranks; rank++) {
        gather_seen(m, rank, &peers);
        for (int32_t k = out->begin[rank]; k < out->begin[rank + 1]; k++)
            settle_channel(m, &m->channels[out->channels[k]], &peers);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

struct writer {
    const struct pp_messages *m;
    int rank;
    bool has_parts; /* gradients leave for another tier */
    struct pp_op *ops;
    int32_t count;
    const int32_t *posts, *waits; /* of the rank, by ascending `post` and `wait` */
    int32_t post, wait, in_count;
    const int32_t *open, *open_begin; /* [unit] SENDs with a WAIT before it */
};

/* Appends the SEND or RECV of a message. Fields are written in place: copies of a whole op, which
 * has unions, would wait for its parts to be stored. */
static struct pp_op *write_post(struct writer *w, int32_t id, bool is_recv)
{
    const struct pp_message *message = &w->m->messages[id];
    const struct pp_channel *channel = &w->m->channels[message->channel];
    const bool is_forward = channel->kind == PP_SEND_F;
    const int step = is_forward ? 1 : -1;
    struct pp_op *op = &w->ops[w->count++];

    *op = (struct pp_op){.kind = is_recv ? (is_forward ? PP_RECV_F : PP_RECV_B) : channel->kind,
                         .stage = (uint16_t)(message->stage + (is_recv ? step : 0)),
                         .pipe = channel->pipe,
                         .mb = message->mb,
                         .split = message->split,
                         .granules = message->granules,
                         .peer = is_recv ? channel->source : channel->dest,
                         .arg = id,
                         .slot = -1};
    return op;
}

static void write_wait(struct writer *w, int32_t id, bool is_recv)
{
    struct pp_op *op = write_post(w, id, is_recv);

    op->aux = op->kind;
    op->kind = PP_WAIT;
    op->peer = 0;
    op->arg = -1;
}

static void write_before(struct writer *w, int32_t unit)
{
    const struct pp_message *messages = w->m->messages;

    for (; w->post < w->in_count && messages[w->posts[w->post]].post == unit; w->post++)
        write_post(w, w->posts[w->post], true);
    for (; w->wait < w->in_count && messages[w->waits[w->wait]].wait == unit; w->wait++)
        write_wait(w, w->waits[w->wait], true);
    for (int32_t i = w->open_begin[unit]; i < w->open_begin[unit + 1]; i++)
        write_wait(w, w->open[i], false);
}

static void write_send(struct writer *w, const struct pp_op *op)
{
    const int32_t id = pp_message_output(w->m, op);

    if (id >= 0)
        write_post(w, id, false);
}

static void write_unit(struct writer *w, int32_t unit)
{
    const struct pp_op *first = pp_unit_op(w->m, w->rank, unit, 0);
    const struct pp_op *second = pp_unit_op(w->m, w->rank, unit, 1);

    w->ops[w->count++] = *first;
    if (second)
        w->ops[w->count++] = *second;
    write_send(w, first);
    if (second)
        write_send(w, second);
}

/* Messages from a rank, sorted by the unit after their WAIT: a counting sort. */
struct open_sends {
    int32_t *begin, *ids;
};
static void sort_open_sends(const struct pp_messages *m, int rank, const struct outgoing *out,
                            struct open_sends *open)
{
    const int32_t units = m->units[rank].count;

    memset(open->begin, 0, sizeof(int32_t) * ((size_t)units + 3));
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = out->begin[rank]; k < out->begin[rank + 1]; k++) {
            const struct pp_channel *channel = &m->channels[out->channels[k]];

            for (int32_t id = channel->first; id < channel->first + channel->count; id++) {
                int32_t *place = &open->begin[m->messages[id].done + (pass ? 1 : 2)];

                if (pass)
                    open->ids[*place] = id;
                ++*place;
            }
        }
        for (int32_t u = 0; !pass && u <= units + 1; u++)
            open->begin[u + 1] += open->begin[u];
    }
}

/* Returns the first unit of the tail: only updates, WAITs and collectives follow. */
static int32_t tail_of(const struct pp_messages *m, int rank)
{
    int32_t unit = m->units[rank].count;

    while (unit > 0) {
        const struct pp_op *op = pp_unit_op(m, rank, unit - 1, 0);

        if (op->kind != PP_U && op->kind != PP_WAIT && !pp_op_is_collective(op->kind))
            break;
        unit--;
    }
    return unit;
}

static void write_rank(struct pp_arena *arena, struct pp_messages *m, struct writer *w,
                       struct pp_orders *lists)
{
    const int32_t units = m->units[w->rank].count, tail = tail_of(m, w->rank);
    const int32_t out_count = w->open_begin[units + 1];
    /* Room for later passes, so that they need not copy the list: gradients leave it often. */
    const int spare = w->has_parts ? 64 + lists->count[w->rank] : 64;
    const size_t capacity = (size_t)lists->count[w->rank] + 2 * (size_t)w->in_count +
                            2 * (size_t)out_count + (size_t)spare;

    w->ops = pp_arena_alloc_raw(arena, sizeof(struct pp_op) * capacity);
    w->count = w->post = w->wait = 0;
    for (int32_t unit = 0; unit < units; unit++) {
        write_before(w, unit);
        if (unit == tail)
            write_before(w, units);
        write_unit(w, unit);
    }
    if (tail == units)
        write_before(w, units);
    lists->ops[w->rank] = w->ops;
    lists->count[w->rank] = w->count;
    lists->capacity[w->rank] = (int)capacity;
}

/* Writes the lists, in `arena`. */
static void write_lists(struct pp_arena *arena, struct pp_arena *scratch, struct pp_messages *m,
                        const struct outgoing *out, bool is_batched, bool has_parts,
                        struct pp_orders *lists)
{
    const int ranks = m->head->ranks;
    int32_t longest = 0;
    struct open_sends open;

    for (int rank = 0; rank < ranks; rank++)
        longest = m->units[rank].count > longest ? m->units[rank].count : longest;
    open.begin = PP_ARRAY(scratch, int32_t, longest + 3);
    open.ids = pp_arena_alloc_raw(scratch, sizeof(int32_t) * (size_t)m->message_count);
    for (int rank = 0; rank < ranks; rank++) {
        sort_open_sends(m, rank, out, &open);
        struct writer w = {.m = m,
                           .rank = rank,
                           .has_parts = has_parts,
                           .posts = m->posts + m->in_begin[rank],
                           .waits = (is_batched ? m->posts : m->in) + m->in_begin[rank],
                           .in_count = m->in_begin[rank + 1] - m->in_begin[rank],
                           .open = open.ids,
                           .open_begin = open.begin};
        write_rank(arena, m, &w, lists);
    }
}

static bool is_message(const struct pp_op *op)
{
    return pp_op_is_send(op->kind) || pp_op_is_recv(op->kind);
}

enum pp_status pp_lower_sendrecv(const struct pp_lowering *l)
{
    const struct pp_lower_options *options = l->options;
    struct pp_messages *m;

    if (pp_lists_any(l->lists, is_message))
        return PP_OK;
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    PP_TRY(pp_messages_build(scratch, l->head, l->lists, &m, l->err));
    PP_TRY(pp_postings[options->post](scratch, m, options->recv_slots, l->err));
    const struct outgoing out = sort_channels(scratch, m);
    const bool is_batched = options->post == PP_POST_BATCHED;
    if (!is_batched && l->head->mode == PP_MODE_INFER)
        pp_messages_settle_forwards(scratch, m, options->recv_slots);
    else if (!is_batched)
        settle_sends(scratch, m, &out);
    write_lists(l->arena, scratch, m, &out, is_batched,
                pp_state_is_away(&options->state, PP_STATE_GRADS), l->lists);
    return PP_OK;
}
