/* Published orders on a grid of ticks: every op moves to the first tick where it fits and adds no
 * memory. A whole backward is two neighbouring ticks, I and W (sail-sg's v1f1b.py). With split ones
 * a W takes a free tick. After the last F1 of a rank, W wait until all others have moved once more
 * (AMD Primus, zbv_greedy.py). Or else, before all moves, the last I of all ranks are a tight end
 * (sail-sg's v_auto_schedule.py). */
#include "schedules/search/vmem.h"

#include <string.h>

enum { EMPTY = -1 };
static const int64_t GRID_MAX = 1 << 23;
static const int64_t EFFORT_MAX = 400000000; /* ticks visited; then nothing moves any more */

struct squeeze {
    int ranks, micro_batches, width, peak;
    bool is_split;
    int32_t *grid, *held; /* [rank * width + tick] */
    int32_t *when;        /* [(kind * ranks + rank) * N + mb] */
    int *late; /* [kind * ranks + rank]: first micro-batch after the last F1 of the rank */
    int64_t effort;
};

static int32_t *when(const struct squeeze *w, int kind, int rank)
{
    return w->when + ((size_t)kind * (size_t)w->ranks + (size_t)rank) * (size_t)w->micro_batches;
}

static int w_of(int kind)
{
    return kind - PP_VMEM_I1 + PP_VMEM_W1;
}

/* First tick at which the inputs allow it: a whole backward's output is there after its W. */
static int earliest(const struct squeeze *w, int rank, int kind, int mb)
{
    int source, from, tick = -1;

    if (kind >= PP_VMEM_W1)
        tick = when(w, kind - PP_VMEM_W1 + PP_VMEM_I1, rank)[mb];
    else if (pp_vmem_source(w->ranks, kind, rank, &source, &from))
        tick = when(w, source < PP_VMEM_I1 || w->is_split ? source : w_of(source), from)[mb];
    if (mb > 0 && when(w, kind, rank)[mb - 1] > tick)
        tick = when(w, kind, rank)[mb - 1];
    return tick + 1;
}

/* Returns the tick to move to, or `tick` if there is none. */
static int place_of(struct squeeze *w, const int32_t *grid, const int32_t *held, int tick,
                    int begin)
{
    const int kind = grid[tick] % 8;
    int at = begin;

    w->effort += tick - begin;
    if (w->effort > EFFORT_MAX)
        return tick;
    if (kind <= PP_VMEM_F1) {
        for (at = tick; at > begin && held[at - 1] < w->peak;)
            at--;
        while (at < tick && grid[at] != EMPTY)
            at++;
        return at;
    }
    const bool is_double = !w->is_split && (kind == PP_VMEM_I1 || kind == PP_VMEM_I0);
    while (at < tick && (grid[at] != EMPTY || (is_double && grid[at + 1] != EMPTY)))
        at++;
    return at;
}

static void move(struct squeeze *w, int rank, int from, int to)
{
    int32_t *grid = w->grid + (size_t)rank * (size_t)w->width;
    const int32_t op = grid[from];

    grid[from] = EMPTY;
    grid[to] = op;
    when(w, op % 8, rank)[op / 8] = to;
}

static void move_all(struct squeeze *w)
{
    for (int tick = 0; tick < w->width; tick++) {
        for (int rank = 0; rank < w->ranks; rank++) {
            int32_t *grid = w->grid + (size_t)rank * (size_t)w->width;
            int32_t *held = w->held + (size_t)rank * (size_t)w->width;
            const int32_t op = grid[tick];
            if (op == EMPTY)
                continue;
            const int begin = earliest(w, rank, op % 8, op / 8);
            const int at = begin < tick ? place_of(w, grid, held, tick, begin) : tick;
            move(w, rank, tick, at);
            for (int i = at; i < tick; i++)
                held[i] += (op % 8 <= PP_VMEM_F1) - (op % 8 >= PP_VMEM_W1);
        }
    }
}

/* Moves the ops after the last F1 of each rank once more, without regard to W. Then the W take
 * ticks that are still free. */
static void move_late(struct squeeze *w)
{
    for (int tick = 0; tick < w->width; tick++) {
        for (int rank = 0; rank < w->ranks; rank++) {
            int32_t *grid = w->grid + (size_t)rank * (size_t)w->width;
            const int32_t op = grid[tick];
            if (op == EMPTY || op / 8 < w->late[op % 8 * w->ranks + rank])
                continue;
            if (op % 8 >= PP_VMEM_W1) {
                grid[tick] = EMPTY;
                continue;
            }
            int at = earliest(w, rank, op % 8, op / 8);
            while (at < tick && grid[at] != EMPTY)
                at++;
            move(w, rank, tick, at);
        }
    }
    for (int rank = 0; rank < w->ranks; rank++) {
        int32_t *grid = w->grid + (size_t)rank * (size_t)w->width;
        int next[2] = {w->late[PP_VMEM_W1 * w->ranks + rank],
                       w->late[PP_VMEM_W0 * w->ranks + rank]};
        for (int tick = 0; tick < w->width; tick++) {
            int chosen = -1, since = tick;
            for (int k = 0; grid[tick] == EMPTY && k < 2; k++)
                if (next[k] < w->micro_batches && when(w, PP_VMEM_I1 + k, rank)[next[k]] < since)
                    chosen = k, since = when(w, PP_VMEM_I1 + k, rank)[next[k]];
            if (chosen >= 0)
                grid[tick] = pp_vmem_op(PP_VMEM_W1 + chosen, next[chosen]++);
        }
    }
}

