/* Puts periods that a program leaves out back into its lists. */
#include "schedules/build/cut.h"

#include <stddef.h>
#include <string.h>

struct unfolding {
    const struct pp_program *from;
    struct pp_program *to;
    struct pp_program_cut *cut; /* of `to` */
    int periods;                /* that are put back at each place */
    int32_t *channel_of;        /* [message of `from`] */
    int32_t *sent, *read;       /* [channel]: SENDs and RECVs so far */
    int32_t *post_at;           /* instructions of `to`, queue by queue */
    int32_t *set_first;         /* [set]: first collective of `to` */
    struct turn {
        int32_t first; /* in post_at */
        int32_t posted, waited;
    } * turn; /* [queue] */
};

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Sets the channel of each message. False unless ranks post those of a channel in their order. */
static bool find_channels(struct pp_arena *arena, struct unfolding *u)
{
    const struct pp_program *p = u->from;
    int32_t *count[2] = {PP_ARRAY(arena, int32_t, p->channel_count),
                         PP_ARRAY(arena, int32_t, p->channel_count)};

    u->channel_of = PP_ARRAY(arena, int32_t, p->message_count);
    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            u->channel_of[p->channels[c].first + k] = c;
    for (int i = 0; i < pp_program_size(p); i++) {
        if (pp_op_kinds[p->kind[i]].stream != PP_STREAM_CHANNEL)
            continue;
        const int c = u->channel_of[p->arg[i]];
        if (p->arg[i] != p->channels[c].first + count[pp_op_is_send(p->kind[i])][c]++)
            return false;
    }
    return true;
}

/* Sets the begins of lists and the channels of `to`. */
static void size_lists(struct pp_arena *arena, struct unfolding *u)
{
    const struct pp_program *p = u->from;
    const size_t bytes = sizeof(struct pp_channel) * (size_t)p->channel_count;

    u->to->begin = PP_ARRAY(arena, int32_t, p->ranks + 1);
    u->to->channels = pp_arena_alloc_raw(arena, bytes);
    if (bytes > 0)
        memcpy(u->to->channels, p->channels, bytes);
    for (int r = 0, more = 0; r < p->ranks; r++) {
        for (int k = p->cut->begin[r]; k < p->cut->begin[r + 1]; k++) {
            const struct pp_cut_place *place = &p->cut->places[k];
            more += u->periods * place->length;
            for (int i = place->at - place->length; i < place->at; i++)
                if (pp_op_is_send(p->kind[i]))
                    u->to->channels[u->channel_of[p->arg[i]]].count += u->periods;
        }
        u->to->begin[r + 1] = p->begin[r + 1] + more;
    }
    u->to->message_count = 0;
    for (int c = 0; c < p->channel_count; c++) {
        u->to->channels[c].first = u->to->message_count;
        u->to->message_count += u->to->channels[c].count;
    }
}

