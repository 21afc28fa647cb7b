/* schedules/program/freeze_link.c — links instructions while freezing: by messages and channels,
 * and WAITs to their targets. Linear in the instructions, apart from sorting the channels. */
#include "core/map64.h"
#include "schedules/program/freeze.h"

#include <stdlib.h>
#include <string.h>

/* ---- channels -------------------------------------------------------------------------------- */

/* An edge is (pipeline, sending stage, direction). Several edges may share one channel. */
static int64_t edge_count(const struct pp_program *p)
{
    return 2 * (int64_t)p->pipelines * p->stages;
}

static int64_t edge_of(const struct pp_program *p, int i)
{
    const int kind = p->kind[i];
    const bool is_forward = kind == PP_SEND_F || kind == PP_RECV_F;
    const int sender = kind == PP_RECV_F   ? p->stage[i] - 1
                       : kind == PP_RECV_B ? p->stage[i] + 1
                                           : p->stage[i];

    return 2 * ((int64_t)p->pipe[i] * p->stages + sender) + !is_forward;
}

/* Refuses a message whose stage is not here, or whose partner is here or does not exist. */
static enum pp_status check_peer(const struct pp_freeze *f, int rank, int i)
{
    const struct pp_program *p = f->p;
    const int kind = p->kind[i];
    const bool is_up = kind == PP_SEND_F || kind == PP_RECV_B; /* the partner is stage + 1 */
    const int partner = p->stage[i] + (is_up ? 1 : -1);
    const int home = pp_program_rank_of(p, p->pipe[i], p->stage[i]);

    if (partner < 0 || partner >= p->stages)
        return pp_freeze_error(f, i, "stage %d has no %s stage", p->stage[i],
                               is_up ? "next" : "previous");
    if (home != rank)
        return pp_freeze_error(f, i, "stage %d of this micro-batch is on rank %d, not here",
                               p->stage[i], home);
    if (pp_program_rank_of(p, p->pipe[i], partner) == rank)
        return pp_freeze_error(f, i, "stage %d is on the same rank: no message is needed", partner);
    return PP_OK;
}

struct edge {
    uint64_t channel; /* source, dest, pipe, kind: sorts channels */
    int64_t number;
    uint16_t source, dest;
    int32_t sends, recvs;
};
struct edges {
    int32_t *of; /* [number]: 1 + index in `data`, then its channel; 0 = unused */
    struct edge *data;
    int count, capacity;
};

/* Returns the edge of message i; makes it after a check of the message. */
static enum pp_status find_edge(const struct pp_freeze *f, struct edges *edges, int rank, int i,
                                struct edge **edge)
{
    const struct pp_program *p = f->p;
    const int64_t number = edge_of(p, i);
    const bool is_send = pp_op_is_send(p->kind[i]);

    if (number >= 0 && number < edge_count(p) && edges->of[number]) {
        *edge = &edges->data[edges->of[number] - 1];
        if ((is_send ? (*edge)->source : (*edge)->dest) == rank)
            return PP_OK;
    }
    PP_TRY(check_peer(f, rank, i));
    const bool is_back = number & 1;
    const int pipe = p->pipe[i], sender = (int)(number / 2 - (int64_t)pipe * p->stages);
    const int source = pp_program_rank_of(p, pipe, sender),
              dest = pp_program_rank_of(p, pipe, sender + (is_back ? -1 : 1));
    *edge = PP_PUSH(f->scratch, edges->data, edges->count, edges->capacity);
    **edge = (struct edge){.channel = (uint64_t)source << 48 | (uint64_t)dest << 32 |
                                      (uint64_t)pipe << 8 | is_back,
                           .number = number,
                           .source = (uint16_t)source,
                           .dest = (uint16_t)dest};
    edges->of[number] = edges->count;
    return PP_OK;
}

/* Sets the peer of every message and counts the messages of every edge. */
static enum pp_status find_edges(const struct pp_freeze *f, struct edges *edges)
{
    struct pp_program *p = f->p;

    for (int r = 0; r < p->ranks; r++)
        for (int k = f->messages.begin[r]; k < f->messages.begin[r + 1]; k++) {
            const int i = f->messages.at[k];
            struct edge *edge;
            PP_TRY(find_edge(f, edges, r, i, &edge));
            const bool is_send = pp_op_is_send(p->kind[i]);
            p->peer[i] = is_send ? edge->dest : edge->source;
            ++*(is_send ? &edge->sends : &edge->recvs);
        }
    return PP_OK;
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return (x->channel > y->channel) - (x->channel < y->channel);
}

