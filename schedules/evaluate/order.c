/* Sorts the nodes topologically, or reports the cycle that prevents it. */
#include "schedules/evaluate/order.h"

#include <string.h>

/* ---- topological order ----------------------------------------------------------------------- */

static void count_readers(struct pp_order *o)
{
    const struct pp_graph *g = o->g;
    int count;

    for (int32_t n = 0; n < g->count; n++) {
        const int32_t *in = pp_node_inputs(g, n, &count);
        for (int k = 0; k < count; k++)
            if (in[k] != 0) {
                o->first[in[k] + 1]++;
                o->missing[n]++;
            }
    }
    for (int32_t n = 0; n < g->count; n++)
        o->first[n + 1] += o->first[n];
}

static void list_readers(struct pp_arena *arena, struct pp_order *o)
{
    const struct pp_graph *g = o->g;
    int32_t *at = pp_arena_alloc_raw(arena, sizeof(*at) * (size_t)(g->count + 1));
    int count;

    o->reader = pp_arena_alloc_raw(arena, sizeof(int32_t) * (size_t)(o->first[g->count] + 1));
    memcpy(at, o->first, sizeof(*at) * (size_t)(g->count + 1));
    for (int32_t n = 0; n < g->count; n++) {
        const int32_t *in = pp_node_inputs(g, n, &count);
        for (int k = 0; k < count; k++)
            if (in[k] != 0)
                o->reader[at[in[k]]++] = n;
    }
}

static void make_ready(struct pp_order *o, int32_t node)
{
    if (o->g->nodes[node].type == PP_NODE_STEP)
        o->sequence[o->count++] = node;
    else
        o->meets[o->meet_count++] = node;
}

static void release_readers(struct pp_order *o, int32_t node)
{
    for (int32_t e = o->first[node]; e < o->first[node + 1]; e++)
        if (--o->missing[o->reader[e]] == 0)
            make_ready(o, o->reader[e]);
}

/* First in, first out: neighbours in the sequence rarely depend on each other, so that the machine
 * can overlap them. Meets come as late as possible: each run of them is one pass over all lanes. */
static void sort(struct pp_arena *arena, struct pp_order *o)
{
    for (int32_t n = 1; n < o->g->count; n++)
        if (o->g->nodes[n].type == PP_NODE_ENTRY) /* nothing computes it */
            o->missing[n] = -1;
        else if (o->missing[n] == 0)
            make_ready(o, n);
    for (int32_t n = 1; n < o->g->count; n++)
        if (o->missing[n] < 0)
            release_readers(o, n);
    for (int done = 0; done < o->count || o->meet_count > 0;) {
        for (; done < o->count; done++)
            release_readers(o, o->sequence[done]);
        struct pp_segment segment = {.steps_end = o->count};
        const int meets = o->meet_count;
        o->meet_count = 0;
        memcpy(o->sequence + o->count, o->meets, sizeof(int32_t) * (size_t)meets);
        segment.meets_end = o->count += meets;
        *PP_PUSH(arena, o->segments, o->segment_count, o->segment_capacity) = segment;
    }
}

/* ---- deadlock -------------------------------------------------------------------------------- */

static const char *describe(const struct pp_graph *g, int32_t node, int *rank, char *text)
{
    const struct pp_program *p = g->program;
    const int i = g->nodes[node].owner;

    *rank = -1;
    if (i < 0)
        return "a barrier";
    *rank = pp_program_rank_at(p, i);
    pp_program_print_op(p, i, text);
    return text;
}

static int32_t blocked_input(const struct pp_order *o, int32_t node)
{
    int count;
    const int32_t *in = pp_node_inputs(o->g, node, &count);

    for (int k = 0; k < count; k++)
        if (in[k] != 0 && o->missing[in[k]] > 0)
            return in[k];
    return 0;
}

static enum pp_status deadlock(struct pp_arena *arena, const struct pp_order *o,
                               struct pp_error *err)
{
    enum { MAX_LINES = 40 };
    const struct pp_graph *g = o->g;
    unsigned char *seen = PP_ARRAY(arena, unsigned char, g->count);
    int32_t node = 1;

    while (o->missing[node] <= 0)
        node++;
    /* Every blocked node has a blocked input: the way back must run into a cycle. */
    for (; !seen[node]; node = blocked_input(o, node))
        seen[node] = 1;
    const int32_t start = node;
    pp_error_set(err, PP_EPROGRAM, "the program deadlocks:");
    for (int line = 0; line < MAX_LINES; line++) {
        char text[PP_OP_TEXT_BYTES], before[PP_OP_TEXT_BYTES];
        const int32_t input = blocked_input(o, node);
        int rank, other;
        const char *what = describe(g, node, &rank, text);
        const char *for_what = describe(g, input, &other, before);
        if (g->nodes[node].owner != g->nodes[input].owner)
            pp_error_append(err, "\n  rank %d waits for %s of rank %d before %s", rank, for_what,
                            other, what);
        node = input;
        if (node == start)
            return PP_EPROGRAM;
    }
    pp_error_append(err, "\n  ...");
    return PP_EPROGRAM;
}

/* ---- compilation ----------------------------------------------------------------------------- */

enum pp_status pp_eval_order(struct pp_arena *arena, const struct pp_graph *g, struct pp_eval *eval,
                             struct pp_error *err)
{
    struct pp_order o = {.g = g,
                         .first = PP_ARRAY(g->arena, int32_t, g->count + 1),
                         .missing = PP_ARRAY(g->arena, int32_t, g->count),
                         .sequence = PP_ARRAY(g->arena, int32_t, g->count),
                         .meets = PP_ARRAY(g->arena, int32_t, g->count)};

    count_readers(&o);
    list_readers(g->arena, &o);
    sort(g->arena, &o);
    for (int32_t n = 1; n < g->count; n++)
        eval->entry_count += g->nodes[n].type == PP_NODE_ENTRY;
    if (o.count < g->count - 1 - eval->entry_count)
        return deadlock(g->arena, &o, err);
    return pp_eval_emit(arena, &o, eval, err);
}
