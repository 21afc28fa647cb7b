/* schedules/program_link.c — the part of freezing that links instructions by messages and channels,
 * and WAITs to their targets. Linear in the number of instructions, apart from sorting the
 * channels. */
#include "schedules/map64.h"
#include "schedules/program_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- channels -------------------------------------------------------------------------------- */

/* An edge is (pipeline, sending stage, direction): many edges may share one channel. */
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

static enum pp_status find_peer(const struct pp_freeze *f, int rank, int i)
{
    struct pp_program *p = f->p;
    const int at = i - p->begin[rank], kind = p->kind[i];
    const bool is_up = kind == PP_SEND_F || kind == PP_RECV_B; /* the partner is stage + 1 */
    const int partner = p->stage[i] + (is_up ? 1 : -1);
    const int home = pp_program_rank_of(p, p->pipe[i], p->stage[i]);

    if (partner < 0 || partner >= p->stages)
        return pp_freeze_error(f, rank, at, "stage %d has no %s stage", p->stage[i],
                               is_up ? "next" : "previous");
    if (home != rank)
        return pp_freeze_error(f, rank, at, "stage %d of this micro-batch is on rank %d, not here",
                               p->stage[i], home);
    const int peer = pp_program_rank_of(p, p->pipe[i], partner);
    if (peer == rank)
        return pp_freeze_error(f, rank, at, "stage %d is on the same rank: no message is needed",
                               partner);
    p->peer[i] = (uint16_t)peer;
    return PP_OK;
}

struct edge_key {
    uint64_t channel; /* source, dest, pipe, kind: sorts channels */
    int64_t edge;
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge_key *x = a, *y = b;

    return (x->channel > y->channel) - (x->channel < y->channel);
}

/* The channel of every edge that is used (-1: unused), and the channels themselves. */
static int32_t *number_channels(const struct pp_freeze *f)
{
    struct pp_program *p = f->p;
    const int64_t edges = edge_count(p);
    int32_t *channel_of = pp_arena_alloc(f->scratch, (size_t)edges * sizeof(int32_t));
    struct edge_key *keys = NULL;
    int used = 0, capacity = 0;

    for (int r = 0; r < p->ranks; r++)
        for (int k = f->messages.begin[r]; k < f->messages.begin[r + 1]; k++) {
            const int i = f->messages.at[k];
            const int64_t edge = edge_of(p, i);
            if (channel_of[edge]++)
                continue;
            const bool is_send = pp_op_is_send(p->kind[i]);
            const uint64_t source = is_send ? r : p->peer[i], dest = is_send ? p->peer[i] : r;
            *PP_PUSH(f->scratch, keys, used, capacity) = (struct edge_key){
                source << 48 | dest << 32 | (uint64_t)p->pipe[i] << 8 | (uint64_t)(edge & 1), edge};
        }
    memset(channel_of, -1, (size_t)edges * sizeof(int32_t));
    qsort(keys, (size_t)used, sizeof(*keys), compare_edges);
    p->channels = PP_ARRAY(f->arena, struct pp_channel, used);
    for (int k = 0; k < used; k++) {
        if (k == 0 || keys[k].channel != keys[k - 1].channel)
            p->channels[p->channel_count++] =
                (struct pp_channel){.source = (uint16_t)(keys[k].channel >> 48),
                                    .dest = (uint16_t)(keys[k].channel >> 32),
                                    .pipe = (uint16_t)(keys[k].channel >> 8),
                                    .kind = keys[k].edge & 1 ? PP_SEND_B : PP_SEND_F};
        channel_of[keys[k].edge] = p->channel_count - 1;
    }
    return channel_of;
}

/* Give `arg` to all SENDs (or all RECVs): the running number within the channel. */
static void number_messages(const struct pp_freeze *f, const int32_t *channel_of, int32_t *sends,
                            int32_t *recvs)
{
    struct pp_program *p = f->p;

    for (int k = 0; k < f->messages.begin[p->ranks]; k++) {
        const int i = f->messages.at[k];
        int32_t *next = pp_op_is_send(p->kind[i]) ? sends : recvs;
        p->arg[i] = next[channel_of[edge_of(p, i)]]++;
    }
}