/* Makes channels in the order of their ranks, `of` of every edge, and counts of SENDs and RECVs. */
static void make_channels(const struct pp_freeze *f, struct edges *edges, int32_t (*counts)[2])
{
    struct pp_program *p = f->p;

    qsort(edges->data, (size_t)edges->count, sizeof(*edges->data), compare_edges);
    p->channels = PP_ARRAY(f->arena, struct pp_channel, edges->count);
    for (int k = 0; k < edges->count; k++) {
        const struct edge *edge = &edges->data[k];
        if (k == 0 || edge->channel != edge[-1].channel)
            p->channels[p->channel_count++] =
                (struct pp_channel){.source = edge->source,
                                    .dest = edge->dest,
                                    .pipe = (uint16_t)(edge->channel >> 8),
                                    .kind = edge->number & 1 ? PP_SEND_B : PP_SEND_F};
        edges->of[edge->number] = p->channel_count - 1;
        counts[p->channel_count - 1][0] += edge->sends;
        counts[p->channel_count - 1][1] += edge->recvs;
    }
}

/* Error at the first message that only one side has. */
static enum pp_status unequal(const struct pp_freeze *f, const int32_t *channel_of, int channel,
                              const int32_t counts[2])
{
    const struct pp_program *p = f->p;
    const struct pp_channel *c = &p->channels[channel];
    const bool more_sends = counts[0] > counts[1];
    const int rank = more_sends ? c->source : c->dest;
    int32_t left = more_sends ? counts[1] : counts[0];

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const bool is_mine = more_sends ? pp_op_is_send(p->kind[i]) : pp_op_is_recv(p->kind[i]);
        if (is_mine && channel_of[edge_of(p, i)] == channel && left-- == 0)
            return pp_freeze_error(
                f, i,
                "rank %d sends %d %s messages to rank %d, which receives %d: no %s for this one",
                c->source, counts[0], pp_op_kinds[c->kind].text + 5, c->dest, counts[1],
                more_sends ? "RECV" : "SEND");
    }
    return pp_error_set(f->err, PP_EPROGRAM, "unequal numbers of SEND and RECV");
}

enum pp_status pp_freeze_channels(const struct pp_freeze *f)
{
    struct pp_program *p = f->p;
    const struct pp_subset *messages = &f->messages;
    struct edges edges = {0};

    if (messages->begin[p->ranks] == 0)
        return PP_OK;
    edges.of = pp_arena_alloc(f->scratch, (size_t)edge_count(p) * sizeof(int32_t));
    PP_TRY(find_edges(f, &edges));
    int32_t(*counts)[2] = (int32_t(*)[2])PP_ARRAY(f->scratch, int32_t, 2 * (size_t)edges.count);
    int32_t(*next)[2] = (int32_t(*)[2])PP_ARRAY(f->scratch, int32_t, 2 * (size_t)edges.count);
    make_channels(f, &edges, counts);
    for (int c = 0; c < p->channel_count; c++) {
        if (counts[c][0] != counts[c][1])
            return unequal(f, edges.of, c, counts[c]);
        p->channels[c].first = next[c][0] = next[c][1] = p->message_count;
        p->channels[c].count = counts[c][0];
        p->message_count += counts[c][0];
    }
    for (int k = 0; k < messages->begin[p->ranks]; k++) {
        const int i = messages->at[k];
        p->arg[i] = next[edges.of[edge_of(p, i)]][!pp_op_is_send(p->kind[i])]++;
    }
    return PP_OK;
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* Latest post of every name on the current rank. Posts of messages are in a table: it has about as
 * many cells as messages, unless a file names few of an immense grid. */
struct posts {
    int32_t *messages;   /* [((kind * stages + stage) * ids + micro-batch) * splits + split]: 1 +
                          * instruction, of any rank so far; NULL = in `map` */
    struct pp_map64 map; /* of other names, by wait_key() */
};

static uint64_t wait_key(const struct pp_program *p, int i, int kind, bool tied)
{
    /* Bits: kind or purpose, which has one kind, or TIED 9, split 8, stage 16, micro-batch or
     * pipeline 31. */
    enum { TIED = PP_OP_KINDS + PP_PURPOSES };
    _Static_assert((int)TIED < 1 << 9, "fields of the key");
    const uint64_t which = p->mb[i] >= 0 ? (uint64_t)p->mb[i] : tied ? 0 : p->pipe[i];
    const int purpose = pp_op_has_purpose(kind) ? p->purpose[i] : 0,
              what = tied          ? TIED
                     : purpose > 0 ? PP_OP_KINDS + purpose
                                   : kind;

    return (uint64_t)what << 55 | (uint64_t)p->split[i] << 47 | (uint64_t)p->stage[i] << 31 | which;
}

static bool is_in_table(const struct posts *posts, int kind)
{
    return posts->messages && pp_op_kinds[kind].stream == PP_STREAM_CHANNEL;
}

static int32_t *message_place(const struct pp_program *p, const struct posts *posts, int i,
                              int kind)
{
    const size_t ids = (size_t)p->micro_batches * (size_t)p->granules;
    const size_t row = (size_t)(kind - PP_SEND_F) * (size_t)p->stages + p->stage[i];

    _Static_assert(PP_RECV_B - PP_SEND_F == 3, "kinds of messages are neighbours");
    return &posts->messages[(row * ids + (size_t)p->mb[i]) * (size_t)p->splits + p->split[i]];
}

/* Returns the most posts of a rank that may be in the map. */
static int count_named(const struct pp_freeze *f, const struct posts *posts, int rank)
{
    return posts->messages ? f->other_posts[rank] : f->p->begin[rank + 1] - f->p->begin[rank];
}

static struct posts make_posts(const struct pp_freeze *f)
{
    const struct pp_program *p = f->p;
    const double cells =
        4.0 * p->stages * p->micro_batches * p->granules * p->splits; /* of 4 kinds */
    struct posts posts = {0};
    int most = 0;