/* Puts the W of the rank: after its I, or first in, first out into free ticks. */
static void put_w(const struct squeeze *w, int32_t *grid)
{
    int owed = 0;

    for (int i = 0; i < w->width; i++) {
        const int kind = grid[i] == EMPTY ? PP_VMEM_F0 : grid[i] % 8;
        if (!w->is_split && (kind == PP_VMEM_I1 || kind == PP_VMEM_I0))
            grid[i + 1] = pp_vmem_op(w_of(kind), grid[i] / 8);
        for (; w->is_split && grid[i] == EMPTY && owed < i; owed++)
            if (grid[owed] != EMPTY &&
                (grid[owed] % 8 == PP_VMEM_I1 || grid[owed] % 8 == PP_VMEM_I0))
                grid[i] = pp_vmem_op(w_of(grid[owed] % 8), grid[owed] / 8);
    }
}

static void measure(struct squeeze *w, int rank, const int32_t *grid)
{
    int32_t *held = w->held + (size_t)rank * (size_t)w->width;
    bool is_late = false;

    for (int i = 0, h = 0; i < w->width; i++) {
        const int kind = grid[i] == EMPTY ? PP_VMEM_I1 : grid[i] % 8;
        h += (kind <= PP_VMEM_F1) - (kind >= PP_VMEM_W1);
        held[i] = h;
        w->peak = h > w->peak ? h : w->peak;
        if (grid[i] == EMPTY)
            continue;
        when(w, kind, rank)[grid[i] / 8] = i;
        w->late[kind * w->ranks + rank] += !is_late;
        is_late |= grid[i] == pp_vmem_op(PP_VMEM_F1, w->micro_batches - 1);
    }
}

/* Runs all ops in this order as soon as possible. */
static void close_gaps(struct pp_arena *arena, struct squeeze *w)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    int *clock = PP_ARRAY(arena, int, w->ranks);

    for (int tick = 0; tick < w->width; tick++) {
        for (int rank = 0; rank < w->ranks; rank++) {
            const int32_t op = w->grid[(size_t)rank * (size_t)w->width + (size_t)tick];
            if (op == EMPTY)
                continue;
            const int ready = earliest(w, rank, op % 8, op / 8);
            clock[rank] = ready > clock[rank] ? ready : clock[rank];
            move(w, rank, tick, clock[rank]++);
        }
    }
    pp_arena_release(arena, mark);
}

/* Puts the last `count` ops of a kind on every second tick up to `last`; false if one is taken. */
static bool put_last(struct squeeze *w, int rank, int kind, int count, int last)
{
    int32_t *grid = w->grid + (size_t)rank * (size_t)w->width;

    for (int k = 0; k < count; k++, last -= 2) {
        if (last < 0 || grid[last] != EMPTY)
            return false;
        grid[last] = pp_vmem_op(kind, w->micro_batches - 1 - k);
        when(w, kind, rank)[w->micro_batches - 1 - k] = last;
    }
    return true;
}

/* Empties the tail of a rank from its last op on, until enough W are gone. Sets the next W to put
 * and returns the tick of the last one that stays. */
static int drop_last(struct squeeze *w, int rank, const int last[2], int next[2])
{
    int32_t *grid = w->grid + (size_t)rank * (size_t)w->width;
    const int n = w->micro_batches;
    int tick = w->width - 1;

    next[0] = next[1] = n;
    for (; tick >= 0; tick--) {
        const int kind = grid[tick] == EMPTY ? PP_VMEM_F0 : grid[tick] % 8;
        if (kind < PP_VMEM_W1)
            continue;
        if (next[0] <= n - last[0] && next[1] <= n - last[1] &&
            2 * n - next[0] - next[1] >= w->peak)
            break;
        grid[tick] = EMPTY;
        next[kind - PP_VMEM_W1]--;
    }
    for (int chunk = 0; chunk < 2; chunk++)
        for (int k = 1; k <= last[chunk]; k++)
            grid[when(w, PP_VMEM_I1 + chunk, rank)[n - k]] = EMPTY;
    return tick;
}

