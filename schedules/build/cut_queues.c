/* Numbers the queues of a cut program. Proves that its periods have all that belongs to them. */
#include "schedules/build/cut.h"

#include "core/map64.h"

#include <string.h>

struct numbering {
    struct pp_arena *arena, *scratch;
    const struct pp_program *p;
    struct pp_program_cut *cut;
    int queue_capacity, reading_capacity;
    int count; /* of queues */
    struct reading {
        int32_t posted, waited; /* so far */
        int32_t open;           /* posts less WAITs in the periods before places */
    } * reading;                /* [queue] */
    int32_t *turn_of;           /* [post]: its place in its queue */
    struct member {
        int32_t set, turn;
    } * members;         /* [collective]: its set, 0 = not posted so far, and its place there */
    int32_t *channel_of; /* [message] */
    int *sent;           /* [channel]: messages sent less received in the periods before places */
};

/* Instructions with the same key are posted and waited for in one order. */
static uint64_t key_of(const struct pp_program *p, int i)
{
    const uint64_t low = (uint64_t)p->stage[i] << 16 | p->pipe[i],
                   high = (uint64_t)p->kind[i] << 16 | (uint64_t)p->purpose[i] << 8 | p->split[i];

    return high << 33 | (uint64_t)(p->aux[i] == PP_TIED) << 32 | low;
}

static int add_queue(struct numbering *n)
{
    int count = n->count;

    *PP_PUSH(n->arena, n->cut->queues, count, n->queue_capacity) = (struct pp_cut_queue){.set = -1};
    *PP_PUSH(n->scratch, n->reading, n->count, n->reading_capacity) = (struct reading){0};
    return n->count - 1;
}

/* Puts a collective into the set of its queue. All members post those of a set in one order. */
static bool join_set(struct numbering *n, int q, int32_t collective)
{
    struct member *member = &n->members[collective];
    const int32_t turn = n->reading[q].posted;
    int32_t *set = &n->cut->queues[q].set;

    if (turn == 0)
        *set = member->set > 0 ? member->set - 1 : n->cut->sets++;
    if (member->set == 0)
        *member = (struct member){*set + 1, turn};
    return member->set == *set + 1 && member->turn == turn;
}

static bool read_post(struct numbering *n, struct pp_map64 *map, int i, bool is_in_period)
{
    const struct pp_program *p = n->p;
    const int stream = pp_op_kinds[p->kind[i]].stream;
    int32_t *queue = pp_map64_at(map, key_of(p, i), -1);

    *queue = *queue < 0 ? add_queue(n) : *queue;
    const int q = n->cut->queue_of[i] = *queue;
    if (stream == PP_STREAM_REDUCE && p->arg[i] >= 0 && !join_set(n, q, p->arg[i]))
        return false;
    if (stream == PP_STREAM_CHANNEL && is_in_period)
        n->sent[n->channel_of[p->arg[i]]] += pp_op_is_send(p->kind[i]) ? 1 : -1;
    n->reading[q].open += is_in_period;
    n->cut->queues[q].posts += is_in_period ? 1 + n->cut->periods : 1;
    n->turn_of[i] = n->reading[q].posted++;
    return true;
}

/* False unless WAITs come in the order of posts. */
static bool read_wait(struct numbering *n, int post, int i, bool is_in_period)
{
    const int q = n->cut->queue_of[i] = n->cut->queue_of[post];

    n->reading[q].open -= is_in_period;
    return n->turn_of[post] == n->reading[q].waited++;
}

static bool read_rank(struct numbering *n, int rank)
{
    const struct pp_program *p = n->p;
    const struct pp_cut_place *place = &n->cut->places[n->cut->begin[rank]],
                              *end = &n->cut->places[n->cut->begin[rank + 1]];
    struct pp_map64 map = pp_map64_create(n->scratch, 64);
    const int first = n->count, begin = p->begin[rank];

    for (int i = begin; i < p->begin[rank + 1]; i++) {
        while (place < end && i >= place->at)
            place++;
        const bool is_in_period = place < end && i >= place->at - place->length;
        if (p->kind[i] == PP_WAIT && p->arg[i] >= 0
                ? !read_wait(n, begin + p->arg[i], i, is_in_period)
                : pp_op_is_posted(p->kind[i]) && !read_post(n, &map, i, is_in_period))
            return false;
    }
    for (int q = first; q < n->count; q++)
        if (n->reading[q].open)
            return false;
    return true;
}

/* Is true if ranks post as much of every set, and receive what others send. */
static bool agree(const struct numbering *n)
{
    int32_t *posts = PP_ARRAY(n->scratch, int32_t, n->cut->sets);

    for (int q = 0; q < n->count; q++) {
        const struct pp_cut_queue *queue = &n->cut->queues[q];
        if (queue->set < 0)
            continue;
        posts[queue->set] = posts[queue->set] > 0 ? posts[queue->set] : queue->posts;
        if (posts[queue->set] != queue->posts)
            return false;
    }
    for (int c = 0; c < n->p->channel_count; c++)
        if (n->sent[c])
            return false;
    return true;
}

bool pp_cut_number(struct pp_arena *arena, struct pp_program_cut *cut, const struct pp_program *p)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const size_t bytes = sizeof(int32_t) * (size_t)pp_program_size(p);
    struct numbering n = {.arena = arena,
                          .scratch = scratch,
                          .p = p,
                          .cut = cut,
                          .turn_of = pp_arena_alloc_raw(scratch, bytes),
                          .members = PP_ARRAY(scratch, struct member, p->collective_count),
                          .channel_of = PP_ARRAY(scratch, int32_t, p->message_count),
                          .sent = PP_ARRAY(scratch, int, p->channel_count)};

    cut->queue_of = memset(pp_arena_alloc_raw(arena, bytes), 0xff, bytes);
    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            n.channel_of[p->channels[c].first + k] = c;
    for (int r = 0; r < p->ranks; r++)
        if (!read_rank(&n, r))
            return false;
    cut->queue_count = n.count;
    return agree(&n);
}
