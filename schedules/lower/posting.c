/* Places of RECVs and WAITs: one function per --post policy. For every message it fills the units
 * before which its RECV is posted (`post`) and waited for (`wait`). It fills `posts`, the order of
 * a rank's RECVs. Within a channel every policy keeps the order of sending. */
#include "schedules/lower/messages.h"

#include <limits.h>

struct receiver {
    struct pp_messages *m;
    int rank;
    int32_t filled;    /* next place in m->posts */
    int32_t *posted;   /* [channel] RECVs posted so far */
    int32_t *released; /* [channel] messages consumed for the last time */
};

static void post_next(struct receiver *r, int32_t channel, int32_t unit)
{
    const int32_t id = r->m->channels[channel].first + r->posted[channel]++;

    r->m->messages[id].post = unit;
    r->m->posts[r->filled++] = id;
}

/* Posts `id` and the earlier messages of its channel, unless that has been done. */
static void post_up_to(struct receiver *r, int32_t id, int32_t unit)
{
    const int32_t channel = r->m->messages[id].channel;
    const int32_t sequence = id - r->m->channels[channel].first;

    while (r->posted[channel] <= sequence)
        post_next(r, channel, unit);
}

static void refill(struct receiver *r, int32_t channel, int32_t window, int32_t unit)
{
    while (r->posted[channel] < r->m->channels[channel].count &&
           r->posted[channel] - r->released[channel] < window)
        post_next(r, channel, unit);
}

static struct receiver receiver_of(struct pp_arena *arena, struct pp_messages *m)
{
    return (struct receiver){.m = m,
                             .posted = PP_ARRAY(arena, int32_t, m->channel_count),
                             .released = PP_ARRAY(arena, int32_t, m->channel_count)};
}

/* Posts more RECVs for every message that unit `u` reads for the last time. */
static void release_inputs(struct receiver *r, int32_t u, int32_t window)
{
    const struct pp_op *op;

    for (int i = 0; (op = pp_unit_op(r->m, r->rank, u, i)); i++)
        for (int32_t g = 0, previous = -1; g < op->granules; g++) {
            const int32_t id = pp_message_input(r->m, op, op->mb + g);

            if (id < 0 || id == previous || r->m->messages[id].last != u)
                continue;
            previous = id;
            r->released[r->m->messages[id].channel]++;
            refill(r, r->m->messages[id].channel, window, u + 1);
        }
}

/* Posts at most `window` RECVs of a channel at a time, and more only if the next WAIT needs it. 0:
 * posts each right before its WAIT. */
static void post_window(struct pp_arena *arena, struct pp_messages *m, int32_t window)
{
    struct receiver r = receiver_of(arena, m);

    for (int32_t i = 0; i < m->message_count; i++)
        m->messages[i].wait = m->messages[i].consumed;
    for (r.rank = 0; r.rank < m->head->ranks; r.rank++) {
        const int32_t end = m->in_begin[r.rank + 1];
        int32_t next = m->in_begin[r.rank];

        r.filled = next;
        for (int32_t i = next; i < end && window > 0; i++)
            if (r.posted[m->messages[m->in[i]].channel] == 0)
                refill(&r, m->messages[m->in[i]].channel, window, 0);
        for (int32_t u = 0; u < m->units[r.rank].count; u++) {
            for (; next < end && m->messages[m->in[next]].consumed == u; next++)
                post_up_to(&r, m->in[next], u);
            if (window > 0)
                release_inputs(&r, u, window);
        }
    }
}

static enum pp_status post_early(struct pp_arena *arena, struct pp_messages *m, int recv_slots,
                                 struct pp_error *err)
{
    (void)err;
    post_window(arena, m, recv_slots > 0 ? recv_slots : INT_MAX);
    return PP_OK;
}

static enum pp_status post_jit(struct pp_arena *arena, struct pp_messages *m, int recv_slots,
                               struct pp_error *err)
{
    (void)recv_slots;
    (void)err;
    post_window(arena, m, 0);
    return PP_OK;
}

/* ---- batched ---------------------------------------------------------------------------------
 *
 * All messages of a rank between two units are one batch, with one WAIT for all. A RECV belongs to
 * the batch before the first unit that starts when or after the message was produced. The clock
 * gives every unit one slot. A batch then needs only units that started earlier than the unit after
 * it, on any rank. So batches cannot wait for each other in a circle. */

/* Returns the first unit of `rank` from `unit` on that starts in slot `slot` or later. */
static int32_t first_after(const struct pp_messages *m, int32_t *const *ends, int rank,
                           int32_t unit, int32_t slot)
{
    while (unit < m->units[rank].count &&
           ends[rank][unit] - pp_messages_weight(m, rank, unit) < slot)
        unit++;
    return unit;
}

/* Sorts the RECVs of every rank by the unit after them: a counting sort, stable by channel. */
static void sort_posts(struct pp_arena *arena, struct pp_messages *m)
{
    const int ranks = m->head->ranks;
    int32_t **place = PP_ARRAY(arena, int32_t *, ranks);

    for (int rank = 0; rank < ranks; rank++)
        place[rank] = PP_ARRAY(arena, int32_t, m->units[rank].count + 2);
    for (int32_t id = 0; id < m->message_count; id++)
        place[m->channels[m->messages[id].channel].dest][m->messages[id].post + 1]++;
    for (int rank = 0; rank < ranks; rank++) {
        place[rank][0] = m->in_begin[rank];
        for (int32_t u = 0; u <= m->units[rank].count; u++)
            place[rank][u + 1] += place[rank][u];
    }
    for (int32_t id = 0; id < m->message_count; id++)
        m->posts[place[m->channels[m->messages[id].channel].dest][m->messages[id].post]++] = id;
}

