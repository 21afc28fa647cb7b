/* Simulates open points in order of bounds, until no bound is near the best, which workers share.
 * Points beyond the final margin are dropped, so the result does not depend on timing. */
#include "sim/plan/search.h"
#include "core/clock.h"
#include "core/process/pool.h"
#include "core/text/progress.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROUND = 256,
    GROWTH = 4,     /* factor from one round to the next */
    ITEM_POINTS = 4 /* points that a worker takes at a time */
};

/* ---- one point ------------------------------------------------------------------------------- */

struct round {
    struct pp_search *search;
    struct pp_search_row *rows; /* shared with the workers */
    int count;
    _Atomic double *best; /* seconds per sample; shared */
    int64_t done;         /* points; for the parent alone */
    struct pp_progress progress;
};

static double limit_of(const struct pp_search *search, double best)
{
    return search->is_exhaustive ? (double)INFINITY : best * (1 + search->margin_frac);
}

static void lower_best(_Atomic double *best, double value)
{
    double old = atomic_load(best);

    while (value < old && !atomic_compare_exchange_weak(best, &old, value))
        ;
}

/* Tries a point: by its own bounds, then by its memory, then by its time. */
static enum pp_status try_point(struct pp_arena *arena, const struct round *round,
                                struct pp_search_row *row, struct pp_error *err)
{
    const struct pp_search *search = round->search;
    struct pp_search_bounds bounds;
    struct pp_prepared prepared = {0};
    struct pp_config config;
    struct pp_result result;

    PP_TRY(pp_search_config(arena, &search->space, row->point, &config, err));
    PP_TRY(pp_search_bounds(arena, &config, &bounds, err));
    row->bound_s = bounds.step_s / (double)config.layout.gbs;
    if (!search->is_exhaustive && bounds.peak_bytes > config.cluster.device.memory_bytes) {
        row->status = PP_SEARCH_NO_ROOM;
        row->outcome.peak_bytes = bounds.peak_bytes;
        return PP_OK;
    }
    if (row->bound_s > limit_of(search, atomic_load(round->best)))
        return PP_OK; /* stays open */
    PP_TRY(pp_simulate(arena, &config, PP_MEMORY, &prepared, &result, err));
    row->outcome = pp_outcome_of(&result);
    row->status = result.fits ? PP_SEARCH_FITS : PP_SEARCH_TOO_LARGE;
    if (!result.fits)
        return PP_OK;
    PP_TRY(pp_simulate(arena, &config, PP_QUICK, &prepared, &result, err));
    row->outcome = pp_outcome_of(&result);
    row->dag_s = row->outcome.step_s;
    lower_best(round->best, row->outcome.s_per_sample);
    return PP_OK;
}

static void work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    const struct round *round = context;

    (void)out;
    for (int64_t i = item * ITEM_POINTS; i < (item + 1) * ITEM_POINTS && i < round->count; i++) {
        const struct pp_arena_mark mark = pp_arena_mark(scratch);
        struct pp_error err = {0};
        if (try_point(scratch, round, &round->rows[i], &err) != PP_OK) {
            round->rows[i].status = PP_SEARCH_REFUSED;
            round->rows[i].outcome = pp_outcome_refused(&err);
        }
        pp_arena_release(scratch, mark);
    }
}

static enum pp_status done(void *context, int64_t item, const char *text, size_t length,
                           const char *death, struct pp_error *err)
{
    struct round *round = context;

    (void)text, (void)length, (void)err;
    round->done += ITEM_POINTS;
    for (int64_t i = item * ITEM_POINTS; death && i < (item + 1) * ITEM_POINTS && i < round->count;
         i++)
        round->rows[i].status = PP_SEARCH_REFUSED;
    return PP_OK;
}

static void tick(void *context)
{
    struct round *round = context;

    pp_progress_count(&round->progress, round->search->count + round->done,
                      round->search->count + round->count, "layouts");
}

/* ---- rounds ---------------------------------------------------------------------------------- */

struct candidate {
    float bound_s;
    int64_t point;
};

static int by_bound(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->bound_s != y->bound_s)
        return x->bound_s < y->bound_s ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

/* Returns a bound that at least `wanted` candidates do not exceed. Counts them in bins of the bits
 * of a float, which are in the order of its values. */
static float bound_of(const struct pp_search *search, float above, float limit, int64_t wanted)
{
    enum { BINS = 1 << 16 };
    static int64_t bins[BINS];
    const struct pp_search_board *b = &search->board;
    int64_t sum = 0;

    memset(bins, 0, sizeof(bins));
    for (int64_t k = 0; k < search->space.points; k++)
        if (b->status[k] == PP_SEARCH_OPEN && b->bound_s[k] > above && b->bound_s[k] <= limit) {
            uint32_t bits;
            memcpy(&bits, &b->bound_s[k], sizeof(bits));
            bins[bits >> 16]++;
        }
    for (int bin = 0; bin < BINS; bin++) {
        sum += bins[bin];
        if (sum >= wanted) {
            const uint32_t bits = (uint32_t)bin << 16 | 0xffff;
            float bound;
            memcpy(&bound, &bits, sizeof(bound));
            return fminf(bound, limit);
        }
    }
    return limit;
}

