/* schedules/program/read_infer.c — infers the rank of every stage of every pipeline from the cells.
 * A (stage, micro-batch) is on one rank. Micro-batches with the same path through the ranks form a
 * pipeline. Pipelines are numbered by their first micro-batch. Linear in the cells. */
#include "core/map64.h"
#include "schedules/program/freeze.h"

#include <string.h>

enum { NOWHERE = UINT16_MAX };

struct visit { /* the first cell of a (stage, id) */
    int32_t id;
    uint16_t stage, rank;
    int32_t position;
};

struct inference {
    struct pp_reading *reading;
    struct visit *visits; /* grouped by id */
    int32_t *begin;       /* [ids + 1] */
    int ids, stages;
    uint16_t *paths; /* [pipeline * stages + stage], NOWHERE = not yet known */
    int64_t path_room;
    int pipelines;
    int32_t *pipe_of; /* [id], -1 = none yet */
};

/* ---- visits ---------------------------------------------------------------------------------- */

static enum pp_status add_visits(struct inference *in, struct pp_map64 *seen, int *count, int rank,
                                 int position)
{
    const struct pp_reading *reading = in->reading;
    const struct pp_op *op = &reading->lists->ops[rank][position];

    for (int id = op->mb; op->mb >= 0 && id < op->mb + op->granules; id++) {
        const int32_t k = *pp_map64_at(seen, (uint64_t)op->stage << 32 | (uint32_t)id, *count);
        const struct visit *first = &in->visits[k];
        if (k == *count)
            in->visits[(*count)++] = (struct visit){id, op->stage, (uint16_t)rank, position};
        else if (first->rank != rank)
            return pp_reading_error(
                reading, rank, position,
                "stage %d of micro-batch %d is here on rank %d, but on rank %d at line %d cell %d",
                op->stage, id, rank, first->rank, reading->line[first->rank][first->position],
                reading->column[first->rank][first->position]);
    }
    return PP_OK;
}

/* Sorts visits by id: a counting sort. */
static void group_visits(struct inference *in, int count)
{
    struct pp_arena *scratch = in->reading->scratch;
    struct visit *sorted = pp_arena_alloc_raw(scratch, (size_t)count * sizeof(*sorted));
    int32_t *next = PP_ARRAY(scratch, int32_t, in->ids + 1);

    in->begin = PP_ARRAY(scratch, int32_t, in->ids + 1);
    for (int k = 0; k < count; k++)
        in->begin[in->visits[k].id + 1]++;
    for (int id = 0; id < in->ids; id++)
        in->begin[id + 1] += in->begin[id];
    memcpy(next, in->begin, sizeof(int32_t) * ((size_t)in->ids + 1));
    for (int k = 0; k < count; k++)
        sorted[next[in->visits[k].id]++] = in->visits[k];
    in->visits = sorted;
}

static enum pp_status collect_visits(struct inference *in)
{
    const struct pp_reading *reading = in->reading;
    const struct pp_orders *lists = reading->lists;
    int64_t room = 0;
    int count = 0;

    for (int r = 0; r < lists->ranks; r++)
        for (int at = 0; at < lists->count[r]; at++)
            room += lists->ops[r][at].mb >= 0 ? lists->ops[r][at].granules : 0;
    if (room > PP_MAX_PROGRAM_OPS)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s: the cells cover %lld granules: at "
                            "most %d",
                            reading->file, (long long)room, PP_MAX_PROGRAM_OPS);
    in->visits = pp_arena_alloc_raw(reading->scratch, (size_t)(room + 1) * sizeof(*in->visits));
    struct pp_map64 seen = pp_map64_create(reading->scratch, room);
    for (int r = 0; r < lists->ranks; r++)
        for (int at = 0; at < lists->count[r]; at++)
            PP_TRY(add_visits(in, &seen, &count, r, at));
    group_visits(in, count);
    return PP_OK;
}

/* ---- pipelines ------------------------------------------------------------------------------- */

static uint16_t *path_of(const struct inference *in, int pipe)
{
    return in->paths + (int64_t)pipe * in->stages;
}

static bool is_compatible(const struct inference *in, int id, int pipe)
{
    const uint16_t *path = path_of(in, pipe);

    for (int k = in->begin[id]; k < in->begin[id + 1]; k++)
        if (path[in->visits[k].stage] != in->visits[k].rank && path[in->visits[k].stage] != NOWHERE)
            return false;
    return true;
}