/* Lets the last I return from the last F1 of rank 0 without a stop. W follow in free ticks. */
static bool tighten_rank(struct squeeze *w, int rank)
{
    const int n = w->micro_batches, start = when(w, PP_VMEM_F1, 0)[n - 1];
    const int half = (w->peak + 1) / 2, most_0 = half < n ? half : n;
    const int rest = w->peak - most_0 < n ? w->peak - most_0 : n;
    const int last[2] = {rank + 1 < rest ? rank + 1 : rest, most_0};
    int32_t *grid = w->grid + (size_t)rank * (size_t)w->width;
    int next[2], tick = drop_last(w, rank, last, next);

    if (!put_last(w, rank, PP_VMEM_I0, last[1], start - rank + 2 * w->ranks) ||
        !put_last(w, rank, PP_VMEM_I1, last[0], start + rank + 1))
        return false;
    for (tick++; tick < w->width; tick++)
        for (int k = 0; k < 2 && grid[tick] == EMPTY; k++)
            if (next[k] < n && when(w, PP_VMEM_I1 + k, rank)[next[k]] < tick)
                grid[tick] = pp_vmem_op(PP_VMEM_W1 + k, next[k]++);
    return next[0] == n && next[1] == n;
}

/* False if an I of the end has no free tick, or the memory is too small. */
static bool tighten(struct pp_arena *arena, struct squeeze *w)
{
    const int cap = w->peak;

    close_gaps(arena, w);
    for (int rank = 0; rank < w->ranks; rank++)
        if (!tighten_rank(w, rank))
            return false;
    memset(w->late, 0, sizeof(int) * PP_VMEM_KINDS * w->ranks);
    for (int rank = 0; rank < w->ranks; rank++)
        measure(w, rank, w->grid + (size_t)rank * (size_t)w->width);
    return w->peak <= cap;
}

/* False if two ops share a tick: no block for so few ranks. */
static bool lay_blocks(struct squeeze *w, const int64_t *block)
{
    for (int rank = 0; rank < w->ranks; rank++) {
        int32_t *grid = w->grid + (size_t)rank * (size_t)w->width;
        for (int mb = 0; mb < w->micro_batches; mb++) {
            for (int kind = 0; kind < PP_VMEM_CHAIN; kind++) {
                const int64_t at = block[kind * w->ranks + rank] + (int64_t)PP_VMEM_PERIOD * mb;
                if (grid[at] != EMPTY)
                    return false;
                grid[at] = pp_vmem_op(kind, mb);
            }
        }
        put_w(w, grid);
        measure(w, rank, grid);
    }
    return true;
}

static bool squeeze(struct pp_arena *arena, const struct pp_vmem *vmem, bool is_tight,
                    struct pp_vmem_lists *lists)
{
    const int ranks = vmem->shape->ranks, n = lists->micro_batches;
    const int kinds = vmem->rule->is_split ? (int)PP_VMEM_KINDS : (int)PP_VMEM_CHAIN;
    const int64_t width = (2LL * ranks + vmem->block[PP_VMEM_I0 * ranks]) +
                          (vmem->rule->is_split ? 8LL : 6LL) * n + 24; /* with all W */

    if (ranks * width > GRID_MAX)
        return false;
    const size_t cells = (size_t)(ranks * width);
    struct squeeze w = {.ranks = ranks,
                        .micro_batches = n,
                        .width = (int)width,
                        .peak = vmem->rule->cap,
                        .is_split = vmem->rule->is_split,
                        .grid = pp_arena_alloc_raw(arena, cells * sizeof(int32_t)),
                        .held = pp_arena_alloc_raw(arena, cells * sizeof(int32_t)),
                        .when = PP_ARRAY(arena, int32_t, (size_t)PP_VMEM_KINDS * ranks * n),
                        .late = PP_ARRAY(arena, int, PP_VMEM_KINDS *ranks)};
    memset(w.grid, 0xff, cells * sizeof(int32_t));
    if (!lay_blocks(&w, vmem->block))
        return false;
    if (is_tight && !tighten(arena, &w))
        return false;
    move_all(&w);
    if (w.is_split && !is_tight)
        move_late(&w);
    for (int rank = 0; rank < ranks; rank++) {
        int32_t *out = pp_vmem_row(lists, rank);
        lists->count[rank] = 0;
        for (int64_t i = rank * width; i < (rank + 1) * width; i++)
            if (w.grid[i] != EMPTY && w.grid[i] % 8 < kinds)
                out[lists->count[rank]++] = w.grid[i];
    }
    return true;
}

bool pp_vmem_squeeze(struct pp_arena *arena, const struct pp_vmem *vmem,
                     struct pp_vmem_lists *lists)
{
    return squeeze(arena, vmem, false, lists);
}

bool pp_vmem_tighten(struct pp_arena *arena, const struct pp_vmem *vmem,
                     struct pp_vmem_lists *lists)
{
    return squeeze(arena, vmem, true, lists);
}