/* The first message that only one side has. */
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
                f, rank, i - p->begin[rank],
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

    for (int r = 0; r < p->ranks; r++)
        for (int k = messages->begin[r]; k < messages->begin[r + 1]; k++)
            PP_TRY(find_peer(f, r, messages->at[k]));
    if (messages->begin[p->ranks] == 0)
        return PP_OK;

    const int32_t *channel_of = number_channels(f);
    int32_t *sends = PP_ARRAY(f->scratch, int32_t, p->channel_count + 1);
    int32_t *recvs = PP_ARRAY(f->scratch, int32_t, p->channel_count + 1);
    number_messages(f, channel_of, sends, recvs);
    for (int c = 0; c < p->channel_count; c++) {
        if (sends[c] != recvs[c])
            return unequal(f, channel_of, c, (int32_t[2]){sends[c], recvs[c]});
        p->channels[c].first = p->message_count;
        p->channels[c].count = sends[c];
        p->message_count += sends[c];
    }
    for (int k = 0; k < messages->begin[p->ranks]; k++) {
        const int i = messages->at[k];
        p->arg[i] += p->channels[channel_of[edge_of(p, i)]].first;
    }
    return PP_OK;
}

/* ---- waits ----------------------------------------------------------------------------------- */

static uint64_t wait_key(const struct pp_program *p, int i, int kind, bool tied)
{
    /* purpose 4 bits (a tied sum has none), kind 5, split 8, stage 16, micro-batch or pipeline 31
     */
    enum { TIED = 15 };
    _Static_assert((int)PP_PURPOSES <= (int)TIED && PP_OP_KINDS <= 32, "fields of the key");
    const uint64_t which = p->mb[i] >= 0 ? (uint64_t)p->mb[i] : tied ? 0 : p->pipe[i];
    const uint64_t purpose = tied ? TIED : pp_op_has_purpose(kind) ? p->version[i] : 0;

    return purpose << 60 | (uint64_t)kind << 55 | (uint64_t)p->split[i] << 47 |
           (uint64_t)p->stage[i] << 31 | which;
}

enum pp_status pp_freeze_waits(const struct pp_freeze *f)
{
    struct pp_program *p = f->p;
    int longest = 0, waits = 0;

    for (int r = 0; r < p->ranks; r++)
        if (p->begin[r + 1] - p->begin[r] > longest)
            longest = p->begin[r + 1] - p->begin[r];
    for (int i = 0; i < pp_program_size(p); i++)
        waits += p->kind[i] == PP_WAIT;
    if (waits == 0)
        return PP_OK;
    struct pp_map64 latest = pp_map64_create(f->scratch, longest);
    for (int r = 0; r < p->ranks; r++) {
        const int begin = p->begin[r], end = p->begin[r + 1];
        pp_map64_clear(&latest, end - begin);
        for (int i = begin; i < end; i++) {
            const int kind = p->kind[i];
            if (kind != PP_WAIT) {
                if (pp_op_is_posted(kind))
                    *pp_map64_at(&latest, wait_key(p, i, kind, p->aux[i] == PP_TIED), 0) = i;
                continue;
            }
            const bool tied = p->aux[i] == PP_AR && f->lists->ops[r][i - begin].peer != 0;
            const int32_t *target = pp_map64_find(&latest, wait_key(p, i, p->aux[i], tied));
            if (!target)
                return pp_freeze_error(f, r, i - begin, "nothing of this name is posted before");
            const bool is_cut = pp_op_has_buckets(p->aux[i]);
            if ((p->granule_count[i] > 1 || is_cut) &&
                p->granule_count[i] != p->granule_count[*target])
                return pp_freeze_error(f, r, i - begin, "what was posted has other %s",
                                       is_cut ? "buckets" : "granules");
            p->arg[i] = *target - begin;
            p->granule_count[i] = p->granule_count[*target];
            p->peer[i] = tied ? p->peer[*target] : 0;
        }
    }
    return PP_OK;
}