static enum pp_status post_batched(struct pp_arena *arena, struct pp_messages *m, int recv_slots,
                                   struct pp_error *err)
{
    int32_t *const *ends = pp_messages_slots(arena, m);

    (void)recv_slots;
    (void)err;
    for (int32_t c = 0; c < m->channel_count; c++) {
        const struct pp_channel *channel = &m->channels[c];
        int32_t unit = 0;

        for (int32_t id = channel->first; id < channel->first + channel->count; id++) {
            struct pp_message *message = &m->messages[id];

            unit =
                first_after(m, ends, channel->dest, unit, ends[channel->source][message->produced]);
            message->post = message->wait = unit < message->consumed ? unit : message->consumed;
            message->done = message->produced + 1;
        }
    }
    sort_posts(arena, m);
    return PP_OK;
}

/* ---- sender ----------------------------------------------------------------------------------
 *
 * As in PyTorch (torch/distributed/pipelining/schedules.py, _add_send_recv). The ranks take turns
 * in ascending order, one unit a turn if its inputs were sent. A RECV is appended to the receiver's
 * list when the SEND is. One bit per rank tells whether its turn can make progress. */

struct turns {
    struct pp_messages *m;
    uint64_t *ready;  /* [words] bit per rank */
    int32_t *reached; /* [rank] units run */
    int32_t *next_in; /* [rank] in m->in: inputs of the units run */
    int32_t *filled;  /* [rank] in m->posts */
};

static void set_ready(struct turns *t, int rank, bool is_ready)
{
    const uint64_t bit = (uint64_t)1 << (rank % 64);

    if (is_ready)
        t->ready[rank / 64] |= bit;
    else
        t->ready[rank / 64] &= ~bit;
}

static int next_ready(const struct turns *t, int from)
{
    const int words = (t->m->head->ranks + 63) / 64;

    for (int word = from / 64; word < words; word++) {
        uint64_t bits = t->ready[word];

        if (word == from / 64)
            bits &= ~(uint64_t)0 << (from % 64);
        if (bits)
            return word * 64 + __builtin_ctzll(bits);
    }
    return -1;
}

static bool inputs_sent(struct turns *t, int rank)
{
    const struct pp_messages *m = t->m;
    int32_t at = t->next_in[rank];

    for (; at < m->in_begin[rank + 1]; at++) {
        if (m->messages[m->in[at]].consumed != t->reached[rank])
            break;
        if (m->messages[m->in[at]].post < 0)
            return false;
    }
    t->next_in[rank] = at;
    return true;
}

static void take_turn(struct turns *t, int rank)
{
    struct pp_messages *m = t->m;
    const int32_t u = t->reached[rank];
    const struct pp_op *op;

    if (u == m->units[rank].count || !inputs_sent(t, rank)) {
        set_ready(t, rank, false);
        return;
    }
    t->reached[rank]++;
    for (int i = 0; (op = pp_unit_op(m, rank, u, i)); i++) {
        const int32_t id = pp_message_output(m, op);

        if (id < 0)
            continue;
        const int dest = m->channels[m->messages[id].channel].dest;
        m->messages[id].post = t->reached[dest];
        m->posts[t->filled[dest]++] = id;
        set_ready(t, dest, true);
    }
}

static enum pp_status post_sender(struct pp_arena *arena, struct pp_messages *m, int recv_slots,
                                  struct pp_error *err)
{
    const int ranks = m->head->ranks;
    struct turns t = {.m = m,
                      .ready = PP_ARRAY(arena, uint64_t, (ranks + 63) / 64),
                      .reached = PP_ARRAY(arena, int32_t, ranks),
                      .next_in = PP_ARRAY(arena, int32_t, ranks),
                      .filled = PP_ARRAY(arena, int32_t, ranks)};

    (void)recv_slots;
    for (int rank = 0; rank < ranks; rank++) {
        t.next_in[rank] = t.filled[rank] = m->in_begin[rank];
        set_ready(&t, rank, true);
    }
    for (int rank = next_ready(&t, 0); rank >= 0;) {
        take_turn(&t, rank);
        const int after = rank + 1 < ranks ? next_ready(&t, rank + 1) : -1;
        rank = after >= 0 ? after : next_ready(&t, 0);
    }
    for (int rank = 0; rank < ranks; rank++)
        if (t.reached[rank] < m->units[rank].count) {
            const struct pp_op *op = pp_unit_op(m, rank, t.reached[rank], 0);

            return pp_error_set(err, PP_EPROGRAM,
                                "the order of compute instructions is cyclic: rank %d never gets "
                                "the input of %d%s%d",
                                rank, op->stage, pp_op_kinds[op->kind].text, op->mb);
        }
    for (int32_t i = 0; i < m->message_count; i++)
        m->messages[i].wait = m->messages[i].consumed;
    return PP_OK;
}

const pp_posting pp_postings[] = {
    [PP_POST_EARLY] = post_early,
    [PP_POST_JIT] = post_jit,
    [PP_POST_BATCHED] = post_batched,
    [PP_POST_SENDER] = post_sender,
};
