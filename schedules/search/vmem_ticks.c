/* The published construction on a grid of ticks. The building block is repeated, then the reorder
 * pass runs with the W placed and again without. After each, all ops are squeezed to one tick. */
#include "schedules/search/vmem.h"

#include <string.h>

enum { EMPTY = -1, W = PP_VMEM_CHAIN, ROWS = PP_VMEM_CHAIN + 1 };
static const int64_t GRID_MAX = 1 << 23;     /* ticks of all ranks */
static const int64_t EFFORT_MAX = 200000000; /* ticks visited in one pass; then it moves no more */

/* W carry no micro-batch here: the k-th W of a rank belongs to its k-th I. */
struct ticks {
    int ranks, micro_batches, width, cap;
    int32_t *grid; /* [rank * width + tick] */
    int32_t *when; /* [(kind * ranks + rank) * 2N + mb] */
    int32_t *held; /* [rank * width + tick]: chunk activations after that tick */
    int32_t *owed; /* [rank * width + tick]: W that could run; only if they are not placed */
    int *inputs;   /* [rank]: I passed so far; their ticks ascending in `when` of W0 */
    int64_t effort;
    bool has_w;
};

static int32_t *row(const struct ticks *t, int32_t *data, int rank)
{
    return data + (size_t)rank * (size_t)t->width;
}

static int32_t *when(const struct ticks *t, int kind, int rank)
{
    return t->when +
           ((size_t)kind * (size_t)t->ranks + (size_t)rank) * 2 * (size_t)t->micro_batches;
}

static void put(struct ticks *t, int rank, int32_t op, int tick)
{
    row(t, t->grid, rank)[tick] = op;
    when(t, op % 8, rank)[op / 8] = tick;
}

/* Puts pending W into free ticks, first in, first out. */
static void put_w(struct ticks *t)
{
    for (int rank = 0; rank < t->ranks; rank++) {
        int32_t *grid = row(t, t->grid, rank);
        int pending = 0, done = 0;
        for (int i = 0; i < t->width; i++) {
            if (grid[i] != EMPTY)
                pending += grid[i] % 8 >= PP_VMEM_I1;
            else if (pending > 0)
                pending--, put(t, rank, pp_vmem_op(W, done++), i);
        }
    }
}

static void drop_w(struct ticks *t)
{
    for (int64_t i = 0; i < (int64_t)t->ranks * t->width; i++)
        if (t->grid[i] != EMPTY && t->grid[i] % 8 == W)
            t->grid[i] = EMPTY;
}

/* Updates memory and pending W for the next tick; a free tick runs a pending W. */
static void account(const struct ticks *t, int32_t op, int *held, int *owed)
{
    const bool runs_w = op == EMPTY ? !t->has_w && *owed > 0 : op % 8 == W;

    *held += (op != EMPTY && op % 8 <= PP_VMEM_F1) - runs_w;
    *owed += (op != EMPTY && op % 8 >= PP_VMEM_I1 && op % 8 < W) - (op == EMPTY && runs_w);
}

static void measure(struct ticks *t)
{
    t->cap = 0;
    for (int rank = 0; rank < t->ranks; rank++) {
        int32_t *held = row(t, t->held, rank), *owed = row(t, t->owed, rank);
        for (int i = 0, h = 0, o = 0; i < t->width; i++) {
            account(t, row(t, t->grid, rank)[i], &h, &o);
            held[i] = h, owed[i] = o;
            t->cap = h > t->cap ? h : t->cap;
        }
    }
}

/* Is true if the op moved from tick `from` to `to` fits there; then updates the rank's memory. */
static bool fits(struct ticks *t, int rank, int to, int from)
{
    const int32_t *grid = row(t, t->grid, rank);
    int32_t *held = row(t, t->held, rank), *owed = row(t, t->owed, rank);
    const int held_before = to ? held[to - 1] : 0, owed_before = to ? owed[to - 1] : 0;
    int end = to;

    for (int h = held_before, o = owed_before; end < t->width; end++) {
        account(t, grid[end], &h, &o);
        if (end >= from && h == held[end] && o == owed[end])
            break;
        if (h > t->cap)
            return false;
    }
    t->effort += end - to;
    for (int i = to, h = held_before, o = owed_before; i < end; i++) {
        account(t, grid[i], &h, &o);
        held[i] = h, owed[i] = o;
    }
    return true;
}

/* Returns the first tick at which the inputs of an op allow it. */
static int earliest(const struct ticks *t, int rank, int kind, int mb)
{
    const int from = pp_vmem_is_up(kind) ? rank - 1 : rank + 1;
    int tick = -1;

    if (kind == W)
        tick = when(t, W + 1, rank)[mb];
    else if (from >= 0 && from < t->ranks)
        tick = when(t, kind, from)[mb];
    if (kind < W && kind > PP_VMEM_F0 && when(t, kind - 1, rank)[mb] > tick)
        tick = when(t, kind - 1, rank)[mb];
    if (mb > 0 && when(t, kind, rank)[mb - 1] > tick)
        tick = when(t, kind, rank)[mb - 1];
    return tick + 1;
}

/* Keeps the ticks of the passed I sorted: a moved one may be before others. */
static void pass_input(struct ticks *t, int rank, int tick)
{
    int32_t *list = when(t, W + 1, rank);
    int i = t->inputs[rank]++;

    for (; i > 0 && list[i - 1] > tick; i--)
        list[i] = list[i - 1];
    list[i] = tick;
}

