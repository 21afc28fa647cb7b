/* schedules/verify/deadlock.c — reports the cycle of waits when nothing can run any more. */
#include "schedules/verify/run.h"

enum { CYCLE_LINES = 16, WAITING_RANKS = 24 };

/* Nodes of the wait-for graph are ranks, then collectives. A collective waits for a member, or for
 * the previous collective on a member's reduce stream. Each node waits for at least one other. */
struct edge {
    int to;     /* node */
    int op;     /* the instruction that waits */
    int needed; /* the instruction waited for, -1 for a collective */
};

int pp_verify_run_lacks(const struct pp_verify_run *run, int i)
{
    const struct pp_program *p = run->p;
    int64_t unit = pp_verify_unit(run->v, p->stage[i], p->mb[i], p->split[i]);
    int needs[VERIFY_NEEDS];

    for (int g = 0; g < p->granule_count[i]; g++, unit += p->splits) {
        const int n = pp_verify_needs(run->v, i, unit, needs);
        for (int k = 0; k < n; k++)
            if (!run->is_done[needs[k]])
                return needs[k];
    }
    return -1;
}

static int find_post(const struct pp_program *p, int rank, int stream, int arg)
{
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if ((int)pp_op_kinds[p->kind[i]].stream == stream && p->arg[i] == arg)
            return i;
    return -1;
}

static struct edge barrier_edge(const struct pp_verify_run *run, int i)
{
    const struct pp_program *p = run->p;
    int late = 0;

    while (run->is_at_barrier[late])
        late++;
    int bar = run->next[late];
    while (bar + 1 < p->begin[late + 1] && p->kind[bar] != PP_BAR)
        bar++;
    return (struct edge){.to = late, .op = i, .needed = bar};
}

static struct edge rank_edge(const struct pp_verify_run *run, int rank)
{
    const struct pp_program *p = run->p;
    int i = run->next[rank];

    if (p->kind[i] == PP_BAR)
        return barrier_edge(run, i);
    if (p->kind[i] != PP_WAIT) {
        int needed = pp_verify_run_lacks(run, i);
        if (needed < 0)
            needed = pp_verify_run_lacks(run, ++i);
        return (struct edge){.to = pp_program_rank_at(p, needed), .op = i, .needed = needed};
    }
    const int post = p->begin[rank] + p->arg[i], arg = p->arg[post];
    if (pp_op_is_collective(p->kind[post]))
        return (struct edge){.to = p->ranks + arg, .op = i, .needed = -1};
    const struct pp_channel *c = &p->channels[run->channel_of[arg]];
    const bool is_sent = run->sent[run->channel_of[arg]] > arg - c->first;
    const int to = is_sent ? c->dest : c->source;
    return (struct edge){to, i, find_post(p, to, PP_STREAM_CHANNEL, arg)};
}

static struct edge collective_edge(const struct pp_verify_run *run, int c)
{
    const struct pp_program *p = run->p;
    const struct pp_group *group = &p->groups[p->collectives[c].group];
    struct edge edge = {.to = -1};

    for (int k = 0; k < group->count; k++) {
        const int rank = p->members[group->first + k];
        const int post = find_post(p, rank, PP_STREAM_REDUCE, c);
        if (!run->is_done[post])
            return (struct edge){.to = rank, .op = post, .needed = post};
        const int front = run->reduce[run->front[rank]];
        if (front != post)
            edge = (struct edge){.to = p->ranks + p->arg[front], .op = post, .needed = front};
    }
    return edge;
}

