/* Words over F, I, W: times, a lower bound, and greedy search. */
#include "schedules/search/zb_search.h"

#include "core/heap.h"
#include "schedules/order/closed_form.h"
#include "schedules/order/order.h"

struct pp_zb_rank {
    int f, i, w;        /* next micro-batch of each kind */
    bool is_due;        /* decides at `wake` */
    int64_t free, wake; /* end of the last op; next time to decide */
    int64_t start;      /* of the first op */
    int64_t down, up;   /* times at which the channels are free */
    int cells;          /* cells of the word so far */
};

static const int64_t UNKNOWN = INT64_MAX;

/* ---- the problem ----------------------------------------------------------------------------- */

static int64_t op_ps(const struct pp_costs *costs, int kind, int rank)
{
    struct pp_op op = pp_compute_op(kind, (struct pp_slot){.stage = (uint16_t)rank}, 0, 0);

    if (costs->op[kind] || kind == PP_F)
        return pp_costs_op(costs, &op, NULL).ps;
    op.kind = PP_B; /* only whole backwards were measured */
    return pp_costs_op(costs, &op, NULL).ps / 2;
}

static int64_t wire_ps(const struct pp_costs *costs, int kind, int rank)
{
    struct pp_op send = pp_compute_op(kind, (struct pp_slot){.stage = (uint16_t)rank}, 0, 0);

    send.peer = (uint16_t)(kind == PP_SEND_F ? rank + 1 : rank - 1);
    return pp_costs_p2p(costs, &send, rank).ps;
}

static void fill(struct pp_zb *zb, const struct pp_costs *costs)
{
    for (int r = 0; r < zb->ranks; r++) {
        zb->f[r] = costs ? op_ps(costs, PP_F, r) : 1;
        zb->i[r] = costs ? op_ps(costs, PP_I, r) : 1;
        zb->w[r] = costs ? op_ps(costs, PP_W, r) : 1;
        zb->down[r] = costs && r < zb->ranks - 1 ? wire_ps(costs, PP_SEND_F, r) : 0;
        zb->up[r] = costs && r > 0 ? wire_ps(costs, PP_SEND_B, r) : 0;
    }
}

static void halve_until_it_fits(struct pp_zb *zb)
{
    int64_t *const tables[] = {zb->f, zb->i, zb->w, zb->down, zb->up};
    double sum = 0;

    for (int t = 0; t < 5; t++)
        for (int r = 0; r < zb->ranks; r++)
            sum += (double)tables[t][r] * zb->micro_batches;
    for (; sum > 1e18; sum /= 2)
        for (int t = 0; t < 5; t++)
            for (int r = 0; r < zb->ranks; r++)
                tables[t][r] /= 2;
}

struct pp_zb *pp_zb_create(struct pp_arena *arena, const struct pp_shape *shape,
                           const struct pp_costs *costs)
{
    const size_t inputs = sizeof(int64_t) * (size_t)shape->ranks * (size_t)shape->micro_batches;
    struct pp_zb *zb = PP_NEW(arena, struct pp_zb);

    *zb = (struct pp_zb){.ranks = shape->ranks,
                         .micro_batches = shape->micro_batches,
                         .limit = PP_MIN(shape->option[PP_LIMIT_AT], shape->micro_batches),
                         .is_serial = costs && !costs->is_unit,
                         .f = PP_ARRAY(arena, int64_t, shape->ranks),
                         .i = PP_ARRAY(arena, int64_t, shape->ranks),
                         .w = PP_ARRAY(arena, int64_t, shape->ranks),
                         .down = PP_ARRAY(arena, int64_t, shape->ranks),
                         .up = PP_ARRAY(arena, int64_t, shape->ranks),
                         .f_in = pp_arena_alloc_raw(arena, inputs),
                         .i_in = pp_arena_alloc_raw(arena, inputs),
                         .rank = PP_ARRAY(arena, struct pp_zb_rank, shape->ranks)};
    fill(zb, costs);
    halve_until_it_fits(zb);
    return zb;
}

/* Returns a lower bound on the time of rank r after its first forward, the greatest of three.
 *
 * Work: until its first input gradient comes back it can only run forwards, up to the limit.
 *
 * Turn: a micro-batch goes down to some rank. That rank runs all its forwards and input gradients,
 * and the weight gradients that the limit forces before its last forward. The last gradient comes
 * back up and ends with a weight gradient.
 *
 * Lap: micro-batch k + limit waits for the whole way of k. The last of such a chain to start waits
 * for the forwards and input gradients of those before it on some rank. Round trips follow. */
