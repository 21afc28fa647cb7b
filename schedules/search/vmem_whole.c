/* The published order without split backwards, on a grid of ticks: a backward is two neighbouring
 * ticks, I and W. Every op moves to the first tick where it fits and adds no memory. */
#include "schedules/search/vmem.h"

#include <string.h>

enum { EMPTY = -1 };
static const int64_t GRID_MAX = 1 << 23;
static const int64_t EFFORT_MAX = 400000000; /* ticks visited; then nothing moves any more */

struct whole {
    int ranks, micro_batches, width, peak;
    int32_t *grid, *held; /* [rank * width + tick] */
    int32_t *when;        /* [(kind * ranks + rank) * N + mb] */
    int64_t effort;
};

static int32_t *when(const struct whole *w, int kind, int rank)
{
    return w->when + ((size_t)kind * (size_t)w->ranks + (size_t)rank) * (size_t)w->micro_batches;
}

/* First tick at which the inputs allow it: a backward's output is there when it is whole. */
static int earliest(const struct whole *w, int rank, int kind, int mb)
{
    int source, from, tick = -1;

    if (kind >= PP_VMEM_W1)
        tick = when(w, kind - PP_VMEM_W1 + PP_VMEM_I1, rank)[mb];
    else if (pp_vmem_source(w->ranks, kind, rank, &source, &from))
        tick = when(w, source < PP_VMEM_I1 ? source : source - PP_VMEM_I1 + PP_VMEM_W1, from)[mb];
    if (mb > 0 && when(w, kind, rank)[mb - 1] > tick)
        tick = when(w, kind, rank)[mb - 1];
    return tick + 1;
}

/* Returns the tick to move to, or `tick` if there is none. */
static int place_of(struct whole *w, const int32_t *grid, const int32_t *held, int tick, int begin)
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
    const bool is_double = kind == PP_VMEM_I1 || kind == PP_VMEM_I0;
    while (at < tick && (grid[at] != EMPTY || (is_double && grid[at + 1] != EMPTY)))
        at++;
    return at;
}

static void squeeze(struct whole *w)
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
            grid[tick] = EMPTY;
            grid[at] = op;
            when(w, op % 8, rank)[op / 8] = at;
            for (int i = at; i < tick; i++)
                held[i] += (op % 8 <= PP_VMEM_F1) - (op % 8 >= PP_VMEM_W1);
        }
    }
}

static void lay_blocks(struct whole *w, const struct pp_vmem_rule *rule)
{
    for (int rank = 0; rank < w->ranks; rank++) {
        int64_t tick[PP_VMEM_CHAIN];
        int32_t *grid = w->grid + (size_t)rank * (size_t)w->width;
        int32_t *held = w->held + (size_t)rank * (size_t)w->width;
        rule->block(w->ranks, rank, tick);
        for (int mb = 0; mb < w->micro_batches; mb++) {
            for (int kind = 0; kind < PP_VMEM_CHAIN; kind++) {
                const int64_t at = tick[kind] + (int64_t)PP_VMEM_PERIOD * mb;
                grid[at] = pp_vmem_op(kind, mb);
                if (kind >= PP_VMEM_I1)
                    grid[at + 1] = pp_vmem_op(kind - PP_VMEM_I1 + PP_VMEM_W1, mb);
            }
        }
        for (int i = 0, h = 0; i < w->width; i++) {
            const int kind = grid[i] == EMPTY ? PP_VMEM_I1 : grid[i] % 8;
            h += (kind <= PP_VMEM_F1) - (kind >= PP_VMEM_W1);
            held[i] = h;
            w->peak = h > w->peak ? h : w->peak;
        }
    }
}

bool pp_vmem_whole(struct pp_arena *arena, const struct pp_vmem *vmem, struct pp_vmem_lists *lists)
{
    const int ranks = vmem->shape->ranks, n = vmem->shape->micro_batches;
    const int64_t width = 8LL * ranks + 6LL * n + 24;

    if (ranks * width > GRID_MAX)
        return false;
    const size_t cells = (size_t)(ranks * width);
    struct whole w = {.ranks = ranks,
                      .micro_batches = n,
                      .width = (int)width,
                      .grid = pp_arena_alloc_raw(arena, cells * sizeof(int32_t)),
                      .held = pp_arena_alloc_raw(arena, cells * sizeof(int32_t)),
                      .when = PP_ARRAY(arena, int32_t, (size_t)PP_VMEM_KINDS * ranks * n)};
    memset(w.grid, 0xff, cells * sizeof(int32_t));
    lay_blocks(&w, vmem->rule);
    squeeze(&w);
    for (int rank = 0; rank < ranks; rank++) {
        int32_t *out = pp_vmem_row(lists, rank);
        lists->count[rank] = 0;
        for (int64_t i = rank * width; i < (rank + 1) * width; i++)
            if (w.grid[i] != EMPTY && w.grid[i] % 8 < PP_VMEM_CHAIN)
                out[lists->count[rank]++] = w.grid[i];
    }
    return true;
}
