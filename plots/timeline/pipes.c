/* Pipelines and chunks of a timeline, from the paths of micro-batches through the ranks. */
#include "plots/timeline/parts.h"

/* MOST_WAYS: pipelines times stages, 64 MiB of ranks. */
enum { MOST_PIPES = 4096, MOST_WAYS = 1 << 24 };

/* One stage of the path of a micro-batch. */
struct visit {
    uint16_t stage;
    int32_t rank;
};
struct ways {
    struct visit *visits; /* by micro-batch */
    int64_t *begin;       /* [ids + 1] */
};

/* Counts visits by micro-batch; in a second pass, stores them from begin[id + 1] on. */
static void visit_all(const struct pp_timeline *t, struct ways *ways, bool is_counting)
{
    for (int i = 0; i < t->count; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        const struct pp_timeline_op *ops[] = {&box->op, &box->second};
        for (int k = 0; k <= box->is_fused; k++)
            for (int id = ops[k]->mb;
                 id >= 0 && ops[k]->split == 0 && id < ops[k]->mb + ops[k]->granules; id++) {
                const int64_t at = ways->begin[id + 1]++;
                if (!is_counting)
                    ways->visits[at] = (struct visit){ops[k]->stage, box->rank};
            }
    }
}

static struct ways find_ways(struct pp_arena *arena, const struct pp_timeline *t)
{
    const int ids = t->ids;
    struct ways ways = {.begin = PP_ARRAY(arena, int64_t, ids + 2)};
    int64_t total = 0;

    visit_all(t, &ways, true);
    for (int id = 0; id < ids; id++) {
        const int64_t count = ways.begin[id + 1];
        ways.begin[id + 1] = total;
        total += count;
    }
    ways.visits = pp_arena_alloc_raw(arena, ((size_t)total + 1) * sizeof(*ways.visits));
    visit_all(t, &ways, false);
    return ways;
}

/* Is true if the path agrees with the pipeline at all stages that both have. */
static bool is_way_of(const struct pp_timeline *t, int pipe, const struct visit *visits,
                      int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t rank = t->rank_of[(int64_t)pipe * t->stages + visits[i].stage];
        if (rank >= 0 && rank != visits[i].rank)
            return false;
    }
    return true;
}

static void add_pipe(struct pp_arena *arena, struct pp_timeline *t, int *capacity)
{
    if (t->pipes == *capacity) {
        const size_t row = sizeof(*t->rank_of) * (size_t)t->stages;
        *capacity = *capacity ? 2 * *capacity : 2;
        t->rank_of =
            pp_arena_grow(arena, t->rank_of, row * (size_t)t->pipes, row * (size_t)*capacity);
    }
    for (int s = 0; s < t->stages; s++)
        t->rank_of[(int64_t)t->pipes * t->stages + s] = -1;
    t->pipes++;
}

static enum pp_status number_pipes(struct pp_arena *arena, struct pp_timeline *t,
                                   struct pp_error *err)
{
    const struct ways ways = find_ways(arena, t);
    int capacity = 0;

    add_pipe(arena, t, &capacity);
    t->pipe_of = PP_ARRAY(arena, uint16_t, t->ids + 1);
    for (int id = 0; id < t->ids; id++) {
        const struct visit *visits = &ways.visits[ways.begin[id]];
        const int64_t count = ways.begin[id + 1] - ways.begin[id];
        int pipe = 0;
        while (pipe < t->pipes && !is_way_of(t, pipe, visits, count))
            pipe++;
        if (pipe == MOST_PIPES || (int64_t)(pipe + 1) * t->stages > MOST_WAYS)
            return pp_error_set(err, PP_EINVAL,
                                "%s: micro-batches take more than %d different ways through the "
                                "ranks",
                                t->trace->program, pipe);
        if (pipe == t->pipes)
            add_pipe(arena, t, &capacity);
        for (int64_t i = 0; i < count; i++)
            t->rank_of[(int64_t)pipe * t->stages + visits[i].stage] = visits[i].rank;
        t->pipe_of[id] = (uint16_t)pipe;
    }
    return PP_OK;
}

static void number_chunks(struct pp_arena *arena, struct pp_timeline *t)
{
    int *held = PP_ARRAY(arena, int, t->ranks);

    t->chunks = 1;
    t->chunk_of = PP_ARRAY(arena, uint16_t, (size_t)t->pipes * (size_t)t->stages + 1);
    for (int pipe = 0; pipe < t->pipes; pipe++) {
        for (int s = 0; s < t->stages; s++)
            if (t->rank_of[(int64_t)pipe * t->stages + s] >= 0)
                held[t->rank_of[(int64_t)pipe * t->stages + s]] = 0;
        for (int s = 0; s < t->stages; s++) {
            const int64_t at = (int64_t)pipe * t->stages + s;
            if (t->rank_of[at] < 0)
                continue;
            int *count = &held[t->rank_of[at]];
            t->chunk_of[at] = (uint16_t)(*count)++;
            t->chunks = *count > t->chunks ? *count : t->chunks;
        }
    }
}

/* The pipeline of an op: that of its micro-batch, else that of its cell. If cells are numbered
 * differently, it is a pipeline that has the stage on the rank. */
static int pipe_of(const struct pp_timeline *t, const struct pp_timeline_op *op, int rank)
{
    if (op->mb >= 0)
        return t->pipe_of[op->mb];
    for (int i = 0; i < t->pipes; i++) {
        const int pipe = (op->pipe + i) % t->pipes;
        if (t->rank_of[(int64_t)pipe * t->stages + op->stage] == rank)
            return pipe;
    }
    return op->pipe < t->pipes ? op->pipe : 0;
}

static void place_op(const struct pp_timeline *t, struct pp_timeline_op *op, int rank)
{
    op->pipe = (uint16_t)pipe_of(t, op, rank);
    op->chunk = t->chunk_of[(int64_t)op->pipe * t->stages + op->stage];
}

enum pp_status pp_timeline_find_pipes(struct pp_arena *arena, struct pp_timeline *timeline,
                                      struct pp_error *err)
{
    PP_TRY(number_pipes(arena, timeline, err));
    number_chunks(arena, timeline);
    for (int i = 0; i < timeline->count; i++) {
        struct pp_timeline_box *box = &timeline->boxes[i];
        place_op(timeline, &box->op, box->rank);
        if (box->is_fused)
            place_op(timeline, &box->second, box->rank);
    }
    return PP_OK;
}