static void join(struct inference *in, int id, int pipe)
{
    in->pipe_of[id] = pipe;
    for (int k = in->begin[id]; k < in->begin[id + 1]; k++)
        path_of(in, pipe)[in->visits[k].stage] = in->visits[k].rank;
}

static enum pp_status add_pipeline(struct inference *in, int id)
{
    const int64_t have = (int64_t)in->pipelines * in->stages, need = have + in->stages;

    if (in->pipelines == PP_MAX_PIPELINES || need > PP_MAX_PATHS)
        return pp_error_set(in->reading->err, PP_EPROGRAM,
                            "%s: more than %d different ways through the ranks", in->reading->file,
                            in->pipelines);
    if (need > in->path_room) {
        in->path_room = 2 * need;
        in->paths = pp_arena_grow(in->reading->scratch, in->paths, (size_t)have * 2,
                                  (size_t)in->path_room * 2);
    }
    for (int64_t k = have; k < need; k++)
        in->paths[k] = NOWHERE;
    join(in, id, in->pipelines++);
    return PP_OK;
}

/* Returns a hash of the path of `id` that does not depend on the order of its visits. */
static uint64_t hash_path(const struct inference *in, int id)
{
    uint64_t hash = 0;

    for (int k = in->begin[id]; k < in->begin[id + 1]; k++) {
        uint64_t x = (uint64_t)in->visits[k].stage << 16 | in->visits[k].rank;
        x = (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
        hash += x ^ x >> 32;
    }
    return hash >> 1;
}

/* Joins micro-batches that visit all stages: equal paths by hash. */
static enum pp_status join_complete(struct inference *in)
{
    struct pp_map64 known = pp_map64_create(in->reading->scratch, in->ids);

    for (int id = 0; id < in->ids; id++) {
        if (in->begin[id + 1] - in->begin[id] != in->stages)
            continue;
        for (uint64_t key = hash_path(in, id);; key++) {
            const int32_t pipe = *pp_map64_at(&known, key, in->pipelines);
            if (pipe == in->pipelines) {
                PP_TRY(add_pipeline(in, id));
                break;
            }
            if (is_compatible(in, id, pipe)) {
                in->pipe_of[id] = pipe;
                break;
            }
        }
    }
    return PP_OK;
}

/* Joins each other micro-batch (an error that verification explains) to the first pipeline that it
 * does not contradict. Ids with the same visits join the same one without another search. */
static enum pp_status join_incomplete(struct inference *in)
{
    struct pp_map64 known = pp_map64_create(in->reading->scratch, in->ids);

    for (int id = 0; id < in->ids; id++) {
        if (in->pipe_of[id] >= 0)
            continue;
        int32_t *first = pp_map64_at(&known, hash_path(in, id), 0);
        if (*first > 0 && !is_compatible(in, id, *first))
            *first = 0; /* a collision of hashes */
        while (*first < in->pipelines && !is_compatible(in, id, *first))
            ++*first;
        if (*first == in->pipelines)
            PP_TRY(add_pipeline(in, id));
        else
            join(in, id, *first);
    }
    return PP_OK;
}

static enum pp_status check_holes(const struct inference *in)
{
    const struct pp_reading *reading = in->reading;
    int id = 0;

    for (int pipe = 0; pipe < in->pipelines; pipe++)
        for (int s = 0; s < in->stages; s++) {
            if (path_of(in, pipe)[s] != NOWHERE)
                continue;
            while (in->pipe_of[id] != pipe)
                id++;
            const struct visit *visit = &in->visits[in->begin[id]];
            return pp_reading_error(
                reading, visit->rank, visit->position,
                "micro-batch %d never visits stage %d, and no other micro-batch that goes the "
                "same way tells on which rank that is",
                id, s);
        }
    return PP_OK;
}

static enum pp_status check_granules(const struct inference *in)
{
    const int granules = in->reading->head.granules;

    for (int id = 0; id < in->ids; id++) {
        const struct visit *visit = &in->visits[in->begin[id]];
        if (in->pipe_of[id] != in->pipe_of[id - id % granules])
            return pp_reading_error(in->reading, visit->rank, visit->position,
                                    "granules %d and %d belong to one micro-batch (of %d granules) "
                                    "but take different ways through the ranks",
                                    id - id % granules, id, granules);
    }
    return PP_OK;
}

/* Numbers pipelines by their first micro-batch and stores the result in the head. */
static void publish(struct inference *in)
{
    struct pp_reading *reading = in->reading;
    const size_t path_bytes = (size_t)in->stages * sizeof(uint16_t);
    int32_t *number = PP_ARRAY(reading->scratch, int32_t, in->pipelines);
    uint16_t *rank_of = pp_arena_alloc(reading->arena, path_bytes * (size_t)in->pipelines);
    uint16_t *pipe_of = PP_ARRAY(reading->arena, uint16_t, in->ids);
    int next = 0;

    memset(number, -1, (size_t)in->pipelines * sizeof(*number));
    for (int id = 0; id < in->ids; id++) {
        const int pipe = in->pipe_of[id];
        if (number[pipe] < 0) {
            number[pipe] = next++;
            memcpy(rank_of + (int64_t)number[pipe] * in->stages, path_of(in, pipe), path_bytes);
        }
        pipe_of[id] = (uint16_t)number[pipe];
    }
    reading->head.pipelines = in->pipelines;
    reading->head.rank_of = rank_of;
    reading->head.pipe_of = pipe_of;
}

static enum pp_status infer(struct pp_reading *reading)
{
    struct inference in = {.reading = reading,
                           .ids = reading->head.micro_batches * reading->head.granules,
                           .stages = reading->head.stages};

    PP_TRY(collect_visits(&in));
    in.pipe_of = pp_arena_alloc_raw(reading->scratch, (size_t)in.ids * sizeof(int32_t));
    memset(in.pipe_of, -1, (size_t)in.ids * sizeof(int32_t));
    PP_TRY(join_complete(&in));
    PP_TRY(join_incomplete(&in));
    PP_TRY(check_holes(&in));
    PP_TRY(check_granules(&in));
    publish(&in);
    const int given = reading->meta.sizes[PP_META_PIPELINES];
    if (given != 0 && given != in.pipelines)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s:%d: pipelines: %d, but the micro-batches take %d ways through the "
                            "ranks",
                            reading->file, reading->meta.lines[PP_META_PIPELINES], given,
                            in.pipelines);
    return PP_OK;
}

