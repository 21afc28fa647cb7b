/* Finds the visits of a rank to gather units, of parameters and of gradients. */
#include "schedules/lower/visits.h"
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

/* Units of a chunk. NO_UNIT continues no visit. */
enum unit { FIRST_UNIT, LAST_UNIT, NO_UNIT };

/* Role of an op in a walk. */
struct use {
    bool is_apart;         /* not part of it */
    bool is_counted;       /* opens or continues a visit */
    enum unit first, last; /* units with which it begins and ends */
    int pipe;              /* of a chunk whose pipelines do not share a visit, else 0 */
};
typedef struct use (*use_rule)(const struct pp_op *op, bool is_layered);

/* The unit at the end of a moment, and its visit, -1 = none. */
struct open {
    int stage, pipe, visit;
    enum unit unit;
};

static bool has_grads(int kind)
{
    return kind == PP_B || kind == PP_W;
}

/* Returns the stage that stands for all whose units are the same. */
static int stage_of(const struct pp_visit_walk *w, const struct pp_op *op)
{
    return w->model_stages > 0 ? op->stage % w->model_stages : op->stage;
}

/* ---- one walk -------------------------------------------------------------------------------- */

static int add(const struct pp_visit_walk *w, struct pp_visits *visits, const struct pp_op *op,
               int moment)
{
    *PP_PUSH(w->arena, visits->list, visits->count, visits->capacity) =
        (struct pp_visit){stage_of(w, op), op->pipe, moment, moment, 1, op->kind != PP_F};
    return visits->count - 1;
}

/* Returns the open visit that continues with this unit, or -1. */
static int find_open(const struct open *open, int count, int stage, const struct use *use)
{
    for (int i = 0; i < count; i++)
        if (open[i].stage == stage && open[i].pipe == use->pipe && open[i].unit == use->first)
            return open[i].visit;
    return -1;
}

/* Adds the ops of moment m to visits: both of a pair of one stage are in one visit. Fills `next`
 * with the visits open after it; returns their number. */
static int walk_moment(const struct pp_visit_walk *w, use_rule rule, struct pp_visits *visits,
                       int m, const struct open *open, int open_count, struct open next[2])
{
    int count = 0;

    for (int i = 0; i < w->moments[m].count; i++) {
        const struct pp_op *op = w->moments[m].op[i];
        const int stage = stage_of(w, op), units = w->units ? w->units[stage] : 1;
        const struct use use = rule(op, units > 1);
        if (use.is_apart)
            continue;
        const bool is_same = count > 0 && next[0].stage == stage && next[0].pipe == use.pipe;
        int visit = is_same ? next[0].visit : find_open(open, open_count, stage, &use);
        if (use.is_counted && visit < 0)
            visit = add(w, visits, op, m);
        if (use.is_counted) {
            visits->list[visit].until = m;
            visits->list[visit].units += is_same ? 0 : units - 1;
        }
        if (!is_same)
            next[count++] = (struct open){stage, use.pipe, visit, use.last};
        next[count - 1].visit = visit;
    }
    return count;
}

static void walk(const struct pp_visit_walk *w, use_rule rule, struct pp_visits *visits)
{
    struct open open[2] = {{0}}, next[2];
    int open_count = 0;

    visits->count = 0;
    for (int m = 0; m < w->moment_count; m++) {
        const int count = walk_moment(w, rule, visits, m, open, open_count, next);
        for (int i = 0; i < count; i++)
            open[i] = next[i];
        open_count = count > 0 ? count : open_count;
    }
}

/* ---- roles ----------------------------------------------------------------------------------- */

/* A weight gradient needs no parameters and leaves them in place. Recomputation runs through them
 * like a backward, layer by layer, and ends before the backward's first one. */
static struct use use_of_params(const struct pp_op *op, bool is_layered)
{
    const bool is_forward = op->kind == PP_F;

    return (struct use){
        .is_apart = op->kind == PP_W,
        .is_counted = true,
        .first = is_forward || !is_layered ? FIRST_UNIT : LAST_UNIT,
        .last = is_layered && (is_forward || op->kind == PP_R) ? LAST_UNIT : FIRST_UNIT,
    };
}

/* A chunk of several units makes the gradients of one unit after those of another. */
static struct use use_of_grads(const struct pp_op *op, bool is_layered)
{
    const enum unit unit = is_layered ? NO_UNIT : FIRST_UNIT;