static struct candidate *list_between(struct pp_arena *arena, const struct pp_search *search,
                                      float above, float until, int *count)
{
    struct candidate *list = NULL;
    int capacity = 0;

    *count = 0;
    for (int64_t k = 0; k < search->space.points; k++)
        if (search->board.status[k] == PP_SEARCH_OPEN && search->board.bound_s[k] > above &&
            search->board.bound_s[k] <= until)
            *PP_PUSH(arena, list, *count, capacity) =
                (struct candidate){search->board.bound_s[k], k};
    if (*count)
        qsort(list, (size_t)*count, sizeof(*list), by_bound);
    return list;
}

static void note_least(struct pp_search *search, double bytes, int64_t point)
{
    if (search->least < 0 || bytes < search->least_bytes) {
        search->least_bytes = bytes;
        search->least = point;
    }
}

static void keep(struct pp_arena *arena, struct pp_search *search, const struct round *round)
{
    for (int i = 0; i < round->count; i++) {
        const struct pp_search_row *row = &round->rows[i];
        search->board.status[row->point] = (uint8_t)row->status;
        if (row->status != PP_SEARCH_FITS && row->outcome.peak_bytes > 0)
            note_least(search, row->outcome.peak_bytes, row->point);
        *PP_PUSH(arena, search->rows, search->count, search->capacity) = *row;
    }
}

static enum pp_status run_round(struct pp_arena *arena, struct pp_search *search,
                                const struct candidate *list, int count, _Atomic double *best,
                                struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *shared = pp_arena_create_shared();
    struct round round = {.search = search,
                          .rows = PP_ARRAY(shared, struct pp_search_row, count),
                          .count = count,
                          .best = best};
    const struct pp_pool pool = {.items = (count + ITEM_POINTS - 1) / ITEM_POINTS,
                                 .workers = search->jobs,
                                 .context = &round,
                                 .work = work,
                                 .done = done,
                                 .tick = tick};

    for (int i = 0; i < count; i++)
        round.rows[i] = (struct pp_search_row){.point = list[i].point, .status = PP_SEARCH_OPEN};
    round.progress = search->progress;
    const enum pp_status status = pp_pool_run(&pool, err);
    search->progress = round.progress;
    pp_progress_clear(&search->progress);
    PP_TRY(status);
    keep(arena, search, &round);
    return PP_OK;
}

static enum pp_status try_all(struct pp_arena *arena, struct pp_search *search,
                              struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *shared = pp_arena_create_shared();
    _Atomic double *best = (_Atomic double *)pp_arena_alloc(shared, sizeof(*best));
    float above = -1, limit = INFINITY;

    atomic_store(best, (double)INFINITY);
    for (int64_t wanted = FIRST_ROUND; above < limit; wanted *= GROWTH) {
        PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
        const float until = bound_of(search, above, limit, wanted);
        int count;
        struct candidate *list = list_between(scratch, search, above, until, &count);
        if (count)
            PP_TRY(run_round(arena, search, list, count, best, err));
        above = until;
        limit = nextafterf((float)limit_of(search, atomic_load(best)), INFINITY);
    }
    return PP_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

static double best_of(const struct pp_search *search)
{
    double best = INFINITY;

    for (int i = 0; i < search->count; i++)
        if (search->rows[i].status == PP_SEARCH_FITS)
            best = fmin(best, search->rows[i].outcome.s_per_sample);
    return best;
}

/* Drops rows that some order of work would not have tried, as if they had never been. */
static void forget_late(struct pp_search *search)
{
    const double limit = limit_of(search, best_of(search));
    int kept = 0;

    for (int i = 0; i < search->count; i++) {
        const struct pp_search_row *row = &search->rows[i];
        const bool is_late = row->status != PP_SEARCH_NO_ROOM && row->status != PP_SEARCH_REFUSED &&
                             row->bound_s > limit;
        if (is_late || (double)search->board.bound_s[row->point] > limit)
            search->board.status[row->point] = PP_SEARCH_OPEN;
        else
            search->rows[kept++] = *row;
    }
    search->count = kept;
}

static void count_points(struct pp_search *search)
{
    for (int i = 0; i < PP_SEARCH_STATUSES; i++)
        search->counts[i] = 0, search->examples[i] = -1;
    for (int64_t k = 0; k < search->space.points; k++) {
        const int status = search->board.status[k];
        if (search->counts[status]++ == 0)
            search->examples[status] = k;
        if (status == PP_SEARCH_NO_ROOM && search->counts[PP_SEARCH_FITS] == 0)
            note_least(search, (double)search->board.bound_bytes[k], k);
    }
}

enum pp_status pp_search_run(struct pp_arena *arena, struct pp_search *search, struct pp_error *err)
{
    const double start_s = pp_clock_s();

    search->least = -1;
    PP_TRY(pp_search_screen(arena, &search->space, search->is_exhaustive, &search->board, err));
    PP_TRY(try_all(arena, search, err));
    forget_late(search);
    count_points(search);
    PP_TRY(pp_search_finish(search, err));
    PP_TRY(pp_search_flip(arena, search, err));
    pp_search_recipes(search);
    search->wall_s = pp_clock_s() - start_s;
    return PP_OK;
}