    if (cells <= 8.0 * pp_program_size(p) + 65536)
        posts.messages = PP_ARRAY(f->scratch, int32_t, (size_t)cells);
    for (int r = 0; r < p->ranks; r++) {
        const int count = count_named(f, &posts, r);
        most = count > most ? count : most;
    }
    posts.map = pp_map64_create(f->scratch, most);
    return posts;
}

/* Returns the post that WAIT i of `rank` waits for, or -1 if none is posted before it. */
static int32_t find_post(const struct pp_program *p, const struct posts *posts, int rank, int i,
                         bool is_tied)
{
    const int kind = p->aux[i];

    if (is_in_table(posts, kind)) {
        const int32_t post = *message_place(p, posts, i, kind) - 1;
        return post >= p->begin[rank] ? post : -1;
    }
    const int32_t *post = pp_map64_find(&posts->map, wait_key(p, i, kind, is_tied));
    return post ? *post : -1;
}

static enum pp_status link_wait(const struct pp_freeze *f, const struct posts *posts, int rank,
                                int i)
{
    struct pp_program *p = f->p;
    const int at = i - p->begin[rank], kind = p->aux[i];
    const bool is_tied = kind == PP_AR && f->lists->ops[rank][at].peer != 0;
    const bool is_cut = pp_op_has_buckets(kind);
    const int32_t target = find_post(p, posts, rank, i, is_tied);

    if (target < 0)
        return pp_freeze_error(f, i, "nothing of this name is posted before");
    if ((p->granule_count[i] > 1 || is_cut) && p->granule_count[i] != p->granule_count[target])
        return pp_freeze_error(f, i, "what was posted has other %s",
                               is_cut ? "buckets" : "granules");
    p->arg[i] = target - p->begin[rank];
    p->granule_count[i] = p->granule_count[target];
    p->last_stage[i] = is_tied ? p->last_stage[target] : 0;
    return PP_OK;
}

enum pp_status pp_freeze_waits(const struct pp_freeze *f)
{
    struct pp_program *p = f->p;

    if (f->wait_count == 0)
        return PP_OK;
    struct posts posts = make_posts(f);
    for (int r = 0; r < p->ranks; r++) {
        pp_map64_clear(&posts.map, count_named(f, &posts, r));
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            const int kind = p->kind[i];
            if (kind == PP_WAIT)
                PP_TRY(link_wait(f, &posts, r, i));
            else if (is_in_table(&posts, kind))
                *message_place(p, &posts, i, kind) = i + 1;
            else if (pp_op_is_posted(kind))
                *pp_map64_at(&posts.map, wait_key(p, i, kind, p->aux[i] == PP_TIED), 0) = i;
        }
    }
    return PP_OK;
}