/* Makes room for the posts of queues, and for the collectives of sets. */
static void size_queues(struct pp_arena *arena, struct pp_arena *scratch, struct unfolding *u)
{
    const struct pp_program_cut *cut = u->from->cut;
    int32_t *posts = PP_ARRAY(scratch, int32_t, cut->sets);
    int32_t all = 0;

    u->turn = PP_ARRAY(scratch, struct turn, cut->queue_count);
    for (int q = 0; q < cut->queue_count; all += cut->queues[q++].posts) {
        u->turn[q].first = all;
        if (cut->queues[q].set >= 0)
            posts[cut->queues[q].set] = cut->queues[q].posts;
    }
    u->post_at = PP_ARRAY(scratch, int32_t, all);
    u->set_first = PP_ARRAY(scratch, int32_t, cut->sets);
    u->to->collective_count = 0;
    for (int s = 0; s < cut->sets; u->to->collective_count += posts[s++])
        u->set_first[s] = u->to->collective_count;
    u->to->collectives = PP_ARRAY(arena, struct pp_collective, u->to->collective_count);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static const struct {
    size_t at, bytes;
} columns[] = {
    {offsetof(struct pp_program, kind), 1},    {offsetof(struct pp_program, aux), 1},
    {offsetof(struct pp_program, split), 1},   {offsetof(struct pp_program, granule_count), 1},
    {offsetof(struct pp_program, version), 1}, {offsetof(struct pp_program, stage), 2},
    {offsetof(struct pp_program, pipe), 2},    {offsetof(struct pp_program, peer), 2},
    {offsetof(struct pp_program, mb), 4},      {offsetof(struct pp_program, arg), 4},
    {offsetof(struct pp_program, slot), 4},
};

/* Returns the memory of a column. */
static char *column(const struct pp_program *p, size_t k)
{
    return *(char *const *)((const char *)p + columns[k].at);
}

/* Gives an instruction of `to` its message, collective or awaited instruction. */
static void link(struct unfolding *u, int rank, int to, int from)
{
    const struct pp_program *p = u->from;
    const int kind = p->kind[from], queue = p->cut->queue_of[from];
    int32_t *arg = &u->to->arg[to];

    if (queue < 0)
        return;
    struct turn *turn = &u->turn[queue];
    if (kind == PP_WAIT) {
        *arg = u->post_at[turn->first + turn->waited++] - u->to->begin[rank];
        return;
    }
    if (pp_op_kinds[kind].stream == PP_STREAM_CHANNEL) {
        const int c = u->channel_of[*arg];
        *arg = u->to->channels[c].first + (pp_op_is_send(kind) ? u->sent : u->read)[c]++;
    } else if (p->cut->queues[queue].set >= 0) {
        const int32_t id = u->set_first[p->cut->queues[queue].set] + turn->posted;
        u->to->collectives[id] = p->collectives[*arg];
        *arg = id;
    }
    u->post_at[turn->first + turn->posted++] = to;
}

/* Adds a part of a rank's list; returns its end. */
static int add(struct unfolding *u, int rank, int to, int first, int end)
{
    const size_t count = (size_t)(end - first);

    for (size_t k = 0; k < PP_COUNT(columns); k++)
        memcpy(column(u->to, k) + columns[k].bytes * (size_t)to,
               column(u->from, k) + columns[k].bytes * (size_t)first, columns[k].bytes * count);
    if (count > 0)
        memcpy(&u->cut->queue_of[to], &u->from->cut->queue_of[first], sizeof(int32_t) * count);
    for (int i = first; i < end; i++)
        link(u, rank, to++, i);
    return to;
}

/* Adds the list of a rank, with places of the new cut after the periods that are put back. */
static void add_rank(struct unfolding *u, int rank)
{
    const struct pp_program *p = u->from;
    int to = u->to->begin[rank], first = p->begin[rank];

    for (int k = p->cut->begin[rank]; k < p->cut->begin[rank + 1]; k++) {
        const struct pp_cut_place *place = &p->cut->places[k];
        to = add(u, rank, to, first, place->at);
        for (int n = 0; n < u->periods; n++)
            to = add(u, rank, to, place->at - place->length, place->at);
        u->cut->places[k] = (struct pp_cut_place){to, place->length};
        first = place->at;
    }
    add(u, rank, to, first, p->begin[rank + 1]);
}

/* Returns the cut of `to`; its places are filled in later. */
static struct pp_program_cut *shorter_cut(struct pp_arena *arena, const struct unfolding *u)
{
    struct pp_program_cut *cut = PP_NEW(arena, struct pp_program_cut);

    *cut = *u->from->cut;
    cut->periods -= u->periods;
    cut->places = PP_ARRAY(arena, struct pp_cut_place, cut->begin[u->from->ranks]);
    cut->queue_of =
        pp_arena_alloc_raw(arena, sizeof(int32_t) * (size_t)(pp_program_size(u->to) + 1));
    return cut;
}

struct pp_program *pp_cut_unfold(struct pp_arena *arena, const struct pp_program *program,
                                 int periods)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct unfolding u = {.from = program,
                          .to = PP_NEW(arena, struct pp_program),
                          .periods = periods,
                          .sent = PP_ARRAY(scratch, int32_t, program->channel_count),
                          .read = PP_ARRAY(scratch, int32_t, program->channel_count)};

    *u.to = *program;
    u.to->forms = NULL;
    if (!find_channels(scratch, &u))
        return NULL;
    size_lists(arena, &u);
    size_queues(arena, scratch, &u);
    u.cut = shorter_cut(arena, &u);
    for (size_t k = 0; k < PP_COUNT(columns); k++)
        *(char **)((char *)u.to + columns[k].at) =
            pp_arena_alloc_raw(arena, columns[k].bytes * (size_t)(pp_program_size(u.to) + 1));
    for (int r = 0; r < program->ranks; r++)
        add_rank(&u, r);
    u.to->cut = u.cut->periods > 0 ? u.cut : NULL;
    return u.to;
}

int pp_cut_more(const struct pp_program *program, int periods)
{
    enum { GROWTH = 3 };
    const struct pp_program_cut *cut = program->cut;
    const int64_t size = pp_program_size(program);
    int64_t length = 0;

    for (int k = 0; k < cut->begin[program->ranks]; k++)
        length += cut->places[k].length;
    const int64_t more = (GROWTH * (size + periods * length) - size) / length;
    return 2 * more < cut->periods ? (int)more : cut->periods;
}