struct pp_zb_score pp_zb_bound(const struct pp_zb *zb)
{
    struct pp_zb_score bound = {0};
    const int64_t n = zb->micro_batches, limit = zb->limit;
    int64_t turn = 0, lap = 0, head = 0;
    int64_t trip = 0; /* from rank r down and back, with the messages */

    for (int r = zb->ranks - 1; r >= 0; r--) {
        const bool is_last = r == zb->ranks - 1;
        const int64_t own = zb->f[r] + zb->i[r], work = n * (own + zb->w[r]);
        const int64_t wires = is_last ? 0 : zb->down[r] + zb->up[r + 1];
        trip += wires;
        turn = PP_MAX(n * own + (n - limit) * zb->w[r], is_last ? 0 : turn + own + wires);
        lap = PP_MAX(((n - 1) % limit + 1) * own, is_last ? 0 : lap + own + wires);
        bound.span = PP_MAX(bound.span, work + PP_MAX(0, trip - (limit - 1) * zb->f[r]));
        bound.span = PP_MAX(bound.span, turn + zb->w[r]);
        bound.span = PP_MAX(bound.span, lap + zb->w[r] + (n - 1) / limit * (trip + own + zb->w[r]));
        trip += own;
    }
    bound.makespan = bound.span;
    for (int r = 0; r < zb->ranks; r++) {
        const int64_t work = n * (zb->f[r] + zb->i[r] + zb->w[r]);
        bound.makespan = PP_MAX(bound.makespan, head + work);
        head += zb->f[r] + zb->down[r];
    }
    return bound;
}

/* ---- running an op --------------------------------------------------------------------------- */

static void reset(struct pp_zb *zb)
{
    for (int r = 0; r < zb->ranks; r++)
        zb->rank[r] = (struct pp_zb_rank){.start = UNKNOWN};
    for (int mb = 0; mb < zb->micro_batches; mb++)
        zb->f_in[mb] = 0;
}

/* Return the arrival of the input of the next F or I; UNKNOWN if its producer has not started. */
static int64_t f_input(const struct pp_zb *zb, int r)
{
    const int mb = zb->rank[r].f;

    if (mb >= zb->micro_batches || (r > 0 && mb >= zb->rank[r - 1].f))
        return UNKNOWN;
    return zb->f_in[(size_t)r * (size_t)zb->micro_batches + (size_t)mb];
}

static int64_t i_input(const struct pp_zb *zb, int r)
{
    const int mb = zb->rank[r].i;

    if (mb >= zb->rank[r].f || (r < zb->ranks - 1 && mb >= zb->rank[r + 1].i))
        return UNKNOWN;
    return r < zb->ranks - 1 ? zb->i_in[(size_t)r * (size_t)zb->micro_batches + (size_t)mb] : 0;
}

static int64_t message(const struct pp_zb *zb, int64_t end, int64_t *channel, int64_t wire)
{
    const int64_t arrival = (zb->is_serial && *channel > end ? *channel : end) + wire;

    *channel = arrival;
    return arrival;
}

/* Runs the next op of a kind from `start`; returns the arrival of its message, UNKNOWN if none. */
static int64_t run(struct pp_zb *zb, int r, char kind, int64_t start)
{
    struct pp_zb_rank *rank = &zb->rank[r];
    const size_t n = (size_t)zb->micro_batches;
    int64_t arrival = UNKNOWN;

    rank->start = PP_MIN(rank->start, start);
    rank->free = start + (kind == 'F' ? zb->f[r] : kind == 'I' ? zb->i[r] : zb->w[r]);
    if (kind == 'F' && r < zb->ranks - 1) {
        arrival = message(zb, rank->free, &rank->down, zb->down[r]);
        zb->f_in[(size_t)(r + 1) * n + (size_t)rank->f] = arrival;
    } else if (kind == 'I' && r > 0) {
        arrival = message(zb, rank->free, &rank->up, zb->up[r]);
        zb->i_in[(size_t)(r - 1) * n + (size_t)rank->i] = arrival;
    }
    rank->f += kind == 'F', rank->i += kind == 'I', rank->w += kind == 'W';
    return arrival;
}

static struct pp_zb_score score(const struct pp_zb *zb)
{
    struct pp_zb_score s = {0};

    for (int r = 0; r < zb->ranks; r++) {
        s.span = PP_MAX(s.span, zb->rank[r].free - zb->rank[r].start);
        s.makespan = PP_MAX(s.makespan, zb->rank[r].free);
    }
    return s;
}

