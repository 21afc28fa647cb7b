/* Sorts simulated rows, simulates the top ones by a run's engine, finds ties and the safest. */
#include "core/process/pool.h"
#include "sim/plan/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order ----------------------------------------------------------------------------------- */

/* Compares rows by time, and equal rows by their points, so that the order is deterministic. */
static int by_merit(const void *a, const void *b)
{
    const struct pp_search_row *x = a, *y = b;

    if (x->outcome.s_per_sample != y->outcome.s_per_sample)
        return x->outcome.s_per_sample < y->outcome.s_per_sample ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

static void only_fitting(struct pp_search *search)
{
    int kept = 0;

    for (int i = 0; i < search->count; i++)
        if (search->rows[i].status == PP_SEARCH_FITS)
            search->rows[kept++] = search->rows[i];
    search->count = kept;
    if (kept)
        qsort(search->rows, (size_t)kept, sizeof(*search->rows), by_merit);
}

/* Puts strained ties after the others, in their order: no step counts the time in which the
 * allocator gives blocks back. */
static void put_room_first(struct pp_search *search, int count)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_search_row *rows = search->rows,
                         *strained = PP_ARRAY(scratch, struct pp_search_row, count + 1);
    const double limit = rows[0].outcome.s_per_sample * (1 + search->margin_frac);
    int kept = 0, put_off = 0, ties = 0;

    for (; ties < count && rows[ties].outcome.s_per_sample <= limit; ties++)
        if (rows[ties].outcome.is_strained)
            strained[put_off++] = rows[ties];
        else
            rows[kept++] = rows[ties];
    for (int i = 0; i < put_off; i++)
        rows[kept + i] = strained[i];
}

/* ---- the engine of a run --------------------------------------------------------------------- */

struct final {
    struct pp_search *search;
    struct pp_search_row *rows; /* shared with the workers */
};

/* Simulates a row; if the engine refuses it, the row keeps the figures of dag. */
static void work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    const struct final *final = context;
    struct pp_search_row *row = &final->rows[item];
    struct pp_error ignored;

    (void)out;
    row->is_simulated = pp_search_try(scratch, &final->search->space, row->point, PP_METRICS,
                                      &row->outcome, &ignored) == PP_OK;
}

static enum pp_status simulate_top(struct pp_search *search, int top, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *shared = pp_arena_create_shared();
    struct final final = {search, PP_ARRAY(shared, struct pp_search_row, top)};
    const struct pp_pool pool = {
        .items = top, .workers = search->jobs, .context = &final, .work = work};

    memcpy(final.rows, search->rows, sizeof(*final.rows) * (size_t)top);
    PP_TRY(pp_pool_run(&pool, err));
    memcpy(search->rows, final.rows, sizeof(*final.rows) * (size_t)top);
    qsort(search->rows, (size_t)top, sizeof(*search->rows), by_merit);
    put_room_first(search, top);
    return PP_OK;
}

/* ---- ties ------------------------------------------------------------------------------------ */

/* Returns the least time among rows of the first row's engine; times of dag are lower bounds. */
static double fastest_of(const struct pp_search *search)
{
    const struct pp_search_row *rows = search->rows;
    double s = (double)INFINITY;

    for (int i = 0; i < search->count; i++)
        if (rows[i].is_simulated == rows[0].is_simulated)
            s = fmin(s, rows[i].outcome.s_per_sample);
    return s;
}

static void mark_ties(struct pp_search *search)
{
    const double limit = fastest_of(search) * (1 + search->margin_frac);
    struct pp_search_row *rows = search->rows;

    for (int i = 0; i < search->count; i++) {
        rows[i].is_tie = rows[i].outcome.s_per_sample <= limit;
        search->ties += rows[i].is_tie;
        if (rows[i].is_tie && rows[i].outcome.peak_bytes < rows[search->safest].outcome.peak_bytes)
            search->safest = i;
    }
}

enum pp_status pp_search_finish(struct pp_search *search, struct pp_error *err)
{
    only_fitting(search);
    if (search->count)
        put_room_first(search, search->count);
    const int top = search->top < search->count ? search->top : search->count;
    if (top)
        PP_TRY(simulate_top(search, top, err));
    mark_ties(search);
    return PP_OK;
}