    return (struct use){
        .is_counted = has_grads(op->kind), .first = unit, .last = FIRST_UNIT, .pipe = op->pipe};
}

void pp_visits_of_params(const struct pp_visit_walk *w, struct pp_visits *visits)
{
    walk(w, use_of_params, visits);
}

/* Sorts visits by their end: overlapping pairs may end in another order than they begin. */
static void sort_by_end(struct pp_visits *visits)
{
    for (int k = 1; k < visits->count; k++) {
        const struct pp_visit v = visits->list[k];
        int at = k;
        for (; at > 0 && visits->list[at - 1].until > v.until; at--)
            visits->list[at] = visits->list[at - 1];
        visits->list[at] = v;
    }
}

void pp_visits_of_grads(const struct pp_visit_walk *w, struct pp_visits *visits)
{
    walk(w, use_of_grads, visits);
    sort_by_end(visits);
}

static void add_backwards(const struct pp_visit_walk *w, struct pp_visits *visits)
{
    for (int m = 0; m < w->moment_count; m++)
        for (int i = 0; i < w->moments[m].count; i++)
            if (has_grads(w->moments[m].op[i]->kind))
                add(w, visits, w->moments[m].op[i], m);
}

void pp_visits_of_parts(const struct pp_visit_walk *w, const struct pp_visits *from, int stages,
                        struct pp_visits *visits)
{
    int *last = PP_ARRAY(w->arena, int, stages);
    int kept = 0;

    visits->count = 0;
    if (!from)
        add_backwards(w, visits);
    for (int i = 0; from && i < from->count; i++)
        *PP_PUSH(w->arena, visits->list, visits->count, visits->capacity) = from->list[i];
    for (int i = 0; i < visits->count; i++)
        last[visits->list[i].stage] = i + 1;
    for (int i = 0; i < visits->count; i++)
        if (last[visits->list[i].stage] != i + 1)
            visits->list[kept++] = visits->list[i];
    visits->count = kept;
}

int pp_visits_before(const struct pp_visits *visits, int k, int buffers)
{
    const struct pp_visit *list = visits->list;
    int at = k, ahead = buffers - 1;

    while (ahead > 0) {
        if (at == 0)
            return -1;
        ahead -= list[--at].units;
        if (list[at].stage == list[k].stage)
            break;
    }
    return at;
}

/* ---- gradients in the place of their parameters ---------------------------------------------- */

/* Returns the most visits of one unit of a rank. */
static int most_visits(const struct pp_lowering *l, int rank, int *visits)
{
    int most = 0, open = -1;

    for (int i = 0; i < l->lists->count[rank]; i++) {
        const struct pp_op *op = &l->lists->ops[rank][i];
        const int chunk = op->pipe * l->head->stages + op->stage;
        if (!pp_op_has_cell(op->kind))
            continue;
        if (op->kind == PP_F || chunk != open)
            open = -1;
        if (op->kind != PP_B && op->kind != PP_W)
            continue;
        if (open == -1 || pp_lower_units(l->options, op->stage) > 1)
            visits[chunk]++;
        open = chunk;
        most = visits[chunk] > most ? visits[chunk] : most;
    }
    return most;
}

/* Checks that gradients may take the place of their parameters. These are needed until the last
 * backward of a step, so each unit goes backward in one visit. A visit is a run of backwards of a
 * chunk, or a single B or W if the chunk has several units. A forward, or another chunk, ends it.
 * Changes nothing. */
enum pp_status pp_lower_in_place(const struct pp_lowering *l)
{
    const size_t chunks = (size_t)l->head->pipelines * (size_t)l->head->stages;
    int most = 0;

    if (!l->options->state.has_grads_in_params || l->head->mode == PP_MODE_INFER)
        return PP_OK;
    int *visits = PP_ARRAY(l->arena, int, chunks);
    for (int rank = 0; rank < l->head->ranks; rank++) {
        const int of_rank = most_visits(l, rank, visits);
        most = of_rank > most ? of_rank : most;
    }
    if (most <= 1)
        return PP_OK;
    return pp_error_set(l->err, PP_EINVAL,
                        "--grads-in-params: a unit goes backward in %d visits a step, and its "
                        "parameters stay until the last; nearest: --schedule bfs%s, "
                        "--micro-batches 1",
                        most, l->options->units ? " --gather chunk" : "");
}
