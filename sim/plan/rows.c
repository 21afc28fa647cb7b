/* Ranks simulated rows, simulates the top ones by a run's engine, finds ties and the safest. */
#include "core/printable.h"
#include "core/process/pool.h"
#include "sim/plan/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- order ----------------------------------------------------------------------------------- */

static void only_fitting(struct pp_search *search)
{
    int kept = 0;

    for (int i = 0; i < search->count; i++)
        if (search->rows[i].status == PP_SEARCH_FITS)
            search->rows[kept++] = search->rows[i];
    search->count = kept;
    pp_search_rank(search, search->rows, kept);
}

/* ---- the engine of a run --------------------------------------------------------------------- */

struct final {
    struct pp_arena *arena;
    struct pp_search *search;
    struct pp_search_row *rows; /* shared with the workers */
    int done, count;
};

/* Simulates a row; if the engine refuses it, the row keeps the figures of dag. */
static void work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    const struct final *final = context;
    struct pp_search_row *row = &final->rows[item];
    struct pp_error why;
    const enum pp_status status =
        pp_search_try(scratch, &final->search->space, row->point, PP_METRICS, &row->outcome, &why);

    (void)out;
    row->is_simulated = status == PP_OK;
    if (status == PP_EFAIL) { /* such as a killed child: the pool tries again */
        pp_tell("%s", why.message);
        _exit(PP_EFAIL);
    }
}

static enum pp_status done(void *context, int64_t item, const char *text, size_t length,
                           const char *death, struct pp_error *err)
{
    struct final *final = context;

    (void)text, (void)length, (void)err;
    final->done++;
    if (death)
        pp_search_lose(final->arena, final->search, final->rows[item].point, death);
    return PP_OK;
}

static void tick(void *context)
{
    struct final *final = context;

    pp_progress_show(&final->search->progress, "rows at the top",
                     (double) final->done / final->count);
}

static enum pp_status simulate_top(struct pp_arena *arena, struct pp_search *search, int top,
                                   struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *shared = pp_arena_create_shared();
    struct final final = {.arena = arena,
                          .search = search,
                          .rows = PP_ARRAY(shared, struct pp_search_row, top),
                          .count = top};
    const struct pp_pool pool = {.items = top,
                                 .workers = search->jobs,
                                 .context = &final,
                                 .work = work,
                                 .done = done,
                                 .tick = tick};

    memcpy(final.rows, search->rows, sizeof(*final.rows) * (size_t)top);
    const enum pp_status status = pp_pool_run(&pool, err);
    pp_progress_clear(&search->progress);
    PP_TRY(status);
    memcpy(search->rows, final.rows, sizeof(*final.rows) * (size_t)top);
    pp_search_rank(search, search->rows, top);
    return PP_OK;
}

/* ---- ties ------------------------------------------------------------------------------------ */

/* Returns the time of a sample in dag: ties are those of the search, whatever engine the top rows
 * have. */
static double dag_s_per_sample(const struct pp_search_row *row)
{
    return row->outcome.s_per_sample * row->dag_s / row->outcome.step_s;
}

static double fastest_of(const struct pp_search *search)
{
    double s = (double)INFINITY;

    for (int i = 0; i < search->count; i++)
        s = fmin(s, dag_s_per_sample(&search->rows[i]));
    return s;
}

/* Finds the tie with most memory left. If no tie has room, the first row in reach that has. */
static void find_safest(struct pp_search *search, double fastest_s)
{
    const struct pp_search_row *rows = search->rows;
    int safest = 0;

    for (int i = 0; i < search->count; i++)
        if (rows[i].is_tie && rows[i].outcome.peak_bytes < rows[safest].outcome.peak_bytes)
            safest = i;
    for (int i = 0; i < search->count && !pp_search_has_room(&rows[safest].outcome); i++)
        if (pp_search_has_room(&rows[i].outcome) &&
            dag_s_per_sample(&rows[i]) <= fastest_s * (1 + PP_SEARCH_REACH_FRAC))
            safest = i;
    search->safest = safest;
}

static void mark_ties(struct pp_search *search)
{
    const double fastest_s = fastest_of(search), limit = fastest_s * (1 + search->margin_frac);
    struct pp_search_row *rows = search->rows;

    for (int i = 0; i < search->count; i++) {
        rows[i].is_tie = dag_s_per_sample(&rows[i]) <= limit;
        search->ties += rows[i].is_tie;
        for (int k = 0; k < rows[i].twin_count; k++)
            rows[i].twins[k].is_tie = rows[i].is_tie;
    }
    find_safest(search, fastest_s);
}

enum pp_status pp_search_finish(struct pp_arena *arena, struct pp_search *search,
                                struct pp_error *err)
{
    only_fitting(search);
    pp_search_fold(arena, search);
    const int top = search->top < search->count ? search->top : search->count;
    if (top)
        PP_TRY(simulate_top(arena, search, top, err));
    mark_ties(search);
    return PP_OK;
}
