/* Saved activations of a backward are stored elsewhere in between: on the host, on NVMe.
 *
 *   after a forward      COPY.down: moves its saved activations off the device; its WAIT is before
 *                        the second forward after it, or before COPY.up: at most two are on their
 *                        way down
 *   before a backward    COPY.up, posted before the previous use (one ahead), and its WAIT. The use
 *                        is R if the backward recomputes
 *
 * Activations used again before two other ops have run stay on the device, as no compute would hide
 * their copies. An op of a sequence split reads earlier splits, too. So these leave
 * after the last forward, and are back before the first backward. Both copies of an overlapped
 * pair are outside of it. Reads F, B, I, R; runs before messages are added. Source: rules of Rhu et
 * al. 2016 (vDNN) and Rajbhandari et al. 2021 (ZeRO-Infinity, section 5.1.2). */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

enum { LEAST_DISTANCE = 3 }; /* least ops from a forward to its use, for a copy down and up again */

/* A (stage, granule, split): moments on its rank of the last forward, which makes or reads it, and
 * of its first use, -1 = none. */
struct cell {
    int32_t made, used;
    bool is_moved;
};

struct copy {
    struct pp_op op; /* the F, or the first user */
    int32_t moment;
    int32_t made; /* last moment of a forward that makes or reads some of a user's input */
    bool is_waited;
};
struct copies {
    struct copy *list;
    int count, capacity;
};

struct moves {
    const struct pp_lowering *l;
    struct pp_moment *moments;
    int moment_count;
    struct cell *cells;
    struct copies downs, ups;
    struct pp_inserts inserts;
};

static bool is_user(int kind)
{
    return kind == PP_R || kind == PP_B || kind == PP_I;
}

/* Returns the cell of split 0; those of the next splits follow. */
static struct cell *cells_of(const struct moves *m, const struct pp_op *op, int granule)
{
    const struct pp_program_head *head = m->l->head;
    const size_t granules = (size_t)head->micro_batches * (size_t)head->granules;

    return &m->cells[(op->stage * granules + (size_t)granule) * (size_t)head->splits];
}

static struct cell *cell_of(const struct moves *m, const struct pp_op *op, int granule)
{
    return cells_of(m, op, granule) + op->split;
}

/* ---- producers and users --------------------------------------------------------------------- */

static void note(struct moves *m, const struct pp_op *op, int moment)
{
    for (int g = op->mb; g < op->mb + op->granules; g++)
        for (int split = 0; split <= op->split; split++) {
            struct cell *cell = cells_of(m, op, g) + split;
            if (op->kind == PP_F)
                cell->made = moment;
            else if (is_user(op->kind) && cell->used < 0)
                cell->used = moment;
        }
}

static void find_moments(struct moves *m, int rank)
{
    m->moment_count = pp_lists_moments(m->l->lists, rank, m->moments);
    for (int k = 0; k < m->moment_count; k++)
        for (int i = 0; i < m->moments[k].count; i++)
            note(m, m->moments[k].op[i], k);
}

/* Moves all saved activations of a forward, or none of them. */
static bool choose(struct moves *m, const struct pp_op *op)
{
    bool is_far = true;

    for (int g = op->mb; is_far && g < op->mb + op->granules; g++) {
        const struct cell *cell = cell_of(m, op, g);
        is_far = cell->made >= 0 && cell->used >= cell->made + LEAST_DISTANCE;
    }
    for (int g = op->mb; is_far && g < op->mb + op->granules; g++)
        cell_of(m, op, g)->is_moved = true;
    return is_far;
}

/* Returns the length of the next run of moved granules, from *from on, that `op` is the first to
 * use. The search starts at `first`. */
static int run_of(const struct moves *m, const struct pp_op *op, int moment, int first, int *from)
{
    const int end = op->mb + op->granules;
    int length = 0;

    for (*from = first; *from < end; ++*from) {
        const struct cell *cell = cell_of(m, op, *from);
        if (cell->used == moment && cell->is_moved)
            break;
    }
    for (int g = *from; g < end; g++, length++) {
        const struct cell *cell = cell_of(m, op, g);
        if (cell->used != moment || !cell->is_moved)
            break;
    }
    return length;
}

static int last_made(const struct moves *m, const struct pp_op *op)
{
    int last = 0;

    for (int g = op->mb; g < op->mb + op->granules; g++)
        last = cell_of(m, op, g)->made > last ? cell_of(m, op, g)->made : last;
    return last;
}

/* Adds the runs of moved granules of a split that `op` is the first to use, each as an op. */
static void add_uses(struct moves *m, struct pp_op op, int moment)
{
    struct copies *uses = &m->ups;

    for (int first = op.mb, from = 0, length; first < op.mb + op.granules; first = from + length) {
        length = run_of(m, &op, moment, first, &from);
        if (length == 0)
            return;
        struct pp_op part = op;
        part.mb = from;
        part.granules = (uint8_t)length;
        *PP_PUSH(m->l->arena, uses->list, uses->count, uses->capacity) =
            (struct copy){.op = part, .moment = moment, .made = last_made(m, &part)};
    }
}

/* Inserts the copy down of a forward, in the order of moments. */
static void add_down(struct moves *m, const struct pp_op *op)
{
    struct copies *downs = &m->downs;
    const struct copy down = {.op = *op, .moment = last_made(m, op)};
    struct copy *at = PP_PUSH(m->l->arena, downs->list, downs->count, downs->capacity);

    for (; at > downs->list && at[-1].moment > down.moment; at--)
        *at = at[-1];
    *at = down;
}