/* Runs a rank as far as its inputs are known. */
static bool advance(struct pp_zb *zb, int r, const char *word)
{
    struct pp_zb_rank *rank = &zb->rank[r];
    const int cells = 3 * zb->micro_batches, before = rank->cells;

    for (word += (size_t)r * (size_t)cells; rank->cells < cells; rank->cells++) {
        const char kind = word[rank->cells];
        const int64_t input = kind == 'F' ? f_input(zb, r) : kind == 'I' ? i_input(zb, r) : 0;
        if (input == UNKNOWN)
            break;
        run(zb, r, kind, PP_MAX(rank->free, input));
    }
    return rank->cells > before;
}

struct pp_zb_score pp_zb_evaluate(struct pp_zb *zb, const char *word)
{
    bool moved = true;

    /* Down and up again: a round trip settles at least one micro-batch on every rank. */
    for (reset(zb); moved;) {
        moved = false;
        for (int r = 0; r < zb->ranks; r++)
            moved |= advance(zb, r, word);
        for (int r = zb->ranks - 2; r >= 0; r--)
            moved |= advance(zb, r, word);
    }
    return score(zb);
}

/* ---- ranks by the time of their next decision ------------------------------------------------ */

struct decision {
    int64_t time;
    int rank;
};

/* At equal times the later rank is first: other ranks wait for its gradients. */
static inline bool is_before(struct decision a, struct decision b)
{
    return a.time != b.time ? a.time < b.time : a.rank > b.rank;
}

PP_HEAP(decision_heap, struct decision, 2, is_before)

/* Makes rank r decide at `time` at the latest; its later entries in the heap become void. */
static void wake(struct pp_arena *arena, struct decision_heap *heap, struct pp_zb *zb, int r,
                 int64_t time)
{
    struct pp_zb_rank *rank = &zb->rank[r];

    time = PP_MAX(time, rank->free);
    if (rank->is_due && rank->wake <= time)
        return;
    rank->is_due = true;
    rank->wake = time;
    decision_heap_push(arena, heap, (struct decision){time, r});
}

/* ---- the greedy pass ------------------------------------------------------------------------- */

/* Returns the op that rank r starts at `now`; 0 = none, decide again at *until. */
static char decide(const struct pp_zb *zb, const struct pp_zb_policy *policy, int r, int64_t *until)
{
    const struct pp_zb_rank *rank = &zb->rank[r];
    const int64_t now = rank->wake, i_at = i_input(zb, r);
    const int flying = rank->f - rank->i, pending = rank->i - rank->w;
    const bool may = !policy->warmup || flying < policy->warmup[r];
    const bool is_full = rank->f - rank->w >= zb->limit;
    const int64_t f_at = may ? f_input(zb, r) : UNKNOWN;
    const bool has_f = f_at <= now && !is_full, has_i = i_at <= now;

    if (policy->keep && pending > policy->keep[r])
        return 'W';
    if (has_i && !(has_f && policy->forward_first))
        return 'I';
    if (has_f)
        return 'F';
    const int64_t next = PP_MIN(i_at, is_full ? UNKNOWN : f_at);
    if (pending > 0 && ((f_at <= now && is_full) || next == UNKNOWN ||
                        (next - now) >= zb->w[r] / 100 * policy->fit_percent))
        return 'W';
    *until = next;
    return 0;
}

struct pp_zb_score pp_zb_greedy(struct pp_zb *zb, const struct pp_zb_policy *policy, char *word)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct decision_heap heap = {0};

    reset(zb);
    wake(arena, &heap, zb, 0, 0);
    while (heap.count > 0) {
        const struct decision now = decision_heap_pop(&heap);
        const int r = now.rank;
        struct pp_zb_rank *rank = &zb->rank[r];
        if (!rank->is_due || rank->wake != now.time)
            continue;
        rank->is_due = false;
        int64_t until = UNKNOWN;
        const char kind = decide(zb, policy, r, &until);
        if (kind == 0) {
            if (until != UNKNOWN)
                wake(arena, &heap, zb, r, until);
            continue;
        }
        word[(size_t)r * 3 * (size_t)zb->micro_batches + (size_t)rank->cells++] = kind;
        const int64_t arrival = run(zb, r, kind, rank->wake);
        wake(arena, &heap, zb, r, rank->free);
        if (arrival != UNKNOWN)
            wake(arena, &heap, zb, kind == 'F' ? r + 1 : r - 1, arrival);
    }
    return score(zb);
}