/* ---- every instruction on its rank ----------------------------------------------------------- */

/* Sets the pipeline of a cell; without micro-batch and @pipeline, that of a stage of the rank. */
static enum pp_status place_op(const struct pp_reading *reading, int rank, int position)
{
    const struct pp_program_head *head = &reading->head;
    struct pp_op *op = &reading->lists->ops[rank][position];
    const bool has_pipe = op->mb < 0 && op->pipe > 0;

    if (op->kind == PP_BAR || op->peer != 0)
        return PP_OK;
    if (op->pipe >= head->pipelines)
        return pp_reading_error(reading, rank, position, "pipelines are 0 to %d",
                                head->pipelines - 1);
    if (op->mb >= 0)
        op->pipe = head->pipe_of[op->mb];
    const int home = head->rank_of[(int64_t)op->pipe * head->stages + op->stage];
    if (home == rank)
        return PP_OK;
    for (int pipe = 0; op->mb < 0 && !has_pipe && pipe < head->pipelines; pipe++)
        if (head->rank_of[(int64_t)pipe * head->stages + op->stage] == rank) {
            op->pipe = (uint16_t)pipe;
            return PP_OK;
        }
    return pp_reading_error(reading, rank, position, "stage %d%s is on rank %d, not on rank %d",
                            op->stage, op->mb < 0 ? "" : " of this micro-batch", home, rank);
}

enum pp_status pp_reading_placement(struct pp_reading *reading)
{
    struct pp_program_head *head = &reading->head;
    const struct pp_meta *meta = &reading->meta;

    if (meta->rank_of) {
        head->pipelines = meta->sizes[PP_META_PIPELINES];
        head->rank_of = meta->rank_of;
        head->pipe_of = meta->pipe_of;
        if (!head->pipe_of)
            head->pipe_of =
                PP_ARRAY(reading->arena, uint16_t, head->micro_batches * head->granules);
    } else {
        PP_TRY(infer(reading));
    }
    for (int r = 0; r < reading->lists->ranks; r++)
        for (int at = 0; at < reading->lists->count[r]; at++)
            PP_TRY(place_op(reading, r, at));
    return PP_OK;
}