static const char *line(const struct pp_verify_run *run, int node, struct edge e)
{
    const struct pp_verify *v = run->v;
    const int ranks = run->p->ranks;
    const char *place = pp_verify_place(v, e.op), *op = pp_verify_text(v, e.op);
    const char *needed = e.needed >= 0 ? pp_verify_text(v, e.needed) : NULL;

    if (node >= ranks && e.to >= ranks)
        return pp_arena_printf(v->arena, "\n  %s waits after %s, which rank %d posts before it", op,
                               needed, pp_program_rank_at(v->p, e.op));
    if (node >= ranks)
        return pp_arena_printf(v->arena, "\n  %s waits for rank %d to post it", op, e.to);
    if (!needed)
        return pp_arena_printf(v->arena, "\n  %s: %s waits for all members", place, op);
    if (e.to != node)
        return pp_arena_printf(v->arena, "\n  %s: %s waits for %s (rank %d)", place, op, needed,
                               e.to);
    return pp_arena_printf(v->arena, "\n  %s: %s waits for %s on itself: %s %s %s", place, op,
                           needed, op, e.needed < e.op ? "overlaps" : "is listed before", needed);
}

static void append_fix(struct pp_verify_run *run, const int *path, const struct edge *edges,
                       int from, int to)
{
    struct pp_verify *v = run->v;
    const struct edge e = edges[from];

    if (to - from == 1 && e.needed > e.op)
        pp_error_append(v->err, "%s", pp_verify_fix(v, e.needed, pp_verify_start(v->p, e.op)));
    for (int k = from; k < to; k++)
        if (path[k] >= v->p->ranks && edges[k].to >= v->p->ranks) {
            pp_error_append(v->err, "\n  fix: post %s and %s in the same order on every rank",
                            pp_verify_text(v, edges[k].op), pp_verify_text(v, edges[k].needed));
            return;
        }
}

static void append_others(struct pp_verify_run *run, const int *path, int from, int to)
{
    const struct pp_program *p = run->p;
    bool *is_named = PP_ARRAY(run->v->arena, bool, p->ranks + p->collective_count);
    int others = 0;
    bool has_rank = false;

    for (int k = from; k < to; k++) {
        is_named[path[k]] = true;
        has_rank |= path[k] < p->ranks;
    }
    for (int rank = 0; rank < p->ranks; rank++)
        if (!is_named[rank] && run->next[rank] < p->begin[rank + 1]) {
            if (others < WAITING_RANKS)
                pp_error_append(run->v->err, "%s%d",
                                others     ? ", "
                                : has_rank ? "\n  also stuck: rank "
                                           : "\n  stuck: rank ",
                                rank);
            others++;
        }
    if (others > WAITING_RANKS)
        pp_error_append(run->v->err, " and %d more", others - WAITING_RANKS);
}

enum pp_status pp_verify_deadlock(struct pp_verify_run *run)
{
    const struct pp_program *p = run->p;
    struct pp_verify *v = run->v;
    const int nodes = p->ranks + p->collective_count;
    int *path = PP_ARRAY(v->arena, int, nodes + 1), *seen = PP_ARRAY(v->arena, int, nodes);
    struct edge *edges = PP_ARRAY(v->arena, struct edge, nodes + 1);
    int node = 0, count = 0;

    while (run->next[node] == p->begin[node + 1])
        node++;
    while (!seen[node]) {
        path[count] = node;
        edges[count] =
            node < p->ranks ? rank_edge(run, node) : collective_edge(run, node - p->ranks);
        seen[node] = ++count;
        node = edges[count - 1].to;
    }
    int from = seen[node] - 1, mark = edges[from].op;
    for (int k = from; k < count; k++) /* the report begins at the lowest rank */
        if (path[k] < p->ranks && (path[from] >= p->ranks || path[k] < path[from]))
            mark = edges[k].op, from = k;
    const int first = seen[node] - 1, length = count - first;
    pp_error_set(v->err, PP_EPROGRAM, "%s: DEADLOCK after %d of %d instructions", pp_verify_name(p),
                 run->done, pp_program_size(p));
    for (int k = 0; k < length && k < CYCLE_LINES; k++) {
        const int at = first + (from - first + k) % length;
        pp_error_append(v->err, "%s", line(run, path[at], edges[at]));
    }
    if (length > CYCLE_LINES)
        pp_error_append(v->err, "\n  and %d more in the cycle", length - CYCLE_LINES);
    append_others(run, path, first, count);
    append_fix(run, path, edges, first, count);
    const int rank = pp_program_rank_at(p, mark);
    return pp_verify_add_grid(v, rank, mark - p->begin[rank]);
}