static void find_copies(struct moves *m, const struct pp_op *ops)
{
    for (int k = 0; k < m->moment_count; k++)
        for (int i = m->moments[k].at; i < m->moments[k].end; i++)
            if (ops[i].kind == PP_F && choose(m, &ops[i]))
                add_down(m, &ops[i]);
    for (int k = 0; k < m->moment_count; k++)
        for (int i = m->moments[k].at; i < m->moments[k].end; i++) {
            struct pp_op op = ops[i];
            for (int split = 0; is_user(op.kind) && split <= ops[i].split; split++) {
                op.split = (uint8_t)split;
                add_uses(m, op, k);
            }
        }
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void add(struct moves *m, int before, struct pp_op op)
{
    pp_inserts_add(m->l->arena, &m->inserts, before, op);
}

static bool is_part(const struct pp_op *part, const struct pp_op *of)
{
    return part->stage == of->stage && part->split == of->split &&
           part->mb < of->mb + of->granules && of->mb < part->mb + part->granules;
}

/* Adds the WAIT for `down` before `before`, unless it has one. */
static void wait_down(struct moves *m, int before, struct copy *down)
{
    if (!down->is_waited)
        add(m, before, pp_op_wait(pp_op_copy(down->op, PP_FOR_DOWN)));
    down->is_waited = true;
}

/* Returns the moment before which COPY.up of use number k is posted: that of the previous use, but
 * at least one op after its producer. */
static int post_moment(const struct moves *m, int k)
{
    const struct copy *up = &m->ups.list[k];
    int before = k - 1;

    while (before >= 0 && m->ups.list[before].moment == up->moment)
        before--;
    const int moment = before >= 0 ? m->ups.list[before].moment : up->moment - 1;
    return moment > up->made + 1 ? moment : up->made + 2;
}

/* Progress of the copies. */
struct written {
    int down, first_down; /* downs posted; the first of them without a WAIT */
    int used, posted;     /* ups waited for; ups posted */
};

static void post_up(struct moves *m, int before, const struct copy *up, const struct written *w)
{
    for (int j = w->first_down; j < w->down; j++)
        if (is_part(&up->op, &m->downs.list[j].op))
            wait_down(m, before, &m->downs.list[j]);
    add(m, before, pp_op_copy(up->op, PP_FOR_UP));
}

/* Writes WAITs for all copies down but two, with those that follow this moment, and for the
 * moment's uses. Then posts ups. */
static void write_before(struct moves *m, int k, struct written *w)
{
    const int before = m->moments[k].at;
    int next = w->down;

    while (next < m->downs.count && m->downs.list[next].moment == k)
        next++;
    for (int j = w->first_down; next > w->down && j < w->down && j < next - 2; j++)
        wait_down(m, before, &m->downs.list[j]);
    while (w->first_down < w->down && m->downs.list[w->first_down].is_waited)
        w->first_down++;
    for (; w->used < m->ups.count && m->ups.list[w->used].moment == k; w->used++)
        add(m, before, pp_op_wait(pp_op_copy(m->ups.list[w->used].op, PP_FOR_UP)));
    for (; w->posted < m->ups.count && post_moment(m, w->posted) <= k; w->posted++)
        post_up(m, before, &m->ups.list[w->posted], w);
}

static void write_after(struct moves *m, int k, struct written *w)
{
    const struct pp_moment *moment = &m->moments[k];

    for (; w->down < m->downs.count && m->downs.list[w->down].moment == k; w->down++)
        add(m, moment->end, pp_op_copy(m->downs.list[w->down].op, PP_FOR_DOWN));
}

static void move_rank(struct moves *m, int rank)
{
    const struct pp_op *ops = m->l->lists->ops[rank];
    struct written w = {0};

    m->downs.count = m->ups.count = 0;
    find_moments(m, rank);
    find_copies(m, ops);
    for (int k = 0; k < m->moment_count; k++) {
        write_before(m, k, &w);
        write_after(m, k, &w);
    }
    pp_inserts_apply(m->l->arena, m->l->lists, rank, &m->inserts);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static struct moves moves_make(const struct pp_lowering *l)
{
    const struct pp_program_head *head = l->head;
    const size_t cells = (size_t)head->stages * (size_t)head->micro_batches *
                         (size_t)head->granules * (size_t)head->splits;
    struct moves m = {.l = l};

    m.moments = PP_ARRAY(l->arena, struct pp_moment, pp_lists_longest(l->lists) + 1);
    m.cells = PP_ARRAY(l->arena, struct cell, cells);
    for (size_t i = 0; i < cells; i++)
        m.cells[i] = (struct cell){-1, -1, false};
    return m;
}

enum pp_status pp_lower_moves(const struct pp_lowering *l)
{
    const bool has_work = pp_state_is_away(&l->options->state, PP_STATE_ACTIVATIONS);

    if (!has_work || l->head->mode == PP_MODE_INFER || pp_lists_have(l->lists, PP_COPY) ||
        pp_lists_have(l->lists, PP_Q))
        return PP_OK;
    struct moves m = moves_make(l);
    for (int rank = 0; rank < l->head->ranks; rank++)
        move_rank(&m, rank);
    return PP_OK;
}