static int move_earlier(struct ticks *t, int rank, int tick)
{
    int32_t *grid = row(t, t->grid, rank);
    const int32_t op = grid[tick];
    const int begin = earliest(t, rank, op % 8, op / 8);

    for (int i = begin; i < tick && t->effort < EFFORT_MAX; i++) {
        t->effort++;
        if (grid[i] != EMPTY)
            continue;
        grid[tick] = EMPTY;
        put(t, rank, op, i);
        if (fits(t, rank, i, tick))
            return i;
        grid[i] = EMPTY;
        put(t, rank, op, tick);
    }
    return tick;
}

/* Moves ops of the warm-up and the cool-down to the first tick at which they fit. The steady state
 * is from the first I of stage 0 to its last F. */
static void reorder(struct ticks *t)
{
    enum { WARMUP, STEADY, COOLDOWN } phase = WARMUP;

    measure(t);
    t->effort = 0;
    memset(t->inputs, 0, (size_t)t->ranks * sizeof(int));
    for (int tick = 0; tick < t->width; tick++) {
        for (int rank = 0; rank < t->ranks; rank++) {
            const int32_t op = row(t, t->grid, rank)[tick];
            if (op == EMPTY)
                continue;
            const int kind = op % 8;
            int at = tick;
            if (phase == WARMUP && kind == PP_VMEM_I0 && rank == 0)
                phase = STEADY;
            if (phase == COOLDOWN || (phase == WARMUP && t->has_w))
                at = move_earlier(t, rank, tick);
            else if (phase == STEADY && op == pp_vmem_op(PP_VMEM_F0, t->micro_batches - 1))
                phase = COOLDOWN;
            if (kind == PP_VMEM_I1 || kind == PP_VMEM_I0)
                pass_input(t, rank, at);
        }
    }
}

/* Runs all ops in this order as soon as possible, each one tick long. */
static void squeeze(struct pp_arena *arena, struct ticks *t)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    int *clock = PP_ARRAY(arena, int, t->ranks);

    for (int tick = 0; tick < t->width; tick++) {
        for (int rank = 0; rank < t->ranks; rank++) {
            const int32_t op = row(t, t->grid, rank)[tick];
            if (op == EMPTY)
                continue;
            const int ready = op % 8 == W ? 0 : earliest(t, rank, op % 8, op / 8);
            const int at = ready > clock[rank] ? ready : clock[rank];
            row(t, t->grid, rank)[tick] = EMPTY;
            put(t, rank, op, at);
            clock[rank] = at + 1;
        }
    }
    pp_arena_release(arena, mark);
}

/* Writes the lists; the last placement of W takes those of chunk 1 first. */
static void write_lists(const struct ticks *t, struct pp_vmem_lists *lists)
{
    for (int rank = 0; rank < t->ranks; rank++) {
        int32_t *out = pp_vmem_row(lists, rank);
        int inputs[2] = {0}, done[2] = {0}, count = 0;
        for (int tick = 0; tick < t->width; tick++) {
            const int32_t op = row(t, t->grid, rank)[tick];
            const int chunk = done[0] < inputs[0] ? 0 : 1;
            if (op != EMPTY) {
                out[count++] = op;
                inputs[0] += op % 8 == PP_VMEM_I1;
                inputs[1] += op % 8 == PP_VMEM_I0;
            } else if (done[chunk] < inputs[chunk]) {
                out[count++] = pp_vmem_op(PP_VMEM_W1 + chunk, done[chunk]++);
            }
        }
        lists->count[rank] = count;
    }
}

/* Lays the blocks. False if two ops share a tick: no block for so few ranks. */
static bool lay_blocks(struct ticks *t, const int64_t *block)
{
    for (int rank = 0; rank < t->ranks; rank++) {
        for (int kind = 0; kind < PP_VMEM_CHAIN; kind++) {
            for (int mb = 0; mb < t->micro_batches; mb++) {
                const int at = (int)block[kind * t->ranks + rank] + PP_VMEM_PERIOD * mb;
                if (row(t, t->grid, rank)[at] != EMPTY)
                    return false;
                put(t, rank, pp_vmem_op(kind, mb), at);
            }
        }
    }
    return true;
}

bool pp_vmem_ticks(struct pp_arena *arena, const struct pp_vmem *vmem, struct pp_vmem_lists *lists)
{
    const int ranks = vmem->shape->ranks, n = lists->micro_batches;
    const int64_t width = 6LL * ranks + 8LL * n + 16; /* the last block, and all W after it */

    if (ranks * width > GRID_MAX)
        return false;
    const size_t cells = (size_t)(ranks * width);
    struct ticks t = {.ranks = ranks,
                      .micro_batches = n,
                      .width = (int)width,
                      .grid = pp_arena_alloc_raw(arena, cells * sizeof(int32_t)),
                      .held = pp_arena_alloc_raw(arena, cells * sizeof(int32_t)),
                      .owed = pp_arena_alloc_raw(arena, cells * sizeof(int32_t)),
                      .when = PP_ARRAY(arena, int32_t, (size_t)(ROWS + 1) * ranks * 2 * n),
                      .inputs = PP_ARRAY(arena, int, ranks)};
    memset(t.grid, 0xff, cells * sizeof(int32_t));
    if (!lay_blocks(&t, vmem->block))
        return false;
    for (int pass = 0; pass < 2; pass++) {
        t.has_w = pass == 0;
        if (t.has_w)
            put_w(&t);
        reorder(&t);
        if (!t.has_w)
            put_w(&t);
        squeeze(arena, &t);
        drop_w(&t);
    }
    write_lists(&t, lists);
    return true;
}
